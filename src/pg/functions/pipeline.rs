//! `rag_create_pipeline`, `rag_alter_pipeline`, `rag_drop_pipeline`.

use pgrx::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::chunk::ChunkingOptions;
use crate::chunk::context::CONTEXT_TOKENS;
use crate::contextual::Contextual;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::{Pipeline, PipelineStage, RefreshMode};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{activity, description, model, pipeline, question_defaults};
use crate::pg::changes::{intake, noted};
use crate::pg::derivation::{self, communities, context_lines, mentions, representations, tree};
use crate::pg::ingest::{fill, generation};
use crate::pg::pipeline::alter::{ContextChange, PipelineAlteration, chunks_are_elsewhere};
use crate::pg::pipeline::define::{check_chunk_size, check_late, check_title};
use crate::pg::pipeline::{config, content, create, metadata, schema, shards};
use crate::pg::question::defaults;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::{ExactJsonb, Jsonb};
use crate::pg::server::options::{self, names, present};
use crate::pg::server::role::{Acting, as_superuser, table_owner};
use crate::pg::server::sql;
use crate::pg::server::transaction::has_one_snapshot;
use crate::request::WrittenOptions;

/// A source with no more rows and bytes of content than this is embedded by the statement that
/// creates its pipeline, which takes seconds; workers do a larger one.
const FEW_ROWS: i64 = 2000;
const FEW_BYTES: i64 = 256 << 10;

