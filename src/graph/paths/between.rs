//! Which paths connect two of the entities that were asked about?
//!
//! ```text
//! a → what is near a │ what is near b ← b    halves that meet → paths from a to b, and from b to a
//! ```
//!
//! A path between two may be less likely than thousands that lead nowhere, and no search from one of them would go on with it.
//! From both, each half of it is short: what is near each is asked about, first what is near both, and then halves that meet are
//! put together. Where no more than [`MOST_BETWEEN`] entities are near, nothing that connects two is missed: a test
//! compares it with a search that goes everywhere.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::{
    CoOccurrence, EntityPath, KnownEntities, KnownEntity, NamedEntity, PathEdge, PathStep, better,
};

/// Entities of a question between which paths are looked for from both ends, the first ones.
const MOST_ENDS: usize = 8;

/// Entities near them that are asked about for a hop.
pub(super) const MOST_BETWEEN: usize = 100;

/// Halves of paths of one length, from one entity to another, that are kept.
const MOST_HALVES: usize = 2;

/// Paths from one entity to another that are kept.
const MOST_OF_PAIR: usize = 100;

/// What may lie between two of `starts`, by paths of up to `hops` hops, and is not known yet; `made` hops are known.
pub(super) fn wanted<'a>(
    starts: &'a [NamedEntity],
    known: &'a KnownEntities,
    made: usize,
    hops: usize,
) -> Vec<&'a str> {
    // Of each entity, how many hops it is away from each start that leads to it, and its best place among what one leads to.
    let mut near: HashMap<&str, (Vec<usize>, usize)> = HashMap::new();
    for start in ends(starts) {
        let reached = reached(&start.norm, known, made).into_iter();
        let mut unknown: Vec<(&str, (usize, f64))> =
            reached.filter(|(norm, _)| !known.contains_key(*norm)).collect();
        unknown.sort_by(|(a, (_, score)), (b, (_, other))| {
            other.total_cmp(score).then_with(|| a.cmp(b))
        });
        for (place, (norm, (away, _))) in unknown.into_iter().enumerate() {
            let (all_away, best) = near.entry(norm).or_insert_with(|| (Vec::new(), place));
            all_away.push(away);
            *best = place.min(*best);
        }
    }
    let between = |(norm, (mut away, place)): (&'a str, (Vec<usize>, usize))| {
        away.sort_unstable();
        // What another start does not lead to yet is at least a hop further away from that.
        let second = away.get(1).copied().unwrap_or(made + 1);
        (away.first()? + second <= hops).then_some((away.len() < 2, place, norm))
    };
    let mut wanted: Vec<(bool, usize, &str)> = near.into_iter().filter_map(between).collect();
    wanted.sort_unstable();
    wanted.truncate(MOST_BETWEEN);
    wanted.into_iter().map(|(_, _, norm)| norm).collect()
}

/// The entities between which paths are looked for, if there are two.
fn ends(starts: &[NamedEntity]) -> &[NamedEntity] {
    if starts.len() < 2 { &[] } else { &starts[..starts.len().min(MOST_ENDS)] }
}

/// What is up to `most` hops away from an entity: how many, and how likely the best of the shortest paths is.
fn reached<'a>(
    start: &'a str,
    known: &'a KnownEntities,
    most: usize,
) -> HashMap<&'a str, (usize, f64)> {
    let mut all = HashMap::from([(start, (0, 1.0))]);
    let mut last = vec![(start, 1.0)];
    for hop in 1..=most {
        let mut next: HashMap<&str, f64> = HashMap::new();
        for (norm, so_far) in last {
            let passed = |it: &&KnownEntity| hop == 1 || it.may_be_passed();
            let ways = known.get(norm).filter(passed).map(|it| it.ways.as_slice());
            for way in ways.unwrap_or_default() {
                let to = way.to.norm.as_str();
                if !all.contains_key(to) {
                    let best = next.entry(to).or_default();
                    *best = best.max(so_far * way.probability);
                }
            }
        }
        all.extend(next.iter().map(|(norm, score)| (*norm, (hop, *score))));
        last = next.into_iter().collect();
    }
    all
}

