//! Which chunks name what the best ones name?
//!
//! ```text
//! (scores of the best chunks, what they name, where else that is named) → scores of chunks, and by which entity
//! ```
//!
//! A random walk (personalised PageRank) over chunks and entities, one hop out and back: two steps, as 2, 4 and 20 of them
//! gave the same ranking on HotpotQA. It begins at the best chunks of a search, by their scores, and at the entities of the
//! question, each by the reciprocal of how many chunks name it. From a chunk it goes to an entity as often as the chunk
//! names it, and from an entity to each of its chunks alike. An entity that very many chunks name says nothing and is left
//! out by the caller.
//!
//! What comes back to a chunk from itself is not counted. A chunk is scored by what others and the question lead to, and
//! that is added to its own score: entities alone rank badly, and a chunk gains nothing by naming what no other names.

use std::collections::HashSet;

/// The part that goes on in each step.
const DAMPING: f64 = 0.5;

/// Most entities that are named as the way to a chunk.
const MOST_VIA: usize = 3;

/// Least chunks that must name an entity before it is left out.
const LEAST_FREQUENT: f64 = 50.0;

/// Share of the chunks that must name an entity before it is left out.
const FREQUENT_SHARE: f64 = 0.05;

/// Chunks beyond which an entity is left out, however many chunks there are: more would take long and tell little.
const MOST_FREQUENT: f64 = 200.0;

/// How many chunks may name an entity that is walked over, of about so many chunks in all.
#[must_use]
pub fn most_chunks_of_entity(chunks: f64) -> usize {
    (FREQUENT_SHARE * chunks).clamp(LEAST_FREQUENT, MOST_FREQUENT) as usize
}

/// A chunk that the walk begins at.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkSeed {
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Its score, 0 or more.
    pub weight: f64,
    /// The entities that it names, by their places among the hubs, and how often.
    pub mentions: Vec<(usize, u32)>,
}

/// An entity that the walk may go over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WalkHub {
    /// The chunks that name it, each once; none if it is left out.
    pub chunks: Vec<i64>,
    /// Whether the question names it.
    pub is_asked: bool,
}

/// A chunk that the walk comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkedChunk {
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// How likely the walk comes there from elsewhere, above 0; greater is better.
    pub score: f64,
    /// The entities over which it came from other chunks or the question, by their places among the hubs, the
    /// most important first; at most three.
    pub via: Vec<usize>,
}

/// All that the walk comes to. An entity is named by many chunks and most of them are of no interest: so nothing is made for
/// each chunk but its score.
pub struct Walk {
    hubs: Vec<HubFlow>,
    /// What is named where: a chunk and the place of a hub that it names, in this order.
    visits: Vec<(i64, u32)>,
    /// The chunks that it comes to from elsewhere.
    scored: Vec<ScoredChunk>,
}

/// What goes over an entity.
struct HubFlow {
    /// All that comes to it in the first step.
    there: f64,
    /// From which seeds how much of that comes.
    gone: Vec<(i64, f64)>,
    /// How many chunks it goes on to.
    count: f64,
}

#[derive(Clone, Copy)]
struct ScoredChunk {
    chunk_id: i64,
    score: f64,
    /// Where its visits begin.
    first: usize,
}

impl HubFlow {
    /// What comes over it to a chunk from elsewhere; 0 where that is nothing.
    fn foreign(&self, chunk_id: i64) -> f64 {
        let of_chunk = self.gone.iter().filter(|(from, _)| *from == chunk_id);
        let own: f64 = of_chunk.map(|(_, share)| share).sum();
        // What is left of a difference of equal numbers is no arrival.
        match self.there - own > 1e-12 * self.there {
            true => (self.there - own) / self.count,
            false => 0.0,
        }
    }
}

impl Walk {
    /// Walks from the seeds and the entities of the question.
    #[must_use]
    pub fn new(seeds: &[WalkSeed], hubs: &[WalkHub]) -> Walk {
        let flow = |(hub, gone): (&WalkHub, Vec<(i64, f64)>)| {
            let count = hub.chunks.len() as f64;
            let asked = if hub.is_asked { (1.0 - DAMPING) / count } else { 0.0 };
            let there = asked + gone.iter().map(|(_, share)| share).sum::<f64>();
            HubFlow { there, gone, count }
        };
        let flows: Vec<HubFlow> = hubs.iter().zip(gone_out(seeds, hubs)).map(flow).collect();
        let visits_of = |(at, hub): (u32, &WalkHub)| {
            hub.chunks.iter().map(move |chunk_id| (*chunk_id, at)).collect::<Vec<_>>()
        };
        let mut visits: Vec<(i64, u32)> = (0..).zip(hubs).flat_map(visits_of).collect();
        visits.sort_unstable();
        let mut walk = Walk { hubs: flows, visits, scored: Vec::new() };
        walk.score();
        walk
    }

