//! # extract: which sentences answer this question?
//!
//! ```text
//! (question, passages, embedder) → best sentences, each cited, or that there are none
//! ```
//!
//! The built-in answerer writes nothing of its own. Every word of an answer stands in a passage or in its headings, so an answer
//! can be beside the point but never made up. The steps, a file each:
//!
//! ```text
//! directive        is this line one for a site generator?
//! announcement     does a sentence only say what comes next?
//! reference        does it only say where something is said?
//! blocks           content → paragraphs, items, rows, code, headings
//! quotation        which lines are quoted in a mail?
//! plain_table      is a paragraph a table without bars?
//! cell             where is a row cut into cells?
//! title            does a line name what stands below it?
//! release          does a line or a heading name a release?
//! heading_stack    below which other headings does a heading stand?
//! turn             who speaks, the one who asks or the one who answers?
//! talk             who writes what in a chat, and who began it?
//! fact_lines       does each line of a paragraph tell a fact of its own?
//! unit             a piece that can be evidence
//! units            → pieces that can be evidence
//! announced        what does an announcement among them take in?
//! beside           is code or a list among them that nobody asked for?
//! part             a stretch of one, as words
//! wrapping         did its lines end where the text did?
//! cut              a stretch of one, in sentences
//! markup           without Markdown and HTML
//! terms            the words that carry the question
//! measure          do two of them name the same unit?
//! term_places      where they stand in a text
//! answer_type      a time, a number, a name?
//! when             a date or a time of day in digits?
//! definition       what a thing is, and under which heading that stands
//! difference       in what two things differ
//! enumeration      is a list what is asked for?
//! asked_name       the name of an option or the like that is asked for
//! headline         which heading may be shown with a piece?
//! shared_lead      what the headings above a piece say of what is asked
//! candidates       units with what they share with the question
//! as_written       how would the passage write what is asked?
//! similarity       what the model says about the most promising
//! gain             may what is unread add to what answers already?
//! nearest          and about their words
//! word_similarity  what that tells about a piece
//! score            which piece holds the answer?
//! polarity         does the best say the opposite of what is asked?
//! confidence       does any?
//! identifier       is what the question names by its spelling there at all?
//! price            is a price asked of a row that has none?
//! repetition       does one say what another says?
//! reason           is a reason asked for, and which sentence says it?
//! choice           the pieces of the answer
//! antecedent       does one stand without the one before it?
//! wording          the answer's text
//! observation      all of that, for whom fits the weights
//! ```
//!
//! A question for the whole has no sentence that answers it, and goes another way: [`subject`] says what it is about,
//! [`overview`] which sentences stand for that, and [`gist`] makes paragraphs of them.
//!
//! Only the most promising pieces are embedded. The first look, at words and at what is
//! known of their passages, is good enough that a dozen of them do as well as all.

mod announced;
mod announcement;
pub(crate) mod answer_type;
mod antecedent;
mod as_written;
mod asked_name;
mod beside;
mod blocks;
mod candidates;
mod cell;
mod choice;
mod confidence;
mod cut;
mod definition;
mod difference;
mod directive;
mod enumeration;
mod fact_lines;
mod gain;
pub mod gist;
mod heading_stack;
mod headline;
mod identifier;
mod markup;
mod measure;
mod nearest;
mod observation;
pub mod overview;
mod part;
mod plain_table;
mod polarity;
mod price;
mod quotation;
mod reason;
mod reference;
mod release;
mod repetition;
mod score;
mod shared_lead;
mod similarity;
pub mod subject;
mod talk;
mod term_places;
pub(crate) mod terms;
mod title;
mod turn;
mod unit;
mod units;
mod when;
mod word_similarity;
mod wording;
mod wrapping;

#[cfg(test)]
mod tests;

use std::ops::Range;

use antecedent::with_subjects;
use candidates::{Candidates, ParsedQuestion};
use choice::choose;
use confidence::ConfidenceSignals;
use difference::AskedDifference;
pub use observation::{ExtractObservation, ObservedPiece, observe};
use score::{best_first, scores};
use similarity::{ModelBudget, similarities, similarities_and_doubts};
pub use wording::AnswerFormat;

