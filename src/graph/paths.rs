//! How are entities connected?
//!
//! ```text
//! (entities, hops) → ask which chunks name each → ... → paths, each edge with the chunk that proves it
//! ```
//!
//! Two entities are connected where a chunk names both. A path never comes to an entity twice. Its score is
//! the probability that a random walk from chunk to chunk takes it, so entities that few chunks name, and chunks that
//! name few, lead further. From each entity that was asked about, a search in breadth goes on with its best paths of each
//! length, and only from entities that no more than [`MOST_CHUNKS`] chunks name: what is everywhere connects everything.
//!
//! A path between two that were asked about is looked for from both ends (`between`), since it may be less likely than
//! many that lead nowhere.
//!
//! Where only relations of certain predicates count ([`relations`](self::relations)), an edge is what rows say of two
//! entities, and leads from either of them to the other.

mod between;
pub mod relations;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;

use self::relations::SaidRelation;

/// Chunks beyond which an entity is not passed through; only a path's beginning may have more, the first of which
/// are looked at.
pub const MOST_CHUNKS: usize = 50;

/// Paths of a length from an entity that are gone on with; where many are asked about there are fewer of each, for which
/// there is room in so many together.
const MOST_OPEN: usize = 20;
const FEWEST_OPEN: usize = 5;
const MOST_OPEN_TOGETHER: usize = 60;

/// Paths of a length from an entity that are kept.
const MOST_KEPT: usize = 250;

/// Most hops of a path.
pub const MOST_HOPS: i32 = 4;

/// Most paths that are returned.
pub const MOST_PATHS: i32 = 1000;

/// Where a name stands in a document, in characters: first, and one past the last. `None` if it is in title or
/// headings alone.
pub type NameSpan = Option<(i32, i32)>;

/// A chunk that names two entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoOccurrence {
    /// Key of the source row as text.
    pub source_key: String,
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Position in its document, from 0.
    pub chunk_no: i32,
    /// Where it names the one that is gone on from.
    pub from: NameSpan,
    /// Where it names the other.
    pub to: NameSpan,
}

/// An entity: its normal form, and how a text writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedEntity {
    /// The normal form.
    pub norm: String,
    /// As it is written.
    pub name: String,
}

/// A way from an entity that was asked about to another in the same chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundStep {
    /// The place among the entities that were asked about.
    pub from: usize,
    /// How the chunk writes that.
    pub from_name: String,
    /// The other entity.
    pub to: NamedEntity,
    /// How often the chunk names the other.
    pub count: i32,
    /// The chunk.
    pub proof: CoOccurrence,
}

/// An edge of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEdge {
    /// How many chunks name both of its entities, or say what one is to the other, of those that were looked at.
    pub chunks: usize,
    /// The first of these.
    pub proof: CoOccurrence,
    /// What it says; `None` where it names both and that is all.
    pub relation: Option<SaidRelation>,
}

/// Entities that are connected one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityPath {
    /// How likely a random walk takes it, from 0 to 1.
    pub score: f64,
    /// The entities, one more than edges.
    pub entities: Vec<NamedEntity>,
    /// What connects each with the next.
    pub edges: Vec<PathEdge>,
}

/// A search for paths: ask what [`ends`](Self::ends) names, [`advance`](Self::advance), and so on until there are no ends.
pub struct PathSearch {
    starts: Vec<NamedEntity>,
    /// Most hops of a path, and hops that have been made.
    hops: usize,
    made: usize,
    /// The normal forms of the entities that are asked about for the next hop, each once.
    asked: Vec<String>,
    known: KnownEntities,
    /// One for each of the starts.
    beams: Vec<PathBeam>,
}

/// What is known of the entities that have been asked about, by their normal forms.
type KnownEntities = HashMap<String, KnownEntity>;

/// What is known of an entity.
#[derive(Debug)]
struct KnownEntity {
    /// How many chunks name it, of those that were looked at; 0 where there cannot be too many.
    chunks: usize,
    /// How a chunk writes it.
    name: Option<String>,
    /// What leads from it to others.
    ways: Vec<PathStep>,
}

