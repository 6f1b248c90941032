//! In which connection chunks stand: which model says so, and how chunks come to know it.
//!
//! ```text
//! look where it is not yet said │ ask a language model │ keep │  embed │ put it before the chunks
//!        a transaction          │         none         │  t.  │  none  │      a transaction
//! ```
//!
//! A chunk can be found by its own text, with title and headings, before that. What is said is kept
//! by the chunk's place: its row, its context, its text and its neighbours'. So a change in a
//! document costs as many calls as chunks have changed, and two for those beside them.

use super::provider_calls::{self, HARMLESS, ProviderReplies, StepResult};
use super::scheduler::{Scheduler, unless_unwanted};
use super::side_table::{self, TableForm};
use crate::chunk::context::in_context;
use crate::contextual::{self, AROUND, BEGINNING, ContextualOptions, DocumentPart, TEMPLATE};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::context_lines::{self, ContextLines};
use crate::pg::catalog::locking::{self, Chunks};
use crate::pg::catalog::owner::{as_owner, as_owner_of_all};
use crate::pg::catalog::pipeline::{self, Pipeline, PipelineStage, RefreshMode};
use crate::pg::catalog::view::content_columns;
use crate::pg::catalog::{relation, template};
use crate::pg::ragd::client::Watch;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::usage::ForPipeline;
use crate::pg::server::error::raise;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::{Outcome, Transactions};
use crate::pg::server::vector::Vector;
use crate::pg::server::{guc, random};
use crate::pipeline::{LineStore, Lines, PlaceHash, content_hash};
use crate::prompt::template::Template;
use crate::protocol::{Lane, ProviderConfig};

/// Chunks about which a language model is asked between two transactions.
const CHUNKS_A_STEP: i32 = 4;

/// Chunks that are embedded between two transactions, where what is said of them is known.
const KNOWN_A_STEP: i32 = 64;

const FORM: TableForm = TableForm {
    label: c"contexts",
    definition: query!(contexts.create_table),
    policy: query!(contexts.create_policy),
    comments: query!(contexts.comment_table),
};

/// An error where `wanted` cannot be; else `wanted` with the name of the language model, so that it
/// does not depend on the role that embeds.
pub fn complete(
    wanted: &ContextualOptions,
    refresh: RefreshMode,
    late: bool,
) -> Result<ContextualOptions> {
    check_refresh(refresh)?;
    if late {
        let message = "contextual \"llm\" is not for chunks that are cut late";
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("With late, each chunk is embedded within its document. Choose one of them."));
    }
    template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
    let llm = wanted.llm.clone().unwrap_or_else(guc::llm);
    Llm::named(&llm)?.provider_for("contextual \"llm\"").map_err(|error| {
        error.hint(
            "Name a foreign server of the wrapper rag_llm: {\"contextual\": {\"llm\": \"...\"}}.",
        )
    })?;
    Ok(ContextualOptions { llm: Some(llm), template: wanted.template.clone() })
}

fn check_refresh(refresh: RefreshMode) -> Result<()> {
    match refresh {
        RefreshMode::Async | RefreshMode::Manual => Ok(()),
        RefreshMode::Sync => {
            Err(Error::invalid("contextual \"llm\" is not for pipelines with refresh => 'sync'")
                .hint("A statement does not wait for a language model. Choose refresh => 'async'."))
        }
    }
}

/// An error where a pipeline, or its successor, is to be refreshed in a way that it cannot be.
pub fn check_new_refresh(pipeline: &Pipeline, refresh: Option<RefreshMode>) -> Result<()> {
    let Some(refresh) = refresh else { return Ok(()) };
    let successor = pipeline::successor(pipeline.id)?;
    let is_situated = pipeline.situated || successor.is_some_and(|it| it.situated);
    if is_situated { check_refresh(refresh) } else { Ok(()) }
}

