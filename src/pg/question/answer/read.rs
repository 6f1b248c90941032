//! What is read of the sources that were found.

mod means;
mod room;
mod time;
mod tokens;

use crate::answer::strategy::ReadingCalls;
use crate::context::assemble::{AssemblyJob, assembled};
use crate::context::{Means, Reading, headers};
use crate::error::Result;
use crate::extract::needs_language_model;
use crate::pg::catalog::template;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::question::options::AskedOptions;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::server::random;
use crate::prompt::messages::{PromptSource, as_sent, overview_as_sent};
use crate::prompt::tokens::Counter;
use crate::source::Source;

use super::Writing;
use means::{OnDemand, Summaries};
pub use room::room;
pub use tokens::Tokens;

/// What is read for `question` of the sources that were found for it, best first: as much as one
/// call can read, or all, where several share it.
pub fn read(
    question: &str,
    sources: Vec<Source>,
    search: &FederatedSearch,
    writing: &Writing,
    calls: ReadingCalls,
) -> Result<Vec<Reading>> {
    let options = &writing.context;
    let mut tokens = Tokens::of(search, writing)?;
    let call = room::room(question, writing, &mut tokens)?.sources;
    let budget = call.filter(|_| calls == ReadingCalls::One);
    let times = time::places(&sources, options.order_by.as_deref(), search)?;
    let time = |source: &Source| times.get(&source.id()).copied();
    let job = AssemblyJob { question, options, budget, call, time: &time };
    let mut means = Means {
        counter: &mut tokens,
        embedder: &mut OnDemand { model: search.model(), context: search.context },
        writer: &mut Summaries::new(&writing.llm, options, search.context),
        nonce: &mut random::nonce,
        templates: &template::find,
    };
    trace::found("read", String::new, || assembled(sources, &job, &mut means))
}

/// Those of `examples` for `question`, the nearest last, for which a call has room beside all else. The farthest give way.
pub fn fitting_examples(
    question: &str,
    examples: Vec<String>,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<Vec<String>> {
    if examples.is_empty() {
        return Ok(examples);
    }
    room::fitting_examples(question, examples, writing, &mut Tokens::of(search, writing)?)
}

/// An error where the options ask for what is not among the `columns` of metadata.
pub fn check_columns(asked: &AskedOptions, columns: &[ViewColumn]) -> Result<()> {
    let options = &asked.options.context;
    if let Some(names) = &options.headers {
        let known: Vec<String> = columns.iter().map(|column| column.bare()).collect();
        asked.named(&["context.headers"], headers::check(names, &known))?;
    }
    let Some(name) = &options.order_by else { return Ok(()) };
    asked.named(&["context.order_by"], time::column(name, columns).map(drop))
}

/// An error where the options have chunks summed up, and `llm` is the built-in answerer.
pub fn check_compression(asked: &AskedOptions, llm: &Llm) -> Result<()> {
    let Some(name) = asked.options.context.compression.asks().filter(|_| llm.is_extractive())
    else {
        return Ok(());
    };
    let error = needs_language_model(&format!("compression \"{name}\"")).hint("CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm, then SET rag.llm to its name. The compressions 'truncate' and 'extractive' need none.");
    asked.named(&["context.compression"], Err(error))
}

/// The tokens of each of `readings` as it is sent, and of the overview before them.
pub fn sizes(
    readings: &[Reading],
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<Vec<usize>> {
    let sent = (1..).zip(readings).map(|(number, reading)| {
        let source = PromptSource { overview: None, ..reading.prompt_source() };
        as_sent(number, &source)
    });
    let mut texts: Vec<String> = sent.collect();
    let overview = readings.first().and_then(|first| first.overview.as_deref());
    texts.push(overview.map_or_else(String::new, overview_as_sent));
    Tokens::of(search, writing)?.count(&texts)
}
