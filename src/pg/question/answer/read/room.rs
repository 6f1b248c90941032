//! How many tokens of context the language model can take.

use crate::answer::example::within;
use crate::answer::form::AnswerForm;
use crate::context::budget::{Room, USUAL, room as room_in};
use crate::context::step::example_as_sent;
use crate::error::{Error, Result};
use crate::pg::question::answer::Writing;
use crate::prompt::tokens::Counter;

/// All examples together take at most this share of what the window has room for beside the question and the answer: one in so
/// many parts.
const PARTS: usize = 4;

/// Tokens of what templates say before examples.
const INTRODUCTION: usize = 64;

/// The tokens that chunks, and chunks with what was written before, may take in a call.
///
/// What the call says, which must fit into the window of the model where that is known; or what
/// the window has room for; or the usual. The built-in answerer has no window. Examples take from it, and never so much that
/// what the call says does not fit.
pub fn room(question: &str, writing: &Writing, counter: &mut dyn Counter) -> Result<Room> {
    let given = given(writing);
    let examples = match writing.examples.is_empty() {
        true => 0,
        false => sizes(&writing.examples, counter)?.iter().sum::<usize>() + INTRODUCTION,
    };
    let Some((window, most)) = most(question, writing, counter)? else {
        return Ok(of_unknown_window(given, writing.llm.is_extractive(), examples));
    };
    let usual = writing.llm.capacity().and_then(|it| it.usual);
    let usual = usual.map_or(usize::MAX, |tokens| tokens as usize);
    let room = most.saturating_sub(examples);
    match given {
        Some(tokens) if tokens > most => Err(too_much(writing, window, tokens, most)),
        _ if most == 0 => Err(too_small(writing, window)),
        Some(tokens) if tokens > 0 => Ok(Room { sources: Some(tokens.min(room)), all: Some(room) }),
        Some(_) => Ok(Room { sources: Some(room), all: Some(room) }),
        None => Ok(Room { sources: Some(room.min(usual)), all: Some(room) }),
    }
}

/// Those of `examples`, the nearest last, that take no more than their share, and leave the room for sources that the call
/// says.
pub fn fitting_examples(
    question: &str,
    examples: Vec<String>,
    writing: &Writing,
    counter: &mut dyn Counter,
) -> Result<Vec<String>> {
    let share = match most(question, writing, counter)? {
        Some((_, most)) => {
            (most / PARTS).min(most.saturating_sub(given(writing).unwrap_or_default()))
        }
        None => USUAL / PARTS,
    };
    let sizes = sizes(&examples, counter)?;
    Ok(within(examples, &sizes, share.saturating_sub(INTRODUCTION)))
}

/// The tokens that the call says sources may take.
fn given(writing: &Writing) -> Option<usize> {
    writing.context.tokens.map(|tokens| tokens as usize)
}

/// The window of the model, and the tokens that it has room for beside question and answer; `None` where it is not known.
fn most(
    question: &str,
    writing: &Writing,
    counter: &mut dyn Counter,
) -> Result<Option<(u32, usize)>> {
    let Some(window) = writing.llm.capacity().and_then(|it| it.window) else { return Ok(None) };
    let form = writing.form.as_ref().map(AnswerForm::as_sent);
    let asked: Vec<String> = [Some(question.to_owned()), form].into_iter().flatten().collect();
    let asked: usize = counter.count(&asked)?.iter().sum();
    let answer = writing.max_tokens.map(|tokens| tokens as usize);
    Ok(Some((window, room_in(window as usize, asked, answer))))
}

/// The tokens of each example as it is sent.
fn sizes(examples: &[String], counter: &mut dyn Counter) -> Result<Vec<usize>> {
    let sent: Vec<String> = examples.iter().map(|text| example_as_sent(text)).collect();
    counter.count(&sent)
}

fn of_unknown_window(given: Option<usize>, is_extractive: bool, examples: usize) -> Room {
    let usual = USUAL.saturating_sub(examples);
    match given {
        Some(0) => Room::default(),
        Some(tokens) => {
            Room { sources: Some(tokens), all: (!is_extractive).then_some(tokens.max(usual)) }
        }
        None if is_extractive => Room::default(),
        None => Room { sources: Some(usual), all: Some(usual) },
    }
}

fn too_much(writing: &Writing, window: u32, tokens: usize, room: usize) -> Error {
    let llm = writing.llm.name();
    Error::invalid(format!(
        "{tokens} tokens of context do not fit into the window of \"{llm}\", {window} tokens"
    ))
    .detail(format!(
        "Beside the question, the template and the answer there is room for {room} tokens."
    ))
    .hint("Lower the option \"context.tokens\" or \"answer.max_tokens\", or correct context_window of the server.")
}

fn too_small(writing: &Writing, window: u32) -> Error {
    let llm = writing.llm.name();
    Error::invalid(format!(
        "the window of \"{llm}\", {window} tokens, has no room for context beside the question, the template and the answer"
    ))
    .hint("Lower the option \"answer.max_tokens\", or correct context_window of the server.")
}
