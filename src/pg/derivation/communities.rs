//! Communities: which of the entities that a pipeline's chunks name belong together.
//!
//! All of them are found at once, from all mentions, so they are made again only when a share of the mentions is new or
//! gone, and the search begins at what is known. What is read of the mentions is let go before the search, which takes
//! seconds for a million edges: no transaction waits for it.

use std::cell::Cell;

use pgrx::pg_sys;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::table::{self, TableForm};
use super::{Derivation, DerivationItem, DerivedReply, DerivedText, check_refresh};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::communities::hierarchy::hierarchy;
use crate::graph::communities::membership::{Membership, MembershipChange, changes, known};
use crate::graph::communities::network::WeightedNetwork;
use crate::graph::communities::options::CommunityOptions;
use crate::graph::communities::ties::ties;
use crate::graph::walk::most_chunks_of_entity;
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::kept_reply;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::sql::{self, query, render};
use crate::prompt::messages::Message;
use crate::spare;

const KIND: DerivationKind = DerivationKind::Communities;

/// What [`DerivedText::kind`] says of communities, which are no text.
const PARTITION: &str = "communities";

/// Bytes that a mention takes at most while it is read, with the statement's rows, and an edge while communities are
/// looked for.
const MENTION_BYTES: usize = 80;
const EDGE_BYTES: usize = 80;

/// The key of the one item that there is.
const ALL: [u8; 1] = [1];

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(communities.create_table),
    leaves: (query!(communities.leaf), "chunk_id"),
    comments: query!(communities.comment_table),
};

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for no
/// communities. Fails where there is no graph, of which they are made.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let is_wanted = CommunityOptions::read(option)?.is_some();
    if is_wanted {
        check_refresh(KIND, pipeline.refresh)?;
    } else {
        kept_reply::forget(pipeline.id)?;
    }
    table::alter(pipeline, KIND, is_wanted.then_some(option), create)
}

/// Has a new pipeline, which has no chunks yet, keep what `option` says, if that is anything.
pub fn create_if_wanted(pipeline: &Pipeline, option: &Json) -> Result<()> {
    match CommunityOptions::read(option)? {
        Some(_) => alter(pipeline, option),
        None => Ok(()),
    }
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    match derivation::of(old.id, KIND)? {
        Some(it) => create(successor, &it.options),
        None => Ok(()),
    }
}

/// An error where a pipeline has communities, which are made of its graph.
pub fn refuse_without_graph(pipeline: &Pipeline) -> Result<()> {
    match derivation::of(pipeline.id, KIND)? {
        None => Ok(()),
        Some(_) => {
            let name = &pipeline.name;
            let message =
                format!("pipeline \"{name}\" has communities, which are made of its graph");
            Err(Error::new(ErrorKind::NotInState, message)
                .hint("Take both away: {\"graph\": false, \"communities\": false}."))
        }
    }
}

fn create(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let Some(graph) = derivation::of(pipeline.id, DerivationKind::Mentions)? else {
        let name = &pipeline.name;
        let message = format!("pipeline \"{name}\" has no graph, of which communities are made");
        return Err(Error::invalid(message)
            .hint("Add \"graph\": {\"entities\": \"rules\"} to the options."));
    };
    let table = table::create(pipeline, &FORM, &[("mentions", &graph.relation.sql)])?;
    sql::execute(&render(query!(communities.create_index), &[("table", &table)]), &[])?;
    derivation::set(pipeline.id, KIND, option, &table)
}

/// What communities were made of, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MadeFrom {
    options: Json,
    /// What found the mentions, as [`MentionGraph::finder`].
    finder: Json,
    /// The last chunk that named anything.
    last_chunk: i64,
    /// How many mentions there were.
    mentions: i64,
}

/// The communities of a pipeline's entities.
pub struct EntityCommunities {
    options: CommunityOptions,
    written: Json,
    /// The table where they are.
    table: pg_sys::Oid,
    /// What the communities that are there were made of.
    made_from: Option<MadeFrom>,
    /// Whether mentions are gone or new and the communities will do nevertheless.
    is_tolerant: Cell<bool>,
}

/// The mentions of a pipeline.
struct MentionGraph {
    /// The name of their table in SQL.
    table: String,
    /// What finds them: the option, and the model where one does.
    finder: Json,
}

