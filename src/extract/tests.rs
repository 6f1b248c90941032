//! The answerer with an embedder that hashes words: texts are as near as their words.

mod definition;
mod forms;
mod gain;
mod layout;
mod manual;
mod plain_text;
mod reader;
mod reason;
mod release;
mod scripts;
mod spelling;

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;

use super::*;
use crate::embed::calibration::Calibration;
use crate::embed::{EmbeddingKind, Spanned};
use crate::error::{Error, ErrorKind};
use crate::text::marker::markers;
use crate::text::words::{credit, terms, words};

/// A bag of words as a vector; counts the texts it was given.
#[derive(Default)]
struct WordHash {
    passages: usize,
    /// Whether it has vectors of words.
    reads_words: bool,
}

impl Embedder for WordHash {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        self.passages += if kind == EmbeddingKind::Passage { texts.len() } else { 0 };
        Ok(texts.iter().map(|text| bag(text)).collect())
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        if !self.reads_words {
            return Err(Error::new(ErrorKind::Unsupported, "only whole texts are embedded"));
        }
        // The first is the question.
        self.passages += documents.len() - 1;
        let of = |document: &Spanned| -> Vec<Vec<f32>> {
            document.spans.iter().map(|span| bag(&document.text[span.clone()])).collect()
        };
        Ok(documents.iter().flat_map(of).collect())
    }

    /// Words that are the same have a cosine of 1, and others one of 0, as nearly in all-minilm-l6-v2.
    fn calibration(&mut self) -> Result<Calibration> {
        Calibration::parse(include_str!("../../scripts/calibration/all-minilm-l6-v2.json"))
    }
}

/// One that has vectors of texts alone, and one that has those of words too.
fn both_kinds() -> [WordHash; 2] {
    [false, true].map(|reads_words| WordHash { passages: 0, reads_words })
}

fn bag(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; 2048];
    for word in terms(&words(text)) {
        let mut hasher = DefaultHasher::new();
        word.folded.chars().take(5).collect::<String>().hash(&mut hasher);
        vector[(hasher.finish() % 2048) as usize] += 1.0;
    }
    vector
}

fn passages<'a>(contents: &[&'a str]) -> Vec<ExtractPassage<'a>> {
    (1..).zip(contents).map(|(number, content)| ExtractPassage::of(number, content)).collect()
}

fn answer(question: &str, contents: &[&str], options: &ExtractOptions) -> Extract {
    extract(question, &passages(contents), &mut WordHash::default(), options).unwrap()
}

/// The single best piece, whatever the confidence and whether or not words have vectors.
fn check(question: &str, contents: &[&str], expected: &str) {
    check_passages(question, &passages(contents), expected);
}

/// The single best piece of `passages` for `question`, whether or not words have vectors.
fn check_passages(question: &str, passages: &[ExtractPassage], expected: &str) {
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    for mut embedder in both_kinds() {
        let extract = extract(question, passages, &mut embedder, &options).unwrap();
        assert_eq!(extract.answer, expected, "{question} words are read: {}", embedder.reads_words);
    }
}

const SHOP: &str = "Our shop opened in 2009 and has three branches. You can return goods within \
    30 days of delivery. Refunds are paid to the card that was used for the order. We ship to \
    all countries of the European Union.";

const TELESCOPE: &str = "The telescope stands on a mountain in the desert. Its mirror is 8.2 \
    metres wide and was cast in Mainz. On clear nights it is open to visitors.";

#[test]
fn the_best_sentence_is_cited() {
    check(
        "How wide is the mirror of the telescope?",
        &[SHOP, TELESCOPE],
        "Its mirror is 8.2 metres wide and was cast in Mainz. [2]",
    );
    check(
        "Within how many days can goods be returned?",
        &[SHOP, TELESCOPE],
        "You can return goods within 30 days of delivery. [1]",
    );
}

#[test]
fn what_is_asked_for_decides_between_like_sentences() {
    let contents = ["The bridge was opened by the mayor. The bridge was opened in 1932."];
    check("When was the bridge opened?", &contents, "The bridge was opened in 1932. [1]");
    let contents = ["Die Brücke wurde vom König eröffnet. Die Brücke wurde 1932 eröffnet."];
    check("Wann wurde die Brücke eröffnet?", &contents, "Die Brücke wurde 1932 eröffnet. [1]");
}

