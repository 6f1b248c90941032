//! Communities: which of the entities that a pipeline's chunks name belong together.
//!
//! All of them are found at once, from all mentions, so they are made again only when a share of the mentions is new or
//! gone, and the search begins at what is known. What is read of the mentions is let go before the search, which takes
//! seconds for a million edges: no transaction waits for it.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::mentions::{look_around, most_chunks};
use super::table::{self, TableForm};
use super::{Derivation, DerivationItem, DerivedText, UnembeddedText, check_refresh};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::communities::hierarchy::hierarchy;
use crate::graph::communities::membership::{Membership, MembershipChange, changes, known};
use crate::graph::communities::network::WeightedNetwork;
use crate::graph::communities::options::CommunityOptions;
use crate::graph::communities::ties::ties;
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::sql::{self, query, render};
use crate::prompt::messages::Message;

const KIND: DerivationKind = DerivationKind::Communities;

/// What [`DerivedText::kind`] says of communities, which are no text.
const PARTITION: &str = "communities";

/// The key of the one item that there is.
const ALL: [u8; 1] = [1];

const FORM: TableForm = TableForm {
    label: c"communities",
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
    /// The last chunk that named anything.
    last_chunk: i64,
    /// How many mentions there were.
    mentions: i64,
}

/// The communities of a pipeline's entities.
pub struct EntityCommunities {
    options: CommunityOptions,
    written: Json,
    /// What the communities that are there were made of.
    made_from: Option<MadeFrom>,
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
    /// What has changed, once that is found out.
    change: MembershipChange,
}

impl EntityCommunities {
    /// What a row of `rag.derivation` says.
    pub fn load(stored: &StoredDerivation) -> Result<EntityCommunities> {
        let written = stored.options.clone();
        let options = CommunityOptions::read(&written).ok().flatten().ok_or_else(|| {
            let message = format!("options of communities cannot be read: {written}");
            Error::new(ErrorKind::DataCorrupted, message)
        })?;
        // What cannot be read is made again.
        let made_from = stored.state.clone().and_then(|it| serde_json::from_value(it).ok());
        Ok(EntityCommunities { options, written, made_from })
    }

    /// What communities are to be made of; `None` where those that are there will do.
    fn due(&self, mentions: &str) -> Result<Option<MadeFrom>> {
        let before = self.made_from.as_ref();
        let last = before.map_or(0, |it| it.last_chunk);
        let statement = render(query!(communities.standing), &[("mentions", mentions)]);
        let found = sql::rows(&statement, &[last.into()], |row| {
            let (last, all) = (sql::required(row.get::<i64>(1)?)?, sql::required(row.get(2)?)?);
            Ok((last, all, sql::required(row.get::<i64>(3)?)?))
        })?;
        let Some((last_chunk, all, new)) = found.into_iter().next() else { return Ok(None) };
        let now = MadeFrom { options: self.written.clone(), last_chunk, mentions: all };
        let same = before.filter(|it| it.options == self.written);
        let is_near = same.is_some_and(|before| {
            let changed = new + (before.mentions - (all - new)).abs();
            let most = self.options.tolerance * before.mentions.max(all) as f64;
            changed == 0 || changed as f64 <= most
        });
        Ok((!is_near).then_some(now))
    }

    fn ties(&self, pipeline: &Pipeline, table: &str, graph: &str) -> Result<Option<EntityTies>> {
        let Some(made_from) = self.due(graph)? else { return Ok(None) };
        let statement = render(query!(communities.entities), &[("mentions", graph)]);
        let most = most_chunks(pipeline)? as i64;
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
        let goes_on = self.made_from.as_ref().is_some_and(|it| it.options == self.written);
        let change = MembershipChange::default();
        Ok(Some(EntityTies { norms, chunks_of, before, goes_on, made_from, change }))
    }
}

/// The name of the table of a pipeline's mentions.
fn mentions_of(pipeline: &Pipeline) -> Result<Option<String>> {
    Ok(derivation::of(pipeline.id, DerivationKind::Mentions)?.map(|it| it.relation.sql))
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
        let Some(graph) = mentions_of(pipeline)?.filter(|_| after.is_empty()) else {
            return Ok(Vec::new());
        };
        let ties = self.ties(pipeline, relation, &graph)?.map(Box::new);
        let item = |it| DerivationItem { key: ALL.to_vec(), ties: Some(it), ..Default::default() };
        Ok(ties.map(item).into_iter().collect())
    }

    fn count_missing(&self, pipeline: &Pipeline, _: &str, _: i64) -> Result<i64> {
        let Some(graph) = mentions_of(pipeline)? else { return Ok(0) };
        Ok(self.due(&graph)?.is_some().into())
    }

    fn messages(&self, _: &DerivationItem, _: &str) -> Result<Vec<Message>> {
        Err(Error::new(ErrorKind::Internal, "no language model is asked about communities"))
    }

    fn read(&self, _: &str) -> Vec<DerivedText> {
        Vec::new()
    }

    fn composed(&self, item: &mut DerivationItem) -> Result<Vec<DerivedText>> {
        let Some(work) = item.ties.as_deref_mut() else { return Ok(Vec::new()) };
        let edges = ties(&work.chunks_of, &mut look_around)?;
        work.chunks_of = Vec::new();
        let network = WeightedNetwork::new(work.norms.len(), edges);
        let known = if work.goes_on { known(&work.before, &work.norms) } else { Vec::new() };
        let found = hierarchy(&network, &known, self.options.settings(), &mut look_around);
        work.change = changes(&work.before, &found, &work.norms);
        Ok(vec![DerivedText { kind: PARTITION.to_owned(), no: 1, content: String::new() }])
    }

    fn keep(&self, relation: &str, made: &[(DerivationItem, Vec<DerivedText>)]) -> Result<()> {
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

    fn whole(&self, _: &DerivationItem, _: &DerivedText) -> Option<String> {
        None
    }

    fn unembedded(&self, _: &Pipeline, _: &str, _: i32) -> Result<Vec<UnembeddedText>> {
        Ok(Vec::new())
    }

    fn put_vectors(
        &self,
        _: &Pipeline,
        _: &str,
        _: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        Ok(())
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        let Some(graph) = mentions_of(pipeline)? else { return Ok(()) };
        let values = [("communities", relation), ("mentions", &graph)];
        sql::execute(&render(query!(communities.forget_gone), &values), &[]).map(drop)
    }
}