/// Has a new pipeline's chunks be put into their connection. What has been said for the one whose
/// place it is to take holds for it as well.
pub fn create(
    pipeline: &Pipeline,
    wanted: &ContextualOptions,
    old: Option<&Pipeline>,
) -> Result<()> {
    let table = side_table::create(pipeline, &FORM, &[])?;
    let name = relation::name_beside(pipeline.chunk_table.oid, Some(c"context_key"), c"idx");
    let values = [("name", name.as_str()), ("chunk_table", &pipeline.chunk_table.sql)];
    sql::execute(&render(query!(contexts.create_index), &values), &[])?;
    context_lines::set(pipeline.id, wanted, &table)?;
    let Some(old) = old else { return Ok(()) };
    match context_lines::of(old.id)? {
        None => Ok(()),
        Some(ContextLines { relation, .. }) => {
            let inherit = query!(contexts.inherit);
            let values = [("contexts", table.as_str()), ("old", &relation.sql)];
            as_owner(pipeline, || sql::execute(&render(inherit, &values), &[])).map(drop)
        }
    }
}

/// What has been said of the places of a pipeline's chunks.
pub struct KnownLines<'a> {
    pipeline: &'a Pipeline,
    /// How the transaction is begun in which it is looked up; `None`: there is one, of the owner.
    transactions: Option<Transactions>,
}

impl<'a> KnownLines<'a> {
    /// The places of `pipeline`, if a language model is to say anything of them.
    pub fn of(pipeline: &'a Pipeline, transactions: Option<Transactions>) -> Option<Self> {
        pipeline.situated.then_some(KnownLines { pipeline, transactions })
    }
}

impl LineStore for KnownLines<'_> {
    fn lines(&mut self, places: &[PlaceHash]) -> Result<Lines> {
        let pipeline = self.pipeline;
        let Some(transactions) = self.transactions else { return known(pipeline, places) };
        let look = || as_superuser(|| as_owner(pipeline, || known(pipeline, places)));
        transactions.run(look).or_else(|failure| raise(&failure))
    }
}

fn known(pipeline: &Pipeline, places: &[PlaceHash]) -> Result<Lines> {
    let Some(ContextLines { relation, .. }) = context_lines::of(pipeline.id)? else {
        return Ok(Lines::new());
    };
    let statement = query!(contexts.known);
    let statement = render(statement, &[("contexts", &relation.sql)]);
    let places: Vec<&[u8]> = places.iter().map(PlaceHash::as_slice).collect();
    let found = sql::rows(&statement, &[places.into()], |row| {
        let place: Vec<u8> = sql::required(row.get(1)?)?;
        Ok((place, sql::required(row.get::<String>(2)?)?))
    })?;
    Ok(found.into_iter().filter_map(|(place, line)| Some((place.try_into().ok()?, line))).collect())
}

/// Puts chunks into their connection, step by step.
#[derive(Default)]
pub struct ContextWriter {
    /// How far the rounds over pipelines are.
    pub rounds: Scheduler,
}

impl ContextWriter {
    /// Does so with some chunks; how many, 0 where there is nothing to do now.
    pub fn step(
        &mut self,
        transactions: Transactions,
        only: Option<i32>,
        is_unwanted: fn() -> bool,
    ) -> Outcome<usize> {
        let pipelines = transactions.run(|| as_superuser(|| context_lines::pipelines(only)))?;
        self.rounds.step(transactions, pipelines, |id| situate_some(id, transactions, is_unwanted))
    }
}

/// What puts the chunks of a pipeline into their connection.
struct ContextTools {
    template: Template,
    provider: ProviderConfig,
    embedding: Embedding,
}

impl ContextTools {
    /// As it is kept with what it says.
    fn llm(&self) -> String {
        format!("{}/{}", self.provider.name, self.provider.model)
    }
}

/// A chunk in its place.
struct ChunkWithoutContext {
    key: Vec<u8>,
    context: Option<String>,
    content: String,
    said: Said,
}

/// What is said of a place.
enum Said {
    /// Nothing yet: this is to be read of the document.
    Not(String),
    /// This, or nothing of use.
    Line(Option<String>),
}

impl ChunkWithoutContext {
    fn line(&self) -> Option<&str> {
        match &self.said {
            Said::Line(line) => line.as_deref(),
            Said::Not(_) => None,
        }
    }

    fn is_unsaid(&self) -> bool {
        matches!(self.said, Said::Not(_))
    }

    /// The place with `line` as what a language model has said of it; `None` if that was of no use.
    fn with(self, line: Option<String>) -> ChunkWithoutContext {
        ChunkWithoutContext { said: Said::Line(line), ..self }
    }
}

