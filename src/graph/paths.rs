//! How are entities connected?
//!
//! ```text
//! (entities, hops) → ask which chunks name each → ... → paths, each edge with the chunk that proves it
//! ```
//!
//! Two entities are connected where a chunk names both. A path never comes to an entity twice. Its score is
//! the probability that a random walk from chunk to chunk takes it, so entities that few chunks name, and chunks that
//! name few, lead further. A search in breadth goes on with the best paths of each length, and only from entities
//! that no more than [`MOST_CHUNKS`] chunks name: what is everywhere connects everything.
//!
//! Where only relations of certain predicates count ([`relations`](self::relations)), an edge is what rows say of two
//! entities, and leads from either of them to the other.

pub mod relations;

use std::collections::{BTreeMap, HashMap, HashSet};

use self::relations::SaidRelation;

/// Chunks beyond which an entity is not passed through; only a path's beginning may have more, the first of which
/// are looked at.
pub const MOST_CHUNKS: usize = 50;

/// Paths of a length that are gone on with, beside the first ones.
const MOST_OPEN: usize = 20;

/// Paths of a length that are kept.
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

/// A search for paths: ask what [`ends`](Self::ends) names, [`advance`](Self::advance), and so on.
pub struct PathSearch {
    starts: HashSet<String>,
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
    /// From these entities.
    #[must_use]
    pub fn new(starts: Vec<NamedEntity>) -> Self {
        let norms = starts.iter().map(|it| it.norm.clone()).collect();
        let alone = |it| EntityPath { score: 1.0, entities: vec![it], edges: Vec::new() };
        PathSearch {
            starts: norms,
            open: starts.into_iter().map(alone).collect(),
            found: Vec::new(),
        }
    }

    /// The normal forms of the entities that paths may go on from, each once.
    #[must_use]
    pub fn ends(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let ends = self.open.iter().filter_map(|path| path.entities.last());
        ends.filter(|it| seen.insert(it.norm.as_str())).map(|it| it.norm.clone()).collect()
    }

    /// Goes on by a hop with `steps`, which are all from the entities of [`ends`](Self::ends) in its order.
    pub fn advance(&mut self, steps: Vec<FoundStep>) {
        let (ways, names) = ways(steps);
        self.go_on(&ways, &names);
    }

    fn go_on(&mut self, ways: &WaysFrom, names: &HashMap<usize, String>) {
        let ends = self.ends();
        let is_first = self.found.is_empty();
        let mut next: Vec<EntityPath> = Vec::new();
        for path in &self.open {
            let Some(end) = path.entities.last() else { continue };
            let at = ends.iter().position(|norm| *norm == end.norm);
            let Some((chunks, ways)) = at.and_then(|at| ways.get(&at)) else { continue };
            if *chunks > MOST_CHUNKS && !(is_first && self.starts.contains(&end.norm)) {
                continue;
            }
            let written = at.and_then(|at| names.get(&at));
            next.extend(ways.iter().filter_map(|way| path.longer(way, written)));
        }
        next.sort_by(better);
        next.truncate(MOST_KEPT);
        self.found.extend(next.iter().cloned());
        next.truncate(MOST_OPEN);
        self.open = next;
    }