/// The paths of up to `hops` hops between two of `starts` over what is known, in both directions.
pub(super) fn paths(starts: &[NamedEntity], known: &KnownEntities, hops: usize) -> Vec<EntityPath> {
    let ends = ends(starts);
    if ends.is_empty() {
        return Vec::new();
    }
    let graph = NearGraph::of(known);
    let ends = ends.iter().filter_map(|it| graph.place(&it.norm));
    let halves: Vec<HalvesByLength> = ends.map(|end| graph.halves(end, hops.div_ceil(2))).collect();
    let mut found = Vec::new();
    for (one, from) in halves.iter().enumerate() {
        for (_, to) in halves.iter().enumerate().filter(|(other, _)| *other != one) {
            let mut joined = graph.joined(from, to, hops);
            joined.sort_by(better);
            joined.truncate(MOST_OF_PAIR);
            found.extend(joined);
        }
    }
    found
}

/// A way from an entity to another, both of which are known.
struct NearWay<'a> {
    to: usize,
    step: &'a PathStep,
    /// Whether it is known only from the other, whose chunks name more than are looked at.
    is_turned: bool,
}

/// A path from one end to where it may meet another.
#[derive(Clone, Debug)]
struct HalfPath {
    /// The entities, by their places.
    entities: Vec<usize>,
    /// Of each but the last, the place among its ways.
    ways: Vec<usize>,
    score: f64,
}

/// By their length, the halves from one entity to others.
type HalvesByLength = Vec<HashMap<usize, Vec<HalfPath>>>;

/// What is known, by places.
struct NearGraph<'a> {
    entities: Vec<(&'a str, &'a KnownEntity)>,
    /// From each entity to others.
    ways: Vec<Vec<NearWay<'a>>>,
}

