//! What becomes of a question that is written otherwise than the passage, or in another language.

use super::*;
use crate::embed::reader::SpanScores;

/// A model whose reader says the same of everything, and remembers what it was asked.
#[derive(Default)]
struct Listening {
    asked: Vec<String>,
}

impl Embedder for Listening {
    fn embed(&mut self, texts: &[String], _: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| bag(text)).collect())
    }

    fn score_spans(&mut self, question: &str, passages: &[Spanned]) -> Result<Vec<SpanScores>> {
        self.asked.push(question.to_owned());
        let count = passages.iter().map(|passage| passage.spans.len()).sum();
        Ok(vec![SpanScores { evidence: 0.0, answer: 0.0, relevance: 0.0 }; count])
    }

    fn calibration(&mut self) -> Result<Calibration> {
        Calibration::parse(include_str!("../../../scripts/calibration/multilingual-e5-small.json"))
    }
}

fn known<'a>(contents: &[&'a str]) -> Vec<ExtractPassage<'a>> {
    let known = |it: ExtractPassage<'a>| ExtractPassage { dense_similarity: Some(0.85), ..it };
    passages(contents).into_iter().map(known).collect()
}

/// What the reader is asked, in the order of the alphabet.
fn asked(question: &str, contents: &[&str]) -> Vec<String> {
    let mut model = Listening::default();
    extract(question, &known(contents), &mut model, &Default::default()).unwrap();
    model.asked.sort_unstable();
    model.asked
}

fn confidence(question: &str, content: &str) -> f32 {
    let (passages, mut model) = (known(&[content]), Listening::default());
    extract(question, &passages, &mut model, &Default::default()).unwrap().confidence
}

#[test]
fn the_reader_is_asked_as_each_passage_is_written() {
    let contents =
        ["From $1,250.00 on the director must sign.", "The director must sign all of 1250."];
    assert_eq!(
        asked("Who must sign from $1250 on?", &contents),
        ["Who must sign from $1,250.00 on?", "Who must sign from $1250 on?"]
    );
    assert_eq!(
        asked("WO LIEGEN DIE SCHLUESSEL?", &["Die Schlüssel liegen im Schrank."]),
        ["wo liegen die Schlüssel?"]
    );
}

#[test]
fn a_number_counts_however_it_is_written() {
    for (content, numbers, other) in [
        (
            "From $1,250.00 on the director must sign.",
            &["1,250.00", "1,250", "1250", "1.250,00", "1 250"][..],
            "1,350",
        ),
        ("Nach dem २४ Tag ist Schluss.", &["२४", "24"], "25"),
        ("手数料は１万２千円です。", &["１万２千", "12000"], "13000"),
    ] {
        let confidences: Vec<f32> =
            numbers.iter().map(|it| confidence(&format!("{it}?"), content)).collect();
        assert!(confidences.iter().all(|it| *it == confidences[0]), "{content} {confidences:?}");
        let least = confidence(&format!("{other}?"), content);
        assert!(least < confidences[0] - 0.2, "{content} {least} {confidences:?}");
    }
}

#[test]
fn words_count_however_they_are_stored_and_nearly_so_without_accents() {
    for (question, content, stored) in [
        (
            "Wie viel übernimmt die Krankenversicherung?",
            "Die Krankenversicherung übernimmt 80 Prozent.",
            "Die Kran\u{AD}ken\u{AD}versicherung u\u{308}ber\u{AD}nimmt 80 Prozent.",
        ),
        ("كم مدة الضمان؟", "مدة الضمان سنة.", "مُدَّةُ الضَّمَانِ سَنَة."),
    ] {
        assert_eq!(confidence(question, stored), confidence(question, content), "{stored}");
    }
    for (question, typed, other, content) in [
        (
            "Wo liegen die Schlüssel?",
            "Wo liegen die Schluessel?",
            "Wo liegen die Messer?",
            "Die Schlüssel liegen im Schrank.",
        ),
        (
            "Kırmızı ışık neden yanıyor?",
            "KIRMIZI IŞIK NEDEN YANIYOR?",
            "Mavi düğme neden çalışıyor?",
            "Kırmızı ışık yanıyor, pil zayıf.",
        ),
        (
            "Πού επιτρέπεται το κάπνισμα;",
            "ΠΟΥ ΕΠΙΤΡΕΠΕΤΑΙ ΤΟ ΚΑΠΝΙΣΜΑ;",
            "Πού πωλείται το εισιτήριο;",
            "Το κάπνισμα επιτρέπεται στην αυλή.",
        ),
    ] {
        let [right, typed, other] = [question, typed, other].map(|it| confidence(it, content));
        assert!(right - typed < 0.05 && typed - other > 0.05, "{right} {typed} {other} {content}");
    }
}

/// How many terms of `question` are missing in `content`, which part of them, and how many numbers.
fn missing_in(question: &str, content: &str) -> [f32; 3] {
    let (passages, options) = (known(&[content]), ExtractOptions::default());
    let observed = observe(question, &passages, &mut Listening::default(), &options).unwrap();
    let signals = observed.unwrap().reader_confidence.unwrap();
    let names = crate::embed::calibration::READER_CONFIDENCE_SIGNALS;
    let of = |name: &str| signals[names.iter().position(|it| *it == name).unwrap()];
    ["missing_terms", "missing_here", "missing_numbers"].map(of)
}

#[test]
fn words_that_a_text_in_another_language_cannot_have_are_half_missing() {
    let missing = |content: &str| missing_in("Who has to repair pump 7?", content);
    assert_eq!(missing("Trains leave at noon."), [3.0, 1.0, 1.0]);
    assert_eq!(missing("水泵由服务部门维修。"), [1.5, 0.5, 1.0]);
    assert_eq!(missing("水泵７由服务部门维修。"), [1.5, 0.5, 0.0]);
    assert_eq!(missing("De pomp wordt door het bedrijf hersteld."), [1.5, 0.5, 1.0]);
    // "Do" is a word of Vietnamese, too.
    assert_eq!(missing("Máy bơm do bộ phận dịch vụ sửa."), [1.5, 0.5, 1.0]);
    assert_eq!(missing("维修 pump 7 的部门 repair 水泵由服务部门维修。"), [0.0, 0.0, 0.0]);
}

#[test]
fn a_text_in_another_language_lacks_words_and_not_pairs_of_characters() {
    let (chinese, thai) = ("谁修理水泵？", "เครื่องสูบน้ำต้องซ่อมโดยใคร");
    let english = "Trains leave at noon.";
    assert_eq!(missing_in(chinese, english), [0.9375, 0.5, 0.0]);
    let [terms, here, _] = missing_in(thai, english);
    assert!((1.0..=3.0).contains(&terms) && here == 0.5, "{terms} {here}");
    // In the language of the question each pair counts.
    assert_eq!(missing_in(chinese, "火车中午开。"), [3.0, 1.0, 0.0]);
    let [terms, here, _] = missing_in(thai, "รถไฟจะออกตอนเที่ยง");
    assert!(terms > 12.0 && here == 1.0, "{terms} {here}");
}
