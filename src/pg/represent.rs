//! Summaries and questions of chunks: their table, and who fills it.
//!
//! ```text
//! look which texts are not described │ ask a language model, embed │ store
//!           a transaction            │            none             │ a transaction
//! ```
//!
//! They are kept by the hash of a chunk's text, so a chunk that moves, or comes back, costs
//! nothing. A chunk can be found by its own text before it is described.

use serde_json::{Value as Json, json};

use super::acting::{as_owner, as_owner_of_all, as_superuser};
use super::beside::{self, Form};
use super::capture::noted;
use super::catalog::pipeline::{self, Mode, Pipeline};
use super::catalog::representation::{self, Representation};
use super::catalog::{model, template};
use super::client::{self, Watch};
use super::error::unexpected;
use super::functions::{EXTRACTIVE, Embedding};
use super::locking::{self, Chunks};
use super::rounds::{Rounds, unless_unwanted};
use super::sql::{self, render};
use super::transaction::{Outcome, Transactions, caught};
use super::usage::ForPipeline;
use super::vector::Vector;
use super::{guc, ingest, provider, random};
use crate::context::prompt::Source as Chunk;
use crate::context::template::Template;
use crate::daemon::protocol::{GenerateRequest, Lane, ProviderConfig, Request, Response};
use crate::embed::Kind;
use crate::error::{Error, ErrorKind, Result};
use crate::represent::{self, TEMPLATE, Text, Wanted};

/// Chunks that are described between two transactions.
const CHUNKS_A_STEP: i32 = 4;

/// Longest answer of a language model, in tokens.
const TOKENS: u32 = 2000;

const FORM: Form = Form {
    label: c"representations",
    definition: include_str!("../../sql/query/create_representations.sql"),
    policy: include_str!("../../sql/query/create_policy_representations.sql"),
};

/// Has `option` hold for a pipeline of the caller: an object, or `false` or null for nothing.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let current = representation::of(pipeline.id)?;
    if matches!(option, Json::Null | Json::Bool(false)) {
        representation::set(pipeline.id, None, None)?;
        return current.map_or(Ok(()), |it| beside::drop_table(&it.relation));
    }
    let option = complete(pipeline, option)?;
    match current {
        Some(current) => {
            representation::set(pipeline.id, Some(&option), Some(&current.relation.sql))?;
        }
        None => create(pipeline, &option)?,
    }
    if let Some(successor) = pipeline::successor(pipeline.id)? {
        alter(&successor, &option)?;
    }
    noted::wake_at_commit();
    Ok(())
}

/// An error where `option` asks for something that cannot be; else the option with the name of
/// the language model, so that it does not depend on who describes.
fn complete(pipeline: &Pipeline, option: &Json) -> Result<Json> {
    let wanted = Wanted::read(option)?;
    check_mode(pipeline.mode)?;
    template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
    let llm = wanted.llm.unwrap_or_else(guc::llm);
    if llm == EXTRACTIVE {
        let message =
            "represent needs a language model, and the built-in answerer \"extractive\" is none";
        return Err(Error::new(ErrorKind::Unsupported, message).hint(
            "Name a foreign server of the wrapper rag_llm: {\"summary\": true, \"llm\": \"...\"}.",
        ));
    }
    provider::config(&llm)?;
    let mut option = option.clone();
    option["llm"] = json!(llm);
    Ok(option)
}

fn check_mode(mode: Mode) -> Result<()> {
    match mode {
        Mode::Async | Mode::Manual => Ok(()),
        Mode::Sync => Err(Error::invalid("represent is not for pipelines of the mode sync")
            .hint("A statement does not wait for a language model. Choose the mode async.")),
    }
}

/// An error where a pipeline with described chunks is to get another mode that cannot have them.
pub fn check_new_mode(pipeline: &Pipeline, mode: Option<Mode>) -> Result<()> {
    match (mode, representation::of(pipeline.id)?) {
        (Some(mode), Some(_)) => check_mode(mode),
        _ => Ok(()),
    }
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    match representation::of(old.id)? {
        Some(it) => create(successor, &it.option),
        None => Ok(()),
    }
}