#[test]
fn a_sentence_about_it_is_found_through_its_neighbour() {
    check(
        "What are refunds of the Aurora plan paid to?",
        &["The Aurora plan costs nothing. Refunds are paid to the card.", "A plan is a list."],
        "Refunds are paid to the card. [1]",
    );
}

#[test]
fn sentences_of_a_passage_stand_in_reading_order_and_neighbours_share_a_citation() {
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let contents = [
        "Backups run at night. They are kept for a week. The office is in Oslo.",
        "Old backups are deleted on Sunday.",
    ];
    let extract = answer("When are backups deleted, and how long kept?", &contents, &options);
    assert_eq!(
        extract.answer,
        "Old backups are deleted on Sunday. [2] Backups run at night. They are kept for a week. [1]"
    );
    let quotes = extract.evidence.iter().map(|found| &contents[found.passage][found.bytes.clone()]);
    assert_eq!(
        quotes.collect::<Vec<_>>(),
        [
            "Old backups are deleted on Sunday.",
            "Backups run at night.",
            "They are kept for a week."
        ]
    );
}

#[test]
fn a_question_that_the_passages_do_not_answer_gets_no_answer() {
    let options = ExtractOptions::default();
    let known = answer("When can I return goods after delivery?", &[SHOP, TELESCOPE], &options);
    let unknown = answer("Who painted the Mona Lisa?", &[SHOP, TELESCOPE], &options);
    assert!(known.supported, "{known:?}");
    assert!(!unknown.supported, "{unknown:?}");
    assert_eq!(unknown.answer, "");
    assert!(unknown.confidence < known.confidence);
}

#[test]
fn a_name_or_number_that_is_missing_lowers_the_confidence() {
    let confidence = |question| answer(question, &[SHOP], &Default::default()).confidence;
    let plain = confidence("Are refunds paid to the card?");
    assert!(confidence("Are refunds paid to the card in 1999?") < plain);
    assert!(confidence("Are refunds paid to the Venusian card?") < plain);
}

#[test]
fn where_there_is_nothing_there_is_no_answer() {
    for (question, contents) in
        [("", &[SHOP][..]), ("???", &[SHOP]), ("Why?", &[]), ("Why?", &["", "---", "## Title"])]
    {
        assert_eq!(answer(question, contents, &Default::default()), nothing(), "{question:?}");
    }
}

#[test]
fn nothing_is_quoted_twice() {
    let options = ExtractOptions { threshold: 0.0, ..Default::default() };
    let contents = ["Backups run at two.", "The nights are quiet. Backups run at two."];
    assert_eq!(
        answer("When do backups run?", &contents, &options).answer,
        "Backups run at two. [1]"
    );
}

#[test]
fn a_statement_comes_with_what_it_takes_up() {
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    let contents = [
        "The setting is read at the start. This means that a change needs a restart of the server.",
    ];
    let extract = answer("Does a change need a restart of the server?", &contents, &options);
    assert_eq!(extract.answer, format!("{} [1]", contents[0]));
    assert_eq!(extract.evidence.len(), 2);
}

#[test]
fn neither_headings_nor_questions_are_answers() {
    let faq = ["How do I reset my password?\n\nClick the link on the page of your account.\n\n\
        How do I close my account?\n\nWrite to us."];
    check("How do I reset my password?", &faq, "Click the link on the page of your account. [1]");
    check("How do I close my account?", &faq, "How do I close my account? Write to us. [1]");
    check(
        "What are the opening hours?",
        &["Opening hours\n=============\nWe are there from nine to five."],
        "We are there from nine to five. [1]",
    );
    check(
        "What are the opening hours?",
        &["Opening hours\n\nFrom nine to five.\n\nParking\n\nBehind the house, on Sundays too."],
        "From nine to five. [1]",
    );
}

#[test]
fn what_the_source_says_is_not_taken_for_a_citation() {
    check(
        "Who was the first to cross the ocean?",
        &["The first to cross the ocean[7] was a monk [2, 3] in `boat[1]`."],
        "The first to cross the ocean(7) was a monk (2, 3) in `boat[1]`. [1]",
    );
    check("Where is the `tick?", &["A lone ` tick is here."], "A lone ' tick is here. [1]");
}

