//! What the keys of a file say about its model.

use std::io::{Read, Seek};

use super::header::{HeaderReader, corrupted, excerpt, unsupported};
use super::metadata::{self, Metadata, MetadataEntry, MetadataValue};
use super::tensor::TensorList;
use super::tensor_type::file_type_name;
use crate::error::{Error, ErrorKind, Result};

/// Longest context, in tokens.
const LONGEST_CONTEXT: u32 = 1 << 27;

/// Longest vector of a token.
const LONGEST_EMBEDDING: u32 = 1 << 20;

/// Most blocks that llama.cpp has room for.
const MOST_BLOCKS: u32 = 512;

/// Most heads of attention in a block.
const MOST_HEADS: u32 = 1 << 14;

/// Most tokens of a vocabulary. The largest of 2025 has 262,144.
const MOST_TOKENS: u64 = 1 << 22;

/// Longest chat template, in bytes.
const LONGEST_TEMPLATE: u64 = 256 << 10;

/// A token that begins or ends something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecialToken {
    /// Its number in the vocabulary, from 0.
    pub id: u32,
    /// How it is written, for instance `<|im_end|>`.
    pub text: String,
}

/// What a GGUF file says about its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GgufFacts {
    /// Version of the file format, 2 or 3.
    pub version: u32,
    /// The architecture, as llama.cpp calls it: `llama`, `qwen2`, `gemma3`, ...
    pub architecture: String,
    /// The model's name, at most 1 KiB of it.
    pub name: Option<String>,
    /// Its licence, mostly an SPDX expression, at most 1 KiB of it.
    pub licence: Option<String>,
    /// The longest context that the model was trained for, in tokens.
    pub context_length: u32,
    /// Length of its vectors of tokens.
    pub embedding_length: u32,
    /// Number of its blocks of layers.
    pub block_count: u32,
    /// Number of its parameters.
    pub parameters: u64,
    /// Of which type most parameters are, as llama.cpp calls it: `Q4_K_M`, `F16`, ...
    pub quantization: String,
    /// Number of its tensors.
    pub tensor_count: u64,
    /// Size of all tensors, in bytes: about what the loaded model takes, without a context.
    pub tensor_bytes: u64,
    /// The byte of the file at which the first tensor begins.
    pub data_offset: u64,
    /// Number of tokens in its vocabulary.
    pub vocabulary_size: u32,
    /// The kind of its tokenizer, as llama.cpp calls it: `gpt2`, `llama`, `bert`, ...
    pub tokenizer: String,
    /// Its chat template in Jinja, if it has one, up to 256 KiB.
    pub chat_template: Option<String>,
    /// The token that begins a text.
    pub bos: Option<SpecialToken>,
    /// The token that ends a text.
    pub eos: Option<SpecialToken>,
    /// The token that ends a turn of a chat, where it is another one than `eos`.
    pub eot: Option<SpecialToken>,
    /// Whether a text is to begin with `bos`, if the file says so.
    pub adds_bos: Option<bool>,
}

/// What `metadata` and `list` say together. `reader` is asked for texts of tokens.
///
/// Fails with [`ErrorKind::FileCorrupted`] where a key that each model needs is missing, has
/// another type than llama.cpp wants, or a value that cannot be, and where the vocabulary and
/// the tensors contradict each other; with [`ErrorKind::Unsupported`] where the file is no
/// language model, or its chat template is too long.
pub fn facts<R: Read + Seek>(
    reader: &mut HeaderReader<R>,
    version: u32,
    metadata: &Metadata,
    list: &TensorList,
) -> Result<GgufFacts> {
    let keys = Keys { metadata };
    let architecture = keys.required_text("general.architecture")?;
    let of_architecture = |key: &str| format!("{architecture}.{key}");
    let block_count = keys.number(&of_architecture("block_count"), MOST_BLOCKS)?;
    let embedding_length = keys.number(&of_architecture("embedding_length"), LONGEST_EMBEDDING)?;
    keys.check_heads(&architecture, embedding_length, block_count)?;
    let vocabulary = TokenList::read(&keys)?;
    vocabulary.check_vectors(embedding_length, list)?;
    Ok(GgufFacts {
        version,
        name: keys.text("general.name")?,
        licence: keys.text("general.license")?,
        context_length: keys.number(&of_architecture("context_length"), LONGEST_CONTEXT)?,
        embedding_length,
        block_count,
        parameters: list.parameters,
        quantization: quantization(&keys, list)?,
        tensor_count: list.count,
        tensor_bytes: list.bytes,
        data_offset: list.data_offset,
        vocabulary_size: vocabulary.size,
        tokenizer: keys.required_text("tokenizer.ggml.model")?,
        chat_template: chat_template(&keys)?,
        bos: vocabulary.token(&keys, reader, "bos")?,
        eos: vocabulary.token(&keys, reader, "eos")?,
        eot: vocabulary.token(&keys, reader, "eot")?,
        adds_bos: keys.truth("tokenizer.ggml.add_bos_token")?,
        architecture,
    })
}