/// What communities are to be made of.
struct DueCommunities {
    made_from: MadeFrom,
    /// How many chunks name anything.
    chunks: i64,
}

/// What communities are found in, and what they were before.
#[derive(Clone, Debug)]
pub struct EntityTies {
    norms: Vec<String>,
    chunks_of: Vec<Vec<i64>>,
    before: Vec<Membership>,
    /// Whether the search begins at what was known.
    goes_on: bool,
    made_from: MadeFrom,
    /// The table where they were, and whose rows the change is about.
    table: pg_sys::Oid,
    /// What has changed, once that is found out.
    change: MembershipChange,
}

impl EntityCommunities {
    /// What a row of `rag.derivation` says, and what is remembered of what was made.
    pub fn load(stored: &StoredDerivation, state: Option<Json>) -> Result<EntityCommunities> {
        let written = stored.options.clone();
        let options = CommunityOptions::read(&written).ok().flatten();
        let options = options.ok_or_else(|| derivation::unreadable(KIND, &written))?;
        // What cannot be read is made again.
        let made_from = state.and_then(|it| serde_json::from_value(it).ok());
        let (table, is_tolerant) = (stored.relation.oid, Cell::new(false));
        Ok(EntityCommunities { options, written, table, made_from, is_tolerant })
    }

    /// What communities are to be made of; `None` where those that are there will do.
    fn due(&self, graph: &MentionGraph) -> Result<Option<DueCommunities>> {
        let MentionGraph { table: mentions, finder } = graph;
        // Of those that something else has found nothing is left.
        let before = self.made_from.as_ref().filter(|it| it.finder == *finder);
        let last = before.map_or(0, |it| it.last_chunk);
        let statement = render(query!(communities.standing), &[("mentions", mentions)]);
        let found = sql::rows(&statement, &[last.into()], |row| {
            let number = |column| sql::required(row.get::<i64>(column)?);
            Ok((number(1)?, number(2)?, number(3)?, number(4)?))
        })?;
        let Some((last_chunk, all, new, chunks)) = found.into_iter().next() else {
            return Ok(None);
        };
        let same = before.filter(|it| it.options == self.written);
        let changed = same.map(|before| (before, new + (before.mentions - (all - new)).abs()));
        if let Some((before, changed)) = changed
            && self.options.will_do(before.mentions, changed)
        {
            self.is_tolerant.set(changed > 0);
            return Ok(None);
        }
        let (options, finder) = (self.written.clone(), finder.clone());
        let made_from = MadeFrom { options, finder, last_chunk, mentions: all };
        Ok(Some(DueCommunities { made_from, chunks }))
    }

    fn ties(&self, table: &str, graph: &MentionGraph) -> Result<Option<EntityTies>> {
        let Some(DueCommunities { made_from, chunks }) = self.due(graph)? else { return Ok(None) };
        let mentions = usize::try_from(made_from.mentions).unwrap_or(usize::MAX);
        spare::check(mentions.saturating_mul(MENTION_BYTES))?;
        let statement = render(query!(communities.entities), &[("mentions", &graph.table)]);
        // By what is counted and not by the statistics: the same mentions come to the same communities.
        let most = most_chunks_of_entity(chunks as f64) as i64;
        let (mut norms, mut chunks_of) = (Vec::new(), Vec::new());
        for (norm, chunks) in sql::rows(&statement, &[most.into()], |row| {
            Ok((sql::required(row.get::<String>(1)?)?, sql::required(row.get::<Vec<i64>>(2)?)?))
        })? {
            norms.push(norm);
            chunks_of.push(chunks);
        }
        let statement = render(query!(communities.members), &[("communities", table)]);
        let before = sql::rows(&statement, &[], |row| {
            Ok(Membership {
                norm: sql::required(row.get(1)?)?,
                level: sql::required(row.get(2)?)?,
                community: sql::required(row.get(3)?)?,
                parent: row.get(4)?,
            })
        })?;
        let is_same = |it: &MadeFrom| it.options == self.written && it.finder == graph.finder;
        let goes_on = self.made_from.as_ref().is_some_and(is_same);
        let (table, change) = (self.table, MembershipChange::default());
        Ok(Some(EntityTies { norms, chunks_of, before, goes_on, made_from, table, change }))
    }
}

