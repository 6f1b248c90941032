//! Paths of which each edge is a relation: what rows say of two entities, by a predicate.

use std::collections::HashMap;

use super::{CoOccurrence, NameSpan, NamedEntity, PathEdge, PathSearch, PathStep, WaysFrom};

/// What is said of two entities.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SaidRelation {
    /// What the subject is to the object.
    pub predicate: String,
    /// Whether the path goes from the object to the subject.
    pub is_inverse: bool,
    /// Who says it, such as `sql`: a column of the row.
    pub method: String,
    /// Where the document says it, in characters; `None` where a column does.
    pub span: NameSpan,
    /// The words there.
    pub words: Option<String>,
}

/// A way from an entity that was asked about to another, by a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationStep {
    /// The place among the entities that were asked about.
    pub from: usize,
    /// How the relation writes that.
    pub from_name: String,
    /// The other entity.
    pub to: NamedEntity,
    /// What is said.
    pub relation: SaidRelation,
    /// How many chunks say it, of those that were looked at.
    pub chunks: i64,
    /// The first of them.
    pub proof: CoOccurrence,
}

impl SaidRelation {
    /// What is said of the two the other way round.
    pub(super) fn turned(&self) -> SaidRelation {
        SaidRelation { is_inverse: !self.is_inverse, ..self.clone() }
    }

    /// Whether it is the other with another proof.
    pub(super) fn says_as(&self, other: &SaidRelation) -> bool {
        (&self.predicate, self.is_inverse, &self.method)
            == (&other.predicate, other.is_inverse, &other.method)
    }
}

impl PathSearch {
    /// Goes on by a hop over relations, which are all from the entities of [`ends`](Self::ends) in its order, each
    /// with another entity, predicate or direction. A random walk takes one as often as chunks say it. However many
    /// chunks say something of an entity, paths lead over it: they have been asked for by their predicates.
    pub fn follow(&mut self, steps: Vec<RelationStep>) {
        let (ways, names) = ways(steps);
        self.learn(ways, names);
    }
}

