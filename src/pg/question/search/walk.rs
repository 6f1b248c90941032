//! From what a search has found over what that names to what names the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Search;
use super::statement::Statements;
use crate::error::Result;
use crate::graph::options::{GraphUse, WalkOptions};
use crate::graph::walk::{Walk, WalkHub, WalkSeed, WalkedChunk};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::derivation::mentions::{look_around, most_chunks};
use crate::pg::question::entity_graph::{ENTITIES_A_CHUNK, EntityGraph};
use crate::pg::ragd::trace;
use crate::pg::server::prepared;
use crate::pg::server::role::may_select;
use crate::pg::server::row_security::hides_rows;
use crate::pg::server::sql::{query, render, required};
use crate::retrieve::fusion::Candidate;
use crate::retrieve::walked::{seeds, with_walk};
use crate::retrieve::{Hit, RetrieveOptions, SearchMode};

/// Most entities that a walk goes over, the most important ones.
const MOST_HUBS: usize = 200;

/// Most chunks that a walk adds; of more of them those are taken that a filter lets pass.
const MOST_NEW: usize = 100;
const MOST_FILTERED: usize = 1000;

/// Most entities that a step of a trace names.
const MOST_SHOWN: usize = 10;

/// How a search goes over the graph of its pipeline.
pub struct EntityWalk {
    graph: EntityGraph,
    options: WalkOptions,
}

/// Candidates after a walk.
#[derive(Default)]
pub struct WalkedCandidates {
    /// The candidates, best first.
    pub candidates: Vec<Candidate>,
    /// By chunk, how the entities are written over which it was come to.
    via: HashMap<i64, Vec<String>>,
}

/// An entity on the way.
struct Waypoint {
    norm: String,
    /// As a chunk or the question writes it.
    name: String,
    /// What of the chunks' scores comes to it.
    weight: f64,
    is_asked: bool,
}

/// What a chunk names: the chunk, the entity, how often, and as the chunk writes it.
pub(super) type NamedRow = (i64, String, i32, String);

/// A row of `named` of graph.sql: a chunk, its text, and of each entity that it names normal form, how often, and its place.
struct NamedOfChunk {
    chunk_id: i64,
    content: String,
    norms: Vec<String>,
    counts: Vec<i32>,
    starts: Vec<Option<i32>>,
    ends: Vec<Option<i32>>,
}

impl NamedOfChunk {
    fn rows(self) -> Vec<NamedRow> {
        let NamedOfChunk { chunk_id, content, norms, counts, starts, ends } = self;
        let places = starts.into_iter().zip(ends).map(|(start, end)| start.zip(end));
        let named = norms.into_iter().zip(counts).zip(places);
        let written = |(start, end): (i32, i32)| -> String {
            let before = usize::try_from(start).unwrap_or_default();
            let length = usize::try_from(end.saturating_sub(start)).unwrap_or_default();
            content.chars().skip(before).take(length).collect()
        };
        let row = |((norm, count), place): ((String, i32), Option<(i32, i32)>)| {
            let name = place.map_or_else(|| norm.clone(), written);
            (chunk_id, norm, count, name)
        };
        named.map(row).collect()
    }
}

impl EntityWalk {
    /// What the options ask for; `None` if that is nothing, or the pipeline has no graph that the caller may read.
    ///
    /// Fails where they ask for a walk in so many words and there is no such graph.
    pub fn of(pipeline: &Pipeline, options: &RetrieveOptions) -> Result<Option<EntityWalk>> {
        let is_hybrid = options.mode.is_none_or(|mode| mode == SearchMode::Hybrid);
        let graph = match options.graph {
            GraphUse::Walk(_) => Some(EntityGraph::required(pipeline)?),
            GraphUse::Auto if is_hybrid => EntityGraph::readable(pipeline)?,
            GraphUse::Auto | GraphUse::Off => None,
        };
        let walk = graph.filter(|_| is_hybrid).zip(options.graph.walk());
        Ok(walk.map(|(graph, options)| EntityWalk { graph, options }))
    }

    /// The table that it reads.
    pub fn mentions(&self) -> &Relation {
        &self.graph.mentions
    }
}

