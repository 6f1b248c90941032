//! What is made of chunks, beside them: by language models in the background lines of context
//! ([`context_lines`]), summaries and questions ([`representations`]); in the background, too, but by quoting where no model is
//! named, summaries of many chunks ([`tree`]) and which entities belong together ([`communities`]); by rules, with the chunks themselves, which
//! entities they name ([`mentions`]).
//!
//! ```text
//! look what is missing │ ask a language model, many calls at once │ keep │ embed │ put the vectors
//!    a transaction     │                   none                   │  t.  │ none  │ a transaction
//! ```
//!
//! What is made in the background is a [`Derivation`] each: it says what is missing, what to ask, how to read a reply and where to keep
//! it. [`runner`] does the rest for all of them, each as a [`run`] of calls: nothing is asked twice, what
//! was paid for is kept before anything else, an item that is refused keeps no other waiting, and a
//! question of a user goes before all of it. Where no language model is asked, the step that asks makes the texts itself.

mod by_text;
pub mod column_relations;
pub mod communities;
pub mod context_lines;
pub mod extracted_relations;
mod lease;
pub mod mentions;
mod provider_calls;
pub mod representations;
mod run;
pub mod runner;
mod scheduler;
pub mod table;
pub mod tree;

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;
use serde_json::Value as Json;

use crate::contextual::ContextualOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::relations::extract::RelationExtractOptions;
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{self, Pipeline, RefreshMode};
use crate::pg::catalog::template;
use crate::pg::catalog::view::content_columns;
use crate::pg::ragd::llm::Llm;
use crate::pg::server::sql;
use crate::prompt::messages::Message;
use crate::representation::RepresentOptions;

/// Replies about an item that cannot be read before it is given up.
const MOST_REPLIES: u32 = 2;

/// What a language model is asked about: a chunk's text, or its place in a document; or what needs none, a node of a tree or
/// the entities of a graph.
#[derive(Clone, Debug, Default)]
pub struct DerivationItem {
    /// What it is known by: a hash. What is made of it is kept under the same key.
    pub key: Vec<u8>,
    /// Title and headings of the chunk.
    pub heading: Option<String>,
    /// The text of the chunk.
    pub content: String,
    /// What is read of the document around the chunk, where the derivation reads it.
    pub document: Option<String>,
    /// The node that it is, where it is one.
    node: Option<Box<tree::TreeNodeText>>,
    /// The document whose tree is whole, where it is one.
    settled: Option<tree::changes::SettledDocument>,
    /// The entities among which communities are found, where it is these.
    ties: Option<Box<communities::EntityTies>>,
    /// Replies about it that could not be read.
    unreadable_replies: u32,
}

impl DerivationItem {
    /// Whether it has been asked about as often as it is, and no reply could be read.
    fn is_unreadable(&self) -> bool {
        self.unreadable_replies >= MOST_REPLIES
    }
}

/// A text that was made of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedText {
    /// What it is, such as `summary`.
    pub kind: String,
    /// Its number among those of its kind and item, from 1.
    pub no: i32,
    /// The text that was written.
    pub content: String,
}

/// What a reply of a language model comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DerivedReply {
    /// What is kept of it.
    pub texts: Vec<DerivedText>,
    /// How much more it says, which is not kept, since the item does not prove it.
    pub dropped: usize,
    /// Whether it is not what was asked for, such as JSON that was cut, so that it says nothing of the item.
    pub is_unreadable: bool,
}

impl From<Vec<DerivedText>> for DerivedReply {
    fn from(texts: Vec<DerivedText>) -> Self {
        DerivedReply { texts, ..DerivedReply::default() }
    }
}

/// A text that is to be embedded.
#[derive(Clone, Debug)]
pub struct UnembeddedText {
    /// The key of the item that it was made of.
    pub key: Vec<u8>,
    /// What was made.
    pub text: DerivedText,
    /// What is embedded: the text, or all that its vector is to stand for.
    pub whole: String,
}

