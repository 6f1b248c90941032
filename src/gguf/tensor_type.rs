//! The types of tensors: how many numbers make a block, and how many bytes a block takes.

/// A type of tensors that ggml knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// Its number in a file.
    pub code: u32,
    /// Its name in ggml.
    pub name: &'static str,
    /// Numbers in a block. The rows of a tensor are whole blocks.
    pub block: u64,
    /// Bytes that a block takes.
    pub bytes: u64,
}

/// The types of ggml in 2025. What is not here was taken out of the format, or is newer.
#[rustfmt::skip]
pub const TENSOR_TYPES: [TensorType; 34] = [
    tensor_type(0, "F32", 1, 4),
    tensor_type(1, "F16", 1, 2),
    tensor_type(2, "Q4_0", 32, 18),
    tensor_type(3, "Q4_1", 32, 20),
    tensor_type(6, "Q5_0", 32, 22),
    tensor_type(7, "Q5_1", 32, 24),
    tensor_type(8, "Q8_0", 32, 34),
    tensor_type(9, "Q8_1", 32, 36),
    tensor_type(10, "Q2_K", 256, 84),
    tensor_type(11, "Q3_K", 256, 110),
    tensor_type(12, "Q4_K", 256, 144),
    tensor_type(13, "Q5_K", 256, 176),
    tensor_type(14, "Q6_K", 256, 210),
    tensor_type(15, "Q8_K", 256, 292),
    tensor_type(16, "IQ2_XXS", 256, 66),
    tensor_type(17, "IQ2_XS", 256, 74),
    tensor_type(18, "IQ3_XXS", 256, 98),
    tensor_type(19, "IQ1_S", 256, 50),
    tensor_type(20, "IQ4_NL", 32, 18),
    tensor_type(21, "IQ3_S", 256, 110),
    tensor_type(22, "IQ2_S", 256, 82),
    tensor_type(23, "IQ4_XS", 256, 136),
    tensor_type(24, "I8", 1, 1),
    tensor_type(25, "I16", 1, 2),
    tensor_type(26, "I32", 1, 4),
    tensor_type(27, "I64", 1, 8),
    tensor_type(28, "F64", 1, 8),
    tensor_type(29, "IQ1_M", 256, 56),
    tensor_type(30, "BF16", 1, 2),
    tensor_type(34, "TQ1_0", 256, 54),
    tensor_type(35, "TQ2_0", 256, 66),
    tensor_type(39, "MXFP4", 32, 17),
    tensor_type(40, "NVFP4", 64, 36),
    tensor_type(41, "Q1_0", 128, 18),
];

/// What `general.file_type` says, by its number: of which types most tensors are.
const FILE_TYPES: [(u32, &str); 36] = [
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (7, "Q8_0"),
    (8, "Q5_0"),
    (9, "Q5_1"),
    (10, "Q2_K"),
    (11, "Q3_K_S"),
    (12, "Q3_K_M"),
    (13, "Q3_K_L"),
    (14, "Q4_K_S"),
    (15, "Q4_K_M"),
    (16, "Q5_K_S"),
    (17, "Q5_K_M"),
    (18, "Q6_K"),
    (19, "IQ2_XXS"),
    (20, "IQ2_XS"),
    (21, "Q2_K_S"),
    (22, "IQ3_XS"),
    (23, "IQ3_XXS"),
    (24, "IQ1_S"),
    (25, "IQ4_NL"),
    (26, "IQ3_S"),
    (27, "IQ3_M"),
    (28, "IQ2_S"),
    (29, "IQ2_M"),
    (30, "IQ4_XS"),
    (31, "IQ1_M"),
    (32, "BF16"),
    (36, "TQ1_0"),
    (37, "TQ2_0"),
    (38, "MXFP4"),
    (39, "NVFP4"),
    (40, "Q1_0"),
    // Some tensors of which are F16.
    (4, "Q4_1"),
];

const fn tensor_type(code: u32, name: &'static str, block: u64, bytes: u64) -> TensorType {
    TensorType { code, name, block, bytes }
}

impl TensorType {
    /// The type with the number `code`, if ggml has one.
    #[must_use]
    pub fn of(code: u32) -> Option<TensorType> {
        TENSOR_TYPES.into_iter().find(|it| it.code == code)
    }
}

/// The name of a value of `general.file_type`, if it is known.
#[must_use]
pub fn file_type_name(code: u32) -> Option<&'static str> {
    FILE_TYPES.into_iter().find(|(it, _)| *it == code).map(|(_, name)| name)
}