use crate::embed::Embedder;
use crate::error::{Error, ErrorKind, Result};

/// Name of the answerer that needs no language model.
pub const EXTRACTIVE: &str = "extractive";

/// Whether `question` asks for a reason.
#[must_use]
pub fn asks_why(question: &str) -> bool {
    ParsedQuestion::read(question).asks_why
}

/// The error where `what` needs a language model and [`EXTRACTIVE`] is named as the one to use.
#[must_use]
pub fn needs_language_model(what: &str) -> Error {
    let message = format!(
        "{what} needs a language model, and the built-in answerer \"{EXTRACTIVE}\" is none"
    );
    Error::new(ErrorKind::Unsupported, message)
}

/// A retrieved chunk.
#[derive(Clone, Copy, Debug)]
pub struct ExtractPassage<'a> {
    /// The number by which it is cited.
    pub number: u32,
    /// The text of the chunk, behind what it goes on with, such as the header of its table.
    pub content: &'a str,
    /// How many bytes of `content` stand before the chunk: they are read with what follows, and not quoted
    /// alone.
    pub lead: usize,
    /// The headings it stands under.
    pub heading: Option<&'a str>,
    /// Whether `content` begins its document, so that the first sentence stands right below the title.
    pub is_beginning: bool,
    /// Cosine of its embedding with the question's; where it is not known, the passage is
    /// embedded, which costs more than all the rest.
    pub dense_similarity: Option<f32>,
}

#[cfg(test)]
impl<'a> ExtractPassage<'a> {
    /// A passage of which nothing else is known.
    fn of(number: u32, content: &'a str) -> ExtractPassage<'a> {
        ExtractPassage {
            number,
            content,
            lead: 0,
            heading: None,
            is_beginning: false,
            dense_similarity: None,
        }
    }
}

/// How an answer is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractOptions {
    /// Most pieces of evidence.
    pub max_sentences: usize,
    /// Least confidence with which an answer is given.
    pub threshold: f32,
    /// How far below the best score a further piece may be that adds a word of the question: 2 stands
    /// for odds of 1 to 7 that it holds the answer and the best one does not.
    pub margin: f32,
    /// How far below it any further piece may be.
    pub close_margin: f32,
    /// Most pieces that are embedded.
    pub max_embedded: usize,
    /// Most passages that are read, where the model has a reader; then no piece is embedded, unless it is 0. Fewer are where
    /// the reader is sure of a piece.
    pub max_read: usize,
    /// Whether of short passages more are read than that: as many as are together no longer than one that is read in part.
    pub reads_short: bool,
    /// Log odds from which on the reader is sure that a piece answers, and reads no passage that would add nothing; with
    /// infinity it reads all that it may.
    pub sure: f32,
    /// What markup the answer has.
    pub format: AnswerFormat,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        ExtractOptions {
            max_sentences: 3,
            threshold: 0.2,
            margin: 3.0,
            close_margin: 2.0,
            max_embedded: 12,
            max_read: 3,
            reads_short: true,
            sure: 4.0,
            format: AnswerFormat::Plain,
        }
    }
}

/// An answer and what it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Extract {
    /// Sentences of the passages, each followed by its citation; empty where it is not supported.
    pub answer: String,
    /// Whether the confidence reaches the threshold.
    pub supported: bool,
    /// Probability that the passages hold the answer, if that was as likely as not.
    pub confidence: f32,
    /// The best pieces in reading order, those of the best one's passage first; also there, as the nearest there is, where the answer is
    /// not supported.
    pub evidence: Vec<Evidence>,
}

/// A piece of a passage.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Index of the passage.
    pub passage: usize,
    /// Where it stands in the passage's content, in bytes.
    pub bytes: Range<usize>,
    /// Where it stands in the passage's content, in characters.
    pub chars: Range<usize>,
    /// Log odds, by which pieces of the same answer can be compared.
    pub score: f32,
}