fn create(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let model = model::find(Some(&pipeline.model))?;
    let (vector, dimension) = (sql::vector_schema()?, model.dimension.to_string());
    let values = [("vector", vector.as_str()), ("dimension", dimension.as_str())];
    let table = beside::create(pipeline, &FORM, &values)?;
    let chunks = &pipeline.chunk_table;
    let name = ingest::name_beside(chunks.oid, Some(c"content_hash"), c"idx");
    let values = [("name", name.as_str()), ("chunk_table", &chunks.sql)];
    sql::execute(&render(include_str!("../../sql/query/create_hash_index.sql"), &values), &[])?;
    representation::set(pipeline.id, Some(option), Some(&table))?;
    let made = representation::of(pipeline.id)?.ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the table of representations is not there")
    })?;
    ingest::index_vectors(&made.relation, "")?;
    noted::wake_at_commit();
    Ok(())
}

/// Describes chunks, step by step.
#[derive(Default)]
pub struct Describer {
    /// How far it is.
    pub rounds: Rounds,
}

/// What describes the chunks of a pipeline.
struct Tools {
    wanted: Wanted,
    template: Template,
    provider: ProviderConfig,
    embedding: Embedding,
}

/// A text to be described.
struct Missing {
    hash: Vec<u8>,
    chunk: Chunk,
}

/// What describes a text; nothing where the language model did not understand it.
struct Described {
    hash: Vec<u8>,
    texts: Vec<(Text, Vec<f32>)>,
}

impl Describer {
    /// Describes some chunks of the pipelines that are not to `wait`; how many, 0 where there is nothing
    /// to do now.
    pub fn step(
        &mut self,
        transactions: Transactions,
        only: Option<i32>,
        is_unwanted: fn() -> bool,
        wait: impl Fn(i32) -> bool,
    ) -> Outcome<usize> {
        let pipelines = transactions.run(|| as_superuser(|| representation::pipelines(only)))?;
        let pipelines = pipelines.into_iter().filter(|(id, _)| !wait(*id)).collect();
        self.rounds.step(transactions, pipelines, |id| describe_some(id, transactions, is_unwanted))
    }
}

fn describe_some(id: i32, transactions: Transactions, is_unwanted: fn() -> bool) -> Outcome<usize> {
    let Some((tools, missing)) = transactions.run(|| load(id))? else { return Ok(0) };
    let _spending = ForPipeline::new(id);
    let mut watch = unless_unwanted(is_unwanted);
    let mut described = Vec::new();
    for one in missing {
        if !described.is_empty() && is_unwanted() {
            break;
        }
        described.push(caught(|| describe(&tools, one, &mut watch))?);
    }
    let count = described.len();
    store(transactions, id, &tools, &described)?;
    Ok(count)
}

/// Hash, kind, number, text and vector.
type Row<'a> = (&'a [u8], &'a str, i32, Option<&'a str>, Option<Vector>);

/// Texts that are not described yet, and what describes them.
fn load(id: i32) -> Result<Option<(Tools, Vec<Missing>)>> {
    as_superuser(|| {
        let Some(pipeline) = pipeline::by_id(id)? else { return Ok(None) };
        let Some(Representation { wanted, relation, .. }) = representation::of(id)? else {
            return Ok(None);
        };
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        as_owner_of_all(&pipeline, || {
            let missing = missing(&pipeline, &relation.sql, &template.name)?;
            if missing.is_empty() {
                let gone = include_str!("../../sql/query/representations_forget_gone.sql");
                sql::execute(&render(gone, &tables(&pipeline, &relation.sql)), &[])?;
                return Ok(None);
            }
            let provider = provider::config(wanted.llm.as_deref().unwrap_or(EXTRACTIVE))?;
            let embedding = Embedding::with_model(Some(&pipeline.model), Lane::Bulk)?;
            Ok(Some((Tools { wanted, template, provider, embedding }, missing)))
        })
    })
}

