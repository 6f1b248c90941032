//! Paths are found, also where many others are likelier, and as a search finds them that goes everywhere.

use proptest::prelude::*;

use super::between::MOST_BETWEEN;
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
    let mut search = PathSearch::new(starts.iter().map(|norm| entity(norm)).collect(), hops);
    let mut asked = HashSet::new();
    for _ in 0..=hops {
        let ends = search.ends();
        assert!(ends.len() <= MOST_OPEN * starts.len() + MOST_BETWEEN);
        assert!(ends.iter().all(|end| asked.insert(end.clone())), "{ends:?} is asked again");
        if ends.is_empty() {
            break;
        }
        search.advance(steps(chunks, &ends));
    }
    assert!(search.ends().is_empty());
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
fn two_are_connected_however_unlikely_that_is() {
    // Each of the two is named with thirty others that lead nowhere.
    let others =
        |letter: &str| -> String { (0..30).map(|at| format!("{letter}{at:02} ")).collect() };
    let (near_a, near_b) = (format!("{}x a", others("a")), format!("{}y b", others("b")));
    let chunks = chunks(&[&near_a, &near_b, "x y", "x m", "m y"]);
    let connecting = |starts: &[&str], hops| -> Vec<String> {
        let mut paths = shown(&search(&chunks, starts, hops, 1000));
        let is_between = |path: &String, from: &str, to: &str| {
            path.starts_with(&format!("{from}-")) && path.ends_with(&format!("-{to}"))
        };
        paths.retain(|path| is_between(path, "A", "B") || is_between(path, "B", "A"));
        paths
    };
    let [short, long] = [["A-X-Y-B", "B-Y-X-A"], ["A-X-M-Y-B", "B-Y-M-X-A"]];
    assert_eq!(connecting(&["a", "b"], 2), Vec::<String>::new());
    assert_eq!(connecting(&["a", "b"], 3), short);
    assert_eq!(connecting(&["a", "b"], 4)[..4], [short, long].concat());
    // They come first.
    assert_eq!(shown(&search(&chunks, &["a", "b"], 4, 4)), [short, long].concat());
    // What is asked about beside them makes no difference, nor does what there is not.
    assert_eq!(connecting(&["nobody", "a", "a05", "b", "b07"], 3), short);
    let path = &search(&chunks, &["a", "b"], 3, 1)[0];
    let proofs: Vec<i64> = path.edges.iter().map(|edge| edge.proof.chunk_id).collect();
    assert_eq!(proofs, [0, 2, 1]);
    // From a one of 31 leads to x, of whose three chunks one leads to y, of whose three one leads to b, among 31.
    let expected = (1.0 / 31.0) * (1.0 / 3.0) * (1.0 / 3.0 / 31.0);
    assert!((path.score - expected).abs() < 1e-12, "{}", path.score);
}

#[test]
fn nothing_that_is_everywhere_connects_two() {
    let mut many: Vec<String> = (0..=MOST_CHUNKS).map(|at| format!("hub n{at}")).collect();
    many.extend(["a hub", "hub b", "a x", "x b"].map(str::to_owned));
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let chunks = chunks(&many);
    let mut paths = shown(&search(&chunks, &["a", "b"], 4, 1000));
    paths.retain(|path| path.ends_with("-A") || path.ends_with("-B"));
    assert_eq!(paths, ["A-X-B", "B-X-A"]);
    // It may itself be asked about.
    assert_eq!(shown(&search(&chunks, &["hub", "x"], 2, 2)), ["X-A-HUB", "X-B-HUB"]);
}