/// Answers `question` with the best pieces of `passages`, which stand best first. A question in what two things differ is
/// answered by what each of them is where no passage tells them apart.
///
/// The embedder is called for the question, for passages whose similarity is not known, and
/// for the most promising pieces.
pub fn extract(
    question: &str,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    options: &ExtractOptions,
) -> Result<Extract> {
    let whole = found(question, passages, embedder, options)?.extract;
    let difference = AskedDifference::asked(question).filter(|_| options.max_sentences > 1);
    let is_said = |it: &AskedDifference| {
        let mut texts =
            whole.evidence.iter().map(|it| &passages[it.passage].content[it.bytes.clone()]);
        whole.supported && texts.any(|text| it.is_said_by(text))
    };
    let Some(difference) = difference.filter(|it| !is_said(it)) else { return Ok(whole) };
    let options = ExtractOptions { max_sentences: 1, ..*options };
    let mut definitions = Vec::new();
    for question in &difference.questions {
        definitions.push(found(question, passages, embedder, &options)?);
    }
    Ok(difference.answered(definitions, passages).unwrap_or(whole))
}

/// An answer, and the heading that names what its best piece defines without the name.
struct FoundAnswer {
    extract: Extract,
    heading: Option<String>,
}

fn found(
    question: &str,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    options: &ExtractOptions,
) -> Result<FoundAnswer> {
    let question = ParsedQuestion::read(question);
    let mut candidates = Candidates::read(&question, passages);
    if question.terms.is_empty() || candidates.all.is_empty() {
        return Ok(FoundAnswer { extract: nothing(), heading: None });
    }
    let calibration = embedder.calibration()?;
    let model = (&calibration, ModelBudget::of(options));
    let similarities = similarities_and_doubts(&mut candidates, passages, embedder, model)?;
    let scores = scores(&candidates, &similarities, &calibration);
    let order = best_first(&scores);
    let signals = ConfidenceSignals::gather(&candidates, &similarities, &scores, &calibration);
    let known = identifier::known_share(&question.text, passages);
    let chosen =
        choose(&candidates, passages, (&scores, &similarities.span_scores), &order, options);
    let chosen = with_subjects(&candidates, passages, chosen, options.max_sentences);
    let told = price::told_share(&candidates, order[0], &chosen, passages);
    let confidence = signals.confidence(&calibration) * known * told;
    let supported = confidence >= options.threshold;
    let answer =
        if supported { wording::word(passages, &chosen, options.format) } else { String::new() };
    let evidence = chosen
        .iter()
        .map(|it| evidence(it.passage, it.unit.range(), passages[it.passage].content, it.score));
    let extract = Extract { answer, supported, confidence, evidence: evidence.collect() };
    let heading = candidates.all[order[0]].heading_of_definition().map(str::to_owned);
    Ok(FoundAnswer { extract, heading })
}

/// All pieces of `passages` that could be evidence for `question`, the best first; none where the
/// question has no word. At most `most_embedded` are embedded; no reader is asked, which would read all passages.
pub fn ranked(
    question: &str,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    most_embedded: usize,
) -> Result<Vec<Evidence>> {
    let question = ParsedQuestion::read(question);
    let candidates = Candidates::read(&question, passages);
    if question.terms.is_empty() || candidates.all.is_empty() {
        return Ok(Vec::new());
    }
    let calibration = embedder.calibration()?;
    // A reader reads a whole passage to say something of one piece, so all that is to be made shorter would go through
    // a model first. A few dozen pieces are a part of that, and nothing is refused by what is said of them.
    let budget =
        ModelBudget { embedded: most_embedded, read: 0, reads_short: false, sure: f32::INFINITY };
    let similarities = similarities(&candidates, passages, embedder, (&calibration, budget))?;
    let scores = scores(&candidates, &similarities, &calibration);
    let piece = |index: usize| {
        let candidate = &candidates.all[index];
        let (passage, bytes) = (candidate.passage, candidate.unit.range());
        evidence(passage, bytes, passages[passage].content, scores[index])
    };
    Ok(best_first(&scores).into_iter().map(piece).collect())
}

fn nothing() -> Extract {
    Extract { answer: String::new(), supported: false, confidence: 0.0, evidence: Vec::new() }
}

fn evidence(passage: usize, bytes: Range<usize>, content: &str, score: f32) -> Evidence {
    let start = content[..bytes.start].chars().count();
    let length = content[bytes.clone()].chars().count();
    Evidence { passage, bytes, chars: start..start + length, score }
}
