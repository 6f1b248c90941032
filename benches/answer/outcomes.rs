//! Whether answers say what was asked for.

use pg_rag::embed::Embedder;
use pg_rag::extract::{Extract, ExtractOptions, ExtractPassage, extract};

use crate::reliability::{Answerability, JudgedAnswer};

/// An answer, and what it would say if it were not refused.
pub struct Answered {
    pub given: Extract,
    unrefused: String,
}

/// What became of some questions.
#[derive(Clone, Copy, Default)]
pub struct Outcomes {
    pub right: usize,
    pub wrong: usize,
    pub refused: usize,
    /// Questions without an answer that were answered.
    pub invented: usize,
    /// Those that were refused.
    pub withheld: usize,
}

impl Answered {
    /// The answer to `question` from `passages`.
    pub fn of(
        question: &str,
        passages: &[ExtractPassage],
        embedder: &mut dyn Embedder,
        options: &ExtractOptions,
    ) -> Answered {
        let given = extract(question, passages, embedder, options).unwrap();
        let unrefused = match given.supported {
            true => given.answer.clone(),
            false => {
                let options = ExtractOptions { threshold: 0.0, ..*options };
                extract(question, passages, embedder, &options).unwrap().answer
            }
        };
        Answered { given, unrefused }
    }

    /// Judged as [`Outcomes`] judges it, but as if it were not refused.
    pub fn judged(&self, gold: &[String]) -> JudgedAnswer {
        let text = plain(&self.unrefused);
        JudgedAnswer {
            answerability: match gold.is_empty() {
                true => Answerability::Absent,
                false => Answerability::Answerable,
            },
            confidence: self.given.confidence,
            is_right: gold.iter().any(|it| holds(&text, it)),
        }
    }
}

impl Outcomes {
    /// Counts the answer to a question of which a right one holds a part of `gold`; there is none where that is empty.
    pub fn add(&mut self, gold: &[String], answer: &Extract) -> &'static str {
        let text = plain(&answer.answer);
        let (count, outcome) = match (gold.is_empty(), answer.supported) {
            (false, false) => (&mut self.refused, "refused"),
            (false, true) if gold.iter().any(|it| holds(&text, it)) => (&mut self.right, "right"),
            (false, true) => (&mut self.wrong, "wrong"),
            (true, true) => (&mut self.invented, "answered though there is no answer"),
            (true, false) => (&mut self.withheld, "rightly refused"),
        };
        *count += 1;
        outcome
    }

    /// These and others.
    pub fn plus(self, other: Outcomes) -> Outcomes {
        Outcomes {
            right: self.right + other.right,
            wrong: self.wrong + other.wrong,
            refused: self.refused + other.refused,
            invented: self.invented + other.invented,
            withheld: self.withheld + other.withheld,
        }
    }
}

/// In lower case, without markup, and with one space where there were several.
pub fn plain(text: &str) -> String {
    let text = text.replace(['`', '*', '\\'], "").to_lowercase();
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Whether a text holds a part that no Latin letter or digit goes on with: "-m" and not "--monoarch".
pub fn holds(text: &str, part: &str) -> bool {
    let goes_on = |c: Option<char>, end: Option<char>| {
        [c, end].iter().all(|it| it.is_some_and(|c| c.is_ascii_alphanumeric()))
    };
    text.match_indices(part).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + part.len()..]);
        !goes_on(before.chars().next_back(), part.chars().next())
            && !goes_on(behind.chars().next(), part.chars().next_back())
    })
}
