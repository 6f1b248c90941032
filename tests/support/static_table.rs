//! Static embeddings for tests, in a folder as model2vec writes it: a table of vectors, and a tokenizer of BERT's kind.

use std::fs;
use std::path::Path;

use half::f16;
use serde_json::{Map, Value, json};

/// Length of the vectors.
pub const DIMENSION: usize = 4;

/// The tokens, in the order of their numbers.
pub const TOKENS: [&str; 9] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ink", "is", "black", "paper", "."];

/// A tensor of a file.
pub struct Tensor {
    pub name: &'static str,
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

/// The vector of a token, of numbers that have their place in 16 bits.
pub fn vector(token: &str) -> [f32; DIMENSION] {
    let row = TOKENS.iter().position(|it| *it == token).expect("a token of the table");
    std::array::from_fn(|column| ((row * 7 + column * 3) % 11) as f32 / 4.0 - 1.0)
}

/// The vectors of all tokens, as numbers of the type F16, F32 or F64.
pub fn embeddings(dtype: &'static str) -> Tensor {
    let numbers = TOKENS.iter().flat_map(|token| vector(token));
    let bytes: Vec<u8> = match dtype {
        "F16" => numbers.flat_map(|number| f16::from_f32(number).to_le_bytes()).collect(),
        "F32" => numbers.flat_map(f32::to_le_bytes).collect(),
        _ => numbers.flat_map(|number| f64::from(number).to_le_bytes()).collect(),
    };
    Tensor { name: "embeddings", dtype, shape: vec![TOKENS.len(), DIMENSION], bytes }
}

/// The mean of the vectors of these tokens.
pub fn mean(tokens: &[&str]) -> Vec<f32> {
    let number = |column: usize| tokens.iter().map(|token| vector(token)[column]).sum::<f32>();
    (0..DIMENSION).map(|column| number(column) / tokens.len() as f32).collect()
}

/// The bytes of a file of the format safetensors.
pub fn file(tensors: &[Tensor]) -> Vec<u8> {
    let (mut header, mut data) = (Map::new(), Vec::new());
    for Tensor { name, dtype, shape, bytes } in tensors {
        let begin = data.len();
        data.extend_from_slice(bytes);
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [begin, data.len()]});
        header.insert((*name).to_owned(), entry);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

/// Writes a model with these tensors, whose vectors have length 1 if it says `normalize`.
pub fn write(folder: &Path, tensors: &[Tensor], normalize: bool) {
    let config = json!({
        "model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": DIMENSION,
        "seq_length": 1_000_000, "normalize": normalize, "embedding_dtype": "float32",
    });
    let modules =
        json!([{"idx": 0, "path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]);
    fs::create_dir_all(folder).expect("a folder");
    for (name, content) in
        [("config.json", config), ("modules.json", modules), ("tokenizer.json", tokenizer())]
    {
        fs::write(folder.join(name), content.to_string()).expect("a file");
    }
    fs::write(folder.join("model.safetensors"), file(tensors)).expect("a file");
}

/// It puts special tokens around a text and fills it up, as that of the model it was taken from.
fn tokenizer() -> Value {
    let special = |id: usize| {
        json!({"id": id, "content": TOKENS[id], "special": true, "single_word": false,
               "lstrip": false, "rstrip": false, "normalized": false})
    };
    let vocabulary: Map<String, Value> =
        TOKENS.iter().enumerate().map(|(id, token)| ((*token).to_owned(), json!(id))).collect();
    json!({
        "version": "1.0", "truncation": null, "decoder": null,
        "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [special(0), special(1), special(2), special(3)],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                       "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

/// A vector of length 1 in the direction of `vector`.
pub fn normalized(vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    vector.into_iter().map(|number| number / length).collect()
}

/// Fails where a number of `found` is further than 0.00001 from that of `expected`.
pub fn assert_same(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 1e-5, "{what}: {found:?} is not {expected:?}");
}
