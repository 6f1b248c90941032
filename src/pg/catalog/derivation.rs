//! `rag.derivation`: what is made of the chunks of pipelines, where that is kept, and how far it is.

use std::ffi::CStr;
use std::fmt::Display;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::pipeline::Relation;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::json::Jsonb;
use crate::pg::server::role::{as_superuser, by_policies};
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};

/// A kind of derivation. One that stands later here is made from what those before it have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DerivationKind {
    /// A line about each chunk that places it in its document.
    ContextLines,
    /// Summaries of chunks, and questions that they answer.
    Representations,
    /// Summaries of neighbouring chunks, of such summaries, and so on: quoted, or written by a language model where one is
    /// named.
    Tree,
    /// Entities that chunks name: made with the chunks, by no language model.
    Mentions,
    /// What columns of a row say of two entities: made with the chunks, by no language model.
    ColumnRelations,
    /// What texts say of two entities: a language model says it.
    ExtractedRelations,
    /// Which of the entities belong together: by no language model.
    Communities,
}

impl DerivationKind {
    /// All kinds, in the order in which they are made.
    pub const ALL: [DerivationKind; 7] = [
        DerivationKind::ContextLines,
        DerivationKind::Representations,
        DerivationKind::Tree,
        DerivationKind::Mentions,
        DerivationKind::ColumnRelations,
        DerivationKind::ExtractedRelations,
        DerivationKind::Communities,
    ];

    /// The name in `rag.derivation`.
    pub fn name(self) -> &'static str {
        match self {
            DerivationKind::ContextLines => "context_lines",
            DerivationKind::Representations => "representations",
            DerivationKind::Tree => "tree",
            DerivationKind::Mentions => "mentions",
            DerivationKind::ColumnRelations => "relations",
            DerivationKind::ExtractedRelations => "extracted_relations",
            DerivationKind::Communities => "communities",
        }
    }

    /// The end of the name of the table where it is kept, behind that of the chunks.
    pub fn table_label(self) -> &'static CStr {
        match self {
            DerivationKind::ContextLines => c"contexts",
            DerivationKind::Representations => c"representations",
            DerivationKind::Tree => c"tree",
            DerivationKind::Mentions => c"mentions",
            DerivationKind::ColumnRelations => c"relations",
            DerivationKind::ExtractedRelations => c"extracted",
            DerivationKind::Communities => c"communities",
        }
    }

    /// Whether it is made in the background, which takes time.
    pub fn is_written(self) -> bool {
        !matches!(self, DerivationKind::Mentions | DerivationKind::ColumnRelations)
    }

    /// Whether a language model writes it whatever its options say.
    pub fn asks_model(self) -> bool {
        matches!(
            self,
            DerivationKind::ContextLines
                | DerivationKind::Representations
                | DerivationKind::ExtractedRelations
        )
    }

    fn named(name: &str) -> Result<DerivationKind> {
        let found = DerivationKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let message = format!("unknown kind of derivation \"{name}\"");
            Error::new(ErrorKind::DataCorrupted, message)
        })
    }
}

/// A row of `rag.derivation`.
pub struct StoredDerivation {
    /// What is made.
    pub kind: DerivationKind,
    /// How it is made, in JSON.
    pub options: Json,
    /// The table where it is kept.
    pub relation: Relation,
}

/// The options of a kind, as the catalog keeps them.
pub fn options<Wanted: DeserializeOwned>(kind: DerivationKind, kept: &Json) -> Result<Wanted> {
    serde_json::from_value(kept.clone()).map_err(|error| unreadable(kind, &error))
}

/// That what the catalog keeps is none of the options of a kind.
pub fn unreadable(kind: DerivationKind, what: &dyn Display) -> Error {
    let message = format!("options of {} cannot be read: {what}", kind.name());
    Error::new(ErrorKind::DataCorrupted, message)
}

/// What of one kind is made of the chunks of a pipeline; `None` if nothing is.
pub fn of(pipeline: i32, kind: DerivationKind) -> Result<Option<StoredDerivation>> {
    let arguments = [pipeline.into(), Some(kind.name()).into()];
    let found = by_policies(|| prepared::rows(query!(derivation.find), &arguments, read))?;
    found.into_iter().next().map(stored).transpose()
}

/// All that is made of the chunks of a pipeline, in the order in which it is made.
pub fn all(pipeline: i32) -> Result<Vec<StoredDerivation>> {
    let arguments = [pipeline.into(), None::<&str>.into()];
    let found = by_policies(|| prepared::rows(query!(derivation.find), &arguments, read))?;
    let mut all = found.into_iter().map(stored).collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|it| it.kind);
    Ok(all)
}

/// The kinds of which something is still to be made of the chunks of a pipeline in the background.
pub fn unfinished(pipeline: i32) -> Result<Vec<String>> {
    as_superuser(|| {
        sql::rows(query!(derivation.unfinished), &[pipeline.into()], |row| {
            sql::required(row.get(1)?)
        })
    })
}

type DerivationRow = (String, Json, Relation);