/// What of one kind is made of a pipeline's chunks. Its statements are run as the owner of the source.
pub trait Derivation {
    /// Gets ready for a run; what is to be remembered from now on, where that is something else than before.
    fn prepare(&self, _pipeline: &Pipeline, _relation: &str) -> Result<Option<Json>> {
        Ok(None)
    }

    /// At most `most` items of which nothing has been made, in the order of their keys, which come
    /// behind `after`.
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>>;

    /// How many items there are of which nothing has been made, as far as `most`.
    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64>;

    /// What the item is about: two with the same have one thing made of them.
    fn identity<'a>(&self, item: &'a DerivationItem) -> &'a [u8] {
        &item.key
    }

    /// Whether a language model is asked about an item, where there is one; [`composed`](Derivation::composed) makes what
    /// is made of the others.
    fn needs_model(&self, _item: &DerivationItem) -> bool {
        true
    }

    /// What a language model is asked about an item.
    fn messages(&self, item: &DerivationItem, nonce: &str) -> Result<Vec<Message>>;

    /// What a reply about an item says; nothing where it is of no use. That is no reason to ask again: the same model would say
    /// the same. One that cannot be read is, once.
    fn read(&self, item: &DerivationItem, reply: &str) -> DerivedReply;

    /// What is made of an item, where no language model is asked. No transaction is open meanwhile. What takes long calls
    /// `interrupt` from time to time, which may unwind.
    fn composed(
        &self,
        _: &mut DerivationItem,
        _interrupt: &mut dyn FnMut(),
    ) -> Result<Vec<DerivedText>> {
        Ok(Vec::new())
    }

    /// Whether all that there is to make is one item. It is looked for once, when a run begins.
    fn is_one_item(&self) -> bool {
        false
    }

    /// Whether what was made may be kept in `table`.
    fn may_keep(&self, _table: pg_sys::Oid, _made: &[(DerivationItem, Vec<DerivedText>)]) -> bool {
        true
    }

    /// Keeps what was made of items, or that nothing of use was.
    fn keep(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()>;

    /// What is to be remembered of what was made, beside it, by which it is known whether it is to be made again.
    fn state(&self, _: &[(DerivationItem, Vec<DerivedText>)]) -> Option<Json> {
        None
    }

    /// How many of what [`count_missing`](Derivation::count_missing) counts are done with `made`.
    fn finished(&self, made: &[(DerivationItem, Vec<DerivedText>)]) -> usize {
        made.len()
    }

    /// What is embedded of a text that was made of `item`; `None` where nothing is.
    fn whole(&self, _item: &DerivationItem, _text: &DerivedText) -> Option<String> {
        None
    }

    /// At most `most` texts that are kept and not embedded.
    fn unembedded(
        &self,
        _pipeline: &Pipeline,
        _relation: &str,
        _most: i32,
    ) -> Result<Vec<UnembeddedText>> {
        Ok(Vec::new())
    }

    /// Stores the vectors of texts. A text without a vector is one that its model refuses to embed: it is
    /// given up.
    fn put_vectors(
        &self,
        _pipeline: &Pipeline,
        _relation: &str,
        _embedded: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        Ok(())
    }

    /// Forgets what was made of items that are gone.
    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()>;
}