fn graph_of(pipeline: &Pipeline) -> Result<Option<MentionGraph>> {
    let graph = |StoredDerivation { options, relation, .. }: StoredDerivation| MentionGraph {
        table: relation.sql,
        finder: json!([options["entities"], options["ner_model"]]),
    };
    Ok(derivation::of(pipeline.id, DerivationKind::Mentions)?.map(graph))
}

impl Derivation for EntityCommunities {
    /// All communities are one item.
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        _: i32,
    ) -> Result<Vec<DerivationItem>> {
        let Some(graph) = graph_of(pipeline)?.filter(|_| after.is_empty()) else {
            return Ok(Vec::new());
        };
        let ties = self.ties(relation, &graph)?.map(Box::new);
        let item = |it| DerivationItem { key: ALL.to_vec(), ties: Some(it), ..Default::default() };
        Ok(ties.map(item).into_iter().collect())
    }

    fn count_missing(&self, pipeline: &Pipeline, _: &str, _: i64) -> Result<i64> {
        let Some(graph) = graph_of(pipeline)? else { return Ok(0) };
        Ok(self.due(&graph)?.is_some().into())
    }

    fn messages(&self, _: &DerivationItem, _: &str) -> Result<Vec<Message>> {
        Err(Error::new(ErrorKind::Internal, "no language model is asked about communities"))
    }

    fn read(&self, _: &DerivationItem, _: &str) -> DerivedReply {
        DerivedReply::default()
    }

    fn composed(
        &self,
        item: &mut DerivationItem,
        interrupt: &mut dyn FnMut(),
    ) -> Result<Vec<DerivedText>> {
        let Some(work) = item.ties.as_deref_mut() else { return Ok(Vec::new()) };
        let edges = ties(&work.chunks_of, interrupt)?;
        work.chunks_of = Vec::new();
        spare::check(edges.len().saturating_mul(EDGE_BYTES))?;
        let network = WeightedNetwork::new(work.norms.len(), edges, interrupt);
        let known = match work.goes_on {
            true => known(&work.before, &work.norms, interrupt),
            false => Vec::new(),
        };
        let found = hierarchy(&network, &known, self.options.settings(), interrupt);
        work.change = changes(&work.before, &found, &work.norms, interrupt);
        Ok(vec![DerivedText { kind: PARTITION.to_owned(), no: 1, content: String::new() }])
    }

    fn is_one_item(&self) -> bool {
        true
    }

    /// Only rows that have changed are written, which is nothing to go by for another table: the option may have been taken
    /// away and set again meanwhile.
    fn may_keep(&self, table: pg_sys::Oid, made: &[(DerivationItem, Vec<DerivedText>)]) -> bool {
        made.iter().filter_map(|(item, _)| item.ties.as_deref()).all(|it| it.table == table)
    }

    fn keep(
        &self,
        _: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()> {
        let values = [("communities", relation)];
        for MembershipChange { gone, new } in
            made.iter().filter_map(|(item, _)| Some(&item.ties.as_ref()?.change))
        {
            let arguments = [
                gone.iter().map(|(norm, _)| norm.as_str()).collect::<Vec<_>>().into(),
                gone.iter().map(|(_, level)| *level).collect::<Vec<_>>().into(),
            ];
            sql::execute(&render(query!(communities.delete), &values), &arguments)?;
            let arguments = [
                new.iter().map(|it| it.norm.as_str()).collect::<Vec<_>>().into(),
                new.iter().map(|it| it.level).collect::<Vec<_>>().into(),
                new.iter().map(|it| it.community).collect::<Vec<_>>().into(),
                new.iter().map(|it| it.parent).collect::<Vec<_>>().into(),
            ];
            sql::execute(&render(query!(communities.put), &values), &arguments)?;
        }
        Ok(())
    }

    fn state(&self, made: &[(DerivationItem, Vec<DerivedText>)]) -> Option<Json> {
        let last = made.iter().rev().find_map(|(item, _)| item.ties.as_deref())?;
        serde_json::to_value(&last.made_from).ok()
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        kept_reply::forget_gone(pipeline)?;
        // Where they were made again, what is gone has gone with that, and where nothing has changed there is nothing.
        if !self.is_tolerant.get() {
            return Ok(());
        }
        let Some(graph) = graph_of(pipeline)? else { return Ok(()) };
        let values = [("communities", relation), ("mentions", graph.table.as_str())];
        sql::execute(&render(query!(communities.forget_gone), &values), &[]).map(drop)
    }
}