fn tables<'a>(pipeline: &'a Pipeline, representations: &'a str) -> [(&'static str, &'a str); 2] {
    [("chunk_table", &pipeline.chunk_table.sql), ("representations", representations)]
}

fn missing(pipeline: &Pipeline, representations: &str, template: &str) -> Result<Vec<Missing>> {
    let statement = include_str!("../../sql/query/representations_missing.sql");
    let statement = render(statement, &tables(pipeline, representations));
    sql::rows(&statement, &[template.into(), CHUNKS_A_STEP.into()], |row| {
        let content = sql::required(row.get(2)?)?;
        let chunk = Chunk { heading: row.get(3)?, content, ..Chunk::default() };
        Ok(Missing { hash: sql::required(row.get(1)?)?, chunk })
    })
}

fn describe(tools: &Tools, missing: Missing, watch: &mut Watch<'_>) -> Result<Described> {
    let Missing { hash, chunk } = missing;
    let messages = represent::messages(&tools.template, &chunk, &tools.wanted, &random::nonce()?)?;
    let (provider, max_tokens) = (tools.provider.clone(), Some(TOKENS));
    let request =
        GenerateRequest { provider, messages, temperature: 0.0, max_tokens, schema: None };
    let answer = match client::call_and_watch(&Request::Generate(request), Some(watch))? {
        Response::Text(answer) => answer,
        other => return Err(unexpected(&other)),
    };
    // What cannot be read is no reason to ask again: the same model would say the same.
    let texts = represent::texts(&answer.text, &tools.wanted).unwrap_or_default();
    if texts.is_empty() {
        return Ok(Described { hash, texts: Vec::new() });
    }
    let contents: Vec<String> = texts.iter().map(|text| text.content.clone()).collect();
    let vectors = tools.embedding.embed_and_watch(&contents, Kind::Passage, watch)?;
    Ok(Described { hash, texts: texts.into_iter().zip(vectors).collect() })
}

fn store(
    transactions: Transactions,
    id: i32,
    tools: &Tools,
    described: &[Described],
) -> Outcome<()> {
    locking::at_work(transactions, id, Chunks::Written, |pipeline| {
        let Some(pipeline) = pipeline else { return Ok(()) };
        let Some(Representation { relation, .. }) = representation::of(id)? else { return Ok(()) };
        as_owner(pipeline, || insert(&relation.sql, tools, described))
    })
}

fn insert(representations: &str, tools: &Tools, described: &[Described]) -> Result<()> {
    let values = [("representations", representations), ("vector", &sql::vector_schema()?)];
    let hashes: Vec<&[u8]> = described.iter().map(|it| it.hash.as_slice()).collect();
    let forget = render(include_str!("../../sql/query/representations_forget.sql"), &values[..1]);
    sql::execute(&forget, &[hashes.into()])?;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for Described { hash, texts } in described {
        if texts.is_empty() {
            rows.push((hash, "none", 1, None, None));
        }
        rows.extend(texts.iter().map(|(text, vector)| {
            let Text { kind, no, content } = text;
            (hash.as_slice(), *kind, *no, Some(content.as_str()), Some(Vector(vector.clone())))
        }));
    }
    let insert = render(include_str!("../../sql/query/representations_insert.sql"), &values);
    let arguments = [
        tools.template.name.as_str().into(),
        rows.iter().map(|row| row.0).collect::<Vec<_>>().into(),
        rows.iter().map(|row| row.1).collect::<Vec<_>>().into(),
        rows.iter().map(|row| row.2).collect::<Vec<_>>().into(),
        rows.iter().map(|row| row.3).collect::<Vec<_>>().into(),
        rows.into_iter().map(|row| row.4).collect::<Vec<_>>().into(),
    ];
    sql::execute(&insert, &arguments).map(drop)
}