impl KnownEntity {
    /// Whether paths go through it.
    fn may_be_passed(&self) -> bool {
        self.chunks <= MOST_CHUNKS
    }
}

/// The paths from one entity.
#[derive(Debug)]
struct PathBeam {
    open: Vec<EntityPath>,
    found: Vec<EntityPath>,
}

/// What leads from an entity to another.
#[derive(Clone, Debug)]
struct PathStep {
    probability: f64,
    to: NamedEntity,
    edge: PathEdge,
}

impl PathSearch {
    /// From these entities, by up to so many hops.
    #[must_use]
    pub fn new(mut starts: Vec<NamedEntity>, hops: usize) -> Self {
        let mut seen = HashSet::new();
        starts.retain(|it| seen.insert(it.norm.clone()));
        let beam = |start: &NamedEntity| {
            let alone = EntityPath { score: 1.0, entities: vec![start.clone()], edges: Vec::new() };
            PathBeam { open: vec![alone], found: Vec::new() }
        };
        PathSearch {
            hops,
            made: 0,
            asked: starts.iter().map(|it| it.norm.clone()).collect(),
            known: HashMap::new(),
            beams: starts.iter().map(beam).collect(),
            starts,
        }
    }

    /// The normal forms of the entities that paths may go on from and of which nothing is known yet, each once; none at the end.
    #[must_use]
    pub fn ends(&self) -> Vec<String> {
        self.asked.clone()
    }

    /// Goes on by a hop with `steps`, which are all from the entities of [`ends`](Self::ends) in its order.
    pub fn advance(&mut self, steps: Vec<FoundStep>) {
        let (ways, names) = ways(steps);
        self.learn(ways, names);
    }

    /// Goes on with what is known now of the entities that were asked about.
    fn learn(&mut self, mut ways: WaysFrom, mut names: HashMap<usize, String>) {
        for (at, norm) in mem::take(&mut self.asked).into_iter().enumerate() {
            let (chunks, ways) = ways.remove(&at).unwrap_or_default();
            self.known.insert(norm, KnownEntity { chunks, name: names.remove(&at), ways });
        }
        while self.made < self.hops && self.asked.is_empty() {
            let open = self.beams.iter().filter(|beam| !beam.open.is_empty()).count();
            let most = (MOST_OPEN_TOGETHER / open.max(1)).clamp(FEWEST_OPEN, MOST_OPEN);
            self.beams.iter_mut().for_each(|beam| beam.go_on(&self.known, most));
            self.made += 1;
            if self.made < self.hops {
                self.asked = self.unknown();
            }
        }
    }

    /// The ends of paths, and what may lie between two entities that were asked about, as far as nothing is known of them.
    fn unknown(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let open = self.beams.iter().flat_map(|beam| &beam.open);
        let ends = open.filter_map(|path| path.entities.last()).map(|it| it.norm.as_str());
        let between = between::wanted(&self.starts, &self.known, self.made, self.hops);
        let all = ends.chain(between).filter(|norm| !self.known.contains_key(*norm));
        all.filter(|norm| seen.insert(*norm)).map(str::to_owned).collect()
    }

    /// The best `most` paths: first those that connect two of the entities that the search began with.
    #[must_use]
    pub fn finish(self, most: usize) -> Vec<EntityPath> {
        let PathSearch { starts, hops, known, beams, .. } = self;
        let mut found: Vec<EntityPath> = beams.into_iter().flat_map(|beam| beam.found).collect();
        found.extend(between::paths(&starts, &known, hops));
        let mut seen = HashSet::new();
        found.retain(|path| seen.insert(path.identity()));
        let starts: HashSet<&str> = starts.iter().map(|it| it.norm.as_str()).collect();
        let connects = |path: &EntityPath| {
            path.entities.last().is_some_and(|end| starts.contains(end.norm.as_str()))
        };
        found.sort_by(|a, b| connects(b).cmp(&connects(a)).then_with(|| better(a, b)));
        found.truncate(most);
        found
    }
}

