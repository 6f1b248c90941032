//! Summaries and questions of chunks: their table, and how it is filled.
//!
//! ```text
//! look which texts are not described │ ask a language model, embed │ store
//!           a transaction            │            none             │ a transaction
//! ```
//!
//! They are kept by the hash of a chunk's text, so a chunk that moves, or comes back, costs
//! nothing. A chunk can be found by its own text before it is described.

use pgrx::datum::DatumWithOid;
use serde_json::{Value as Json, json};

use super::provider_calls::{self, HARMLESS, ProviderReplies, StepResult};
use super::scheduler::{Scheduler, unless_unwanted};
use super::side_table::{self, TableForm};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::locking::{self, Chunks};
use crate::pg::catalog::owner::{as_owner, as_owner_of_all};
use crate::pg::catalog::pipeline::{self, Pipeline, RefreshMode};
use crate::pg::catalog::representations::{self, Representation};
use crate::pg::catalog::{model, relation, template};
use crate::pg::changes::noted;
use crate::pg::ragd::client::Watch;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::usage::ForPipeline;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::{Outcome, Transactions};
use crate::pg::server::vector::Vector;
use crate::pg::server::{guc, random};
use crate::prompt::messages::PromptSource as Chunk;
use crate::prompt::template::Template;
use crate::protocol::{Lane, ProviderConfig};
use crate::representation::{self, RepresentOptions, RepresentingText, TEMPLATE};

/// Chunks that are described between two transactions.
const CHUNKS_A_STEP: i32 = 4;

/// Texts that are embedded between two transactions, where they are known.
const TEXTS_A_STEP: i32 = 64;

const FORM: TableForm = TableForm {
    label: c"representations",
    definition: query!(representations.create_table),
    policy: query!(representations.create_policy),
    comments: query!(representations.comment_table),
};

/// Has `option` hold for a pipeline of the caller: an object, or `false` or null for nothing.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let current = representations::of(pipeline.id)?;
    if matches!(option, Json::Null | Json::Bool(false)) {
        representations::set(pipeline.id, None, None)?;
        return current.map_or(Ok(()), |it| side_table::drop_table(&it.relation));
    }
    let option = complete(pipeline, option)?;
    match current {
        Some(current) => {
            representations::set(pipeline.id, Some(&option), Some(&current.relation.sql))?;
        }
        None => create(pipeline, &option)?,
    }
    if let Some(successor) = pipeline::successor(pipeline.id)? {
        alter(&successor, &option)?;
    }
    noted::wake_at_commit();
    Ok(())
}

/// An error where `option` asks for something that cannot be; else the option with the name of the
/// language model, so that it does not depend on the role that describes.
fn complete(pipeline: &Pipeline, option: &Json) -> Result<Json> {
    let wanted = RepresentOptions::read(option)?;
    check_refresh(pipeline.refresh)?;
    template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
    let llm = wanted.llm.unwrap_or_else(guc::llm);
    Llm::named(&llm)?.provider_for("represent").map_err(|error| {
        error.hint(
            "Name a foreign server of the wrapper rag_llm: {\"summary\": true, \"llm\": \"...\"}.",
        )
    })?;
    let mut option = option.clone();
    option["llm"] = json!(llm);
    Ok(option)
}

fn check_refresh(refresh: RefreshMode) -> Result<()> {
    match refresh {
        RefreshMode::Async | RefreshMode::Manual => Ok(()),
        RefreshMode::Sync => {
            Err(Error::invalid("represent is not for pipelines with refresh => 'sync'")
                .hint("A statement does not wait for a language model. Choose refresh => 'async'."))
        }
    }
}

/// An error where a pipeline with described chunks is to be refreshed in a way that cannot have them.
pub fn check_new_refresh(pipeline: &Pipeline, refresh: Option<RefreshMode>) -> Result<()> {
    match (refresh, representations::of(pipeline.id)?) {
        (Some(refresh), Some(_)) => check_refresh(refresh),
        _ => Ok(()),
    }
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    match representations::of(old.id)? {
        Some(it) => create(successor, &it.option),
        None => Ok(()),
    }
}

fn create(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let model = model::find(Some(&pipeline.model))?;
    let (vector, dimension) = (sql::vector_schema()?, model.dimension.to_string());
    let values = [("vector", vector.as_str()), ("dimension", dimension.as_str())];
    let table = side_table::create(pipeline, &FORM, &values)?;
    let chunks = &pipeline.chunk_table;
    let name = relation::name_beside(chunks.oid, Some(c"content_hash"), c"idx");
    let values = [("name", name.as_str()), ("chunk_table", &chunks.sql)];
    sql::execute(&render(query!(representations.create_index), &values), &[])?;
    representations::set(pipeline.id, Some(option), Some(&table))?;
    let made = representations::of(pipeline.id)?.ok_or_else(|| {
        Error::new(ErrorKind::Internal, "the table of representations is not there")
    })?;
    relation::index_vectors(&made.relation, "")?;
    noted::wake_at_commit();
    Ok(())
}

