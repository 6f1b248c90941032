//! A small tokenizer of BERT's kind, one of XLM-RoBERTa's, and one that marks the start of every text.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;

use super::*;

const BERT: &str = r###"{"version": "1.0",
  "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
  "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": null,
    "pad_id": 7, "pad_type_id": 0, "pad_token": "[PAD]"},
  "added_tokens": [],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
    "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
      "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
  "decoder": null,
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "caf": 3, "##e": 4, "word": 5, ".": 6, "[PAD]": 7,
      "##s": 8, "a": 9, "b": 10, "##b": 11, "東": 12, "京": 13}}}"###;

const MARKED: &str = r###"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "Prepend", "prepend": "▁"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
  "pre_tokenizer": null, "post_processor": null, "decoder": null,
  "model": {"type": "BPE", "dropout": null, "unk_token": "?", "continuing_subword_prefix": null,
    "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
    "vocab": {"?": 0, "▁": 1, "a": 2, "l": 3, "e": 4}, "merges": []}}"###;

const XLM: &str = r###"{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
  "normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
  "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
    {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}]},
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
      "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}},
  "decoder": null,
  "model": {"type": "Unigram", "unk_id": 3, "byte_fallback": false, "vocab": [["<s>", 0.0], ["<pad>", 0.0],
    ["</s>", 0.0], ["<unk>", 0.0], ["▁", -2.0], ["▁query", -3.0], [":", -3.0], ["▁word", -4.0], ["s", -4.0],
    ["東京", -4.0], ["は", -4.0]]}}"###;

fn tokenizer(json: &str, max_tokens: u32) -> Result<ModelTokenizer> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path =
        std::env::temp_dir().join(format!("pg_rag-tokenizer-{}-{number}", std::process::id()));
    fs::write(&path, json).unwrap();
    let tokenizer = ModelTokenizer::from_file(&path, max_tokens, 0);
    fs::remove_file(path).unwrap();
    tokenizer
}

fn bert() -> ModelTokenizer {
    tokenizer(BERT, 8).unwrap()
}

fn spans<'a>(tokenizer: &ModelTokenizer, text: &'a str) -> Vec<&'a str> {
    tokenizer.token_spans(text).unwrap().into_iter().map(|(from, to)| &text[from..to]).collect()
}

#[test]
fn spans_are_bytes_of_the_text_as_it_was_written() {
    let text = "Cafés 東京\u{0}. WORDS";
    assert_eq!(spans(&bert(), text), ["Caf", "é", "s", "東", "京", ".", "WORD", "S"]);
    assert!(spans(&bert(), "").is_empty());
    assert!(spans(&bert(), " \n\u{0}\t").is_empty());
}

#[test]
fn the_model_gets_a_text_in_one_form_and_spans_are_of_the_other() {
    let tokenizer = bert();
    let text = "\u{AD}Ca\u{AD}fe\u{301}s wo\u{200B}rds.";
    let expected = ["Ca\u{AD}f", "e\u{301}", "s", "wo\u{200B}rd", "s", "."];
    assert_eq!(spans(&tokenizer, text), expected);
    assert_eq!(tokenizer.encode(text).unwrap(), tokenizer.encode("Cafés words.").unwrap());
    let (ids, places) = tokenizer.encode_whole(text).unwrap();
    assert_eq!(ids, tokenizer.encode_whole("Cafés words.").unwrap().0);
    assert_eq!(places, tokenizer.token_spans(text).unwrap());
    assert_eq!(
        tokenizer.frame(text).unwrap().before,
        tokenizer.frame("Cafés words.").unwrap().before
    );
    let pair = |second: &str| tokenizer.encode_pair(text, second).unwrap();
    assert_eq!(pair("words"), tokenizer.encode_pair("Cafés words.", "wo\u{AD}rds").unwrap());
    let question = |text: &str| tokenizer.frame_of_pair(text).unwrap().before;
    assert_eq!(question(text), question("Cafés words."));
    assert!(spans(&tokenizer, "\u{AD}\u{200B}").is_empty());
    assert_eq!(tokenizer.encode("\u{AD}").unwrap(), [1, 2]);
}