fn read(row: &pgrx::spi::SpiHeapTupleData<'_>) -> Result<DerivationRow, pgrx::spi::Error> {
    let kind = sql::required(row.get::<String>(1)?)?;
    let options = sql::required(row.get::<Jsonb>(2)?)?.0;
    let (oid, name) = (sql::required(row.get(3)?)?, sql::required(row.get(4)?)?);
    // It may have another name by now than the snapshot shows.
    let relation = Relation { oid, sql: sql::qualified_name(oid).unwrap_or(name) };
    Ok((kind, options, relation))
}

fn stored((kind, options, relation): DerivationRow) -> Result<StoredDerivation> {
    Ok(StoredDerivation { kind: DerivationKind::named(&kind)?, options, relation })
}

/// Keeps what is made of the chunks of a pipeline of the caller's; `relation` is the name of the table
/// where that is kept. How far it was is forgotten.
pub fn set(pipeline: i32, kind: DerivationKind, options: &Json, relation: &str) -> Result<()> {
    let options = Jsonb(options.clone());
    let arguments = [pipeline.into(), kind.name().into(), options.into(), relation.into()];
    as_superuser(|| sql::execute(query!(derivation.set), &arguments)).map(drop)
}

/// Nothing of this kind is made of the chunks of a pipeline of the caller's any more.
pub fn remove(pipeline: i32, kind: DerivationKind) -> Result<()> {
    let arguments = [pipeline.into(), kind.name().into()];
    as_superuser(|| sql::execute(query!(derivation.remove), &arguments)).map(drop)
}

/// A derivation that a process is to see to.
#[derive(Clone, Debug)]
pub struct DueDerivation {
    /// The ID of the pipeline.
    pub pipeline: i32,
    /// What is made.
    pub kind: DerivationKind,
    /// A text that changes when there may be more to do.
    pub standing: String,
}

/// The derivations that workers see to, or all of the pipeline `only`; those of a pipeline in the order
/// in which they are made.
pub fn due(only: Option<i32>) -> Result<Vec<DueDerivation>> {
    let found = sql::rows(query!(derivation.due), &[only.into()], |row| {
        let (pipeline, kind) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
        Ok((pipeline, kind, sql::required(row.get(3)?)?))
    })?;
    let due = |(pipeline, kind, standing): (i32, String, String)| {
        Ok(DueDerivation { pipeline, kind: DerivationKind::named(&kind)?, standing })
    };
    let mut all = found.into_iter().map(due).collect::<Result<Vec<_>>>()?;
    all.sort_by_key(|it| (it.pipeline, it.kind));
    Ok(all)
}

/// What has been made since the last note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DerivationProgress {
    /// Items about which a language model has been asked for good, the refused ones included.
    pub done: usize,
    /// Items about which it gave nothing of use, or refused to.
    pub empty: usize,
    /// Items about which it gave no reply that could be read.
    pub unreadable: usize,
    /// How much it said beside what is kept, which the items do not prove.
    pub dropped: usize,
}

/// Adds to how far a derivation is.
pub fn note_progress(
    pipeline: i32,
    kind: DerivationKind,
    progress: DerivationProgress,
) -> Result<()> {
    let DerivationProgress { done, empty, unreadable, dropped } = progress;
    let [done, empty, unreadable, dropped] =
        [done, empty, unreadable, dropped].map(|count| (count as i64).into());
    let arguments = [pipeline.into(), kind.name().into(), done, empty, unreadable, dropped];
    sql::execute(query!(derivation.note_progress), &arguments).map(drop)
}

/// Notes that so many items are to be asked about again, about which a derivation had no reply that could be read, once what was
/// kept of that is forgotten.
pub fn ask_again(pipeline: i32, kind: DerivationKind, items: usize) -> Result<()> {
    let arguments = [pipeline.into(), kind.name().into(), (items as i64).into()];
    as_superuser(|| sql::execute(query!(derivation.ask_again), &arguments)).map(drop)
}

/// Keeps how many items a derivation still has to be asked about.
pub fn set_missing(pipeline: i32, kind: DerivationKind, missing: i64) -> Result<()> {
    let arguments = [pipeline.into(), kind.name().into(), missing.into()];
    sql::execute(query!(derivation.set_missing), &arguments).map(drop)
}

/// What was remembered of what was made, if anything. No role of users may read it: it counts rows, also hidden ones.
pub fn state(pipeline: i32, kind: DerivationKind) -> Result<Option<Json>> {
    let arguments = [pipeline.into(), kind.name().into()];
    let read = || {
        sql::rows(query!(derivation.state), &arguments, |row| {
            Ok(row.get::<Jsonb>(1)?.map(|Jsonb(state)| state))
        })
    };
    Ok(as_superuser(read)?.into_iter().next().flatten())
}

/// Remembers something of what was made, in the place of what was remembered before.
pub fn set_state(pipeline: i32, kind: DerivationKind, state: Json) -> Result<()> {
    let arguments = [pipeline.into(), kind.name().into(), Jsonb(state).into()];
    sql::execute(query!(derivation.set_state), &arguments).map(drop)
}

/// Remembers nothing any more of what was made for a pipeline of the caller's.
pub fn forget_state(pipeline: i32, kind: DerivationKind) -> Result<()> {
    let arguments = [pipeline.into(), kind.name().into()];
    as_superuser(|| sql::execute(query!(derivation.forget_state), &arguments)).map(drop)
}
