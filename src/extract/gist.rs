//! # gist: which sentences say what these passages say, whatever is asked?
//!
//! ```text
//! groups of passages → a paragraph each: "First sentence. [1] Another. [3]"
//! ```
//!
//! Where the question is for the whole there is no sentence that answers it. So sentences are chosen that stand for
//! their group, as summaries of trees are made.

use std::ops::Range;

use super::wording::{AnswerFormat, quoted_sentence};
use super::{Evidence, ExtractPassage};
use crate::text::fence::fence_of_lead;
use crate::tree::digest::{QuotedSentence, digest, quotable};

/// Most sentences of a group.
const OF_GROUP: usize = 3;

/// How a gist is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GistOptions {
    /// Most sentences of all groups together.
    pub max_sentences: usize,
    /// What markup it has.
    pub format: AnswerFormat,
}

/// The gist of passages, and what it quotes. `groups` are the passages of each paragraph, the most important first.
/// `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn gist(
    passages: &[ExtractPassage<'_>],
    groups: &[Range<usize>],
    options: GistOptions,
    interrupt: &mut dyn FnMut(),
) -> (String, Vec<Evidence>) {
    let mut paragraphs = Vec::with_capacity(groups.len());
    for group in groups {
        let mut sentences = Vec::new();
        for number in group.clone() {
            interrupt();
            let passage = &passages[number];
            let open = fence_of_lead(&passage.content[..passage.lead]);
            sentences.extend(quotable(number, own(passage), open, interrupt));
        }
        paragraphs.push(digest(sentences, OF_GROUP, interrupt));
    }
    told(passages, paragraphs, options)
}

/// Paragraphs of sentences as a text, and what it quotes. The leaf of each sentence is the index of its passage.
#[must_use]
pub fn told(
    passages: &[ExtractPassage<'_>],
    paragraphs: Vec<Vec<QuotedSentence>>,
    options: GistOptions,
) -> (String, Vec<Evidence>) {
    let (mut texts, mut evidence) = (Vec::new(), Vec::new());
    for mut chosen in paragraphs {
        chosen.truncate(options.max_sentences.saturating_sub(evidence.len()));
        let said = chosen.iter().map(|sentence| {
            let words = quoted_sentence(&sentence.text, options.format);
            format!("{words} [{}]", passages[sentence.leaf].number)
        });
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            texts.push(said.join(" "));
        }
        evidence.extend(chosen.iter().map(|it| quoted_at(it, &passages[it.leaf])));
    }
    (texts.join("\n\n"), evidence)
}

/// What of a passage can be quoted.
fn own<'a>(passage: &ExtractPassage<'a>) -> &'a str {
    &passage.content[passage.lead..]
}

/// Where a sentence stands in what is read of its passage.
fn quoted_at(sentence: &QuotedSentence, passage: &ExtractPassage<'_>) -> Evidence {
    let before = passage.content[..passage.lead].chars().count();
    let start = own(passage).chars().take(sentence.chars.start as usize).map(char::len_utf8);
    let start = passage.lead + start.sum::<usize>();
    let (first, last) = (sentence.chars.start as usize, sentence.chars.end as usize);
    Evidence {
        passage: sentence.leaf,
        bytes: start..start + sentence.text.len(),
        chars: before + first..before + last,
        score: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(number: u32, content: &str, lead: usize) -> ExtractPassage<'_> {
        ExtractPassage { lead, ..ExtractPassage::of(number, content) }
    }

    fn made(passages: &[ExtractPassage<'_>], groups: &[Range<usize>], most: usize) -> String {
        let options = GistOptions { max_sentences: most, format: AnswerFormat::Plain };
        let (text, evidence) = gist(passages, groups, options, &mut || {});
        for it in evidence {
            let content = passages[it.passage].content;
            let quoted: String =
                content.chars().skip(it.chars.start).take(it.chars.end - it.chars.start).collect();
            assert_eq!(quoted, content[it.bytes.clone()]);
            assert!(it.bytes.start >= passages[it.passage].lead);
        }
        text
    }

    #[test]
    fn each_group_has_a_paragraph_of_its_sentences() {
        let passages = [
            passage(1, "The mill of Ghent grinds wheat.", 0),
            passage(2, "Größe: x\nThe **baker** of Ghent [7] bakes bread at night.", 11),
            passage(3, "The harbour of Bruges silted up in 1500.", 0),
        ];
        assert_eq!(
            made(&passages, &[0..2, 2..3], 10),
            "The mill of Ghent grinds wheat. [1] The baker of Ghent (7) bakes bread at night. [2]\n\nThe harbour of Bruges silted up in 1500. [3]"
        );
        assert_eq!(
            made(&passages, &[2..3, 0..2], 1),
            "The harbour of Bruges silted up in 1500. [3]"
        );
        assert_eq!(made(&passages, &[], 10), "");
        // What a passage goes on with may be code.
        let code = "```sql\nSELECT a FROM b WHERE c = 1;\n```\n\nRows are read one by one.";
        let lead = "```sql\n".len();
        let whole = 0..1;
        let group = std::slice::from_ref(&whole);
        assert_eq!(made(&[passage(4, code, lead)], group, 10), "Rows are read one by one. [4]");
        assert_eq!(made(&[passage(1, " ", 0)], &[0..1, 1..1], 10), "");
    }
}
