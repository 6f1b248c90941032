//! # text: what words, sentences and lines does this text have?
//!
//! ```text
//! text → words │ sentences │ lines │ bigrams │ citation markers, each with its place; its language
//! ```
//!
//! What every stage knows of a text, whatever it stands for: chunking cuts at the ends of
//! [`sentence`]s, which [`abbreviation`] tells from other full stops, and where [`line`] says that
//! a paragraph ends; answers and rewriting compare [`words`], of which [`canonical`] knows one form of what looks the same,
//! [`spelling`] what is typed without accents, [`number`] which numbers are one, [`number_run`] which words are one number, [`number_word`] which words say that a number follows, and [`capitals`] what is shouted; [`bigram`] makes of
//! a script without spaces what can be looked up, [`joined_name`] of the names of software, [`variant`] of names with hyphens, units and signs, and [`accent`] of a word
//! with accents what is typed for it, as [`lookup_form`] wants it of a text; [`marker`] finds where an answer cites, and [`marked_sentence`] what each sentence cites; [`preamble`]
//! is what stands before the text of a page; [`quote`] finds what somebody quotes; [`script`] tells which scripts put a space between words, [`length`] how long a text is in any of them, and [`word_list`] whether a list has a word; [`character_counter`] turns bytes into
//! characters; [`code`] finds code within prose, [`fence`] which lines set it off, and [`comparison`] the two things that a question compares; [`format`] tells Markdown, HTML and source code from prose;
//! [`language`] tells in which language a question is put, [`other_language`] whether a text is in another one, [`function_word`] which of its words say nothing of
//! what is asked, [`elision`] what is written with it by an apostrophe, [`inflection`] which words are forms of one, and [`lexical_score`] which of some short texts speak of it; [`phrase`] finds phrases that mean the same in
//! several languages; [`text_search_config`] tells which of PostgreSQL's configurations texts want, and [`token_labels`] the
//! names that a model's labels of tokens say.

pub(crate) mod abbreviation;
pub mod accent;
pub mod bigram;
pub mod canonical;
pub mod capitals;
pub mod character_counter;
pub mod code;
pub mod comparison;
pub(crate) mod elision;
pub mod fence;
pub mod format;
pub(crate) mod function_word;
pub(crate) mod inflection;
pub mod joined_name;
pub mod language;
pub(crate) mod length;
pub mod lexical_score;
pub mod line;
pub mod lookup_form;
pub mod marked_sentence;
pub mod marker;
pub mod number;
pub(crate) mod number_run;
pub(crate) mod number_word;
pub(crate) mod other_language;
pub mod phrase;
pub mod preamble;
pub mod quote;
pub(crate) mod script;
pub mod sentence;
pub(crate) mod spelling;
pub mod text_search_config;
pub mod token_labels;
pub mod variant;
pub(crate) mod word_list;
pub mod words;