#[derive(PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CreateOptions {
    /// Text search configuration of the lexical index, or `auto`.
    config: String,
    /// When the rows that are there are embedded.
    backfill: Backfill,
    /// What is in the pipeline.
    description: Option<String>,
    /// What is embedded with each chunk.
    contextual: Value,
    /// What a row is called: a column or an expression.
    title: Option<String>,
    /// What is made of its chunks beside them.
    represent: Option<Value>,
    /// How entities are found that the chunks name.
    graph: Value,
    /// How documents are summed up.
    tree: Value,
    /// How communities of entities are found.
    communities: Value,
    /// The schema of what is made; `None`: that of `rag.relations_schema`, or of the source.
    relations_schema: Option<String>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            config: config::AUTO.to_owned(),
            backfill: Backfill::Auto,
            description: None,
            contextual: Value::Null,
            title: None,
            represent: None,
            graph: Value::Null,
            tree: Value::Null,
            communities: Value::Null,
            relations_schema: None,
        }
    }
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Backfill {
    /// Now if they are few.
    Auto,
    /// Before the statement ends.
    Now,
    /// By the workers, after the commit.
    Background,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct AlterOptions {
    /// Text search configuration of the lexical index.
    config: Option<String>,
    /// What is in the pipeline.
    description: Option<String>,
    /// What is embedded with each chunk.
    contextual: Option<Value>,
    /// What a row is called: a column or an expression.
    title: Option<String>,
    /// What is made of its chunks beside them; `false` for nothing any more.
    represent: Option<Value>,
    /// How entities are found that the chunks name; `false`: they are not any more.
    graph: Option<Value>,
    /// How documents are summed up; `false`: they are not any more.
    tree: Option<Value>,
    /// How communities of entities are found; `false`: they are not any more.
    communities: Option<Value>,
    /// The argument of that name.
    #[serde(skip)]
    shards: Option<Vec<String>>,
}

impl AlterOptions {
    /// Whether something is to be made of the chunks.
    fn derives(&self) -> bool {
        let wanted = [&self.represent, &self.graph, &self.tree, &self.communities];
        wanted.into_iter().any(Option::is_some)
    }

    /// What is to be made of the chunks no more.
    fn dropped(&self) -> Result<Vec<DerivationKind>> {
        let kinds = [
            (&self.represent, DerivationKind::Representations),
            (&self.tree, DerivationKind::Tree),
            (&self.communities, DerivationKind::Communities),
        ];
        let is_none = |option: &Option<Value>| option.as_ref().is_some_and(|it| !it.is_object());
        let mut dropped: Vec<_> =
            kinds.into_iter().filter(|it| is_none(it.0)).map(|it| it.1).collect();
        dropped
            .extend(self.graph.as_ref().map(mentions::dropped_by).transpose()?.unwrap_or_default());
        Ok(dropped)
    }
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_create_pipeline(
    source: Option<pg_sys::Oid>,
    content: Option<&str>,
    name: Option<&str>,
    key: Option<Vec<Option<String>>>,
    metadata: Option<Vec<Option<String>>>,
    chunking: Option<Jsonb>,
    model: Option<&str>,
    refresh: Option<&str>,
    defaults: Option<ExactJsonb>,
    options: Option<Jsonb>,
    if_not_exists: Option<bool>,
    shards: Option<Vec<Option<String>>>,
) -> String {
    sql::refuse_if_read_only(c"rag_create_pipeline()");
    let request = CreateRequest {
        made_of: MadeOf::read(source, content, shards).or_report(),
        name,
        key: names("key", key).or_report(),
        metadata: names("metadata", metadata).or_report().unwrap_or_default(),
        model,
        refresh: RefreshMode::named(refresh.unwrap_or(RefreshMode::ALL[0].name())).or_report(),
        defaults: read_defaults(defaults).or_report(),
        options: options::read(options).or_report(),
        chunking: chunking_of(chunking).or_report(),
        if_not_exists: if_not_exists.unwrap_or_default(),
    };
    request.create().or_report()
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_alter_pipeline(
    pipeline: Option<&str>,
    name: Option<&str>,
    content: Option<&str>,
    metadata: Option<Vec<Option<String>>>,
    chunking: Option<Jsonb>,
    model: Option<&str>,
    refresh: Option<&str>,
    defaults: Option<ExactJsonb>,
    options: Option<Jsonb>,
    shards: Option<Vec<Option<String>>>,
) -> String {
    sql::refuse_if_read_only(c"rag_alter_pipeline()");
    let pipeline = present("pipeline", pipeline).or_report();
    let metadata = names("metadata", metadata).or_report();
    let refresh = refresh.map(RefreshMode::named).transpose().or_report();
    let mut given: AlterOptions = options::read(options).or_report();
    given.shards = names("shards", shards).or_report();
    let chunking = options::chunking_keys(chunking).or_report();
    let context = ContextChange::read(given.contextual.as_ref(), given.title.take()).or_report();
    let config = given.config.take();
    let wanted =
        PipelineAlteration { name, content, metadata, chunking, model, refresh, config, context };
    let pipeline = pipeline::owned_and_held(Some(pipeline)).or_report();
    alter(&pipeline, wanted, &given, defaults).or_report();
    name.map_or(pipeline.name, str::to_owned)
}

/// Changes a pipeline as `wanted` says, and before it what holds at once, whatever becomes of the chunks.
fn alter(
    pipeline: &Pipeline,
    wanted: PipelineAlteration<'_>,
    given: &AlterOptions,
    defaults: Option<ExactJsonb>,
) -> Result<()> {
    let AlterOptions { description, represent, graph, tree, communities, .. } = given;
    let defaults = read_defaults(defaults)?;
    if pipeline.has_shards && given.derives() {
        return Err(chunks_are_elsewhere(pipeline));
    }
    alter_shards(pipeline, given.shards.as_deref())?;
    let dropped = given.dropped()?;
    derivation::check_new_refresh(pipeline, wanted.refresh, &dropped)?;
    derivation::table::lock_before(pipeline, &dropped, wanted.needs_new_chunks())?;
    // Before a successor is made, which is to have the same; and as the chunks are to be refreshed from now on.
    let refresh = wanted.refresh.unwrap_or(pipeline.refresh);
    let refreshed = &Pipeline { refresh, ..pipeline.clone() };
    if let Some(option) = represent {
        representations::alter(refreshed, option)?;
    }
    // Communities are made of the graph: they go before it, and come behind it.
    for option in communities.iter().filter(|it| !it.is_object()) {
        communities::alter(refreshed, option)?;
    }
    if let Some(option) = graph {
        mentions::alter(refreshed, option)?;
    }
    for option in communities.iter().filter(|it| it.is_object()) {
        communities::alter(refreshed, option)?;
    }
    if let Some(option) = tree {
        tree::option::alter(refreshed, option)?;
    }
    if let Some(defaults) = defaults {
        defaults::store(pipeline, defaults)?;
    }
    wanted.carry_out(pipeline)?;
    description::store(pipeline.id, description.as_deref())
}

/// Has a pipeline over shards search others, where some are given.
fn alter_shards(pipeline: &Pipeline, shards: Option<&[String]>) -> Result<()> {
    let Some(shards) = shards else { return Ok(()) };
    if pipeline.has_shards {
        return shards::alter(pipeline, shards);
    }
    let name = &pipeline.name;
    let message = format!("pipeline \"{name}\" has its chunks here and no shards");
    Err(Error::new(ErrorKind::WrongObjectType, message).hint(
        "Create a pipeline over shards beside it, and ask both: pipeline => ARRAY['one', 'other'].",
    ))
}

#[pg_extern(sql = false)]
fn rag_drop_pipeline(pipeline: Option<&str>, if_exists: Option<bool>) -> String {
    sql::refuse_if_read_only(c"rag_drop_pipeline()");
    let name = present("pipeline", pipeline).or_report();
    drop_pipeline(name, if_exists.unwrap_or_default()).or_report();
    name.to_owned()
}

fn drop_pipeline(name: &str, if_exists: bool) -> Result<()> {
    loop {
        if if_exists && !sql::with_latest_snapshot(|| pipeline::exists(name))? {
            notice!("pipeline \"{name}\" does not exist, skipping");
            return Ok(());
        }
        // While it was waited for, another generation may have taken its place and its name.
        if create::undo(sql::with_latest_snapshot(|| pipeline::owned(Some(name)))?.id)? {
            return Ok(());
        }
    }
}

fn chunking_of(given: Option<Jsonb>) -> Result<ChunkingOptions> {
    options::chunking_keys(given).and_then(ChunkingOptions::for_pipeline)
}

/// The argument `defaults`; `None` where nothing is said.
fn read_defaults(defaults: Option<ExactJsonb>) -> Result<Option<WrittenOptions>> {
    let object = defaults.map(|given| options::object_called("defaults", given)).transpose()?;
    object.map(question_defaults::read).transpose()
}

/// The arguments of `rag_create_pipeline`.
struct CreateRequest<'a> {
    made_of: MadeOf<'a>,
    name: Option<&'a str>,
    key: Option<Vec<String>>,
    metadata: Vec<String>,
    model: Option<&'a str>,
    refresh: RefreshMode,
    defaults: Option<WrittenOptions>,
    options: CreateOptions,
    chunking: ChunkingOptions,
    if_not_exists: bool,
}

/// Of what a pipeline is to be made.
enum MadeOf<'a> {
    /// The rows of a table, whose text is a column or an expression.
    Rows { source: pg_sys::Oid, content: &'a str },
    /// Pipelines of other databases.
    Shards(Vec<String>),
}

impl<'a> MadeOf<'a> {
    fn read(
        source: Option<pg_sys::Oid>,
        content: Option<&'a str>,
        shards: Option<Vec<Option<String>>>,
    ) -> Result<Self> {
        match names("shards", shards)? {
            None => Ok(MadeOf::Rows {
                source: present("source", source)?,
                content: content.ok_or_else(no_content)?,
            }),
            Some(shards) if source.is_none() && content.is_none() => Ok(MadeOf::Shards(shards)),
            Some(_) => Err(Error::invalid("a pipeline over shards has no source here").hint(
                "Give rows that are here a pipeline of their own, and ask both: pipeline => ARRAY['here', 'elsewhere'].",
            )),
        }
    }
}

fn no_content() -> Error {
    Error::new(ErrorKind::NullNotAllowed, "content must not be NULL").hint(
        "Name the column with the text, as in rag_create_pipeline('docs', 'body'), or give an expression.",
    )
}

impl CreateRequest<'_> {
    /// The name of a pipeline over shards.
    fn create_over_shards(&self, shards: &[String]) -> Result<String> {
        let name = present("name", self.name)?;
        if self.if_not_exists && pipeline::exists(name)? {
            notice!("pipeline \"{name}\" already exists, skipping");
            return Ok(name.to_owned());
        }
        self.check_has_no_chunks()?;
        let pipeline = shards::create(name, shards)?;
        description::store(pipeline.id, self.options.description.as_deref())?;
        if let Some(defaults) = self.defaults.clone() {
            defaults::store(&pipeline, defaults)?;
        }
        Ok(pipeline.name)
    }

    /// An error where an argument says something of chunks, which the servers of shards make.
    fn check_has_no_chunks(&self) -> Result<()> {
        let description = self.options.description.clone();
        let options = CreateOptions { description, ..CreateOptions::default() };
        let arguments = [
            ("key", self.key.is_some()),
            ("metadata", !self.metadata.is_empty()),
            ("chunking", self.chunking != ChunkingOptions::for_pipeline(Map::new())?),
            ("model", self.model.is_some()),
            ("refresh", self.refresh != RefreshMode::ALL[0]),
            ("options", self.options != options),
        ];
        let Some((name, _)) = arguments.into_iter().find(|(_, is_given)| *is_given) else {
            return Ok(());
        };
        Err(Error::invalid(format!("{name} says something of chunks, which the shards have"))
            .hint("A pipeline over shards takes name, shards, defaults, if_not_exists, and of the options description."))
    }

    /// What the option `contextual` says. Where it says nothing, title and headings are context if there is a title,
    /// or if the model reads them with chunks of this size.
    fn contextual(&self, model: &model::RegisteredModel) -> Result<Contextual> {
        let room = u32::try_from(model.max_tokens).unwrap_or(u32::MAX);
        let fits = self.chunking.longest().saturating_add(CONTEXT_TOKENS) <= room;
        match &self.options.contextual {
            Value::Null if fits || self.options.title.is_some() => Ok(Contextual::Headings),
            given => Contextual::read(given),
        }
    }

    /// The pipeline's name.
    fn create(self) -> Result<String> {
        let (source, content) = match &self.made_of {
            MadeOf::Rows { source, content } => (*source, *content),
            MadeOf::Shards(shards) => return self.create_over_shards(shards),
        };
        let source = SourceTable::describe(source)?;
        let name = self.name.unwrap_or(&source.name).to_owned();
        if self.if_not_exists && pipeline::exists(&name)? {
            notice!("pipeline \"{name}\" already exists, skipping");
            return Ok(name);
        }
        let model = model::find_and_keep(self.model)?;
        check_chunk_size(&self.chunking, &model)?;
        check_late(self.chunking.late, &model)?;
        let (contextual, situated) = match self.contextual(&model)? {
            Contextual::No => (false, None),
            Contextual::Headings => (true, None),
            Contextual::Situated(wanted) => {
                (true, Some(context_lines::complete(&wanted, self.refresh, self.chunking.late)?))
            }
        };
        check_title(contextual, self.options.title.as_deref())?;
        let title = self.options.title.as_deref();
        let title = title.map(|title| content::text_expression(&source, "title", title));
        let content = content::expression(&source, content)?;
        let config = config::resolved(&self.options.config, &source, &content)?;
        let plan = create::PipelinePlan {
            schema: schema::of_new(self.options.relations_schema.as_deref(), &source)?,
            key: source.key(self.key.as_deref())?,
            content,
            contextual,
            situated,
            title: title.transpose()?,
            metadata: metadata::chosen(&source, &self.metadata)?,
            config: &config,
            refresh: self.refresh,
            stage: PipelineStage::Filling,
            predecessor: None,
            name,
            source,
            model,
            chunking: self.chunking.clone(),
        };
        let pipeline = plan.carry_out()?;
        description::store(pipeline.id, self.options.description.as_deref())?;
        // Before defaults, which may speak of it.
        mentions::create_if_wanted(&pipeline, &self.options.graph)?;
        tree::option::create_if_wanted(&pipeline, &self.options.tree)?;
        communities::create_if_wanted(&pipeline, &self.options.communities)?;
        if let Some(defaults) = self.defaults.clone() {
            defaults::store(&pipeline, defaults)?;
        }
        if let Some(option) = &self.options.represent {
            representations::alter(&pipeline, option)?;
        }
        // As the role that embeds later.
        let acting = Acting::as_role(table_owner(pipeline.source.oid));
        if self.fills_now(&pipeline)? {
            let work = fill::fill(&pipeline)?;
            drop(acting);
            as_superuser(|| activity::note_work(pipeline.id, &work))?;
            generation::finish(pipeline.id)?;
            look_again_if_old(&pipeline)?;
        } else {
            drop(acting);
            fill_later(&pipeline)?;
        }
        Ok(pipeline.name)
    }

    fn fills_now(&self, pipeline: &Pipeline) -> Result<bool> {
        match (self.refresh, self.options.backfill) {
            (RefreshMode::Sync, _) | (_, Backfill::Now) => Ok(true),
            (RefreshMode::Manual, _) | (_, Backfill::Background) => Ok(false),
            (RefreshMode::Async, Backfill::Auto) => {
                let (rows, bytes) = fill::content_size(pipeline, FEW_ROWS + 1)?;
                Ok(rows <= FEW_ROWS && bytes <= FEW_BYTES)
            }
        }
    }
}

/// Sessions that write to the source are waited for before there are triggers, and what was written
/// meanwhile is not in a snapshot that is older than that.
fn look_again_if_old(pipeline: &Pipeline) -> Result<()> {
    if !has_one_snapshot() {
        return Ok(());
    }
    intake::leave(pipeline.id, intake::ChangeKind::All)?;
    if pipeline.refresh.has_workers() {
        noted::wake_at_commit();
    }
    Ok(())
}

/// Leaves the rows that are there to the workers, or to `rag_run`.
fn fill_later(pipeline: &Pipeline) -> Result<()> {
    intake::leave(pipeline.id, intake::ChangeKind::All)?;
    let name = pgrx::spi::quote_literal(&pipeline.name);
    if pipeline.refresh.has_workers() {
        noted::wake_at_commit();
        notice!(
            "the rows of pipeline {name} are embedded in the background once this is committed; \
             rag.pipeline_status shows how far it is, and rag_wait({name}) waits"
        );
    } else {
        notice!("the rows of pipeline {name} are embedded by CALL rag_run({name})");
    }
    Ok(())
}