impl PathBeam {
    /// Has the paths that are open go on by a hop; the best `most` of them are open then.
    fn go_on(&mut self, known: &KnownEntities, most: usize) {
        let mut next: Vec<EntityPath> = Vec::new();
        for path in &self.open {
            let end = path.entities.last().and_then(|end| known.get(&end.norm));
            // Any path may begin where it was asked to.
            let end = end.filter(|end| path.edges.is_empty() || end.may_be_passed());
            let Some(KnownEntity { name, ways, .. }) = end else { continue };
            next.extend(ways.iter().filter_map(|way| path.longer(way, name.as_ref())));
        }
        next.sort_by(better);
        next.truncate(MOST_KEPT);
        self.found.extend(next.iter().cloned());
        next.truncate(most);
        self.open = next;
    }
}

impl EntityPath {
    /// The path with one more entity; `None` if it is on it already. `written` is how a chunk writes its end.
    fn longer(&self, way: &PathStep, written: Option<&String>) -> Option<EntityPath> {
        if self.entities.iter().any(|it| it.norm == way.to.norm) {
            return None;
        }
        let mut longer = self.clone();
        longer.score *= way.probability;
        if let ([only], Some(written)) = (longer.entities.as_mut_slice(), written) {
            only.name.clone_from(written);
        }
        longer.entities.push(way.to.clone());
        longer.edges.push(way.edge.clone());
        Some(longer)
    }

    /// What no other path has: its entities, and what is said of each with the next.
    fn identity(&self) -> Vec<(String, Option<SaidRelation>)> {
        let said = self.edges.iter().map(|edge| edge.relation.clone()).chain([None]);
        self.entities.iter().map(|it| it.norm.clone()).zip(said).collect()
    }
}

/// The normal forms of a path's entities.
fn norms(path: &EntityPath) -> impl Iterator<Item = &str> {
    path.entities.iter().map(|it| it.norm.as_str())
}

/// What is said of a path's entities.
fn said(path: &EntityPath) -> impl Iterator<Item = Option<(&str, bool, &str)>> {
    path.edges.iter().map(|edge| {
        let SaidRelation { predicate, is_inverse, method, .. } = edge.relation.as_ref()?;
        Some((predicate.as_str(), *is_inverse, method.as_str()))
    })
}

/// The likelier one first, of like ones the shorter one, and then by name.
fn better(a: &EntityPath, b: &EntityPath) -> std::cmp::Ordering {
    let by_score = b.score.total_cmp(&a.score).then(a.entities.len().cmp(&b.entities.len()));
    by_score.then_with(|| norms(a).cmp(norms(b))).then_with(|| said(a).cmp(said(b)))
}

/// For each entity that was asked about, how many chunks name it and what ways there are from it.
type WaysFrom = HashMap<usize, (usize, Vec<PathStep>)>;

/// The ways of `steps`, and how chunks write the entities that they go on from.
fn ways(steps: Vec<FoundStep>) -> (WaysFrom, HashMap<usize, String>) {
    let mut in_chunks: HashMap<(usize, i64), f64> = HashMap::new();
    for step in &steps {
        *in_chunks.entry((step.from, step.proof.chunk_id)).or_default() += f64::from(step.count);
    }
    let mut chunks: HashMap<usize, usize> = HashMap::new();
    in_chunks.keys().for_each(|(from, _)| *chunks.entry(*from).or_default() += 1);
    let mut names = HashMap::new();
    let mut all: BTreeMap<(usize, String), PathStep> = BTreeMap::new();
    for FoundStep { from, from_name, to, count, proof } in steps {
        let of_chunk = f64::from(count) / in_chunks[&(from, proof.chunk_id)];
        let probability = of_chunk / chunks[&from] as f64;
        names.entry(from).or_insert(from_name);
        let way = all.entry((from, to.norm.clone())).or_insert_with(|| PathStep {
            probability: 0.0,
            to,
            edge: PathEdge { chunks: 0, proof, relation: None },
        });
        way.probability += probability;
        way.edge.chunks += 1;
    }
    let mut ways = WaysFrom::new();
    for ((from, _), way) in all {
        ways.entry(from).or_insert_with(|| (chunks[&from], Vec::new())).1.push(way);
    }
    (ways, names)
}

#[cfg(test)]
mod tests;
