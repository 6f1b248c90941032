//! # spelling: is a word of the question misspelled?
//!
//! ```text
//! ("warrenty", words of the passages) → "warranty"
//! ```
//!
//! People type in a hurry. A word of the question that no passage holds stands for one of the passages that is spelled
//! nearly so. Short words are left alone, since another letter makes another word of them ("mare" and "maire"), and so are names
//! that are not long.

use unicode_segmentation::UnicodeSegmentation;

use super::terms::term_credit;
use crate::text::words::Word;

/// Letters of the shortest word that may be misspelled, of the shortest such name, and of the shortest word in which two
/// letters may be wrong.
const SHORTEST: usize = 7;
const SHORTEST_NAME: usize = 9;
const SHORTEST_OF_TWO: usize = 10;

/// Letters of the longest word that is looked at.
const LONGEST: usize = 40;

/// Puts in the place of each of `terms` that none of `held` stands for the nearest of those that are spelled nearly so. Gives the
/// words that were wrong and what stands in their place.
pub(super) fn correct(terms: &mut [Word], held: &[String]) -> Vec<(String, String)> {
    let mut corrected = Vec::new();
    for term in terms {
        let most = wrong_letters(term);
        if most == 0 || held.iter().any(|word| term_credit(&term.folded, word) > 0.0) {
            continue;
        }
        let letters: Vec<char> = term.folded.chars().collect();
        let near = held.iter().filter_map(|word| Some((distance(&letters, word, most)?, word)));
        if let Some((_, word)) = near.min_by_key(|(distance, _)| *distance) {
            corrected.push((std::mem::replace(&mut term.folded, word.clone()), word.clone()));
        }
    }
    corrected
}

/// `question` with the word `right` wherever it has `wrong`, in capitals or not.
pub(super) fn replaced(question: &str, wrong: &str, right: &str) -> String {
    let is_wrong = |word: &&str| word.to_lowercase() == wrong;
    let words = question.split_word_bounds();
    words.map(|word| if is_wrong(&word) { right } else { word }).collect()
}

/// Letters of `term` that may be wrong.
fn wrong_letters(term: &Word) -> usize {
    let letters = term.folded.chars().count();
    let shortest = if term.is_name { SHORTEST_NAME } else { SHORTEST };
    let is_spelled = term.folded.chars().all(|c| c.is_lowercase());
    match letters {
        _ if !is_spelled || letters < shortest || letters > LONGEST => 0,
        SHORTEST_OF_TWO.. => 2,
        _ => 1,
    }
}

/// Letters that are wrong, left out, put in or exchanged with the next one in `other`; `None` where these are more than
/// `most`, or where the first one is wrong, as people hardly write it.
fn distance(one: &[char], other: &str, most: usize) -> Option<usize> {
    let other: Vec<char> = other.chars().take(LONGEST + most).collect();
    if one.first() != other.first() || one.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut next = vec![i];
        for j in 1..=other.len() {
            let changed = row[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = changed.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|it| *it <= most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    fn corrected(question: &str, text: &str) -> Vec<String> {
        let mut terms = words(question);
        let held: Vec<String> = words(text).into_iter().map(|it| it.folded).collect();
        correct(&mut terms, &held);
        terms.into_iter().map(|it| it.folded).collect()
    }

    #[test]
    fn a_word_that_is_spelled_nearly_so_is_meant() {
        for (wrong, right) in [
            ("warrenty", "warranty"),
            ("recieve", "receive"),
            ("batttery", "battery"),
            ("wekstatt", "werkstatt"),
            ("öfnungszeiten", "öffnungszeiten"),
            ("garentie", "garantie"),
            ("cuarderno", "cuaderno"),
            ("посудамойка", "посудомойка"),
            ("acommodatoin", "accommodation"),
            ("cuarderno", "cuaderno"),
        ] {
            assert_eq!(corrected(wrong, &format!("the {right} it")), [right], "{wrong}");
        }
    }

    #[test]
    fn a_question_is_read_with_its_words_corrected() {
        assert_eq!(
            replaced("Whats the Warrenty, warrenty?", "warrenty", "warranty"),
            "Whats the warranty, warranty?"
        );
    }

    #[test]
    fn other_words_stay_as_they_are() {
        for (question, text) in [
            ("warranties", "warranty warrants"),
            ("cat", "car"),
            ("who is Kesslern", "Kesslers"),
            ("port5432", "port5433"),
            ("work_mems", "work_mem"),
            ("maire", "mare"),
            ("battery", "mattery"),
            ("desert", "dessert"),
            ("数据库的端", "数据库"),
            ("", ""),
        ] {
            let as_asked: Vec<String> = words(question).into_iter().map(|it| it.folded).collect();
            assert_eq!(corrected(question, text), as_asked, "{question}");
        }
        assert_eq!(corrected(&"a".repeat(100_000), &"b".repeat(100_000)), ["a".repeat(100_000)]);
    }
}
