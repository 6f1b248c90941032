//! An answer is told while it is written.
//!
//! ```text
//! question → read → a language model begins → its pieces, one a row → what stands behind them, as JSON
//! ```
//!
//! Nothing that was told can be taken back, so the answer is checked when it is complete, and the last
//! row says what came of it. An answer that is not written piece by piece is told sentence by
//! sentence.
//!
//! What is kept from one row to the next is Rust's own: nothing of it lies in the memory of the call
//! in which a row is asked for.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Answer, Writing, note_times, trust, write};
use crate::answer::strategy::Opening;
use crate::chunk::sentence::sentences;
use crate::context::Reading;
use crate::daemon::protocol::{Generated, Response};
use crate::error::Result;
use crate::pg::client::Pieces;
use crate::pg::conversation::{self, Conversation};
use crate::pg::error::unexpected;
use crate::pg::functions::{EXTRACTIVE, generate_stream};
use crate::pg::search::Search;
use crate::pg::usage::ForPipeline;

/// The rows of an answer: its text in pieces, then one row of JSON.
pub struct Telling {
    state: State,
    turn: Option<Turn>,
}

/// A question of a conversation, which is to be kept with its answer.
struct Turn {
    conversation: Conversation,
    question: String,
    standalone: String,
}

/// The last row, and the answer.
struct End {
    row: String,
    answer: String,
}

enum State {
    /// A language model writes.
    Written(Box<Written>),
    /// The answer is there; these are left of it.
    Known { pieces: std::vec::IntoIter<String>, end: Option<End> },
}

/// An answer that is being written.
struct Written {
    pieces: Pieces,
    /// What was told of it.
    told: String,
    readings: Vec<Reading>,
    question: String,
    writing: Writing,
    begun: Instant,
    retrieving: Duration,
    first_piece: Option<Instant>,
}

/// Answers `question` from the pipeline that `search` searches; the answer begins before it is
/// complete.
pub fn tell(question: &str, search: &Search, writing: Writing) -> Result<Telling> {
    if writing.llm == EXTRACTIVE {
        return super::ask(question, search, &writing).map(known);
    }
    let _spending = ForPipeline::new(search.pipeline.id);
    let begun = Instant::now();
    let (opening, retrieving) = write::opening(question, search, &writing)?;
    let Some(Opening { messages, readings }) = opening else {
        return super::ask(question, search, &writing).map(known);
    };
    let Writing { llm, temperature, max_tokens, .. } = &writing;
    let pieces = generate_stream(llm, messages, *temperature, *max_tokens)?;
    let state = State::Written(Box::new(Written {
        pieces,
        told: String::new(),
        readings,
        question: question.to_owned(),
        writing,
        begun,
        retrieving,
        first_piece: None,
    }));
    Ok(Telling { state, turn: None })
}

impl Telling {
    /// The same, with the answer kept as one to `question` of a conversation, in which that means
    /// `standalone`.
    pub fn in_conversation(
        self,
        conversation: Conversation,
        question: &str,
        standalone: &str,
    ) -> Telling {
        let (question, standalone) = (question.to_owned(), standalone.to_owned());
        Telling { turn: Some(Turn { conversation, question, standalone }), ..self }
    }

    fn finish(&mut self, End { row, answer }: End) -> Result<String> {
        if let Some(Turn { conversation, question, standalone }) = self.turn.take() {
            let (question, standalone) = (question.as_str(), standalone.as_str());
            let turn = conversation::Turn { question, standalone, answer: &answer, trace: None };
            conversation.append(&turn)?;
        }
        Ok(row)
    }
}

impl Iterator for Telling {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        match &mut self.state {
            State::Known { pieces, end } => match pieces.next() {
                Some(piece) => Some(Ok(piece)),
                None => end.take().map(|end| self.finish(end)),
            },
            State::Written(written) => match written.next() {
                Ok(Response::Piece(piece)) => Some(Ok(piece)),
                Ok(Response::Text(generated)) => {
                    let end = written.end(generated);
                    self.state = State::Known { pieces: Vec::new().into_iter(), end: None };
                    Some(end.and_then(|end| self.finish(end)))
                }
                Ok(other) => Some(Err(unexpected(&other))),
                Err(error) => Some(Err(error)),
            },
        }
    }
}

impl Written {
    fn next(&mut self) -> Result<Response> {
        let response = self.pieces.next()?;
        if let Response::Piece(piece) = &response {
            self.first_piece.get_or_insert_with(Instant::now);
            self.told += piece;
        }
        Ok(response)
    }

    fn end(&mut self, generated: Generated) -> Result<End> {
        let readings = std::mem::take(&mut self.readings);
        let draft = write::draft(readings, generated);
        let mut answer = trust::checked(&self.question, draft, &self.writing.trust)?;
        let writing = |until: Duration| until.saturating_sub(self.retrieving);
        note_times(&mut answer, &self.writing.llm, self.retrieving, writing(self.begun.elapsed()));
        if let Some(first) = self.first_piece {
            answer.usage["first_piece_ms"] = super::milliseconds(writing(first - self.begun));
        }
        Ok(last_row(answer, &self.told))
    }
}

fn known(answer: Answer) -> Telling {
    let pieces: Vec<String> = in_sentences(&answer.text).map(str::to_owned).collect();
    let end = Some(last_row(answer, &pieces.concat()));
    Telling { state: State::Known { pieces: pieces.into_iter(), end }, turn: None }
}

/// `text` cut before each of its sentences but the first. A marker stays with the sentence before it.
fn in_sentences(text: &str) -> impl Iterator<Item = &str> {
    let starts = sentences(text).into_iter().skip(1).map(|range| range.start);
    let mut cuts: Vec<usize> = starts.filter(|start| !text[*start..].starts_with('[')).collect();
    cuts.push(text.len());
    let mut start = 0;
    let pieces = cuts.into_iter().map(move |end| &text[std::mem::replace(&mut start, end)..end]);
    pieces.filter(|piece| !piece.is_empty())
}

/// What `rag_answer_details` has beside the answer; and the answer where it is not what was told.
fn last_row(answer: Answer, told: &str) -> End {
    let mut row = json!({
        "citations": answer.citations,
        "supported": answer.supported,
        "confidence": answer.confidence,
        "context": answer.context,
        "usage": answer.usage,
        "trace_id": null,
        "claims": answer.claims,
        "faithfulness": answer.faithfulness,
        "needs_review": answer.needs_review,
    });
    if answer.text != told {
        row["answer"] = json!(answer.text);
    }
    End { row: row.to_string(), answer: answer.text }
}