impl WalkedCandidates {
    /// Has passages know how they were come to.
    pub fn tell(&mut self, hits: &mut [Hit]) {
        for Hit { passage, .. } in hits {
            passage.via = self.via.remove(&passage.chunk_id).map(Vec::into_boxed_slice);
        }
    }
}

impl Search {
    /// `candidates`, which were found for `question`, after a walk if there is to be one.
    pub(super) fn walked(
        &self,
        question: &str,
        statements: &Statements<'_>,
        candidates: Vec<Candidate>,
    ) -> Result<WalkedCandidates> {
        let unchanged = |candidates| WalkedCandidates { candidates, ..Default::default() };
        // Not one that was taken away while a model embedded the question.
        let there = self.walk.as_ref().filter(|it| may_select(it.graph.mentions.oid));
        let Some(entities) = there else { return Ok(unchanged(candidates)) };
        trace::step("graph", String::new, || {
            let (walk, waypoints) = self.walk_from(entities, question, &candidates)?;
            if !walk.goes_anywhere() {
                trace::rows(0);
                return Ok(unchanged(candidates));
            }
            let (walked, added) = self.seen(statements, &walk, &candidates)?;
            let via = ways(&walked, &waypoints);
            trace::rows(added);
            trace::words(|| shown(&walked, &waypoints));
            let scores: Vec<(i64, f64)> = walked.iter().map(|it| (it.chunk_id, it.score)).collect();
            let candidates = with_walk(candidates, &scores, entities.options.weight);
            Ok(WalkedCandidates { candidates, via })
        })
    }

    /// What a walk from the best candidates and the question comes to, and over what.
    fn walk_from(
        &self,
        entities: &EntityWalk,
        question: &str,
        candidates: &[Candidate],
    ) -> Result<(Walk, Vec<Waypoint>)> {
        let begins = seeds(candidates, entities.options.chunks as usize);
        let named = self.named(&entities.graph, &begins)?;
        let asked = entities.graph.extractor.asked(question, &mut look_around);
        let waypoints = waypoints(&begins, &named, asked);
        let chunks = self.naming(&entities.graph, &waypoints)?;
        let hubs: Vec<WalkHub> = waypoints
            .iter()
            .zip(chunks)
            .map(|(waypoint, chunks)| WalkHub { chunks, is_asked: waypoint.is_asked })
            .collect();
        Ok((Walk::new(&walk_seeds(&begins, &named, &waypoints), &hubs), waypoints))
    }

    /// What these chunks name.
    pub(super) fn named(
        &self,
        graph: &EntityGraph,
        begins: &[(i64, f64)],
    ) -> Result<Vec<NamedRow>> {
        let view = self.pipeline().view.sql.as_str();
        let values = [("view", view), ("mentions", &graph.mentions.sql)];
        let statement = render(query!(graph.named), &values);
        let chunks: Vec<i64> = begins.iter().map(|(chunk_id, _)| *chunk_id).collect();
        let named = prepared::rows(&statement, &[chunks.into(), ENTITIES_A_CHUNK.into()], |row| {
            let named = NamedOfChunk {
                chunk_id: required(row.get(1)?)?,
                content: required(row.get(2)?)?,
                norms: required(row.get(3)?)?,
                counts: required(row.get(4)?)?,
                starts: required(row.get(5)?)?,
                ends: required(row.get(6)?)?,
            };
            Ok(named.rows())
        })?;
        Ok(named.into_iter().flatten().collect())
    }

    /// The chunks that name each of the entities; none of one that too many name.
    fn naming(&self, graph: &EntityGraph, waypoints: &[Waypoint]) -> Result<Vec<Vec<i64>>> {
        let most = most_chunks(self.pipeline())?;
        let norms: Vec<&str> = waypoints.iter().map(|it| it.norm.as_str()).collect();
        let left_out = self.frequent(graph, &norms, most)?;
        let kept: Vec<usize> =
            (0..norms.len()).filter(|at| !left_out.contains(norms[*at])).collect();
        let asked: Vec<&str> = kept.iter().map(|at| norms[*at]).collect();
        let mut of_names = self.naming_exactly(graph, &asked, most)?;
        self.add_other_names(graph, &asked, &mut of_names, most)?;
        let mut chunks: Vec<Vec<i64>> = vec![Vec::new(); norms.len()];
        for (at, of_name) in kept.into_iter().zip(of_names) {
            chunks[at] = if of_name.len() > most { Vec::new() } else { of_name };
        }
        Ok(chunks)
    }