#[test]
fn only_the_promising_are_embedded() {
    let long: String =
        (0..200).map(|n| format!("Sentence number {n} is about nothing. ")).collect();
    let mut passages = passages(&[&long, TELESCOPE]);
    for passage in &mut passages {
        passage.dense_similarity = Some(0.3);
    }
    let options = ExtractOptions { threshold: 0.0, max_sentences: 1, ..Default::default() };
    for mut embedder in both_kinds() {
        let question = "How wide is the mirror?";
        let extract = extract(question, &passages, &mut embedder, &options).unwrap();
        assert_eq!(embedder.passages, options.max_embedded);
        assert!(extract.answer.contains("8.2 metres"), "{extract:?}");
    }
}

#[test]
fn a_word_may_stand_for_another() {
    /// Knows that founding is establishing.
    struct Synonyms(WordHash);
    impl Embedder for Synonyms {
        fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            self.0.embed(texts, kind)
        }

        fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
            let of = |document: &Spanned| -> Vec<Vec<f32>> {
                let text = |span: &Range<usize>| document.text[span.clone()].to_lowercase();
                let known = |span| bag(&text(span).replace("established", "founded"));
                document.spans.iter().map(known).collect()
            };
            Ok(documents.iter().flat_map(of).collect())
        }

        fn calibration(&mut self) -> Result<Calibration> {
            self.0.calibration()
        }
    }
    let contents =
        ["The abbey was burned by Norse raiders. The abbey was established by Irish monks."];
    let passages = passages(&contents);
    let question = "By whom was the abbey founded?";
    let best = |embedder: &mut dyn Embedder| {
        let ranked = ranked(question, &passages, embedder, 12).unwrap();
        &contents[0][ranked[0].bytes.clone()]
    };
    assert_eq!(best(&mut WordHash::default()), "The abbey was burned by Norse raiders.");
    let mut synonyms = Synonyms(WordHash::default());
    assert_eq!(best(&mut synonyms), "The abbey was established by Irish monks.");
}

#[test]
fn a_model_whose_cosines_are_all_high_is_read_by_how_they_differ() {
    /// One that nothing is known of: whatever two texts say, their cosine is 0.7 and more.
    struct Crowded(WordHash);
    impl Crowded {
        fn crowd(vectors: Vec<Vec<f32>>) -> Vec<Vec<f32>> {
            let length = |vector: &[f32]| vector.iter().map(|it| it * it).sum::<f32>().sqrt();
            let crowd = |mut vector: Vec<f32>| {
                vector.push(1.5 * length(&vector).max(1.0));
                vector
            };
            vectors.into_iter().map(crowd).collect()
        }
    }
    impl Embedder for Crowded {
        fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            self.0.embed(texts, kind).map(Crowded::crowd)
        }

        fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
            self.0.embed_in_place(documents).map(Crowded::crowd)
        }
    }
    for embedder in both_kinds() {
        let mut crowded = Crowded(embedder);
        let mut ask = |question: &str| {
            let contents = passages(&[SHOP, TELESCOPE]);
            extract(question, &contents, &mut crowded, &Default::default()).unwrap()
        };
        let known = ask("How wide is the mirror of the telescope?");
        assert!(known.answer.contains("8.2 metres"), "{known:?}");
        let unknown = ask("Which birds nest in the crater of Vesuvius?");
        assert!(unknown.confidence < known.confidence / 2.0, "{unknown:?}, {known:?}");
    }
}

#[test]
fn what_was_not_read_stands_behind_what_was() {
    let contents = [SHOP, TELESCOPE];
    let question = "How wide is the mirror of the telescope?";
    let mut embedder = WordHash { reads_words: true, ..Default::default() };
    let all = ranked(question, &passages(&contents), &mut embedder, 99).unwrap();
    let some = ranked(question, &passages(&contents), &mut embedder, 2).unwrap();
    assert_eq!(some.len(), all.len());
    assert!(some.is_sorted_by(|a, b| a.score >= b.score), "{some:?}");
    assert_eq!(some[0].bytes, all[0].bytes);
}

#[test]
fn a_long_question_is_read_up_to_a_limit() {
    let question = "Is the mirror wide? ".repeat(500);
    let mut embedder = WordHash { reads_words: true, ..Default::default() };
    let extract = extract(&question, &passages(&[TELESCOPE]), &mut embedder, &Default::default());
    assert!(extract.unwrap().evidence[0].bytes.start > 0);
}

