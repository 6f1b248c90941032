//! What becomes of an answer where the model has a reader.

use super::*;
use crate::embed::reader::SpanScores;

/// A model with a reader that knows words by which a question is answered.
pub(super) struct Knowing {
    /// The words, with bars between them.
    word: &'static str,
    /// Log odds of what has one.
    odds: f32,
    pub read: Vec<Spanned>,
    has_reader: bool,
    inner: WordHash,
}

impl Knowing {
    /// One that is sure of what has one of the words.
    pub fn sure_of(word: &'static str) -> Knowing {
        Knowing { odds: 20.0, ..Knowing::of(word, true) }
    }

    fn of(word: &'static str, has_reader: bool) -> Knowing {
        let inner = WordHash { passages: 0, reads_words: true };
        Knowing { word, odds: 3.0, read: Vec::new(), has_reader, inner }
    }
}

impl Embedder for Knowing {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        self.inner.embed(texts, kind)
    }

    fn embed_in_place(&mut self, documents: &[Spanned]) -> Result<Vec<Vec<f32>>> {
        self.inner.embed_in_place(documents)
    }

    fn score_spans(&mut self, _: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        if !self.has_reader {
            return Err(Error::new(ErrorKind::Unsupported, "there is no reader"));
        }
        self.read.extend_from_slice(passages);
        let scores = |text: &str| {
            let is_known = self.word.split('|').any(|it| text.contains(it));
            let odds = if is_known { self.odds } else { -8.0 };
            SpanScores { evidence: odds, answer: odds, relevance: odds }
        };
        let of = |it: &Spanned| -> Vec<SpanScores> {
            it.spans.iter().map(|span| scores(&it.text[span.clone()])).collect()
        };
        Ok(passages.iter().flat_map(of).collect())
    }

    fn calibration(&mut self) -> Result<Calibration> {
        Calibration::parse(include_str!("../../../scripts/calibration/multilingual-e5-small.json"))
    }
}

/// All of it as known to the search, so that nothing has to be embedded.
pub(super) fn found<'a>(contents: &[&'a str]) -> Vec<ExtractPassage<'a>> {
    let known = |it: ExtractPassage<'a>| ExtractPassage {
        heading: Some("Abbey"),
        dense_similarity: Some(0.85),
        ..it
    };
    passages(contents).into_iter().map(known).collect()
}

#[test]
fn a_reader_says_which_piece_answers_and_nothing_is_embedded() {
    let contents = [
        "The abbey stands on a hill. Its church burned down. Masons came from Kells to build it anew.",
        "The abbey is open on Sundays.",
    ];
    let question = "Who rebuilt the church of the abbey?";
    let mut model = Knowing::of("Masons", true);
    let extract = extract(question, &found(&contents), &mut model, &Default::default()).unwrap();
    assert!(extract.answer.starts_with("Masons came from Kells"), "{extract:?}");
    assert!(extract.supported && extract.confidence > 0.5, "{extract:?}");
    assert_eq!(model.inner.passages, 0);
    let texts: Vec<&str> = model.read.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts[1], "Abbey\nThe abbey is open on Sundays.");
    let spans = &model.read[0].spans;
    let read: Vec<&str> = spans.iter().map(|span| &model.read[0].text[span.clone()]).collect();
    assert_eq!(read[1], "Its church burned down.");
}

#[test]
fn nothing_else_is_read_once_the_reader_is_sure() {
    let contents = [
        "The church of the abbey is old.",
        "The church of the abbey was rebuilt by masons.",
        "Masons came from Kells to build the church anew.",
    ];
    let question = "Who rebuilt the church of the abbey?";
    let ask = |odds: f32| {
        let mut model = Knowing { odds, ..Knowing::of("masons", true) };
        let found = extract(question, &found(&contents), &mut model, &Default::default()).unwrap();
        assert!(
            found.answer.starts_with("The church of the abbey was rebuilt by masons."),
            "{found:?}"
        );
        model.read.len()
    };
    assert_eq!(ask(2.0), 3);
    assert_eq!(ask(20.0), 1);
}

#[test]
fn what_a_sure_reader_has_not_read_is_not_quoted() {
    let contents = [
        "The warranty of the keyboard K100 is two years.",
        "The battery of the keyboard K100 lasts for 80 hours.",
    ];
    let mut model = Knowing { odds: 20.0, ..Knowing::of("years", true) };
    let question = "What is the warranty of the keyboard K100?";
    let found = extract(question, &found(&contents), &mut model, &Default::default()).unwrap();
    assert_eq!((model.read.len(), found.evidence.len()), (1, 1), "{found:?}");
}