    /// The chunks that name each of some entities by just this name, in their order; of one that too many name, more than
    /// `most` of them.
    fn naming_exactly(
        &self,
        graph: &EntityGraph,
        norms: &[&str],
        most: usize,
    ) -> Result<Vec<Vec<i64>>> {
        let statement = render(query!(graph.naming), &[("mentions", &graph.mentions.sql)]);
        let arguments = [norms.to_vec().into(), (most as i64 + 1).into()];
        let mut chunks: Vec<Vec<i64>> = vec![Vec::new(); norms.len()];
        let found = prepared::rows(&statement, &arguments, |row| {
            let place = required(row.get::<i64>(1)?)? as usize - 1;
            Ok((place, required(row.get::<Vec<i64>>(2)?)?))
        })?;
        found.into_iter().for_each(|(place, of_name)| chunks[place] = of_name);
        Ok(chunks)
    }

    /// Adds to the chunks of each name, if they are not too many, those that name the same by what it is short for, or by what
    /// is short for it.
    fn add_other_names(
        &self,
        graph: &EntityGraph,
        norms: &[&str],
        chunks: &mut [Vec<i64>],
        most: usize,
    ) -> Result<()> {
        let few = norms.iter().zip(&*chunks).filter(|(_, of_name)| of_name.len() <= most);
        let few: Vec<&str> = few.map(|(norm, _)| *norm).collect();
        let statement = render(query!(graph.other_names), &[("mentions", &graph.mentions.sql)]);
        let others = prepared::rows(&statement, &[few.into()], |row| {
            Ok((required(row.get::<String>(1)?)?, required(row.get::<String>(2)?)?))
        })?;
        if others.is_empty() {
            return Ok(());
        }
        let names: BTreeSet<&str> = others.iter().map(|(_, other)| other.as_str()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let of_others = self.naming_exactly(graph, &names, most)?;
        let places: HashMap<&str, usize> = (0..).zip(norms).map(|(at, norm)| (*norm, at)).collect();
        for (norm, other) in &others {
            let found = names.binary_search(&other.as_str());
            let of_other = found.map_or(&[][..], |at| of_others[at].as_slice());
            if let Some(at) = places.get(norm.as_str()) {
                chunks[*at].extend(of_other);
                chunks[*at].sort_unstable();
                chunks[*at].dedup();
            }
        }
        Ok(())
    }

    /// Those of some entities that too many chunks name, whoever sees these. It is asked where the caller may not see
    /// all, since to count what he sees of very many would take long: as the owner, whose table it is.
    fn frequent(
        &self,
        graph: &EntityGraph,
        norms: &[&str],
        most: usize,
    ) -> Result<HashSet<String>> {
        if !hides_rows(self.pipeline().chunk_table.oid)? {
            return Ok(HashSet::new());
        }
        let statement = render(query!(graph.frequent), &[("mentions", &graph.mentions.sql)]);
        let arguments = [norms.to_vec().into(), (most as i64 + 1).into()];
        let found = as_owner(self.pipeline(), || {
            prepared::rows(&statement, &arguments, |row| required(row.get::<String>(1)?))
        })?;
        Ok(found.into_iter().collect())
    }

    /// To what a walk comes that is a candidate or may become one, since the caller sees it and the filter lets it pass; and
    /// how many of the latter there are.
    fn seen(
        &self,
        statements: &Statements<'_>,
        walk: &Walk,
        candidates: &[Candidate],
    ) -> Result<(Vec<WalkedChunk>, usize)> {
        let known: HashSet<i64> = candidates.iter().map(|one| one.chunk_id).collect();
        let filter = statements.filter;
        let is_filtered = filter.condition != query!(filter.none);
        let most = if is_filtered { MOST_FILTERED } else { MOST_NEW };
        let walked = walk.best(&known, most);
        let new = walked.iter().map(|it| it.chunk_id).filter(|id| !known.contains(id));
        let new: Vec<i64> = new.collect();
        if new.is_empty() {
            return Ok((walked, 0));
        }
        let view = self.pipeline().view.sql.as_str();
        let values = [("view", view), ("filter", &filter.condition)];
        let statement = render(query!(graph.visible), &values);
        let arguments = [new.into(), (MOST_NEW as i64).into(), filter.values.clone().into()];
        let visible = prepared::rows(&statement, &arguments, |row| required(row.get::<i64>(1)?))?;
        let added = visible.len();
        let kept: HashSet<i64> = known.into_iter().chain(visible).collect();
        let walked = walked.into_iter().filter(|it| kept.contains(&it.chunk_id)).collect();
        Ok((walked, added))
    }
}

/// The entities that the best chunks and the question name, the most important first: those of the question, and
/// then by the scores of the chunks.
fn waypoints(
    begins: &[(i64, f64)],
    named: &[NamedRow],
    asked: Vec<(String, String)>,
) -> Vec<Waypoint> {
    let totals = totals(named);
    let weights: HashMap<i64, f64> = begins.iter().copied().collect();
    let of_question = asked
        .into_iter()
        .map(|(norm, name)| (norm.clone(), Waypoint { norm, name, weight: 0.0, is_asked: true }));
    let mut all: BTreeMap<String, Waypoint> = of_question.collect();
    for (chunk_id, norm, count, name) in named {
        let share = f64::from(*count) / totals.get(chunk_id).copied().unwrap_or(1.0);
        let waypoint = all.entry(norm.clone()).or_insert_with(|| Waypoint {
            norm: norm.clone(),
            name: name.clone(),
            weight: 0.0,
            is_asked: false,
        });
        waypoint.weight += share * weights.get(chunk_id).copied().unwrap_or_default();
    }
    let mut all: Vec<Waypoint> = all.into_values().collect();
    all.sort_by(|a, b| b.is_asked.cmp(&a.is_asked).then(b.weight.total_cmp(&a.weight)));
    all.truncate(MOST_HUBS);
    all
}

/// How often each chunk names anything.
fn totals(named: &[NamedRow]) -> HashMap<i64, f64> {
    let mut totals = HashMap::new();
    for (chunk_id, _, count, _) in named {
        *totals.entry(*chunk_id).or_default() += f64::from(*count);
    }
    totals
}

/// The chunks that the walk begins at, with what they name of the waypoints.
fn walk_seeds(begins: &[(i64, f64)], named: &[NamedRow], waypoints: &[Waypoint]) -> Vec<WalkSeed> {
    let places: HashMap<&str, usize> =
        waypoints.iter().enumerate().map(|(at, it)| (it.norm.as_str(), at)).collect();
    let mut mentions: HashMap<i64, Vec<(usize, u32)>> = HashMap::new();
    for (chunk_id, norm, count, _) in named {
        if let Some(at) = places.get(norm.as_str()) {
            mentions.entry(*chunk_id).or_default().push((*at, count.unsigned_abs()));
        }
    }
    let seed = |(chunk_id, weight): &(i64, f64)| WalkSeed {
        chunk_id: *chunk_id,
        weight: *weight,
        mentions: mentions.remove(chunk_id).unwrap_or_default(),
    };
    begins.iter().map(seed).collect()
}

/// By chunk, how the entities are written over which it was come to.
fn ways(walked: &[WalkedChunk], waypoints: &[Waypoint]) -> HashMap<i64, Vec<String>> {
    let name = |at: &usize| waypoints[*at].name.clone();
    let come_to = walked.iter().filter(|it| !it.via.is_empty());
    come_to.map(|it| (it.chunk_id, it.via.iter().map(name).collect())).collect()
}

/// The entities over which the best chunks were come to.
fn shown(walked: &[WalkedChunk], waypoints: &[Waypoint]) -> String {
    let mut seen = HashSet::new();
    let ways = walked.iter().flat_map(|it| &it.via).filter(|at| seen.insert(**at));
    let names = ways.take(MOST_SHOWN).map(|at| waypoints[*at].name.as_str());
    names.collect::<Vec<_>>().join("; ")
}