#[test]
fn an_embedder_that_forgets_a_text_is_an_error() {
    struct Forgetful;
    impl Embedder for Forgetful {
        fn embed(&mut self, texts: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            Ok(texts.iter().skip(1).map(|_| vec![1.0]).collect())
        }
    }
    let error = extract("Why?", &passages(&[SHOP]), &mut Forgetful, &Default::default());
    assert_eq!(error.unwrap_err().message(), "0 vectors for 1 texts");

    struct Partial;
    impl Embedder for Partial {
        fn embed(&mut self, texts: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            Ok(texts.iter().map(|_| vec![1.0]).collect())
        }

        fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
            Ok(documents.iter().map(|_| vec![1.0]).collect())
        }
    }
    let error = extract("Why?", &passages(&["It rains."]), &mut Partial, &Default::default());
    assert_eq!(error.unwrap_err().message(), "2 vectors for 4 places");
}

#[test]
fn words_match_by_their_beginning() {
    let half = credit("develop", "developed");
    assert!(0.7 < half && half < 0.8, "{half}");
    assert_eq!(credit("opening", "opening"), 1.0);
    assert_eq!(credit("car", "card"), 0.0);
    assert_eq!(credit("international", "interesting"), 0.0);
    assert!(credit("eröffnet", "eröffnete") > 0.8);
}

#[test]
fn terms_are_the_words_that_carry_the_question() {
    let of = |question: &str| {
        terms(&words(question)).into_iter().map(|word| word.folded).collect::<Vec<_>>()
    };
    assert_eq!(of("What is Anna's Anna port?"), ["anna", "port"]);
    assert_eq!(of("What is it?"), ["what", "is", "it"]);
    assert_eq!(of("黑豹队?"), ["黑", "豹", "队"]);
    assert!(words("In Oslo")[1].is_name && !words("In Oslo")[0].is_name);
    assert!(words("a 3rd")[1].is_number);
}

/// Markup, code, terminators and scripts, mixed without sense.
fn any_content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z]{1,9}",
        2 => Just(" ".to_string()),
        2 => prop::sample::select(vec![
            "\n", "\n\n", "# ", "- ", "1. ", "| ", "|", "---", "```", "~~~", "`", "> ", ". ", "? ",
            ": ", "[1]", "<p>", "</h1>", "<b>", "**", "_", "&amp;", "[2, 3]", "[", "]", "。", "？", "  ", "\r\n", "===", "\u{a0}", "\t", "’s",
        ]).prop_map(str::to_string),
        1 => "\\PC{0,6}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn evidence_lies_in_the_passages_and_only_they_are_cited(
        question in any_content(),
        contents in prop::collection::vec(any_content(), 0..5),
        heading in any_content(),
        similarity in prop::option::of(any::<f32>()),
        max_sentences in 0usize..5,
        max_embedded in 0usize..5,
        reads_words in any::<bool>(),
        close_margin in 0f32..50.0,
        format in prop::sample::select(vec![AnswerFormat::Plain, AnswerFormat::Markdown]),
    ) {
        let passages: Vec<ExtractPassage> = (11..)
            .zip(&contents)
            .map(|(number, content)| ExtractPassage {
                number, content, lead: 0, heading: Some(&heading), is_beginning: number == 11,
                dense_similarity: similarity,
            })
            .collect();
        let options =
            ExtractOptions { max_sentences, threshold: 0.0, margin: 50.0, close_margin, max_embedded, format, ..Default::default() };
        let mut embedder = WordHash { passages: 0, reads_words };
        let extract = extract(&question, &passages, &mut embedder, &options).unwrap();
        prop_assert!((0.0..=1.0).contains(&extract.confidence), "{}", extract.confidence);
        for found in &extract.evidence {
            let content = &contents[found.passage];
            prop_assert!(content.get(found.bytes.clone()).is_some_and(|text| !text.is_empty()));
            let chars: String =
                content.chars().skip(found.chars.start).take(found.chars.len()).collect();
            prop_assert_eq!(&chars, &content[found.bytes.clone()]);
        }
        let mut places: Vec<_> =
            extract.evidence.iter().map(|found| (found.passage, found.bytes.start)).collect();
        let best = places.first().map(|place| place.0);
        prop_assert!(places.is_sorted_by_key(|place| (Some(place.0) != best, *place)));
        places.dedup_by_key(|place| place.0);
        let mut cited: Vec<usize> =
            markers(&extract.answer).iter().flat_map(|found| found.numbers.clone())
                .map(|number| number as usize - 11).collect();
        cited.dedup();
        let expected = if extract.supported { places.iter().map(|place| place.0).collect() } else { vec![] };
        prop_assert_eq!(cited, expected, "{}", extract.answer);
    }
}
