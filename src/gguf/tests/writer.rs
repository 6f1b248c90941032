//! Writes GGUF files, right or wrong, and remembers where their structure is.

use std::ops::Range;

/// A file under way.
#[derive(Clone, Debug)]
pub struct GgufWriter {
    pub version: u32,
    pub keys: Vec<(String, Value)>,
    pub tensors: Vec<Tensor>,
    pub alignment: usize,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    U8(u8),
    U16(u16),
    U32(u32),
    F32(f32),
    Bool(u8),
    Text(String),
    U64(u64),
    Texts(Vec<String>),
    Scores(Vec<f32>),
    Kinds(Vec<i32>),
    /// Something of a type that is none, or an array of arrays: type and bytes.
    Raw(u32, Vec<u8>),
}

/// A tensor: name, dimensions, type, bytes.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub name: String,
    pub dimensions: Vec<u64>,
    pub kind: u32,
    pub bytes: usize,
    /// Where it is said to be instead of where it is.
    pub offset: Option<u64>,
}

/// A file, and which of its bytes are counts, lengths, types, shapes and places.
#[derive(Clone, Debug)]
pub struct GgufFile {
    pub bytes: Vec<u8>,
    pub structure: Vec<Range<usize>>,
}

impl GgufWriter {
    /// A small model of one block with which nothing is wrong.
    pub fn valid() -> GgufWriter {
        let text = |text: &str| Value::Text(text.to_owned());
        let tokens = ["<s>", "</s>", "a", "b", "<|im_end|>", "\u{e9}\u{4e2d}", "", "z"];
        let tokens: Vec<String> = tokens.into_iter().map(str::to_owned).collect();
        let keys = [
            ("general.architecture", text("llama")),
            ("general.name", text("Tiny")),
            ("general.license", text("apache-2.0")),
            ("general.file_type", Value::U32(2)),
            ("general.alignment", Value::U32(32)),
            ("llama.context_length", Value::U32(2048)),
            ("llama.embedding_length", Value::U32(64)),
            ("llama.block_count", Value::U32(1)),
            ("llama.attention.head_count", Value::U32(4)),
            ("llama.attention.head_count_kv", Value::U32(2)),
            ("llama.rope.freq_base", Value::F32(10_000.0)),
            ("tokenizer.ggml.model", text("gpt2")),
            ("tokenizer.ggml.tokens", Value::Texts(tokens)),
            ("tokenizer.ggml.scores", Value::Scores(vec![0.5; 8])),
            ("tokenizer.ggml.token_type", Value::Kinds(vec![1; 8])),
            ("tokenizer.ggml.bos_token_id", Value::U32(0)),
            ("tokenizer.ggml.eos_token_id", Value::U32(1)),
            ("tokenizer.ggml.eot_token_id", Value::U32(4)),
            ("tokenizer.ggml.add_bos_token", Value::Bool(1)),
            ("tokenizer.chat_template", text("{{ messages[0].content }}")),
        ];
        let keys = keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let tensors = vec![
            Tensor::new("token_embd.weight", &[64, 8], 2, 8 * 2 * 18),
            Tensor::new("blk.0.attn_q.weight", &[64, 64], 8, 64 * 2 * 34),
            Tensor::new("blk.0.attn_norm.weight", &[64], 0, 256),
            Tensor::new("output_norm.weight", &[63], 0, 252),
        ];
        GgufWriter { version: 3, keys, tensors, alignment: 32 }
    }

    /// With `value` at `key`, in its old place if it was there.
    pub fn with(mut self, key: &str, value: Value) -> GgufWriter {
        match self.keys.iter_mut().find(|(it, _)| it == key) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key.to_owned(), value)),
        }
        self
    }

    /// Without `key`.
    pub fn without(mut self, key: &str) -> GgufWriter {
        self.keys.retain(|(it, _)| it != key);
        self
    }

    /// The file.
    pub fn write(&self) -> GgufFile {
        let mut file = GgufFile { bytes: Vec::new(), structure: Vec::new() };
        file.number(b"GGUF");
        file.number(&self.version.to_le_bytes());
        file.number(&(self.tensors.len() as u64).to_le_bytes());
        file.number(&(self.keys.len() as u64).to_le_bytes());
        for (key, value) in &self.keys {
            file.text(key);
            file.value(value);
        }
        let (mut offset, mut data) = (0, Vec::new());
        for tensor in &self.tensors {
            file.text(&tensor.name);
            file.number(&(tensor.dimensions.len() as u32).to_le_bytes());
            tensor.dimensions.iter().for_each(|it| file.number(&it.to_le_bytes()));
            file.number(&tensor.kind.to_le_bytes());
            file.number(&tensor.offset.unwrap_or(offset).to_le_bytes());
            data.resize(data.len() + tensor.bytes, 7);
            data.resize(data.len().next_multiple_of(self.alignment), 0);
            offset = data.len() as u64;
        }
        file.bytes.resize(file.bytes.len().next_multiple_of(self.alignment), 0);
        file.bytes.extend(data);
        file
    }
}

impl Tensor {
    pub fn new(name: &str, dimensions: &[u64], kind: u32, bytes: usize) -> Tensor {
        let (name, dimensions) = (name.to_owned(), dimensions.to_vec());
        Tensor { name, dimensions, kind, bytes, offset: None }
    }
}

impl GgufFile {
    fn number(&mut self, bytes: &[u8]) {
        self.structure.push(self.bytes.len()..self.bytes.len() + bytes.len());
        self.bytes.extend(bytes);
    }

    fn text(&mut self, text: &str) {
        self.number(&(text.len() as u64).to_le_bytes());
        self.bytes.extend(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        let code = match value {
            Value::U8(_) => 0,
            Value::U16(_) => 2,
            Value::U32(_) => 4,
            Value::F32(_) => 6,
            Value::Bool(_) => 7,
            Value::Text(_) => 8,
            Value::Texts(_) | Value::Scores(_) | Value::Kinds(_) => 9,
            Value::U64(_) => 10,
            Value::Raw(code, _) => *code,
        };
        self.number(&u32::to_le_bytes(code));
        match value {
            Value::U8(it) | Value::Bool(it) => self.bytes.push(*it),
            Value::U16(it) => self.bytes.extend(it.to_le_bytes()),
            Value::U32(it) => self.bytes.extend(it.to_le_bytes()),
            Value::F32(it) => self.bytes.extend(it.to_le_bytes()),
            Value::U64(it) => self.bytes.extend(it.to_le_bytes()),
            Value::Text(it) => self.text(it),
            Value::Texts(list) => {
                self.begin(8, list.len());
                list.iter().for_each(|it| self.text(it));
            }
            Value::Scores(list) => {
                self.begin(6, list.len());
                list.iter().for_each(|it| self.bytes.extend(it.to_le_bytes()));
            }
            Value::Kinds(list) => {
                self.begin(5, list.len());
                list.iter().for_each(|it| self.bytes.extend(it.to_le_bytes()));
            }
            Value::Raw(_, bytes) => self.bytes.extend(bytes),
        }
    }

    fn begin(&mut self, code: u32, count: usize) {
        self.number(&code.to_le_bytes());
        self.number(&(count as u64).to_le_bytes());
    }
}