#[test]
fn parts_of_syllables_are_the_syllables_of_the_vocabulary() {
    let json = XLM.replace("\"東京\"", "\"한글\"");
    let tokenizer = tokenizer(&json, 9).unwrap();
    let parts = "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}";
    assert_eq!(tokenizer.encode("한글").unwrap(), [0, 4, 9, 2]);
    assert_eq!(tokenizer.encode(parts).unwrap(), [0, 4, 9, 2]);
    assert_eq!(spans(&tokenizer, parts).last(), Some(&parts));
}

#[test]
fn the_model_gets_special_tokens_and_no_more_than_it_can_take() {
    let tokenizer = bert();
    assert_eq!(tokenizer.special_tokens(), 2);
    assert_eq!(tokenizer.pad_token(), 7);
    assert_eq!(tokenizer.encode("words.").unwrap(), [1, 5, 8, 6, 2]);
    assert_eq!(tokenizer.encode("").unwrap(), [1, 2]);
    assert_eq!(tokenizer.encode(&"word ".repeat(99)).unwrap(), [1, 5, 5, 5, 5, 5, 5, 2]);
}

#[test]
fn static_embeddings_get_no_special_tokens() {
    let tokenizer = bert().without_special_tokens();
    assert_eq!((tokenizer.special_tokens(), tokenizer.vocabulary()), (0, 14));
    assert_eq!(tokenizer.encode("words.").unwrap(), [5, 8, 6]);
    assert_eq!(tokenizer.encode(&"word ".repeat(99)).unwrap(), [5; 8]);
    assert_eq!(tokenizer.encode("").unwrap(), [NO_TOKEN]);
    let frame = tokenizer.frame("words.").unwrap();
    assert_eq!((frame.before, frame.after, frame.room), (vec![5, 8, 6], vec![], 5));
}