/// What `stored` says is made, and the language model that makes it, if it names one; `state` is what is remembered of
/// what was made.
fn loaded(
    stored: &StoredDerivation,
    state: Option<Json>,
) -> Result<(Box<dyn Derivation>, Option<String>)> {
    Ok(match stored.kind {
        DerivationKind::ContextLines => {
            let wanted: ContextualOptions = derivation::options(stored.kind, &stored.options)?;
            let llm = wanted.llm.clone();
            (Box::new(context_lines::ContextLines::load(&wanted)?), llm)
        }
        DerivationKind::Representations => {
            let wanted = RepresentOptions::read(&stored.options)?;
            let llm = wanted.llm.clone();
            (Box::new(representations::Representations::load(wanted)?), llm)
        }
        DerivationKind::Tree => {
            let trees = tree::DocumentTrees::load(&stored.options, state)?;
            let llm = trees.llm().map(str::to_owned);
            (Box::new(trees), llm)
        }
        DerivationKind::Communities => {
            (Box::new(communities::EntityCommunities::load(stored, state)?), None)
        }
        DerivationKind::ExtractedRelations => {
            let wanted: RelationExtractOptions = derivation::options(stored.kind, &stored.options)?;
            let llm = wanted.llm.clone();
            (Box::new(extracted_relations::TextRelations::load(wanted)?), llm)
        }
        DerivationKind::Mentions | DerivationKind::ColumnRelations => {
            let name = stored.kind.name();
            let message =
                format!("{name} are made with their chunks and not derived from them later");
            return Err(Error::new(ErrorKind::Internal, message));
        }
    })
}

/// An error where a pipeline, or its successor, is to be refreshed in a way in which what is derived from its chunks, but
/// for what is `dropped`, cannot be.
pub fn check_new_refresh(
    pipeline: &Pipeline,
    refresh: Option<RefreshMode>,
    dropped: &[DerivationKind],
) -> Result<()> {
    let Some(refresh) = refresh else { return Ok(()) };
    let successor = pipeline::successor(pipeline.id)?.map(|it| it.id);
    for id in [pipeline.id].into_iter().chain(successor) {
        let stays = |kind: DerivationKind| kind.is_written() && !dropped.contains(&kind);
        for stored in derivation::all(id)?.into_iter().filter(|it| stays(it.kind)) {
            check_refresh(stored.kind, refresh)?;
        }
    }
    Ok(())
}

/// An error where nothing can be derived from chunks that are refreshed so.
fn check_refresh(kind: DerivationKind, refresh: RefreshMode) -> Result<()> {
    if refresh != RefreshMode::Sync {
        return Ok(());
    }
    let waits_for = match kind {
        DerivationKind::Tree => "summaries",
        DerivationKind::Communities => "communities",
        _ => "a language model",
    };
    let message = format!("{} is not for pipelines with refresh => 'sync'", option_name(kind));
    Err(Error::invalid(message)
        .hint(format!("A statement does not wait for {waits_for}. Choose refresh => 'async'.")))
}

/// The name of the language model that writes: the one that the option names, else that of the session, so that it does not
/// depend on the role that embeds. An error where `template` is none, or no such model can be asked; `example` names one.
fn writer_named(
    kind: DerivationKind,
    template: &str,
    llm: Option<String>,
    example: &str,
) -> Result<String> {
    template::find(template)?;
    let asked = Llm::or_default(llm.as_deref())?;
    asked.provider_for(option_name(kind)).map_err(|error| {
        error.hint(format!("Name a foreign server of the wrapper rag_llm: {example}."))
    })?;
    Ok(asked.name().to_owned())
}

/// The option of a pipeline that asks for a derivation, as users write it.
fn option_name(kind: DerivationKind) -> &'static str {
    match kind {
        DerivationKind::ContextLines => "contextual \"llm\"",
        DerivationKind::Representations => "represent",
        DerivationKind::Tree => "tree",
        DerivationKind::Mentions | DerivationKind::ColumnRelations => "graph",
        DerivationKind::ExtractedRelations => "graph \"extract\"",
        DerivationKind::Communities => "communities",
    }
}

/// That two rows of the chunk table, `n` and `c`, are of one document.
fn same_document(pipeline: &Pipeline) -> Result<String> {
    let keys = content_columns(pipeline)?.keys;
    let same = keys.iter().map(|key| format!("n.{0} {1} c.{0}", key.name, key.equality()));
    Ok(same.collect::<Vec<_>>().join(" AND "))
}

/// The number that a statement counts.
fn counted(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<i64> {
    let counts = sql::rows(statement, arguments, |row| sql::required(row.get::<i64>(1)?))?;
    Ok(counts.into_iter().next().unwrap_or_default())
}
