//! # turn: who speaks in this paragraph, the one who asks or the one who answers?
//!
//! ```text
//! "Q: I lost my card. What now?" above "A: Come to the front desk." → all of the first is the question
//! ```
//!
//! Such a question begins with what the asker tells, which repeats the words of others who ask the same and answers nothing.
//! It is told by the signs of both, which have to be of one language.

use std::ops::Range;

use super::blocks::trim;
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::sentence::is_question;

/// Signs of who asks and of who answers. A colon stands behind them; a full stop, a bracket or nothing but emphasis around them
/// may behind a letter.
const SIGNS: &[(&str, &str)] = &[
    ("Q", "A"),
    ("Question", "Answer"),
    ("Frage", "Antwort"),
    ("F", "A"),
    ("Question", "Réponse"),
    ("Q", "R"),
    ("Pregunta", "Respuesta"),
    ("P", "R"),
    ("Domanda", "Risposta"),
    ("D", "R"),
    ("Pergunta", "Resposta"),
    ("Vraag", "Antwoord"),
    ("V", "A"),
    ("Pytanie", "Odpowiedź"),
    ("Soru", "Cevap"),
    ("S", "C"),
    ("Вопрос", "Ответ"),
    ("В", "О"),
    ("Питання", "Відповідь"),
    ("П", "В"),
    ("Ερώτηση", "Απάντηση"),
    ("問", "答"),
    ("问", "答"),
    ("质問", "回答"),
    ("質問", "回答"),
    ("問題", "回答"),
    ("问题", "回答"),
    ("문", "답"),
    ("질문", "답변"),
    ("سؤال", "جواب"),
];

/// What one of two says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SpokenTurn {
    /// Where it lies in the text, in bytes, without the sign before it.
    pub range: Range<usize>,
    /// Whether the one who asks says it.
    pub asks: bool,
}

/// The turns of the paragraph `text`, in order; none if it has no such signs. A question has its answer there or in the
/// paragraph `below`, and a paragraph may begin with an answer if one that `is_asked` stands above it.
pub(super) fn turns(text: &str, below: &str, is_asked: bool) -> Vec<SpokenTurn> {
    let first = |asks: bool| {
        let is_sign =
            |it: &&(&str, &str)| after_sign(text, if asks { it.0 } else { it.1 }).is_some();
        SIGNS.iter().filter(is_sign).collect::<Vec<_>>()
    };
    let signs = match first(true) {
        signs if signs.is_empty() && is_asked => first(false),
        signs => signs,
    };
    if signs.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<SpokenTurn> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let begins = |asks: bool| {
            signs.iter().find_map(|it| after_sign(line, if asks { it.0 } else { it.1 }))
        };
        let end = start + line.trim_end().len();
        let asked = begins(true).map(|at| (true, at));
        if let Some((asks, at)) = asked.or_else(|| begins(false).map(|at| (false, at))) {
            found.push(SpokenTurn { range: (start + at).min(end)..end, asks });
        } else if let Some(last) = found.last_mut() {
            last.range.end = end.max(last.range.end);
        }
        start += line.len();
    }
    found.iter_mut().for_each(|turn| turn.range = without_emphasis(text, turn.range.clone()));
    let is_answered =
        found.iter().any(|it| !it.asks) || signs.iter().any(|it| after_sign(below, it.1).is_some());
    // A letter may stand for something else: "P: 12".
    let is_letter = |it: &&(&str, &str)| it.0.chars().nth(1).is_none();
    let is_plain = signs.iter().any(is_letter);
    let mut asked = found.iter().filter(|it| it.asks);
    let is_dialogue = is_answered && asked.all(|it| !is_plain || asks(&text[it.range.clone()]));
    if is_dialogue { found } else { Vec::new() }
}

/// How questions begin that ask what to do, or how. "How heavy" is none of them, so languages that put adjectives
/// behind "how" have the verb with it.
const WHAT_TO_DO: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "how. do. i., how. do. you., how. do. we., how. can. i., how. can. you., how. can. we., how. should. i., \
             how. to., what. should. i., what. can. i., what. do. i., what. must. i., what. to. do.",
        ),
        (
            NaturalLanguage::German,
            "wie. kann. ich., wie. kann. man., wie. soll. ich., was. mache. ich., was. soll. ich., was. kann. ich., \
             was. muss. ich., was. tun.",
        ),
        (NaturalLanguage::French, "comment., que. faire., que. dois. je., que. puis. je."),
        (NaturalLanguage::Spanish, "cómo., qué. hago., qué. debo., qué. puedo., qué. tengo."),
        (
            NaturalLanguage::Italian,
            "come. posso., come. si., cosa. devo., cosa. posso., che. fare.",
        ),
        (NaturalLanguage::Portuguese, "como. posso., como. faço., o. que. devo., o. que. faço."),
        (NaturalLanguage::Dutch, "hoe. kan. ik., hoe. moet. ik., wat. moet. ik., wat. kan. ik."),
        (NaturalLanguage::Polish, "jak. mogę., co. zrobić., co. robić., co. mam."),
        (NaturalLanguage::Russian, "как. мне., что. делать., что. мне."),
    ],
    unspaced: &[],
};