#[test]
fn the_token_of_what_is_unknown_is_known_unless_the_vocabulary_has_probabilities() {
    let unknown = |json: &str| tokenizer(json, 8).unwrap().unknown();
    assert_eq!((unknown(BERT), unknown(MARKED), unknown(XLM)), (Some(0), Some(0), None));
    assert_eq!(unknown(&MARKED.replace(r#""unk_token": "?""#, r#""unk_token": null"#)), None);
}

#[test]
fn a_whole_text_and_what_stands_around_it() {
    let tokenizer = bert();
    let frame = tokenizer.frame("").unwrap();
    assert_eq!((frame.before, frame.after, frame.room, frame.pad_token), (vec![1], vec![2], 6, 7));
    let frame = tokenizer.frame("words.").unwrap();
    assert_eq!((frame.before, frame.after, frame.room), (vec![1, 5, 8, 6], vec![2], 3));
    let (ids, places) = tokenizer.encode_whole("word words.").unwrap();
    assert_eq!(ids, [5, 5, 8, 6]);
    assert_eq!(places, tokenizer.token_spans("word words.").unwrap());
    let long = "word ".repeat(50_000);
    assert_eq!(tokenizer.encode_whole(&long).unwrap().0, [5].repeat(50_000));
    assert!(tokenizer.encode_whole("").unwrap().0.is_empty());
}

#[test]
fn a_question_stands_before_a_passage() {
    let pair = r#""pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],"#;
    let bare = r#""pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],"#;
    let tokenizer = tokenizer(&BERT.replace(bare, pair), 16).unwrap();
    let frame = tokenizer.frame_of_pair("word.").unwrap();
    assert_eq!((frame.before, frame.after, frame.room), (vec![1, 5, 6, 2], vec![2], 11));
    let frame = tokenizer.frame_of_pair("").unwrap();
    assert_eq!((frame.before, frame.after, frame.room), (vec![1, 2], vec![2], 13));
    let frame = tokenizer.frame_of_pair(&"word ".repeat(1000)).unwrap();
    assert_eq!((frame.before.len(), frame.room), (10, 5));
    let frame = bert().frame_of_pair("word.").unwrap();
    assert_eq!((frame.before, frame.after, frame.room), (vec![5, 6], Vec::new(), 6));
}

#[test]
fn a_text_without_tokens_still_has_one() {
    let tokenizer = tokenizer(
        &BERT
            .replace(
                r#""single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, "#,
                r#""single": ["#,
            )
            .replace(
                r#""type_id": 0}},
      {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],"#,
                r#""type_id": 0}}],"#,
            ),
        8,
    )
    .unwrap();
    assert_eq!(tokenizer.special_tokens(), 0);
    assert_eq!(tokenizer.encode(" ").unwrap(), [7]);
}

#[test]
fn a_megabyte_without_a_space_is_one_word() {
    let tokenizer = bert();
    assert_eq!(tokenizer.encode(&"a".repeat(1 << 20)).unwrap(), [1, 0, 2]);
    assert_eq!(tokenizer.token_spans(&"a".repeat(1 << 20)).unwrap(), [(0, 1 << 20)]);
}

#[test]
fn what_leaves_no_room_for_a_text_is_refused() {
    let error = tokenizer(BERT, 2).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
    let error = tokenizer("{}", 8).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
}

#[test]
fn a_mark_before_every_text_forbids_cuts() {
    assert!(bert().cuts_cleanly);
    let marked = tokenizer(MARKED, 8).unwrap();
    assert!(!marked.cuts_cleanly);
    // The mark has no place of its own in the text; it must not break the spans.
    for (from, to) in marked.token_spans("ale é").unwrap() {
        assert!("ale é".get(from..to).is_some());
    }
}

#[test]
fn a_prefix_has_the_tokens_that_it_has_in_a_text() {
    let tokenizer = tokenizer(XLM, 9).unwrap();
    let text = "words 東京は";
    let whole = tokenizer.encode(&format!("query: {text}")).unwrap();
    assert_eq!(whole, [0, 5, 6, 7, 8, 4, 9, 10, 2]);
    let frame = tokenizer.frame("query: ").unwrap();
    let parts = [frame.before, tokenizer.encode_whole(text).unwrap().0, frame.after].concat();
    assert_eq!(parts, whole);
    assert_eq!(frame.room, 5);
}

#[test]
fn marks_before_words_allow_cuts() {
    let tokenizer = tokenizer(XLM, 9).unwrap();
    assert!(tokenizer.cuts_cleanly);
    // A mark that is a token by itself has the place of the character behind it.
    let expected = ["word", "s", "word", "東", "東京", "は"];
    assert_eq!(spans(&tokenizer, "words  word\n東京は"), expected);
}

#[test]
fn pieces_have_the_spans_of_the_whole() {
    let tokenizer = bert();
    for unit in ["Cafés 東京. words a\nb ", "東", "a.", "abb", " \n"] {
        let text = unit.repeat(3 * PIECE / unit.len());
        let mut whole = Vec::new();
        tokenizer.piece_spans(&text, 0, &mut whole).unwrap();
        assert_eq!(tokenizer.token_spans(&text).unwrap(), whole, "{unit:?}");
    }
}

proptest! {
    /// Reading only the head of a text gives what reading all of it gives.
    #[test]
    fn the_head_decides(words in prop::collection::vec("[ab .é東\n]{0,30}|word|b{1,120}", 0..200)) {
        let text = words.join(" ");
        let tokenizer = bert();
        let all = tokenizer.inner.encode_fast(text.as_str(), false).unwrap();
        let expected = tokenizer.finish(all, 6).unwrap();
        prop_assert_eq!(tokenizer.encode(&text).unwrap(), expected);
    }

    /// Spans lie inside the text, on character boundaries, in order.
    #[test]
    fn spans_are_slices(text in "\\PC{0,80}|[a-z \u{300}\u{200d}é]{0,80}") {
        let mut last = 0;
        for (from, to) in bert().token_spans(&text).unwrap() {
            prop_assert!(last <= from && from <= to, "{from}..{to} after {last}");
            prop_assert!(text.get(from..to).is_some());
            last = from;
        }
    }
}