/// Keys by name and type.
struct Keys<'a> {
    metadata: &'a Metadata,
}

impl Keys<'_> {
    fn entry(&self, key: &str) -> Result<&MetadataEntry> {
        self.metadata.get(key).ok_or_else(|| {
            Error::new(
                ErrorKind::FileCorrupted,
                format!("GGUF file has no key {}", excerpt(key.as_bytes())),
            )
            .hint("Name a file of a whole language model, no adapter and no vocabulary alone.")
        })
    }

    /// Bytes of a number of type `name`, if the key is there.
    fn scalar(&self, key: &str, name: &str) -> Result<Option<u64>> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(entry) => match entry.value {
                MetadataValue::Scalar(bytes) if entry.value_type.name == name => {
                    Ok(Some(u64::from_le_bytes(bytes)))
                }
                _ => Err(wrong_type(key, entry, name)),
            },
        }
    }

    /// A number from 1 to `most` that must be there.
    fn number(&self, key: &str, most: u32) -> Result<u32> {
        let entry = self.entry(key)?;
        let number = self.scalar(key, "u32")?.and_then(|it| u32::try_from(it).ok()).unwrap_or(0);
        if (1..=most).contains(&number) {
            return Ok(number);
        }
        let key = excerpt(key.as_bytes());
        Err(corrupted(entry.offset, &format!("key {key} is {number} and not from 1 to {most}")))
    }

    fn truth(&self, key: &str) -> Result<Option<bool>> {
        Ok(self.scalar(key, "bool")?.map(|it| it != 0))
    }

    /// A string that may be missing or empty. What was cut off is replaced by dots.
    fn text(&self, key: &str) -> Result<Option<String>> {
        let Some(entry) = self.metadata.get(key) else { return Ok(None) };
        let MetadataValue::Text(bytes) = &entry.value else {
            return Err(wrong_type(key, entry, "string"));
        };
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        if entry.length > bytes.len() as u64 {
            text += "...";
        }
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }

    /// A name that must be there and say something.
    fn required_text(&self, key: &str) -> Result<String> {
        let entry = self.entry(key)?;
        let text = self.text(key)?.unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !text.is_empty() && text.chars().all(is_name) && !text.ends_with("...") {
            return Ok(text);
        }
        let (key, text) = (excerpt(key.as_bytes()), excerpt(text.as_bytes()));
        Err(corrupted(entry.offset, &format!("key {key} is {text}, which is no name")))
    }

    /// Count and place of an array of elements of one of the types `names`.
    fn array(&self, key: &str, names: &[&str]) -> Result<Option<(u64, u64)>> {
        match self.metadata.get(key) {
            None => Ok(None),
            Some(entry) => match entry.value {
                MetadataValue::Array { count, offset }
                    if names.contains(&entry.value_type.name) =>
                {
                    Ok(Some((count, offset)))
                }
                _ => Err(wrong_type(key, entry, &format!("array of {}", names.join(" or ")))),
            },
        }
    }

    /// Checks the heads of attention, which are a number for all blocks or one for each.
    fn check_heads(&self, architecture: &str, embedding: u32, blocks: u32) -> Result<()> {
        let key = format!("{architecture}.attention.head_count");
        let entry = self.entry(&key)?;
        let of_blocks = |key: &str, entry: &MetadataEntry| match entry.value {
            MetadataValue::Array { .. } => {
                let (count, _) = self.array(key, &["u32", "i32"])?.unwrap_or_default();
                let message = format!("{count} numbers of heads for {blocks} blocks");
                let is_right = count == u64::from(blocks);
                if is_right { Ok(None) } else { Err(corrupted(entry.offset, &message)) }
            }
            _ => Ok(Some(self.number(key, MOST_HEADS)?)),
        };
        let heads = of_blocks(&key, entry)?;
        let has_length = self.scalar(&format!("{architecture}.attention.key_length"), "u32")?;
        if let (Some(heads), None) = (heads, has_length)
            && !embedding.is_multiple_of(heads)
        {
            let message = format!("vectors of {embedding} cannot be shared by {heads} heads");
            return Err(corrupted(entry.offset, &message));
        }
        let key = format!("{key}_kv");
        let Some(entry) = self.metadata.get(&key) else { return Ok(()) };
        match (heads, of_blocks(&key, entry)?) {
            (Some(heads), Some(shared)) if !heads.is_multiple_of(shared) => {
                let message = format!("{heads} heads cannot share {shared} heads of keys");
                Err(corrupted(entry.offset, &message))
            }
            _ => Ok(()),
        }
    }
}