impl<'a> NearGraph<'a> {
    fn of(known: &'a KnownEntities) -> NearGraph<'a> {
        let mut entities: Vec<(&str, &KnownEntity)> =
            known.iter().map(|(norm, it)| (norm.as_str(), it)).collect();
        entities.sort_unstable_by_key(|(norm, _)| *norm);
        let mut graph = NearGraph { ways: entities.iter().map(|_| Vec::new()).collect(), entities };
        let (mut seen, mut turned) = (HashSet::new(), Vec::new());
        for from in 0..graph.entities.len() {
            let (_, entity) = graph.entities[from];
            for step in &entity.ways {
                let Some(to) = graph.place(&step.to.norm) else { continue };
                graph.ways[from].push(NearWay { to, step, is_turned: false });
                seen.insert((from, to));
                turned.push((to, NearWay { to: from, step, is_turned: true }));
            }
        }
        turned.retain(|(from, way)| !seen.contains(&(*from, way.to)));
        turned.into_iter().for_each(|(from, way)| graph.ways[from].push(way));
        graph
    }

    fn place(&self, norm: &str) -> Option<usize> {
        self.entities.binary_search_by_key(&norm, |(known, _)| *known).ok()
    }

    /// The best paths from an entity, of up to `most` hops.
    fn halves(&self, start: usize, most: usize) -> HalvesByLength {
        let first = HalfPath { entities: vec![start], ways: Vec::new(), score: 1.0 };
        let mut halves = vec![HashMap::from([(start, vec![first])])];
        for _ in 0..most {
            let mut next: HashMap<usize, Vec<HalfPath>> = HashMap::new();
            let all = halves.last().into_iter().flatten();
            for (end, half) in all.flat_map(|(end, all)| all.iter().map(move |it| (*end, it))) {
                if half.ways.is_empty() || self.may_be_passed(end) {
                    self.lengthen(half, end, &mut next);
                }
            }
            halves.push(next);
        }
        halves
    }

    /// Adds what half a path that ends at `end` comes to by another hop, where it is among the best.
    fn lengthen(&self, half: &HalfPath, end: usize, next: &mut HashMap<usize, Vec<HalfPath>>) {
        for (place, way) in self.ways[end].iter().enumerate() {
            if half.entities.contains(&way.to) {
                continue;
            }
            let score = half.score * way.step.probability;
            let kept = next.entry(way.to).or_default();
            let is_full = kept.len() >= MOST_HALVES;
            if is_full && kept.last().is_some_and(|last| last.score > score) {
                continue;
            }
            let mut longer = HalfPath { score, ..half.clone() };
            longer.entities.push(way.to);
            longer.ways.push(place);
            kept.push(longer);
            kept.sort_by(HalfPath::compare);
            kept.truncate(MOST_HALVES);
        }
    }

    fn may_be_passed(&self, place: usize) -> bool {
        self.entities[place].1.may_be_passed()
    }

    /// The paths of up to `hops` hops of which a half in `from` meets one in `to`.
    fn joined(&self, from: &HalvesByLength, to: &HalvesByLength, hops: usize) -> Vec<EntityPath> {
        let mut found = Vec::new();
        for length in 1..=hops {
            let (there, back) = (length.div_ceil(2), length / 2);
            let (Some(here), Some(others)) = (from.get(there), to.get(back)) else { break };
            for (meeting, halves) in here {
                // At the end itself nothing is passed.
                if back > 0 && !self.may_be_passed(*meeting) {
                    continue;
                }
                for other in others.get(meeting).into_iter().flatten() {
                    found.extend(halves.iter().filter_map(|half| self.path(half, other)));
                }
            }
        }
        found
    }

    /// A path and another one that ends where it ends, turned; `None` if they meet elsewhere as well.
    fn path(&self, half: &HalfPath, other: &HalfPath) -> Option<EntityPath> {
        let (_, rest) = other.entities.split_last()?;
        if rest.iter().any(|it| half.entities.contains(it)) {
            return None;
        }
        let first = self.entity(*half.entities.first()?);
        let mut path = EntityPath { score: 1.0, entities: vec![first], edges: Vec::new() };
        for (from, way) in half.entities.iter().zip(&half.ways) {
            self.add(&mut path, self.ways[*from].get(*way)?);
        }
        for (place, (to, way)) in rest.iter().zip(&other.ways).enumerate().rev() {
            let from = *other.entities.get(place + 1)?;
            let back = self.ways[*to].get(*way)?;
            self.add(&mut path, self.turned(from, back, *to)?);
        }
        Some(path)
    }

    /// The way from an entity to another that says what `back` says, a way from that to this one; the likeliest where none does.
    fn turned(&self, from: usize, back: &NearWay<'_>, to: usize) -> Option<&NearWay<'a>> {
        let said = back.edge().relation.map(|it| it.turned());
        let ways = move || self.ways[from].iter().filter(move |way| way.to == to);
        let says_it = |way: &&NearWay<'_>| match (&way.edge().relation, &said) {
            (Some(one), Some(other)) => one.says_as(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let likelier =
            |a: &&NearWay<'_>, b: &&NearWay<'_>| a.step.probability.total_cmp(&b.step.probability);
        ways().find(says_it).or_else(|| ways().max_by(likelier))
    }

    fn add(&self, path: &mut EntityPath, way: &NearWay<'_>) {
        path.score *= way.step.probability;
        let to = if way.is_turned { self.entity(way.to) } else { way.step.to.clone() };
        path.entities.push(to);
        path.edges.push(way.edge());
    }

    fn entity(&self, place: usize) -> NamedEntity {
        let (norm, KnownEntity { name, .. }) = self.entities[place];
        NamedEntity { norm: norm.to_owned(), name: name.clone().unwrap_or_else(|| norm.to_owned()) }
    }
}

impl NearWay<'_> {
    /// What proves it, in its direction.
    fn edge(&self) -> PathEdge {
        let PathEdge { chunks, proof, relation } = self.step.edge.clone();
        if !self.is_turned {
            return PathEdge { chunks, proof, relation };
        }
        let CoOccurrence { from, to, .. } = proof;
        let proof = CoOccurrence { from: to, to: from, ..proof };
        PathEdge { chunks, proof, relation: relation.map(|it| it.turned()) }
    }
}

impl HalfPath {
    /// The likelier one first.
    fn compare(&self, other: &HalfPath) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| (&self.entities, &self.ways).cmp(&(&other.entities, &other.ways)))
    }
}