    fn score(&mut self) {
        let mut first = 0;
        for of_chunk in self.visits.chunk_by(|a, b| a.0 == b.0) {
            let chunk_id = of_chunk[0].0;
            let came = of_chunk.iter().map(|(_, hub)| self.hubs[*hub as usize].foreign(chunk_id));
            let score = DAMPING * came.sum::<f64>();
            if score > 0.0 {
                self.scored.push(ScoredChunk { chunk_id, score, first });
            }
            first += of_chunk.len();
        }
    }

    /// Whether it comes to any chunk from another one or the question.
    #[must_use]
    pub fn goes_anywhere(&self) -> bool {
        !self.scored.is_empty()
    }

    /// Of the chunks that it comes to those that are `known`, and the best `most` of the others; best first, and those of like
    /// score by age.
    #[must_use]
    pub fn best(&self, known: &HashSet<i64>, most: usize) -> Vec<WalkedChunk> {
        let (mut kept, mut new): (Vec<ScoredChunk>, Vec<ScoredChunk>) =
            self.scored.iter().copied().partition(|it| known.contains(&it.chunk_id));
        let order = |a: &ScoredChunk, b: &ScoredChunk| {
            b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id))
        };
        if most < new.len() {
            new.select_nth_unstable_by(most, order);
            new.truncate(most);
        }
        kept.extend(new);
        kept.sort_unstable_by(order);
        kept.into_iter().map(|it| self.walked_chunk(it)).collect()
    }

    fn walked_chunk(&self, ScoredChunk { chunk_id, score, first }: ScoredChunk) -> WalkedChunk {
        let visits = self.visits[first..].iter().take_while(|(visited, _)| *visited == chunk_id);
        let foreign = visits.map(|(_, hub)| {
            let hub = *hub as usize;
            (hub, self.hubs[hub].foreign(chunk_id))
        });
        let mut foreign: Vec<(usize, f64)> = foreign.filter(|(_, came)| *came > 0.0).collect();
        foreign.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let via = foreign.into_iter().take(MOST_VIA).map(|(hub, _)| hub).collect();
        WalkedChunk { chunk_id, score, via }
    }
}

