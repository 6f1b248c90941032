//! How many tokens of context the language model can take.

use crate::answer::form::AnswerForm;
use crate::context::budget::{Room, USUAL, room as room_in};
use crate::error::{Error, Result};
use crate::pg::question::answer::Writing;
use crate::prompt::tokens::Counter;

/// The tokens that chunks, and chunks with what was written before, may take in a call.
///
/// What the call says, which must fit into the window of the model where that is known; or what
/// the window has room for; or the usual. The built-in answerer has no window.
pub fn room(question: &str, writing: &Writing, counter: &mut dyn Counter) -> Result<Room> {
    let given = writing.context.tokens.map(|tokens| tokens as usize);
    let capacity = writing.llm.capacity();
    let Some(window) = capacity.and_then(|it| it.window) else {
        return Ok(of_unknown_window(given, writing.llm.is_extractive()));
    };
    let usual = capacity.and_then(|it| it.usual).map_or(usize::MAX, |tokens| tokens as usize);
    let form = writing.form.as_ref().map(AnswerForm::as_sent);
    let asked = [Some(question.to_owned()), form].into_iter().flatten();
    let asked: Vec<String> = asked.chain(writing.examples.iter().cloned()).collect();
    let asked: usize = counter.count(&asked)?.iter().sum();
    let answer = writing.max_tokens.map(|tokens| tokens as usize);
    let room = room_in(window as usize, asked, answer);
    match given {
        Some(tokens) if tokens > room => Err(too_much(writing, window, tokens, room)),
        _ if room == 0 => Err(too_small(writing, window)),
        Some(tokens) if tokens > 0 => Ok(Room { sources: Some(tokens), all: Some(room) }),
        Some(_) => Ok(Room { sources: Some(room), all: Some(room) }),
        None => Ok(Room { sources: Some(room.min(usual)), all: Some(room) }),
    }
}

fn of_unknown_window(given: Option<usize>, is_extractive: bool) -> Room {
    match given {
        Some(0) => Room::default(),
        Some(tokens) => {
            Room { sources: Some(tokens), all: (!is_extractive).then_some(tokens.max(USUAL)) }
        }
        None if is_extractive => Room::default(),
        None => Room { sources: Some(USUAL), all: Some(USUAL) },
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
