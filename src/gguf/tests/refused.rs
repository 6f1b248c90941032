use super::facts;
use super::writer::{GgufWriter, Tensor, Value};
use crate::error::ErrorKind;

/// Checks what is said of a file.
fn check(writer: &GgufWriter, kind: ErrorKind, said: &str) {
    let error = facts(&writer.write().bytes).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().contains(said), "{error}\nis not about: {said}");
}

fn damaged(writer: &GgufWriter, said: &str) {
    check(writer, ErrorKind::FileCorrupted, said);
}

#[test]
fn other_files_and_versions() {
    for bytes in [&b""[..], b"GG", b"PK\x03\x04 and so on", b"GGUF"] {
        assert_eq!(facts(bytes).unwrap_err().kind(), ErrorKind::FileCorrupted);
    }
    let other = facts(b"PK\x03\x04 and so on").unwrap_err();
    assert!(other.message().contains(r#"begins with "PK\u{3}\u{4}" and not"#), "{other}");
    let of = |version| GgufWriter { version, ..GgufWriter::valid() };
    check(&of(1), ErrorKind::Unsupported, "version 1 of the format");
    check(&of(4), ErrorKind::Unsupported, "version 4 of the format");
    check(&of(3 << 24), ErrorKind::Unsupported, "big endian");
    let parts = GgufWriter::valid().with("split.count", Value::U16(3));
    check(&parts, ErrorKind::Unsupported, "one of 3 parts");
    assert!(facts(&GgufWriter::valid().with("split.count", Value::U16(1)).write().bytes).is_ok());
}

#[test]
fn what_a_model_needs() {
    for key in [
        "general.architecture",
        "llama.context_length",
        "llama.embedding_length",
        "llama.block_count",
        "llama.attention.head_count",
        "tokenizer.ggml.model",
        "tokenizer.ggml.tokens",
    ] {
        damaged(&GgufWriter::valid().without(key), &format!("has no key \"{key}\""));
        let float = GgufWriter::valid().with(key, Value::F32(3.0));
        damaged(&float, "of type f32 and not");
    }
    let with = |key, value| GgufWriter::valid().with(key, value);
    damaged(&with("llama.context_length", Value::U32(0)), "is 0 and not from 1");
    damaged(&with("llama.context_length", Value::U64(5)), "of type u64 and not u32");
    damaged(&with("llama.block_count", Value::U32(9999)), "is 9999 and not from 1 to 512");
    damaged(&with("llama.attention.head_count", Value::U32(5)), "64 cannot be shared by 5");
    damaged(&with("llama.attention.head_count_kv", Value::U32(3)), "4 heads cannot share 3");
    damaged(&with("llama.embedding_length", Value::U32(32)), "8 vectors of 64 for 8 tokens of 32");
    damaged(&with("general.architecture", Value::Text("\u{1b}[2J".into())), r"\u{1b}[2J");
    damaged(&with("tokenizer.ggml.scores", Value::Scores(vec![0.0; 7])), "7 elements of");
    damaged(&with("tokenizer.ggml.eos_token_id", Value::U32(8)), "is 8 of 8 tokens");
    damaged(&with("tokenizer.ggml.tokens", Value::Texts(vec![])), "vocabulary of 0 tokens");
    damaged(&with("tokenizer.ggml.add_bos_token", Value::Bool(2)), "2 and not true or false");
    let long = Value::Text("x".repeat((256 << 10) + 1));
    check(&with("tokenizer.chat_template", long), ErrorKind::Unsupported, "chat template of");
}

#[test]
fn keys_and_values_that_cannot_be() {
    let with = |value| GgufWriter::valid().with("x.y", value);
    damaged(&with(Value::Raw(13, vec![])), "of type 13, which is not known");
    damaged(&with(Value::Raw(9, 9u32.to_le_bytes().to_vec())), "an array of arrays");
    let array = |code: u32, count: u64| [&code.to_le_bytes()[..], &count.to_le_bytes()].concat();
    damaged(&with(Value::Raw(9, array(4, 1 << 25))), "array of 33554432 elements");
    damaged(&with(Value::Raw(9, array(12, 1 << 24))), "where only");
    damaged(&with(Value::Raw(9, array(8, 1 << 24))), "where only");
    damaged(&with(Value::Raw(8, u64::MAX.to_le_bytes().to_vec())), "longer than 67108864");
    let mut twice = GgufWriter::valid();
    twice.keys.push(("general.name".into(), Value::U8(1)));
    damaged(&twice, "\"general.name\" is there twice");
    damaged(&GgufWriter::valid().with("", Value::U8(1)), "key of 0 bytes");
    damaged(&GgufWriter::valid().with("a b", Value::U8(1)), "\"a b\" is not a key");
    damaged(&GgufWriter::valid().with(&"k".repeat(257), Value::U8(1)), "key of 257 bytes");
    for alignment in [0, 3, 4, 48, 1 << 17] {
        let key = "general.alignment";
        damaged(&GgufWriter::valid().with(key, Value::U32(alignment)), "not a power of two");
    }
}

#[test]
fn tensors_that_cannot_be() {
    let with = |tensor: Tensor| {
        let mut writer = GgufWriter::valid();
        writer.tensors.push(tensor);
        writer
    };
    let of = |dimensions: &[u64], kind| with(Tensor::new("x", dimensions, kind, 0));
    damaged(&of(&[], 0), "has 0 dimensions");
    damaged(&of(&[1; 5], 0), "has 5 dimensions");
    damaged(&of(&[0], 0), "cannot have the shape [0]");
    damaged(&of(&[1 << 32, 1 << 32], 0), "cannot have the shape");
    damaged(&of(&[1 << 31, 1 << 31], 0), "does not fit into a file");
    damaged(&of(&[33], 2), "has rows of 33, not whole blocks of 32");
    damaged(&of(&[1 << 20], 0), "does not fit into a file");
    check(&of(&[32], 4), ErrorKind::Unsupported, "of type 4, which is not known");
    damaged(&with(Tensor::new("", &[1], 0, 4)), "name of a tensor of 0 bytes");
    damaged(&with(Tensor::new(&"n".repeat(64), &[1], 0, 4)), "of 64 bytes, not 1 to 63");
    damaged(&with(Tensor::new("a\0b", &[1], 0, 4)), "is no name");
    damaged(&with(Tensor::new("output_norm.weight", &[1], 0, 4)), "of this name is there already");
    let mut moved = GgufWriter::valid();
    moved.tensors[2].offset = Some(32);
    damaged(&moved, "is said to be at 32, but");
    let mut none = GgufWriter::valid();
    none.tensors.clear();
    damaged(&none, "has no tensors");
    let mut other = GgufWriter::valid();
    other.tensors[0].name = "v.patch_embd.weight".into();
    check(&other, ErrorKind::Unsupported, "no vectors of tokens");
}

#[test]
fn every_type_has_the_size_that_ggml_gives_it() {
    for kind in super::super::tensor_type::TENSOR_TYPES {
        let (row, bytes) = (2 * kind.block, 6 * kind.bytes as usize);
        let mut writer = GgufWriter::valid();
        writer.tensors.push(Tensor::new("x", &[row, 3], kind.code, bytes));
        assert!(facts(&writer.write().bytes).is_ok(), "{}", kind.name);
        // Unpadded, a byte less is too little.
        let mut short = writer.write().bytes;
        let padding = bytes.next_multiple_of(32) - bytes;
        short.truncate(short.len() - padding - 1);
        assert!(facts(&short).is_err(), "{}", kind.name);
    }
}
