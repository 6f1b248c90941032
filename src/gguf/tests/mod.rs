mod damage;
mod refused;
mod writer;

use std::io::Cursor;

use super::check::check;
use super::facts::{GgufFacts, SpecialToken};
use crate::error::Result;
use writer::{GgufWriter, Value};

fn facts(bytes: &[u8]) -> Result<GgufFacts> {
    check(Cursor::new(bytes), bytes.len() as u64)
}

#[test]
fn facts_of_a_whole_file() {
    for version in [2, 3] {
        let writer = GgufWriter { version, ..GgufWriter::valid() };
        let file = writer.write();
        let token = |id, text: &str| Some(SpecialToken { id, text: text.to_owned() });
        let expected = GgufFacts {
            version,
            architecture: "llama".into(),
            name: Some("Tiny".into()),
            licence: Some("apache-2.0".into()),
            context_length: 2048,
            embedding_length: 64,
            block_count: 1,
            parameters: 64 * 8 + 64 * 64 + 64 + 63,
            quantization: "Q4_0".into(),
            tensor_count: 4,
            tensor_bytes: 288 + 4352 + 256 + 252,
            data_offset: (file.bytes.len() - 288 - 4352 - 512) as u64,
            vocabulary_size: 8,
            tokenizer: "gpt2".into(),
            chat_template: Some("{{ messages[0].content }}".into()),
            bos: token(0, "<s>"),
            eos: token(1, "</s>"),
            eot: token(4, "<|im_end|>"),
            adds_bos: Some(true),
        };
        assert_eq!(facts(&file.bytes), Ok(expected));
    }
}

#[test]
fn what_may_be_missing() {
    let keys = ["name", "license", "file_type", "alignment"].map(|key| format!("general.{key}"));
    let tokenizer = ["scores", "token_type", "bos_token_id", "eos_token_id", "eot_token_id"];
    let tokenizer = tokenizer.map(|key| format!("tokenizer.ggml.{key}"));
    let mut writer = GgufWriter::valid().without("tokenizer.chat_template");
    for key in keys.iter().chain(&tokenizer) {
        writer = writer.without(key);
    }
    let facts = facts(&writer.write().bytes).unwrap();
    assert_eq!((facts.bos, facts.eos, facts.eot), (None, None, None));
    assert_eq!((facts.name, facts.licence, facts.chat_template), (None, None, None));
    // Most parameters are of this type.
    assert_eq!(facts.quantization, "Q8_0");
}

#[test]
fn heads_may_differ_from_block_to_block() {
    let key = "llama.attention.head_count";
    let of = |heads| GgufWriter::valid().with(key, Value::Kinds(heads)).write();
    assert!(facts(&of(vec![4]).bytes).is_ok());
    let error = facts(&of(vec![4, 4]).bytes).unwrap_err();
    assert!(error.message().ends_with("2 numbers of heads for 1 blocks"), "{error}");
}

/// The last tensor may be padded or not.
#[test]
fn a_file_ends_behind_its_last_tensor() {
    let bytes = GgufWriter::valid().write().bytes;
    for cut in 0..=4 {
        assert!(facts(&bytes[..bytes.len() - cut]).is_ok(), "{cut}");
    }
    assert!(facts(&bytes[..bytes.len() - 5]).is_err());
    assert!(facts(&[bytes.as_slice(), &[0]].concat()).is_err());
}

#[test]
fn long_texts_are_cut_and_long_vocabularies_skimmed() {
    let tokens: Vec<String> = (0..100_000).map(|it| format!("token {it}")).collect();
    let mut writer = GgufWriter::valid()
        .with("general.name", Value::Text("n".repeat(5000)))
        .with("general.description", Value::Text("d".repeat(1 << 20)))
        .with("tokenizer.ggml.tokens", Value::Texts(tokens))
        .with("tokenizer.ggml.scores", Value::Scores(vec![0.0; 100_000]))
        .with("tokenizer.ggml.token_type", Value::Kinds(vec![0; 100_000]))
        .with("tokenizer.ggml.eos_token_id", Value::U32(99_999));
    writer.tensors[0] = writer::Tensor::new("token_embd.weight", &[64, 100_000], 2, 100_000 * 36);
    let facts = facts(&writer.write().bytes).unwrap();
    assert_eq!(facts.vocabulary_size, 100_000);
    assert_eq!(facts.eos.unwrap().text, "token 99999");
    let name = facts.name.unwrap();
    assert_eq!((name.len(), name.ends_with("n...")), (1027, true));
}