/// The ways of `steps`, and how relations write the entities that they go on from.
fn ways(steps: Vec<RelationStep>) -> (WaysFrom, HashMap<usize, String>) {
    let mut said: HashMap<usize, i64> = HashMap::new();
    for step in &steps {
        *said.entry(step.from).or_default() += step.chunks;
    }
    let (mut ways, mut names) = (WaysFrom::new(), HashMap::new());
    for RelationStep { from, from_name, to, relation, chunks, proof } in steps {
        names.entry(from).or_insert(from_name);
        let probability = chunks as f64 / said[&from].max(1) as f64;
        let edge = PathEdge { chunks: chunks as usize, proof, relation: Some(relation) };
        // That no chunks are counted says that none are too many.
        let (_, of_entity) = ways.entry(from).or_insert_with(|| (0, Vec::new()));
        of_entity.push(PathStep { probability, to, edge });
    }
    (ways, names)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MOST_OPEN;
    use super::*;

    /// Subject, predicate, object, and how many chunks say it.
    type Said<'a> = (&'a str, &'a str, &'a str, i64);

    fn entity(norm: &str) -> NamedEntity {
        NamedEntity { norm: norm.to_owned(), name: norm.to_uppercase() }
    }

    /// What tables of relations would say, in both directions.
    fn steps(said: &[Said<'_>], ends: &[String]) -> Vec<RelationStep> {
        let mut found = Vec::new();
        for (from, end) in ends.iter().enumerate() {
            for (at, (subject, predicate, object, chunks)) in said.iter().enumerate() {
                for (here, there, is_inverse) in [(subject, object, false), (object, subject, true)]
                {
                    if here != end {
                        continue;
                    }
                    let (predicate, method) = ((*predicate).to_owned(), "sql".to_owned());
                    found.push(RelationStep {
                        from,
                        from_name: here.to_uppercase(),
                        to: entity(there),
                        relation: SaidRelation {
                            predicate,
                            is_inverse,
                            method,
                            span: None,
                            words: None,
                        },
                        chunks: *chunks,
                        proof: CoOccurrence {
                            source_key: at.to_string(),
                            chunk_id: at as i64,
                            chunk_no: 0,
                            from: None,
                            to: None,
                        },
                    });
                }
            }
        }
        found
    }

    fn search(said: &[Said<'_>], starts: &[&str], hops: usize) -> Vec<(String, f64)> {
        let mut search = PathSearch::new(starts.iter().map(|it| entity(it)).collect(), hops);
        while !search.ends().is_empty() {
            search.follow(steps(said, &search.ends()));
        }
        let shown = |path: super::super::EntityPath| {
            let mut text = path.entities[0].name.clone();
            for (edge, entity) in path.edges.iter().zip(&path.entities[1..]) {
                let SaidRelation { predicate, is_inverse, .. } = edge.relation.as_ref().unwrap();
                let sign = if *is_inverse { "<" } else { ">" };
                text += &format!(" {sign}{predicate} {}", entity.name);
            }
            (text, path.score)
        };
        search.finish(1000).into_iter().map(shown).collect()
    }

    #[test]
    fn a_path_goes_along_relations_and_against_them() {
        let said = [
            ("apollo", "uses", "zstd", 1),
            ("ada", "worked_on", "apollo", 2),
            ("bob", "worked_on", "apollo", 1),
            ("bob", "worked_on", "gemini", 1),
        ];
        let found = search(&said, &["zstd"], 3);
        let expected = [
            ("ZSTD <uses APOLLO", 1.0),
            ("ZSTD <uses APOLLO <worked_on ADA", 0.5),
            ("ZSTD <uses APOLLO <worked_on BOB", 0.25),
            ("ZSTD <uses APOLLO <worked_on BOB >worked_on GEMINI", 0.125),
        ];
        let expected: Vec<_> = expected.map(|(path, score)| (path.to_owned(), score)).into();
        assert_eq!(found, expected);
        assert!(search(&said, &["nobody"], 3).is_empty());
        assert!(search(&[], &["zstd"], 3).is_empty());
    }

    #[test]
    fn a_circle_ends_and_a_hub_is_passed_through() {
        let circle = [("a", "knows", "b", 1), ("b", "knows", "c", 1), ("c", "knows", "a", 1)];
        let found: Vec<String> = search(&circle, &["a"], 4).into_iter().map(|it| it.0).collect();
        assert_eq!(found.len(), 4, "{found:?}");
        let many: Vec<String> = (0..200).map(|at| format!("n{at}")).collect();
        let mut hub: Vec<Said<'_>> = many.iter().map(|it| ("hub", "has", it.as_str(), 1)).collect();
        hub.push(("start", "is_in", "hub", 1));
        assert!(search(&hub, &["start"], 2).len() > 100);
    }

    #[test]
    fn one_pair_may_be_told_of_twice() {
        let said = [("ada", "leads", "apollo", 1), ("ada", "worked_on", "apollo", 1)];
        let found = search(&said, &["ada"], 1);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn two_are_connected_over_what_is_unlikely() {
        // Each of the two has many relations that lead nowhere and are stated more often.
        let many: Vec<(String, String)> =
            (0..40).map(|at| (format!("n{at}"), format!("m{at}"))).collect();
        let mut said: Vec<Said<'_>> = Vec::new();
        for (one, other) in &many {
            said.extend([("ada", "knows", one.as_str(), 9), ("ben", "knows", other.as_str(), 9)]);
        }
        said.extend([
            ("x", "is_led_by", "ada", 1),
            ("x", "uses", "y", 1),
            ("x", "replaces", "y", 1),
            ("ben", "wrote", "y", 1),
        ]);
        let found: Vec<String> =
            search(&said, &["ada", "ben"], 3).into_iter().take(5).map(|it| it.0).collect();
        let connecting = [
            "ADA <is_led_by X >uses Y <wrote BEN",
            "ADA <is_led_by X >replaces Y <wrote BEN",
            "BEN >wrote Y <uses X >is_led_by ADA",
            "BEN >wrote Y <replaces X >is_led_by ADA",
        ];
        for path in connecting {
            assert!(found[..4].contains(&path.to_owned()), "{path}: {found:?}");
        }
        let proofs = search(&said, &["ada", "ben"], 2);
        assert!(proofs.iter().all(|(path, _)| !(path.contains("ADA") && path.contains("BEN"))));
    }

    proptest! {
        /// However the relations go, no path is longer than asked for, comes to an entity twice, or is unlikely.
        #[test]
        fn paths_are_simple(pairs in prop::collection::vec((0_usize..6, 0_usize..6, 1_i64..4), 0..20), hops in 1_usize..5) {
            const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
            let pairs = pairs.iter().filter(|(one, other, _)| one != other);
            let said: Vec<Said<'_>> = pairs.map(|(one, other, chunks)| (NAMES[*one], "p", NAMES[*other], *chunks)).collect();
            let mut search = PathSearch::new(vec![entity("a")], hops);
            while !search.ends().is_empty() {
                prop_assert!(search.ends().len() <= MOST_OPEN);
                search.follow(steps(&said, &search.ends()));
            }
            for path in search.finish(1000) {
                let mut norms: Vec<_> = path.entities.iter().map(|it| it.norm.clone()).collect();
                prop_assert_eq!(norms.len(), path.edges.len() + 1);
                prop_assert!(path.edges.len() <= hops);
                prop_assert!(path.score > 0.0 && path.score <= 1.0);
                norms.sort();
                norms.dedup();
                prop_assert_eq!(norms.len(), path.entities.len());
            }
        }
    }
}