/// Whether `question` is for what to do.
pub(super) fn asks_what_to_do(question: &str) -> bool {
    WHAT_TO_DO.begin(question)
}

/// Whether `text` ends with a question, which Japanese and Chinese also write with a full stop.
fn asks(text: &str) -> bool {
    is_question(text) || text.trim_end_matches('。').ends_with(['か', '吗', '嗎', '呢'])
}

/// The length of the sign `name` with what stands behind it and emphasis, if `line` begins with it: "Q:", "**Frage 2:**", "Q.", "**Q**".
fn after_sign(line: &str, name: &str) -> Option<usize> {
    let line_start = line.trim_start();
    let bare = line_start.trim_start_matches(['*', '_']);
    let emphasis = &line_start[..line_start.len() - bare.len()];
    let numbered = bare.strip_prefix(name)?;
    let rest = numbered.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let closed = rest.strip_prefix(emphasis).unwrap_or(rest);
    let is_closed = closed.len() < rest.len();
    let said = match closed.strip_prefix([':', '：']) {
        Some(said) => said,
        None if name.chars().nth(1).is_none() => without_stop(closed, is_closed)?,
        None => return None,
    };
    let said = match is_closed {
        true => said,
        false => said.strip_prefix(emphasis).unwrap_or(said),
    };
    let said = said.trim_start_matches([' ', '\t', '\u{3000}']);
    Some(line.len() - said.len())
}

/// What stands behind a letter that has no colon: behind a full stop or a bracket, or behind the emphasis where that is closed. There
/// is white space before it.
fn without_stop(behind: &str, is_closed: bool) -> Option<&str> {
    let stopped = behind.strip_prefix(['.', ')']);
    let said = stopped.or(is_closed.then_some(behind))?;
    let bare = said.trim_start_matches(['*', '_']);
    bare.starts_with(char::is_whitespace).then_some(said)
}

/// `range` of `text` without white space and without emphasis that began before it.
fn without_emphasis(text: &str, range: Range<usize>) -> Range<usize> {
    let range = trim(text, range);
    let said = &text[range.clone()];
    let bare = said.trim_end_matches(['*', '_']);
    let signs = &said[bare.len()..];
    let is_begun_before = !signs.is_empty() && !bare.contains(signs);
    if is_begun_before { range.start..range.start + bare.len() } else { range }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, below: &str, is_asked: bool) -> Vec<(bool, String)> {
        let found = turns(text, below, is_asked);
        found.into_iter().map(|it| (it.asks, text[it.range].to_owned())).collect()
    }

    #[test]
    fn who_asks_for_what_to_do_is_told() {
        assert!(asks_what_to_do("How do I cancel?") && asks_what_to_do("¿Cómo cancelo?"));
        assert!(!asks_what_to_do("How heavy is it?") && !asks_what_to_do("What happened?"));
    }

    #[test]
    fn who_asks_and_who_answers_is_told_by_signs() {
        let told =
            |asked: &str, answer: &str| vec![(true, asked.to_owned()), (false, answer.to_owned())];
        for (text, asked, answer) in [
            ("Q: I lost it. What now?\nA: Come to us.", "I lost it. What now?", "Come to us."),
            (
                "**Frage:** Er druckt nicht. Woran\nliegt das?\n**Antwort:** Sie ist leer.",
                "Er druckt nicht. Woran\nliegt das?",
                "Sie ist leer.",
            ),
            ("**Q1: What now?**\n\nA1: Rest.", "What now?", "Rest."),
            ("P: Me han cobrado. ¿Qué hago?\nR: Llame.", "Me han cobrado. ¿Qué hago?", "Llame."),
            (
                "Q：なくしました。どうしますか。\nA：連絡します。",
                "なくしました。どうしますか。",
                "連絡します。",
            ),
            ("**Q**: What?\n**A**: **Two** of them.", "What?", "**Two** of them."),
            ("Q. I lost it. What now?\nA. Come to us.", "I lost it. What now?", "Come to us."),
            ("**Q.** What now?\n**A.** Rest.", "What now?", "Rest."),
            ("**Q** What now?\n**A** Rest.", "What now?", "Rest."),
            ("В. Что делать?\nО. Ждать.", "Что делать?", "Ждать."),
            ("F1) Was nun?\nA1) Warten.", "Was nun?", "Warten."),
        ] {
            assert_eq!(read(text, "", false), told(asked, answer), "{text}");
        }
        assert_eq!(read("Q: What now?", "A: Rest.", false), [(true, "What now?".to_owned())]);
        assert_eq!(read("A: Rest.\nLong.", "", true), [(false, "Rest.\nLong.".to_owned())]);
        for text in [
            "Q: What now?",
            "A: Rest.",
            "P: 12\nR: 14",
            "Quality: high\nAge: 3",
            "F: Was?\nR: Das.",
            "Q What now?\nA Rest.",
            "Q.What now?\nA.Rest.",
            "P. Smith came.\nR. Jones did not.",
            "Frage. Was nun?\nAntwort. Warten.",
        ] {
            assert_eq!(read(text, "", false), [], "{text}");
        }
    }
}
