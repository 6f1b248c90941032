//! A model of llama.cpp in memory, and its vocabulary: text → tokens → bytes.

use std::ffi::{CStr, CString, c_char};
use std::path::Path;
use std::ptr::NonNull;
use std::rc::Rc;

use super::library::{LlamaLibrary, RawModel, RawVocabulary, Token};
use crate::error::{Error, ErrorKind, Result};

/// Bytes that a token seldom has more of.
const USUAL_PIECE: usize = 64;

/// A model that was loaded; freed when dropped.
pub struct LlamaModel {
    library: Rc<LlamaLibrary>,
    raw: NonNull<RawModel>,
    vocabulary: *const RawVocabulary,
    /// The texts of the tokens that say who speaks and where a text ends.
    control_texts: Vec<String>,
}

impl LlamaModel {
    /// Loads the file at `path`, onto graphics cards where the library has any. What the file says has been checked
    /// before.
    ///
    /// Fails with [`ErrorKind::FileCorrupted`] where the library does not understand it, and with
    /// [`ErrorKind::Unsupported`] where the model does not write.
    pub fn load(library: Rc<LlamaLibrary>, path: &Path) -> Result<LlamaModel> {
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| Error::invalid("the path of a model must have no zero byte"))?;
        // SAFETY: the function gives a structure by value.
        let mut parameters = unsafe { (library.llama_model_default_params)() };
        parameters.check_tensors = true;
        // SAFETY: the path ends with a zero and outlives the call; the parameters are the library's own.
        let raw = unsafe { (library.llama_model_load_from_file)(name.as_ptr(), parameters) };
        let raw = NonNull::new(raw).ok_or_else(|| {
            let message = format!("llama.cpp cannot load the model \"{}\"", path.display());
            Error::new(ErrorKind::FileCorrupted, message)
                .hint("The server log has what the library says of it.")
        })?;
        // SAFETY: the model was just loaded; its vocabulary lives as long as it does.
        let vocabulary = unsafe { (library.llama_model_get_vocab)(raw.as_ptr()) };
        let mut model = LlamaModel { library, raw, vocabulary, control_texts: Vec::new() };
        model.check_writes(path)?;
        model.control_texts = model.find_control_texts();
        Ok(model)
    }

    fn check_writes(&self, path: &Path) -> Result<()> {
        // SAFETY: the model is loaded.
        let has_encoder = unsafe { (self.library.llama_model_has_encoder)(self.raw.as_ptr()) };
        if !has_encoder && self.vocabulary_size() > 0 {
            return Ok(());
        }
        let message = format!("the model \"{}\" is none that goes on with a text", path.display());
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// The library, for what belongs to this model.
    pub fn library(&self) -> &Rc<LlamaLibrary> {
        &self.library
    }

    /// The model as the library knows it.
    pub fn as_ptr(&self) -> *mut RawModel {
        self.raw.as_ptr()
    }

    /// The vocabulary as the library knows it.
    pub fn vocabulary(&self) -> *const RawVocabulary {
        self.vocabulary
    }

    /// How many tokens the model knows.
    pub fn vocabulary_size(&self) -> usize {
        // SAFETY: the vocabulary lives as long as the model.
        let size = unsafe { (self.library.llama_vocab_n_tokens)(self.vocabulary) };
        size.max(0) as usize
    }

    /// The longest text that the model was trained on, in tokens.
    pub fn trained_context(&self) -> usize {
        // SAFETY: the model is loaded.
        let trained = unsafe { (self.library.llama_model_n_ctx_train)(self.raw.as_ptr()) };
        trained.max(0) as usize
    }

    /// Whether the model ends its turn with `token`.
    pub fn is_end(&self, token: Token) -> bool {
        // SAFETY: the vocabulary lives as long as the model; the library checks the token's range.
        unsafe { (self.library.llama_vocab_is_eog)(self.vocabulary, token) }
    }

    /// The tokens of a prompt, in which control tokens may be written out. The one that begins a text is put before it
    /// where the model wants that and the prompt has none.
    pub fn tokenize(&self, prompt: &str) -> Result<Vec<Token>> {
        let length = i32::try_from(prompt.len())
            .map_err(|_| Error::invalid("a prompt of a local model must have less than 2 GB"))?;
        // A token has a byte at least, and the beginning is one more.
        let mut tokens: Vec<Token> = vec![0; prompt.len() + 2];
        let room = i32::try_from(tokens.len()).unwrap_or(i32::MAX);
        // SAFETY: the text has `length` bytes, and the array room for `room` tokens.
        let count = unsafe {
            (self.library.llama_tokenize)(
                self.vocabulary,
                prompt.as_ptr().cast::<c_char>(),
                length,
                tokens.as_mut_ptr(),
                room,
                true,
                true,
            )
        };
        let count = usize::try_from(count).map_err(|_| {
            Error::new(ErrorKind::Internal, "llama.cpp cannot cut a prompt into tokens")
        })?;
        tokens.truncate(count);
        self.begin_once(&mut tokens);
        Ok(tokens)
    }

    /// A template that writes the beginning out would have it twice.
    fn begin_once(&self, tokens: &mut Vec<Token>) {
        // SAFETY: the vocabulary lives as long as the model.
        let (adds, begin) = unsafe {
            (
                (self.library.llama_vocab_get_add_bos)(self.vocabulary),
                (self.library.llama_vocab_bos)(self.vocabulary),
            )
        };
        if adds && tokens.len() > 1 && tokens[0] == begin && tokens[1] == begin {
            tokens.remove(0);
        }
    }

    /// The bytes that `token` stands for, which need not be whole characters. None of control tokens.
    pub fn piece(&self, token: Token) -> Vec<u8> {
        let mut piece = vec![0u8; USUAL_PIECE];
        let mut length = self.write_piece(token, &mut piece);
        if length < 0 {
            piece.resize(length.unsigned_abs() as usize, 0);
            length = self.write_piece(token, &mut piece);
        }
        piece.truncate(length.max(0) as usize);
        piece
    }

    fn write_piece(&self, token: Token, into: &mut [u8]) -> i32 {
        let room = i32::try_from(into.len()).unwrap_or(i32::MAX);
        // SAFETY: the array has room for `room` bytes; the library checks the token's range.
        unsafe {
            (self.library.llama_token_to_piece)(
                self.vocabulary,
                token,
                into.as_mut_ptr().cast::<c_char>(),
                room,
                0,
                false,
            )
        }
    }

    /// `text` with no control token written out in it, so that what a document says cannot end its message: a space
    /// stands behind the first character of each.
    pub fn without_control_tokens(&self, text: &str) -> String {
        let mut plain = text.to_owned();
        for control in &self.control_texts {
            if plain.contains(control.as_str()) {
                plain = plain.replace(control.as_str(), &parted(control));
            }
        }
        plain
    }

    fn find_control_texts(&self) -> Vec<String> {
        let text_of = |token: Token| {
            // SAFETY: the token is one of the vocabulary, which lives as long as the model, as its texts do.
            unsafe {
                if !(self.library.llama_vocab_is_control)(self.vocabulary, token) {
                    return None;
                }
                let text = (self.library.llama_vocab_get_text)(self.vocabulary, token);
                let text = (!text.is_null()).then(|| CStr::from_ptr(text))?;
                text.to_str().ok().filter(|text| text.chars().nth(1).is_some()).map(str::to_owned)
            }
        };
        (0..self.vocabulary_size() as Token).filter_map(text_of).collect()
    }
}

impl Drop for LlamaModel {
    fn drop(&mut self) {
        // SAFETY: contexts hold an Rc of the model, so none is left.
        unsafe { (self.library.llama_model_free)(self.raw.as_ptr()) };
    }
}

/// `text` with a space behind its first character.
fn parted(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(String::from).unwrap_or_default();
    format!("{first} {}", characters.as_str())
}