#[test]
fn what_the_reader_says_hardly_answers_is_not_quoted_beside_the_best() {
    let contents = ["Masons came from Kells. They rebuilt the church of the abbey in a year."];
    let question = "Who rebuilt the church of the abbey?";
    let options =
        ExtractOptions { threshold: 0.0, margin: 99.0, close_margin: 99.0, ..Default::default() };
    let quoted = |has_reader: bool| {
        let mut model = Knowing::of("Masons", has_reader);
        extract(question, &found(&contents), &mut model, &options).unwrap().evidence.len()
    };
    assert_eq!((quoted(true), quoted(false)), (1, 2));
}

#[test]
fn a_sentence_with_a_colon_answers_where_the_reader_prefers_it() {
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    let ask = |contents: [&str; 2], word: &'static str| {
        let mut model = Knowing::of(word, true);
        let question = "What did the abbot write in his letter?";
        extract(question, &found(&contents), &mut model, &options).unwrap().answer
    };
    let contents = [
        "In his letter on the end of the war the abbot wrote:",
        "The letter of the abbot was sold.",
    ];
    assert_eq!(ask(contents, "war"), "In his letter on the end of the war the abbot wrote: [1]");
    assert_eq!(ask(contents, "sold"), "The letter of the abbot was sold. [2]");
}

#[test]
fn below_a_question_the_sentence_that_answers_it_wins_whatever_its_words() {
    let answer =
        "We are often asked about cars. We lend trailers and tents. The insurance would be dear.";
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    for asked in [
        "## Why do you lend no cars?\n\n",
        "Why do you lend no cars?\n",
        "**Why do you lend no cars?** ",
        "**Why do you lend no cars?**\n\n",
        "## Cars that we do not lend\n\n",
    ] {
        let content = format!("{asked}{answer}");
        let mut model = Knowing { odds: 0.0, ..Knowing::of("insurance", true) };
        let question = "Why do you lend no cars?";
        let found = extract(question, &found(&[&content]), &mut model, &options).unwrap();
        assert_eq!(found.answer, "The insurance would be dear. [1]", "{asked:?}");
    }
}

#[test]
fn what_stands_below_the_question_that_is_asked_is_quoted_as_its_answer() {
    let page = "## Why does the washer foam over?\n\nFoam is what people call about most.\n\nIn soft water more soap \
        dissolves. Take half of it.\n\n## Why is it loud?\n\nIt stands on a floor of wood. Put felt under it.";
    let options = ExtractOptions { threshold: 0.0, ..Default::default() };
    let ask = |question: &str| {
        let mut model = Knowing::of("soap", true);
        extract(question, &found(&[page]), &mut model, &options).unwrap().answer
    };
    let whole = "Foam is what people call about most. In soft water more soap dissolves. Take half of it. [1]";
    assert_eq!(ask("Why does the washer foam over?"), whole);
    let long = page.replace("what people", &format!("{} what people", "very ".repeat(100)));
    let mut model = Knowing::of("soap", true);
    let of_long = extract("Why does the washer foam over?", &found(&[&long]), &mut model, &options);
    assert_eq!(of_long.unwrap().answer, "In soft water more soap dissolves. [1]");
    // Who asks for something else gets what the reader finds.
    for question in ["When does the washer foam over?", "Why does the washer of my aunt foam over?"]
    {
        assert_eq!(ask(question), "In soft water more soap dissolves. [1]", "{question}");
    }
}

#[test]
fn a_question_within_a_paragraph_stands_above_the_rest_of_that_alone() {
    let content = "We are free.\n\nWe lend tents. Why do we lend no cars? Nobody asks for them.\n\n\
        The insurance is paid by the town. It is dear, so we lend no cars.";
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    let mut model = Knowing { odds: -7.0, ..Knowing::of("insurance", true) };
    let found = extract("Why do you lend no cars?", &found(&[content]), &mut model, &options);
    assert_eq!(found.unwrap().answer, "Nobody asks for them. [1]");
}

