//! # repetition: does this piece say what another one has said?
//!
//! ```text
//! "To remove it, call rag_drop." behind "To remove a pipeline, call rag_drop." → yes: it adds no word that tells
//! ```
//!
//! A manual gives the same steps on several pages, in nearly the same words. Who has read them once learns nothing from the
//! second time. But reports that differ in a figure, in a name or in a "not" are alike that way and say other things.

use super::polarity::denies;
use crate::text::function_word::is_function_word_of;
use crate::text::language::language;
use crate::text::number::is_same_number;
use crate::text::number_run::{joined_words, readings};
use crate::text::words::{Word, credit};

/// Part of the words that tell which must stand in the other piece.
const NEARLY_ALL: f32 = 0.9;

/// Words that tell below which a piece says the same only if all of them do.
const SHORTEST: usize = 3;

/// Whether all that `text` says stands in `other`, one figure, name and negation as the other.
pub(super) fn is_repeated(text: &str, other: &str) -> bool {
    let held: Vec<Word> = readings(other).into_iter().map(|it| it.word).collect();
    let is_number = |number: &str| held.iter().any(|it| is_same_number(number, &it.folded));
    let own = joined_words(text, &is_number);
    let language = language(text);
    let tells = |word: &&Word| !is_function_word_of(&word.folded, language);
    let telling: Vec<&Word> = own.iter().filter(tells).collect();
    let is_held = |word: &Word| match is_exact(word) {
        true => held.iter().any(|it| it.folded == word.folded || is_same(it, word)),
        false => held.iter().any(|it| credit(&word.folded, &it.folded) > 0.0),
    };
    let count = telling.iter().filter(|it| is_held(it)).count() as f32;
    telling.len() >= SHORTEST
        && telling.iter().filter(|it| is_exact(it)).all(|it| is_held(it))
        && count >= NEARLY_ALL * telling.len() as f32
        && denies(&own) == denies(&held)
}

/// Whether both are one number, however it is written.
fn is_same(word: &Word, other: &Word) -> bool {
    word.is_number && other.is_number && is_same_number(&word.folded, &other.folded)
}

/// Whether no other word stands for it: a figure, a name, what a program calls so, a sign of a script without spaces.
fn is_exact(word: &Word) -> bool {
    word.is_number
        || word.is_name
        || word.folded.contains('_')
        || word.folded.chars().nth(1).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = "To remove a pipeline with its chunks, call rag_drop as its owner.";

    #[test]
    fn what_was_said_is_said_again() {
        for text in [
            STEP,
            "To remove pipelines, their owner calls rag_drop.",
            "Call rag_drop to remove the chunks of a pipeline.",
        ] {
            assert!(is_repeated(text, STEP), "{text}");
        }
        let price = "Rooms for 36,000 guests stand beside the old mill.";
        assert!(is_repeated(&price.replace("36,000", "36, 000"), price));
        assert!(is_repeated(price, &price.replace("36,000", "36 000")));
        assert!(!is_repeated(&price.replace("36,000", "36, 001"), price));
        let german = "Bücher sind innerhalb von 30 Tagen zurückzugeben, an der Kasse.";
        assert!(is_repeated("An der Kasse sind Bücher zurückzugeben.", german));
        let russian = "Книги возвращают в кассу за 30 дней.";
        assert!(is_repeated("Книги возвращают в кассу.", russian));
    }

    #[test]
    fn what_differs_in_what_tells_is_not_said_again() {
        for text in [
            "To remove a pipeline with its chunks, call rag_stop as its owner.",
            "To remove a pipeline with its 3 chunks, call rag_drop as its owner.",
            "To remove a pipeline without its chunks, call rag_drop as its owner.",
            "To remove a pipeline with its chunks at Bonn, call rag_drop as its owner.",
            "Do not call rag_drop to remove a pipeline with its chunks.",
            "Nobody but a superuser can call rag_drop for a pipeline.",
            "Call rag_drop.",
        ] {
            assert!(!is_repeated(text, STEP), "{text}");
        }
        let plan = "The Team plan costs extra for each month and for each user of it.";
        assert!(!is_repeated(&plan.replace("Team", "Pro"), plan));
    }
}