fn situate_some(id: i32, transactions: Transactions, is_unwanted: fn() -> bool) -> Outcome<usize> {
    let Some((tools, places)) = transactions.run(|| load(id))? else { return Ok(0) };
    let _spending = ForPipeline::new(id);
    let mut watch = unless_unwanted(is_unwanted);
    let (unsaid, mut places): (Vec<_>, Vec<_>) =
        places.into_iter().partition(ChunkWithoutContext::is_unsaid);
    let ask = |place: Option<&ChunkWithoutContext>| ask(&tools, place, &mut watch);
    let ProviderReplies { known, refused, stopped } =
        provider_calls::about_each(unsaid, |it| &it.key, ask, is_unwanted);
    if !known.is_empty() {
        places.extend(known.into_iter().map(|(place, line)| place.with(line.flatten())));
        // Before anything else: it has been paid for.
        keep(transactions, id, &tools, &places)?;
    }
    let count = places.len();
    let embedded = provider_calls::embedded(&tools.embedding, places, whole, &mut watch);
    put_before(transactions, id, &tools, embedded.known)?;
    let (refused, stopped) = (refused.or(embedded.refused), stopped.or(embedded.stopped));
    StepResult { count, refused, stopped }.settle(transactions, id)
}

/// Chunks of a pipeline whose connection has not been said yet, or whose chunks do not know it, and
/// what is needed to change that.
fn load(id: i32) -> Result<Option<(ContextTools, Vec<ChunkWithoutContext>)>> {
    as_superuser(|| {
        let Some(pipeline) = pipeline::by_id(id)? else { return Ok(None) };
        let Some(ContextLines { wanted, relation }) = context_lines::of(id)? else {
            return Ok(None);
        };
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        as_owner_of_all(&pipeline, || {
            let llm = Llm::or_default(wanted.llm.as_deref())?;
            let provider = llm.provider_for("contextual \"llm\"")?.clone();
            let embedding = Embedding::with_model(Some(&pipeline.model), Lane::Bulk)?;
            let tools = ContextTools { template, provider, embedding };
            let places = places(&pipeline, &relation.sql, &tools)?;
            if places.is_empty() && pipeline.stage == PipelineStage::Live {
                let gone = query!(contexts.forget_gone);
                sql::execute(&render(gone, &tables(&pipeline, &relation.sql)), &[])?;
            }
            Ok((!places.is_empty()).then_some((tools, places)))
        })
    })
}

fn tables<'a>(pipeline: &'a Pipeline, contexts: &'a str) -> [(&'static str, &'a str); 2] {
    [("chunk_table", &pipeline.chunk_table.sql), ("contexts", contexts)]
}

fn places(
    pipeline: &Pipeline,
    contexts: &str,
    tools: &ContextTools,
) -> Result<Vec<ChunkWithoutContext>> {
    let tables = tables(pipeline, contexts);
    let missing = render(query!(contexts.missing), &tables);
    let arguments = [tools.template.name.as_str().into(), tools.llm().into(), CHUNKS_A_STEP.into()];
    let mut found = rows(&missing, &arguments)?;
    for (chunk, place) in &mut found {
        place.said = Said::Not(around(pipeline, *chunk)?);
    }
    if found.is_empty() {
        let unused = render(query!(contexts.unused), &tables);
        found = rows(&unused, &[KNOWN_A_STEP.into()])?;
    }
    Ok(found.into_iter().map(|(_, place)| place).collect())
}