#[test]
fn what_the_reader_finds_nowhere_is_refused() {
    let contents = ["The abbey stands on a hill. Its church burned down."];
    let question = "Who rebuilt the church of the abbey?";
    let ask = |word: &'static str| {
        let mut model = Knowing::of(word, true);
        extract(question, &found(&contents), &mut model, &Default::default()).unwrap()
    };
    let (there, nowhere) = (ask("burned"), ask("Masons"));
    assert!(!nowhere.supported && nowhere.answer.is_empty(), "{nowhere:?}");
    assert!(nowhere.confidence < there.confidence / 2.0, "{nowhere:?} {there:?}");
    assert!(!nowhere.evidence.is_empty());
}

#[test]
fn a_model_that_has_no_reader_is_asked_for_vectors() {
    let contents = ["The abbey stands on a hill. Its church burned down."];
    let mut model = Knowing::of("hill", false);
    let question = "When did the church burn down?";
    let extract = extract(question, &found(&contents), &mut model, &Default::default()).unwrap();
    assert!(extract.answer.contains("Its church burned down."), "{extract:?}");
    assert_eq!(model.inner.passages, 2);
}

#[test]
fn no_more_passages_are_read_than_promise_most_but_of_short_ones_all() {
    let filler = "Nothing of interest to anybody is said by this sentence. ".repeat(30);
    let short = ["Ships come and go.", "The abbey is old.", "The old abbey has a church."];
    let long = short.map(|it| format!("{it} {filler}"));
    let options = ExtractOptions { max_read: 1, ..Default::default() };
    let ask = |contents: [&str; 3]| {
        let mut model = Knowing::of("church", true);
        let question = "Does the old abbey have a church?";
        let extract = extract(question, &found(&contents), &mut model, &options).unwrap();
        assert!(extract.answer.contains("The old abbey has a church."), "{extract:?}");
        model.read
    };
    let read = ask([&long[0], &long[1], &long[2]]);
    assert_eq!(read.len(), 1);
    assert!(read[0].text.starts_with("Abbey\nThe old abbey has a church."));
    assert_eq!(ask(short).len(), 3);
}

#[test]
fn no_more_are_read_than_are_allowed_however_short_they_are() {
    let contents = ["Ships come and go.", "The abbey is old.", "The old abbey has a church."];
    let ask = |max_read: usize| {
        let options =
            ExtractOptions { max_read, reads_short: false, threshold: 0.0, ..Default::default() };
        let mut model = Knowing::of("church", true);
        let question = "Does the old abbey have a church?";
        let extract = extract(question, &found(&contents), &mut model, &options).unwrap();
        assert!(extract.answer.contains("The old abbey has a church."), "{extract:?}");
        model.read.len()
    };
    assert_eq!(ask(1), 1);
    assert_eq!(ask(2), 2);
    assert_eq!(ask(0), 0, "without a reader pieces are embedded");
}

#[test]
fn of_a_long_passage_what_promises_most_is_read() {
    let filler = |at: usize| format!("Sentence number {at} says nothing of interest to anybody. ");
    let check = |at: usize| {
        let mut content: Vec<String> = (0..200).map(filler).collect();
        content[at] = "The old abbey has a church. ".to_owned();
        let content = content.concat();
        let mut model = Knowing::of("church", true);
        let question = "Does the old abbey have a church?";
        let passages = found(&[&content]);
        let extract = extract(question, &passages, &mut model, &Default::default()).unwrap();
        let [read] = model.read.as_slice() else { panic!("{} texts are read", model.read.len()) };
        assert!((2000..=3006).contains(&read.text.len()), "{} bytes", read.text.len());
        assert!(
            read.spans.iter().any(|it| &read.text[it.clone()] == "The old abbey has a church.")
        );
        assert!(extract.answer.starts_with("The old abbey has a church."), "{extract:?}");
    };
    [0, 1, 100, 199].into_iter().for_each(check);
}

#[test]
fn as_many_letters_are_read_of_each_alphabet() {
    let read = |sentence: &str, question: &str| {
        let content: String =
            (100..300).map(|at| sentence.replace("100", &at.to_string())).collect();
        let mut model = Knowing::of("100", true);
        extract(question, &found(&[&content]), &mut model, &Default::default()).unwrap();
        let [read] = model.read.as_slice() else { panic!("{} texts are read", model.read.len()) };
        read.text.clone()
    };
    for (sentence, question) in [
        ("Sentence number 100 says nothing of interest. ", "What does the sentence say?"),
        ("Предложение номер 100 ничего нам не говорит. ", "Что говорит предложение?"),
        ("वाक्य संख्या 100 में कुछ भी रोचक नहीं कहा गया है। ", "वाक्य में क्या कहा गया है?"),
    ] {
        let letters = read(sentence, question).chars().count();
        assert!((2900..=3006).contains(&letters), "{letters} letters of {sentence}");
    }
    // A character of Chinese says as much as three letters.
    let bytes = read("第100句没有说任何有趣的事情。", "这句说了什么？").len();
    assert!((2900..=3006).contains(&bytes), "{bytes} bytes");
}