fn wrong_type(key: &str, entry: &MetadataEntry, wanted: &str) -> Error {
    let found = match entry.value {
        MetadataValue::Array { .. } => format!("array of {}", entry.value_type.name),
        _ => entry.value_type.name.to_owned(),
    };
    let key = excerpt(key.as_bytes());
    corrupted(entry.offset, &format!("key {key} is of type {found} and not {wanted}"))
}

/// Where the tokens are.
struct TokenList {
    size: u32,
    /// The byte at which the first token begins.
    offset: u64,
}

impl TokenList {
    fn read(keys: &Keys<'_>) -> Result<TokenList> {
        let key = "tokenizer.ggml.tokens";
        let entry = keys.entry(key)?;
        let (size, offset) = keys.array(key, &["string"])?.unwrap_or_default();
        if !(1..=MOST_TOKENS).contains(&size) {
            let message = format!("vocabulary of {size} tokens, not 1 to {MOST_TOKENS}");
            return Err(corrupted(entry.offset, &message));
        }
        // The library reads as many of these as there are tokens.
        for (name, kind) in [("scores", "f32"), ("token_type", "i32")] {
            let key = format!("tokenizer.ggml.{name}");
            let Some((count, at)) = keys.array(&key, &[kind])? else { continue };
            if count != size {
                let message = format!("{count} elements of \"{key}\" for {size} tokens");
                return Err(corrupted(at, &message));
            }
        }
        Ok(TokenList { size: size as u32, offset })
    }

    /// Checks that there is a vector for each token.
    fn check_vectors(&self, embedding_length: u32, list: &TensorList) -> Result<()> {
        let wanted = (u64::from(embedding_length), u64::from(self.size));
        match list.token_vectors {
            Some(found) if found == wanted => Ok(()),
            Some((length, count)) => {
                let (size, message) = (self.size, format!("{count} vectors of {length}"));
                Err(corrupted(
                    self.offset,
                    &format!("{message} for {size} tokens of {embedding_length}"),
                ))
            }
            None => Err(unsupported(list.data_offset, "it has no vectors of tokens")
                .hint("Name a file of a language model, no projector and no adapter.")),
        }
    }

    /// The token whose number is at `tokenizer.ggml.NAME_token_id`.
    fn token<R: Read + Seek>(
        &self,
        keys: &Keys<'_>,
        reader: &mut HeaderReader<R>,
        name: &str,
    ) -> Result<Option<SpecialToken>> {
        let key = format!("tokenizer.ggml.{name}_token_id");
        let Some(id) = keys.scalar(&key, "u32")? else { return Ok(None) };
        let size = self.size;
        let Some(id) = u32::try_from(id).ok().filter(|id| *id < size) else {
            let at = keys.entry(&key)?.offset;
            return Err(corrupted(at, &format!("\"{key}\" is {id} of {size} tokens")));
        };
        let text = metadata::element(reader, self.offset, id)?;
        Ok(Some(SpecialToken { id, text: String::from_utf8_lossy(&text).into_owned() }))
    }
}

/// What the file says of the types of its tensors, or the type of most parameters.
fn quantization(keys: &Keys<'_>, list: &TensorList) -> Result<String> {
    let said = keys.scalar("general.file_type", "u32")?;
    let named = said.and_then(|it| file_type_name(u32::try_from(it).ok()?));
    let commonest = list.by_type.iter().max_by_key(|(_, count)| **count).map(|(name, _)| *name);
    Ok(named.or(commonest).unwrap_or_default().to_owned())
}

fn chat_template(keys: &Keys<'_>) -> Result<Option<String>> {
    let key = "tokenizer.chat_template";
    let Some(entry) = keys.metadata.get(key) else { return Ok(None) };
    if entry.length > LONGEST_TEMPLATE {
        let length = entry.length;
        let message = format!("chat template of {length} bytes, longer than {LONGEST_TEMPLATE}");
        return Err(unsupported(entry.offset, &message));
    }
    match &entry.value {
        MetadataValue::Text(bytes) if std::str::from_utf8(bytes).is_err() => {
            Err(corrupted(entry.offset, "the chat template is not UTF-8"))
        }
        _ => keys.text(key),
    }
}