    /// The best `most` paths: first those that connect two of the entities that the search began with.
    #[must_use]
    pub fn finish(self, most: usize) -> Vec<EntityPath> {
        let PathSearch { starts, mut found, .. } = self;
        let connects =
            |path: &EntityPath| path.entities.last().is_some_and(|end| starts.contains(&end.norm));
        found.sort_by(|a, b| connects(b).cmp(&connects(a)).then_with(|| better(a, b)));
        found.truncate(most);
        found
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
}

/// The normal forms of a path's entities.
fn norms(path: &EntityPath) -> impl Iterator<Item = &str> {
    path.entities.iter().map(|it| it.norm.as_str())
}

/// The likelier one first, of like ones the shorter one, and then by name.
fn better(a: &EntityPath, b: &EntityPath) -> std::cmp::Ordering {
    let by_score = b.score.total_cmp(&a.score).then(a.entities.len().cmp(&b.entities.len()));
    by_score.then_with(|| norms(a).cmp(norms(b)))
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chunks by the names in them.
    type Chunks = Vec<Vec<String>>;

    fn entity(norm: &str) -> NamedEntity {
        NamedEntity { norm: norm.to_owned(), name: norm.to_uppercase() }
    }

    fn chunks(names: &[&str]) -> Chunks {
        names.iter().map(|names| names.split(' ').map(str::to_owned).collect()).collect()
    }

    /// What a table of mentions would say.
    fn steps(chunks: &Chunks, ends: &[String]) -> Vec<FoundStep> {
        let mut found = Vec::new();
        for (from, end) in ends.iter().enumerate() {
            for (at, names) in chunks.iter().enumerate().filter(|(_, names)| names.contains(end)) {
                let proof = CoOccurrence {
                    source_key: at.to_string(),
                    chunk_id: at as i64,
                    chunk_no: 0,
                    from: Some((0, 1)),
                    to: None,
                };
                found.extend(names.iter().filter(|name| *name != end).map(|name| FoundStep {
                    from,
                    from_name: end.to_uppercase(),
                    to: entity(name),
                    count: 1,
                    proof: proof.clone(),
                }));
            }
        }
        found
    }

    fn search(chunks: &Chunks, starts: &[&str], hops: usize, most: usize) -> Vec<EntityPath> {
        let mut search = PathSearch::new(starts.iter().map(|norm| entity(norm)).collect());
        for _ in 0..hops {
            search.advance(steps(chunks, &search.ends()));
        }
        search.finish(most)
    }

    fn shown(paths: &[EntityPath]) -> Vec<String> {
        let names = |path: &EntityPath| -> Vec<String> {
            path.entities.iter().map(|it| it.name.clone()).collect()
        };
        paths.iter().map(|path| names(path).join("-")).collect()
    }

    #[test]
    fn paths_lead_from_chunk_to_chunk() {
        let chunks = chunks(&["a b", "b c d", "c e"]);
        assert_eq!(shown(&search(&chunks, &["a"], 1, 10)), ["A-B"]);
        let two = search(&chunks, &["a"], 2, 10);
        assert_eq!(shown(&two), ["A-B", "A-B-C", "A-B-D"]);
        // From b half of the walks stay in its first chunk, and of the others half go to c.
        assert_eq!((two[0].score, two[1].score), (1.0, 0.25));
        assert_eq!(two[1].edges.iter().map(|it| it.proof.chunk_id).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(shown(&search(&chunks, &["a"], 3, 10))[3], "A-B-C-E");
        assert_eq!(shown(&search(&chunks, &["a"], 4, 2)), ["A-B", "A-B-C"]);
        assert!(search(&chunks, &["nobody"], 4, 10).is_empty());
        assert!(search(&chunks, &[], 4, 10).is_empty());
    }

    #[test]
    fn what_connects_two_comes_first() {
        let chunks = chunks(&["a x", "x b", "a y", "a z", "b q"]);
        let paths = shown(&search(&chunks, &["a", "b"], 2, 3));
        assert_eq!(&paths[..2], ["B-X-A", "A-X-B"]);
    }

    #[test]
    fn what_is_everywhere_is_an_end_and_no_way() {
        let mut many: Vec<String> = (0..=MOST_CHUNKS).map(|at| format!("hub n{at}")).collect();
        many.push("a hub".to_owned());
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let chunks = chunks(&many);
        assert_eq!(shown(&search(&chunks, &["a"], 3, 10)), ["A-HUB"]);
        assert_eq!(search(&chunks, &["hub"], 1, 100).len(), MOST_CHUNKS + 2);
    }

    #[test]
    fn an_edge_counts_the_chunks_that_name_both() {
        let paths = search(&chunks(&["a b", "a b c"]), &["a"], 1, 10);
        assert_eq!((paths[0].edges[0].chunks, paths[1].edges[0].chunks), (2, 1));
        assert_eq!((paths[0].score, paths[1].score), (0.75, 0.25));
    }

    /// All simple paths, by going everywhere.
    fn naive(
        chunks: &Chunks,
        path: &[String],
        hops: usize,
        found: &mut Vec<(Vec<String>, f64)>,
        score: f64,
    ) {
        if hops == 0 {
            return;
        }
        let end = &path[path.len() - 1];
        let of: Vec<&Vec<String>> =
            chunks.iter().filter(|it| it.contains(end) && it.len() > 1).collect();
        let mut others: Vec<&String> = of.iter().flat_map(|it| it.iter()).collect();
        others.sort();
        others.dedup();
        for other in others.into_iter().filter(|it| !path.contains(it)) {
            let probability: f64 = of
                .iter()
                .filter(|it| it.contains(other))
                .map(|it| 1.0 / (it.len() - 1) as f64 / of.len() as f64)
                .sum();
            let longer = [path, std::slice::from_ref(other)].concat();
            found.push((longer.clone(), score * probability));
            naive(chunks, &longer, hops - 1, found, score * probability);
        }
    }

    proptest! {
        #[test]
        fn all_paths_are_found_where_there_are_few(
            sets in prop::collection::vec(prop::collection::btree_set(0_u8..5, 1..4), 1..5),
            hops in 1_usize..4,
        ) {
            let chunks: Chunks = sets.iter().map(|set| set.iter().map(|at| format!("e{at}")).collect()).collect();
            let mut expected = Vec::new();
            naive(&chunks, &["e0".to_owned()], hops, &mut expected, 1.0);
            prop_assume!(expected.len() <= MOST_OPEN);
            let mut paths: Vec<(Vec<String>, f64)> = search(&chunks, &["e0"], hops, 1000).into_iter().map(|path| {
                (path.entities.into_iter().map(|it| it.norm).collect(), path.score)
            }).collect();
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            paths.sort_by(|a, b| a.0.cmp(&b.0));
            prop_assert_eq!(paths.len(), expected.len());
            for ((path, score), (naive, expected)) in paths.iter().zip(&expected) {
                prop_assert_eq!(path, naive);
                prop_assert!((score - expected).abs() < 1e-9);
            }
        }
    }
}