#[test]
fn a_damaged_reader_is_an_error_and_not_taken_for_none() {
    struct Damaged(ErrorKind);
    impl Embedder for Damaged {
        fn embed(&mut self, _: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            panic!("nothing is to be embedded")
        }

        fn score_spans(&mut self, _: &str, _: &[Spanned]) -> Result<Vec<SpanScores>> {
            Err(Error::new(self.0, "the reader is damaged"))
        }

        fn calibration(&mut self) -> Result<Calibration> {
            Knowing::of("", true).calibration()
        }
    }
    let contents = ["The abbey stands on a hill. Its church burned down."];
    let question = "When did the church burn down?";
    for kind in [ErrorKind::FileCorrupted, ErrorKind::DaemonLost, ErrorKind::OutOfResources] {
        let mut model = Damaged(kind);
        let outcome = extract(question, &found(&contents), &mut model, &Default::default());
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, "the reader is damaged"));
    }
}

#[test]
fn too_few_scores_are_an_error() {
    struct Short;
    impl Embedder for Short {
        fn embed(&mut self, _: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
            panic!("nothing is to be embedded")
        }

        fn score_spans(&mut self, _: &str, _: &[Spanned]) -> Result<Vec<SpanScores>> {
            Ok(Vec::new())
        }

        fn calibration(&mut self) -> Result<Calibration> {
            Knowing::of("", true).calibration()
        }
    }
    let contents = ["The abbey stands on a hill. Its church burned down."];
    let question = "When did the church burn down?";
    let error = extract(question, &found(&contents), &mut Short, &Default::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(error.message(), "0 scores for 2 places");
}

#[test]
fn a_definition_without_the_name_gives_way_to_what_the_reader_finds_much_better() {
    let contents =
        ["## shrink\n\nMakes responses smaller on their way. The shrink directive does so once."];
    let options = ExtractOptions { max_sentences: 1, threshold: 0.0, ..Default::default() };
    for (word, expected) in [
        ("smaller", "Makes responses smaller on their way. [1]"),
        ("once", "The shrink directive does so once. [1]"),
    ] {
        let mut model = Knowing::of(word, true);
        let passages = passages(&contents);
        let question = "What does the shrink directive do?";
        let extract = extract(question, &passages, &mut model, &options).unwrap();
        assert_eq!(extract.answer, expected);
    }
}

#[test]
fn a_question_what_is_not_so_is_doubtful_where_the_best_piece_says_what_is() {
    let contents = ["The abbey stands on a hill. The monks were exempt from the tax on salt."];
    let confidence = |question: &str| {
        let mut model = Knowing::of("exempt", true);
        let found = extract(question, &found(&contents), &mut model, &Default::default());
        found.unwrap().confidence
    };
    let plain = confidence("Who was exempt from the tax on salt?");
    let denied = confidence("Who was never exempt from the tax on salt?");
    assert!(plain > 0.5 && denied < plain / 2.0, "{plain} {denied}");
}

#[test]
fn a_row_without_the_price_that_is_asked_for_is_no_answer() {
    let ask = |content| {
        let mut model = Knowing::sure_of("DH-12");
        let question = "What does the DH-12 cost?";
        extract(question, &found(&[content]), &mut model, &Default::default()).unwrap()
    };
    let price = ask("| Model | Weight | Price |\n|---|---|---|\n| DH-12 | 2.3 kg | 59 EUR |");
    assert_eq!(price.answer, "Model: DH-12, Weight: 2.3 kg, Price: 59 EUR [1]");
    let row = ask("| Model | Weight | Voltage |\n|---|---|---|\n| DH-12 | 2.3 kg | 18 V |");
    assert!(!row.supported && row.answer.is_empty(), "{row:?}");
    assert_eq!(row.evidence.len(), 1);
}