/// For each hub, from which seeds how much comes to it in the first step.
fn gone_out(seeds: &[WalkSeed], hubs: &[WalkHub]) -> Vec<Vec<(i64, f64)>> {
    let mut gone = vec![Vec::new(); hubs.len()];
    for WalkSeed { chunk_id, weight, mentions } in seeds {
        let is_there = |(hub, _): &&(usize, u32)| !hubs[*hub].chunks.is_empty();
        let kept: Vec<&(usize, u32)> = mentions.iter().filter(is_there).collect();
        let all: f64 = kept.iter().map(|(_, count)| f64::from(*count)).sum();
        for (hub, count) in kept {
            gone[*hub].push((*chunk_id, DAMPING * weight * f64::from(*count) / all));
        }
    }
    gone
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seed(chunk_id: i64, weight: f64, mentions: &[(usize, u32)]) -> WalkSeed {
        WalkSeed { chunk_id, weight, mentions: mentions.to_vec() }
    }

    fn hub(chunks: &[i64]) -> WalkHub {
        WalkHub { chunks: chunks.to_vec(), is_asked: false }
    }

    /// All chunks that a walk comes to.
    fn walk(seeds: &[WalkSeed], hubs: &[WalkHub]) -> Vec<WalkedChunk> {
        Walk::new(seeds, hubs).best(&HashSet::new(), usize::MAX)
    }

    fn ways(walked: &[WalkedChunk]) -> Vec<(i64, &[usize])> {
        walked.iter().map(|it| (it.chunk_id, it.via.as_slice())).collect()
    }

    #[test]
    fn a_chunk_comes_in_by_what_another_names() {
        let seeds = [seed(1, 1.0, &[(0, 1), (1, 1)]), seed(2, 0.5, &[(1, 2)])];
        let hubs = [hub(&[1, 3]), hub(&[1, 2])];
        let walked = walk(&seeds, &hubs);
        assert_eq!(ways(&walked), [(1, &[1][..]), (2, &[1]), (3, &[0])]);
        let scores: Vec<f64> = walked.iter().map(|it| it.score).collect();
        // 1/4 comes to 0 from 1, and 1/4 to 1 from each; 1/2 of that goes on to the two chunks of each.
        assert_eq!(scores, [0.0625; 3]);
    }

    #[test]
    fn the_question_names_entities_too() {
        let asked = WalkHub { chunks: vec![7, 8], is_asked: true };
        let walked = walk(&[], &[asked]);
        assert_eq!(ways(&walked), [(7, &[0][..]), (8, &[0])]);
        assert_eq!(walked[0].score, 0.0625);
        assert!(walk(&[], &[WalkHub { chunks: Vec::new(), is_asked: true }]).is_empty());
    }

    #[test]
    fn what_is_left_out_takes_nothing() {
        let with = walk(&[seed(1, 1.0, &[(0, 1)])], &[hub(&[1, 2])]);
        let beside = walk(&[seed(1, 1.0, &[(0, 1), (1, 9)])], &[hub(&[1, 2]), hub(&[])]);
        assert_eq!(with, beside);
        assert!(walk(&[seed(1, 1.0, &[(0, 1)])], &[hub(&[1])]).is_empty());
    }

    #[test]
    fn frequent_entities_are_those_of_a_share() {
        let most = [-1.0, 0.0, 999.0, 2000.0, 1e9].map(most_chunks_of_entity);
        assert_eq!(most, [50, 50, 50, 100, 200]);
    }

    const CHUNKS: usize = 6;
    const HUBS: usize = 4;

    proptest! {
        #[test]
        fn the_walk_is_its_definition(
            counts in prop::collection::vec(prop::collection::vec(0_u32..3, HUBS), CHUNKS),
            weights in prop::collection::vec(0.0_f64..1.0, CHUNKS - 2),
            asked in prop::collection::vec(any::<bool>(), HUBS),
            known in prop::collection::vec(0_i64..CHUNKS as i64, 0..CHUNKS),
            most in 0_usize..CHUNKS,
        ) {
            let named = |hub: usize| (0..CHUNKS).filter(|chunk| counts[*chunk][hub] > 0).collect::<Vec<_>>();
            let hubs: Vec<WalkHub> = (0..HUBS).map(|at| WalkHub {
                chunks: named(at).into_iter().map(|chunk| chunk as i64).collect(),
                is_asked: asked[at],
            }).collect();
            let mentions = |chunk: usize| (0..HUBS).filter(|hub| counts[chunk][*hub] > 0)
                .map(|hub| (hub, counts[chunk][hub])).collect::<Vec<_>>();
            let seeds: Vec<WalkSeed> = weights.iter().enumerate()
                .map(|(chunk, weight)| seed(chunk as i64, *weight, &mentions(chunk))).collect();

            let mut begun = weights.clone();
            begun.resize(CHUNKS, 0.0);
            begun.extend(hubs.iter().map(|hub| match (hub.is_asked, hub.chunks.len()) {
                (true, count @ 1..) => 1.0 / count as f64,
                _ => 0.0,
            }));
            let mut steps = vec![vec![0.0; CHUNKS + HUBS]; CHUNKS + HUBS];
            for chunk in 0..CHUNKS {
                let all: u32 = counts[chunk].iter().sum();
                for at in (0..HUBS).filter(|at| counts[chunk][*at] > 0) {
                    steps[chunk][CHUNKS + at] = f64::from(counts[chunk][at]) / f64::from(all);
                    steps[CHUNKS + at][chunk] = 1.0 / hubs[at].chunks.len() as f64;
                }
            }
            // By its definition: what comes over an entity to a chunk from other chunks and the question.
            let foreign = |at: usize, chunk: usize| {
                let others = (0..CHUNKS).filter(|from| *from != chunk);
                let came: f64 = others.map(|from| 0.5 * begun[from] * steps[from][CHUNKS + at]).sum();
                (came + 0.5 * begun[CHUNKS + at]) * steps[CHUNKS + at][chunk]
            };
            let walked = walk(&seeds, &hubs);
            for chunk in 0..CHUNKS {
                let expected = 0.5 * (0..HUBS).map(|at| foreign(at, chunk)).sum::<f64>();
                let found = walked.iter().find(|it| it.chunk_id == chunk as i64);
                let score = found.map_or(0.0, |it| it.score);
                prop_assert!((score - expected).abs() < 1e-12, "{}: {} is not {}", chunk, score, expected);
            }
            prop_assert!(walked.windows(2).all(|pair| pair[0].score >= pair[1].score));

            let whole = Walk::new(&seeds, &hubs);
            prop_assert_eq!(whole.goes_anywhere(), walked.iter().any(|it| !it.via.is_empty()));
            for WalkedChunk { chunk_id, via, .. } in &walked {
                let chunk = *chunk_id as usize;
                let foreign = |at: usize| foreign(at, chunk);
                for at in 0..HUBS {
                    prop_assert!(!via.contains(&at) || foreign(at) > 0.0, "{} by {}", chunk, at);
                }
                let came = (0..HUBS).filter(|at| foreign(*at) > 1e-9).count();
                prop_assert_eq!(via.len(), came.min(MOST_VIA), "{}", chunk);
                prop_assert!(via.windows(2).all(|pair| foreign(pair[0]) > foreign(pair[1]) - 1e-9));
            }
            // The best new ones, beside those that are known.
            let known: HashSet<i64> = known.into_iter().collect();
            let mut left = most;
            let expected: Vec<WalkedChunk> = walked.into_iter().filter(|it| {
                let is_new = !known.contains(&it.chunk_id);
                let is_kept = !is_new || left > 0;
                left -= usize::from(is_new && is_kept);
                is_kept
            }).collect();
            prop_assert_eq!(whole.best(&known, most), expected);
        }
    }
}