#[test]
fn what_is_known_from_one_side_alone_is_turned() {
    // Of the chunk that names a with many others, only the most frequent are looked at from a.
    let step = |from: usize, from_name: &str, to: &str, places: (i32, i32)| FoundStep {
        from,
        from_name: from_name.to_owned(),
        to: entity(to),
        count: 1,
        proof: CoOccurrence {
            source_key: "1".to_owned(),
            chunk_id: 1,
            chunk_no: 0,
            from: Some((places.0, places.0 + 1)),
            to: Some((places.1, places.1 + 1)),
        },
    };
    let mut search = PathSearch::new(vec![entity("a"), entity("b")], 1);
    search.advance(vec![step(0, "A", "c", (0, 8)), step(1, "B", "a", (4, 0))]);
    let found = search.finish(10);
    assert_eq!(shown(&found), ["A-B", "B-A", "A-C"]);
    let [turned, straight] = [&found[0].edges[0].proof, &found[1].edges[0].proof];
    assert_eq!((turned.from, turned.to), (Some((0, 1)), Some((4, 5))));
    assert_eq!((straight.from, straight.to), (Some((4, 5)), Some((0, 1))));
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

/// How many hops two entities are apart, by going everywhere.
fn distance(chunks: &Chunks, from: &str, to: &str) -> Option<usize> {
    let (mut seen, mut last) = (HashSet::from([from.to_owned()]), vec![from.to_owned()]);
    for hops in 1.. {
        let beside = |norm: &String| -> Vec<String> {
            chunks.iter().filter(|it| it.contains(norm)).flatten().cloned().collect()
        };
        let next: Vec<String> = last.iter().flat_map(beside).collect();
        last = next.into_iter().filter(|norm| seen.insert(norm.clone())).collect();
        if last.iter().any(|norm| norm == to) {
            return Some(hops);
        }
        if last.is_empty() {
            break;
        }
    }
    None
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

    /// Of up to [`MOST_BETWEEN`] entities, however many lead nowhere.
    #[test]
    fn what_connects_two_is_found_whenever_there_is_something(
        sets in prop::collection::vec(prop::collection::btree_set(0..MOST_BETWEEN, 2..9), 1..60),
        hops in 1_usize..5,
        starts in 2_usize..5,
    ) {
        let chunks: Chunks = sets.iter().map(|set| set.iter().map(|at| format!("e{at}")).collect()).collect();
        let chunks_of = |norm: &String| chunks.iter().filter(|it| it.contains(norm)).count();
        prop_assume!(chunks.iter().flatten().all(|norm| chunks_of(norm) <= MOST_CHUNKS));
        let starts: Vec<String> = (0..starts).map(|at| format!("e{at}")).collect();
        let names: Vec<&str> = starts.iter().map(String::as_str).collect();
        let found = search(&chunks, &names, hops, usize::MAX);
        for path in &found {
            let different: HashSet<&str> = norms(path).collect();
            prop_assert_eq!(different.len(), path.entities.len());
            prop_assert!(path.edges.len() <= hops && path.edges.len() + 1 == path.entities.len());
            prop_assert!(path.score > 0.0 && path.score < 1.0 + 1e-9);
            for (pair, edge) in path.entities.windows(2).zip(&path.edges) {
                let proof = &chunks[edge.proof.chunk_id as usize];
                prop_assert!(pair.iter().all(|it| proof.contains(&it.norm)));
            }
        }
        for (from, to) in names.iter().flat_map(|from| names.iter().map(move |to| (*from, *to))) {
            let is_there = from != to && distance(&chunks, from, to).is_some_and(|it| it <= hops);
            let connects = |path: &EntityPath| {
                norms(path).next() == Some(from) && norms(path).last() == Some(to)
            };
            prop_assert_eq!(found.iter().any(connects), is_there, "from {} to {}", from, to);
        }
    }

    /// Where few entities are, what connects two is all that a search finds that goes everywhere.
    #[test]
    fn all_that_connects_two_is_found_where_there_is_little(
        sets in prop::collection::vec(prop::collection::btree_set(0_u8..5, 2..4), 1..5),
        hops in 1_usize..5,
    ) {
        let chunks: Chunks = sets.iter().map(|set| set.iter().map(|at| format!("e{at}")).collect()).collect();
        let mut expected = Vec::new();
        naive(&chunks, &["e0".to_owned()], hops, &mut expected, 1.0);
        prop_assume!(expected.len() <= MOST_OPEN);
        expected.retain(|(path, _)| path.last().is_some_and(|end| end == "e1"));
        let mut found = search(&chunks, &["e0", "e1"], hops, usize::MAX);
        found.retain(|path| norms(path).next() == Some("e0") && norms(path).last() == Some("e1"));
        prop_assert_eq!(found.len(), expected.len());
        for (path, score) in expected {
            let same = found.iter().find(|it| norms(it).eq(path.iter().map(String::as_str)));
            prop_assert!(same.is_some_and(|it| (it.score - score).abs() < 1e-9));
        }
    }
}