/// Chunks by their keys, in their places.
fn rows(
    statement: &str,
    arguments: &[pgrx::datum::DatumWithOid<'_>],
) -> Result<Vec<(i64, ChunkWithoutContext)>> {
    sql::rows(statement, arguments, |row| {
        let (key, context) = (sql::required(row.get(1)?)?, row.get(3)?);
        let (content, said) = (sql::required(row.get(4)?)?, Said::Line(row.get(5)?));
        Ok((sql::required(row.get(2)?)?, ChunkWithoutContext { key, context, content, said }))
    })
}

/// What is read of the document around a chunk.
fn around(pipeline: &Pipeline, chunk: i64) -> Result<String> {
    let keys = content_columns(pipeline)?.keys;
    let same = keys.iter().map(|key| format!("n.{0} = c.{0}", key.name)).collect::<Vec<_>>();
    let values = [
        ("chunk_table", pipeline.chunk_table.sql.as_str()),
        ("same_document", &same.join(" AND ")),
    ];
    let statement = render(query!(contexts.around), &values);
    let arguments = [chunk.into(), (BEGINNING as i32).into(), (AROUND as i32).into()];
    let found = sql::rows(&statement, &arguments, |row| {
        let (start, end): (i32, i32) = (sql::required(row.get(2)?)?, sql::required(row.get(3)?)?);
        let span = start as u32..end as u32;
        let part = DocumentPart { span, content: sql::required(row.get(4)?)? };
        Ok((sql::required(row.get::<bool>(1)?)?, part))
    })?;
    let own = found.iter().find(|(is_own, _)| *is_own).map(|(_, part)| part.span.clone());
    let parts: Vec<DocumentPart> = found.into_iter().map(|(_, part)| part).collect();
    Ok(contextual::excerpt(&parts, &own.unwrap_or_default()))
}

fn ask(
    tools: &ContextTools,
    place: Option<&ChunkWithoutContext>,
    watch: &mut Watch<'_>,
) -> Result<Option<String>> {
    let nonce = random::nonce()?;
    let (context, document, content) = match place {
        Some(ChunkWithoutContext { context, content, said: Said::Not(document), .. }) => {
            (context.as_deref(), document.as_str(), content.as_str())
        }
        _ => (None, HARMLESS, HARMLESS),
    };
    let messages = contextual::messages(&tools.template, context, document, content, &nonce)?;
    Ok(contextual::line(&provider_calls::written(&tools.provider, messages, watch)?))
}

/// What is embedded of a chunk.
fn whole(place: &ChunkWithoutContext) -> String {
    in_context(place.context.as_deref(), place.line(), &place.content)
}

/// Keeps what has been said of places, with the model that said it.
fn keep(
    transactions: Transactions,
    id: i32,
    tools: &ContextTools,
    places: &[ChunkWithoutContext],
) -> Outcome<()> {
    in_pipeline(transactions, id, |_, contexts| {
        let put = query!(contexts.put);
        let arguments = [
            tools.template.name.as_str().into(),
            tools.llm().into(),
            places.iter().map(|place| place.key.as_slice()).collect::<Vec<_>>().into(),
            places.iter().map(ChunkWithoutContext::line).collect::<Vec<_>>().into(),
        ];
        sql::execute(&render(put, &[("contexts", contexts)]), &arguments).map(drop)
    })
}

/// Puts what is said of places before the chunks there. Where no model embeds that, nothing is
/// said.
fn put_before(
    transactions: Transactions,
    id: i32,
    tools: &ContextTools,
    embedded: Vec<(ChunkWithoutContext, Option<Vec<f32>>)>,
) -> Outcome<()> {
    let (mut places, mut vectors, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for (place, vector) in embedded {
        match vector {
            Some(vector) => {
                places.push(place);
                vectors.push(vector);
            }
            None => refused.push(place.with(None)),
        }
    }
    if !refused.is_empty() {
        keep(transactions, id, tools, &refused)?;
    }
    if places.is_empty() {
        return Ok(());
    }
    in_pipeline(transactions, id, |pipeline, _| {
        let values = [
            ("chunk_table", pipeline.chunk_table.sql.as_str()),
            ("vector", &sql::vector_schema()?),
        ];
        let hashes: Vec<_> = places.iter().map(|place| content_hash(&whole(place))).collect();
        let arguments = [
            places.iter().map(|place| place.key.as_slice()).collect::<Vec<_>>().into(),
            places.iter().map(ChunkWithoutContext::line).collect::<Vec<_>>().into(),
            hashes.iter().map(|hash| hash.as_slice()).collect::<Vec<_>>().into(),
            vectors.iter().cloned().map(Vector).collect::<Vec<_>>().into(),
        ];
        let statement = render(query!(contexts.use), &values);
        sql::execute(&statement, &arguments).map(drop)
    })
}

/// Does `work` as the owner of a pipeline, with the name of its table, if it is still there: the
/// pipeline may have been dropped, or another one may have taken its place.
fn in_pipeline(
    transactions: Transactions,
    id: i32,
    mut work: impl FnMut(&Pipeline, &str) -> Result<()>,
) -> Outcome<()> {
    locking::at_work(transactions, id, Chunks::Written, |pipeline| {
        let Some(pipeline) = pipeline else { return Ok(()) };
        let Some(ContextLines { relation, .. }) = context_lines::of(id)? else { return Ok(()) };
        as_owner(pipeline, || work(pipeline, &relation.sql))
    })
}