/// Hash, kind, number and text.
type RepresentationRow<'a> = (&'a [u8], &'a str, i32, Option<&'a str>);

/// Describes chunks, step by step.
#[derive(Default)]
pub struct RepresentationWriter {
    /// How far the rounds over pipelines are.
    pub rounds: Scheduler,
}

/// What describes the chunks of a pipeline.
struct Representer {
    wanted: RepresentOptions,
    template: Template,
    provider: ProviderConfig,
    embedding: Embedding,
}

/// What there is to do for a pipeline.
struct RepresentationWork {
    tools: Representer,
    missing: Vec<Missing>,
    /// Texts without vectors: what embeds them was away when they were written.
    unembedded: Vec<StoredText>,
}

/// A text to be described.
struct Missing {
    hash: Vec<u8>,
    chunk: Chunk,
}

/// A text that describes the one with this hash.
struct StoredText {
    hash: Vec<u8>,
    kind: String,
    no: i32,
    content: String,
}

impl RepresentationWriter {
    /// Describes some chunks of the pipelines that are not to `wait`; how many, 0 where there is nothing
    /// to do now.
    pub fn step(
        &mut self,
        transactions: Transactions,
        only: Option<i32>,
        is_unwanted: fn() -> bool,
        wait: impl Fn(i32) -> bool,
    ) -> Outcome<usize> {
        let pipelines = transactions.run(|| as_superuser(|| representations::pipelines(only)))?;
        let pipelines = pipelines.into_iter().filter(|(id, _)| !wait(*id)).collect();
        self.rounds.step(transactions, pipelines, |id| describe_some(id, transactions, is_unwanted))
    }
}

fn describe_some(id: i32, transactions: Transactions, is_unwanted: fn() -> bool) -> Outcome<usize> {
    let Some(RepresentationWork { tools, missing, mut unembedded }) =
        transactions.run(|| load(id))?
    else {
        return Ok(0);
    };
    let _spending = ForPipeline::new(id);
    let mut watch = unless_unwanted(is_unwanted);
    let describe = |it: Option<&Missing>| describe(&tools, it, &mut watch);
    let ProviderReplies { known, refused, stopped } =
        provider_calls::about_each(missing, |it| &it.hash, describe, is_unwanted);
    let count = known.len() + unembedded.len();
    if !known.is_empty() {
        // Before anything else: it has been paid for.
        keep(transactions, id, &tools, &known)?;
        unembedded.extend(known.into_iter().flat_map(|(it, texts)| written(&it, texts)));
    }
    let text = |it: &StoredText| it.content.clone();
    let embedded = provider_calls::embedded(&tools.embedding, unembedded, text, &mut watch);
    if !embedded.known.is_empty() {
        put_vectors(transactions, id, embedded.known)?;
    }
    let (refused, stopped) = (refused.or(embedded.refused), stopped.or(embedded.stopped));
    StepResult { count, refused, stopped }.settle(transactions, id)
}

fn written(missing: &Missing, texts: Option<Vec<RepresentingText>>) -> Vec<StoredText> {
    let hash = &missing.hash;
    let of_chunk = |RepresentingText { kind, no, content }: RepresentingText| {
        let (hash, kind) = (hash.clone(), kind.to_owned());
        StoredText { hash, kind, no, content }
    };
    texts.unwrap_or_default().into_iter().map(of_chunk).collect()
}

/// Texts that are not described yet, or not in whole, and what describes them.
fn load(id: i32) -> Result<Option<RepresentationWork>> {
    as_superuser(|| {
        let Some(pipeline) = pipeline::by_id(id)? else { return Ok(None) };
        let Some(Representation { wanted, relation, .. }) = representations::of(id)? else {
            return Ok(None);
        };
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        as_owner_of_all(&pipeline, || {
            let missing = missing(&pipeline, &relation.sql, &template.name)?;
            let unembedded = match missing.is_empty() {
                true => unembedded(&relation.sql)?,
                false => Vec::new(),
            };
            if missing.is_empty() && unembedded.is_empty() {
                let gone = query!(representations.forget_gone);
                sql::execute(&render(gone, &tables(&pipeline, &relation.sql)), &[])?;
                return Ok(None);
            }
            let llm = Llm::or_default(wanted.llm.as_deref())?;
            let provider = llm.provider_for("represent")?.clone();
            let embedding = Embedding::with_model(Some(&pipeline.model), Lane::Bulk)?;
            let tools = Representer { wanted, template, provider, embedding };
            Ok(Some(RepresentationWork { tools, missing, unembedded }))
        })
    })
}

fn tables<'a>(pipeline: &'a Pipeline, representations: &'a str) -> [(&'static str, &'a str); 2] {
    [("chunk_table", &pipeline.chunk_table.sql), ("representations", representations)]
}

