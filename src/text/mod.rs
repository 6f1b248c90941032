//! # text: what words, sentences and lines does this text have?
//!
//! ```text
//! text → words │ sentences │ lines │ bigrams │ citation markers, each with its place; its language
//! ```
//!
//! What every stage knows of a text, whatever it stands for: chunking cuts at the ends of
//! [`sentence`]s, which [`abbreviation`] tells from other full stops, and where [`line`] says that
//! a paragraph ends; answers and rewriting compare [`words`]; [`bigram`] makes of
//! a script without spaces what can be looked up, [`joined_name`] of the names of software, and [`accent`] of a word
//! with accents what is typed for it; [`marker`] finds where an answer cites, and [`marked_sentence`] what each sentence cites; [`preamble`]
//! is what stands before the text of a page; [`quote`] finds what somebody quotes; [`character_counter`] turns bytes into
//! characters; [`format`] tells Markdown, HTML and source code from prose;
//! [`language`] tells in which language a question is put, [`function_word`] which of its words say nothing of
//! what is asked, [`elision`] what is written with it by an apostrophe, and [`lexical_score`] which of some short texts speak of it; [`phrase`] finds phrases that mean the same in
//! several languages; [`text_search_config`] tells which of PostgreSQL's configurations texts want, and [`token_labels`] the
//! names that a model's labels of tokens say.

mod abbreviation;

pub mod accent;
pub mod bigram;
pub mod character_counter;
pub(crate) mod elision;
pub mod format;
pub(crate) mod function_word;
pub mod joined_name;
pub mod language;
pub mod lexical_score;
pub mod line;
pub mod marked_sentence;
pub mod marker;
pub mod phrase;
pub mod preamble;
pub mod quote;
pub mod sentence;
pub mod text_search_config;
pub mod token_labels;
pub mod words;
