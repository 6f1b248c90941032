//! # shared_lead: what does the heading above a piece say of what is asked?
//!
//! ```text
//! "## 2.3.0 (2024-11-05)" above "### Added" above "- Dark mode" → when that was added, and since which version it is there
//! ```
//!
//! The nearest heading names what is below it. Of those that it stands below, be it in the text or in the path of its headings, one that
//! is nothing but a version or a date, as in release notes, says that of all below it.

use std::ops::Range;
use std::rc::Rc;

use super::ExtractPassage;
use super::answer_type::AnswerType;
use super::candidates::ParsedQuestion;
use super::headline::{Headline, releases_above};
use super::identifier::{has_word, named_by};
use super::markup::plain;
use super::polarity::denies;
use super::term_places::{TermPlaces, closeness};
use super::terms::compared;
use super::unit::Unit;
use super::when::tells_date;
use crate::text::sentence::is_question;
use crate::text::words::{Word, words};

/// What the heading or the question that the last piece stands under shares with the question.
#[derive(Default)]
pub(super) struct SharedLead {
    /// Whether there was a piece.
    is_read: bool,
    under: Option<Range<usize>>,
    above: Rc<[Range<usize>]>,
    /// For each term of the question, how well a word of it stands for the term.
    pub credits: Vec<f32>,
    /// How closely neighbouring terms stand together in it.
    pub closeness: f32,
    /// Whether it is a question, and the one that is asked.
    pub is_asked: bool,
    /// Whether the question asks when, and that stands there.
    pub has_when: bool,
    /// Whether the question asks for a version, and a number stands there that the question has not.
    pub has_version: bool,
    /// The name of the option or the like that it is, which the question has not.
    pub name: Option<String>,
    /// What pieces are shown with that lack this: it, or the nearest above it that says when or which version.
    pub headline: Option<Headline>,
}

impl SharedLead {
    /// Reads the headings of `unit`, unless they are the last ones.
    pub fn go_to(&mut self, question: &ParsedQuestion, source: &ExtractPassage, unit: &Unit) {
        if self.is_read && self.under == unit.under && self.above == unit.above {
            return;
        }
        self.is_read = true;
        let range = unit.under.as_ref();
        let text = range.map(|it| plain(&source.content[it.clone()])).unwrap_or_default();
        let own = words(&text);
        // What a heading denies, it does not say of what the question asks for.
        let is_said = denies(&own) == denies(&question.words);
        let compared = if is_said { compared(&text, &own) } else { Vec::new() };
        let places: Vec<TermPlaces> =
            question.terms.iter().map(|term| TermPlaces::of(term, &compared)).collect();
        let asks = is_question(text.trim_end_matches(['*', '_']));
        self.is_asked = asks && question.is_asked_by(&text, &places);
        self.headline = range.cloned().map(Headline::InText);
        let shown = self.headline.as_ref().map(|it| plain(&it.text(source))).unwrap_or_default();
        (self.has_when, self.has_version) = tells(question, &shown, &words(&shown));
        let is_new = |name: &String| !has_word(&question.text.to_lowercase(), name);
        self.name = range.and_then(|it| named_by(&source.content[it.clone()])).filter(is_new);
        self.credits = places.iter().map(|places| places.credit).collect();
        self.closeness = closeness(&places);
        self.under.clone_from(&unit.under);
        self.above = Rc::clone(&unit.above);
        self.take_release(question, source, unit);
    }

    /// What the headings above that are nothing but a version or a date say.
    fn take_release(&mut self, question: &ParsedQuestion, source: &ExtractPassage, unit: &Unit) {
        for release in releases_above(unit, source) {
            let text = plain(&release.text(source));
            let own = words(&text);
            let compared = compared(&text, &own);
            for (term, credit) in question.terms.iter().zip(&mut self.credits) {
                if term.is_number {
                    *credit = credit.max(TermPlaces::of(term, &compared).credit);
                }
            }
            let says_nothing = !self.has_when && !self.has_version && self.name.is_none();
            let (has_when, has_version) = tells(question, &text, &own);
            if says_nothing && (has_when || has_version) {
                (self.has_when, self.has_version) = (has_when, has_version);
                self.headline = Some(release);
            }
        }
    }
}

/// Whether the heading `text`, which has the words `own`, says when, where the question asks that, and which version.
fn tells(question: &ParsedQuestion, text: &str, own: &[Word]) -> (bool, bool) {
    let has_when = text.contains(|c: char| c.is_ascii_digit())
        && question.asked == AnswerType::Time
        && (question.asked.is_held_by(own, &question.words) == Some(true)
            || tells_date(text, &question.text));
    let has_version = question.asks_for_version
        && has_dotted_number(text)
        && AnswerType::Number.is_held_by(own, &question.words) == Some(true);
    (has_when, has_version)
}

/// Whether a number with a point in it stands there, as those of versions are.
fn has_dotted_number(text: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices('.').any(|(at, _)| {
        is_digit(text[..at].chars().next_back()) && is_digit(text[at + 1..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::candidates::Candidates;

    #[test]
    fn a_name_is_no_part_of_a_word() {
        let is_headed = |question: &str, text: &str| {
            let question = ParsedQuestion::read(question);
            let content = format!("## `rs`\n\n{text}");
            let candidates = Candidates::read(&question, &[ExtractPassage::of(1, &content)]);
            candidates.all.last().expect("a piece").is_headed
        };
        let (waits, restarts) = ("It waits for a second.", "It restarts after a second.");
        assert!(is_headed("How long does it wait before it restarts?", waits));
        assert!(!is_headed("How long does rs wait?", waits));
        assert!(is_headed("How long does it wait?", restarts));
        assert!(!is_headed("How long does it wait?", "With rs it waits for a second."));
    }

    #[test]
    fn a_heading_that_denies_says_nothing_of_what_is_asked() {
        let credits = |question: &str, content: &str| {
            let question = ParsedQuestion::read(question);
            let candidates = Candidates::read(&question, &[ExtractPassage::of(1, content)]);
            let last = candidates.all.last().expect("a piece");
            (last.credits.iter().sum::<f32>(), last.is_of_asked_answer)
        };
        let covered = "What does the insurance cover?";
        for heading in ["What does the insurance not cover?", "What doesn't the insurance cover?"] {
            let content = format!("## {heading}\n\nAsk us. Theft and frost.");
            assert_eq!(credits(covered, &content), (0.0, false), "{heading}");
            assert!(credits(heading, &content).1, "{heading}");
        }
        let content = "## What does the insurance cover?\n\nAsk us. Theft and frost.";
        assert_eq!(credits(covered, content), (2.0, true));
        // The same terms, and another question.
        let content = "## When do I pay before a visit?\n\nAsk us. At the desk.";
        assert!(!credits("When do I pay after a visit?", content).1);
    }
}