fn missing(pipeline: &Pipeline, representations: &str, template: &str) -> Result<Vec<Missing>> {
    let statement = query!(representations.missing);
    let statement = render(statement, &tables(pipeline, representations));
    sql::rows(&statement, &[template.into(), CHUNKS_A_STEP.into()], |row| {
        let content = sql::required(row.get(2)?)?;
        let chunk = Chunk { heading: row.get(3)?, content, ..Chunk::default() };
        Ok(Missing { hash: sql::required(row.get(1)?)?, chunk })
    })
}

fn unembedded(representations: &str) -> Result<Vec<StoredText>> {
    let statement = query!(representations.unembedded);
    let statement = render(statement, &[("representations", representations)]);
    sql::rows(&statement, &[TEXTS_A_STEP.into()], |row| {
        let (hash, kind) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
        let (no, content) = (sql::required(row.get(3)?)?, sql::required(row.get(4)?)?);
        Ok(StoredText { hash, kind, no, content })
    })
}

fn describe(
    tools: &Representer,
    missing: Option<&Missing>,
    watch: &mut Watch<'_>,
) -> Result<Vec<RepresentingText>> {
    let harmless = Chunk { content: HARMLESS.to_owned(), ..Chunk::default() };
    let chunk = missing.map_or(&harmless, |it| &it.chunk);
    let messages =
        representation::messages(&tools.template, chunk, &tools.wanted, &random::nonce()?)?;
    let answer = provider_calls::written(&tools.provider, messages, watch)?;
    // What cannot be read is no reason to ask again: the same model would say the same.
    Ok(representation::texts(&answer, &tools.wanted).unwrap_or_default())
}

/// Keeps what describes texts, or that nothing does.
fn keep(
    transactions: Transactions,
    id: i32,
    tools: &Representer,
    described: &[(Missing, Option<Vec<RepresentingText>>)],
) -> Outcome<()> {
    in_pipeline(transactions, id, |representations| {
        let values = [("representations", representations)];
        let hashes: Vec<&[u8]> = described.iter().map(|(it, _)| it.hash.as_slice()).collect();
        let forget = render(query!(representations.forget), &values);
        sql::execute(&forget, &[hashes.into()])?;
        let mut rows: Vec<RepresentationRow<'_>> = Vec::new();
        for (Missing { hash, .. }, texts) in described {
            match texts.as_deref().unwrap_or_default() {
                [] => rows.push((hash, "none", 1, None)),
                texts => rows.extend(texts.iter().map(|RepresentingText { kind, no, content }| {
                    (hash.as_slice(), *kind, *no, Some(content.as_str()))
                })),
            }
        }
        let insert = render(query!(representations.insert), &values);
        let arguments = [
            tools.template.name.as_str().into(),
            rows.iter().map(|row| row.0).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.1).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.2).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.3).collect::<Vec<_>>().into(),
        ];
        sql::execute(&insert, &arguments).map(drop)
    })
}

/// Gives texts their vectors. A text that no model embeds is forgotten.
fn put_vectors(
    transactions: Transactions,
    id: i32,
    embedded: Vec<(StoredText, Option<Vec<f32>>)>,
) -> Outcome<()> {
    let (embedded, refused): (Vec<_>, Vec<_>) =
        embedded.into_iter().partition(|(_, vector)| vector.is_some());
    in_pipeline(transactions, id, |representations| {
        let values = [("representations", representations), ("vector", &sql::vector_schema()?)];
        let embed = render(query!(representations.embed), &values);
        let vectors = embedded.iter().map(|(_, vector)| vector.clone().map(Vector));
        let [hashes, kinds, numbers] = keys(&embedded);
        let contents = embedded.iter().map(|(it, _)| it.content.as_str()).collect::<Vec<_>>();
        let vectors = vectors.collect::<Vec<_>>().into();
        sql::execute(&embed, &[hashes, kinds, numbers, contents.into(), vectors])?;
        let give_up = query!(representations.give_up);
        sql::execute(&render(give_up, &values[..1]), &keys(&refused)).map(drop)
    })
}

/// Hashes, kinds and numbers.
fn keys<'a, V>(texts: &'a [(StoredText, V)]) -> [DatumWithOid<'a>; 3] {
    [
        texts.iter().map(|(it, _)| it.hash.as_slice()).collect::<Vec<_>>().into(),
        texts.iter().map(|(it, _)| it.kind.as_str()).collect::<Vec<_>>().into(),
        texts.iter().map(|(it, _)| it.no).collect::<Vec<_>>().into(),
    ]
}

/// Does `work` as the owner of a pipeline, with the name of its table, if it is still there.
fn in_pipeline(
    transactions: Transactions,
    id: i32,
    mut work: impl FnMut(&str) -> Result<()>,
) -> Outcome<()> {
    locking::at_work(transactions, id, Chunks::Written, |pipeline| {
        let Some(pipeline) = pipeline else { return Ok(()) };
        let Some(Representation { relation, .. }) = representations::of(id)? else { return Ok(()) };
        as_owner(pipeline, || work(&relation.sql))
    })
}
