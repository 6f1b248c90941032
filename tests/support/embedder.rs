//! An embedding model for tests: texts that share words have vectors that are near.

// Each test crate uses a part of it.
#![allow(dead_code)]

use serde_json::{Value, json};

use super::http_server::{Reply, Request};

/// The length of vectors that nobody asked to be shorter.
pub const DIMENSION: usize = 64;

/// How often a word of each of so many kinds is in `text`, and a little of all. Not of length 1.
pub fn vector(text: &str, dimension: usize) -> Vec<f64> {
    let mut counts = vec![0.01; dimension];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word
            .to_lowercase()
            .bytes()
            .fold(5381_usize, |hash, byte| hash.wrapping_mul(33).wrapping_add(usize::from(byte)));
        counts[hash % dimension] += 1.0;
    }
    counts
}

/// The texts of a request.
pub fn texts(request: &Request) -> Vec<String> {
    serde_json::from_value(body(request)["input"].take()).expect("a list of texts")
}

/// The body of a request.
pub fn body(request: &Request) -> Value {
    serde_json::from_str(request.text()).expect("a request of JSON")
}

/// The embeddings that `request` asks for, the last text's first, as the protocol allows.
pub fn embeddings(request: &Request) -> Reply {
    let dimension = body(request)["dimensions"].as_u64().map_or(DIMENSION, |n| n as usize);
    reply(&texts(request), dimension)
}

/// The same from a server that has never heard of `dimensions`.
pub fn embeddings_of_one_length(request: &Request) -> Reply {
    reply(&texts(request), DIMENSION)
}

fn reply(texts: &[String], dimension: usize) -> Reply {
    let item = |(index, text): (usize, &String)| json!({"object": "embedding", "index": index, "embedding": vector(text, dimension)});
    let data: Vec<Value> = texts.iter().enumerate().map(item).rev().collect();
    let tokens = texts.len();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    let body = json!({"object": "list", "data": data, "model": "m", "usage": usage});
    Reply::json(200, &body.to_string())
}
