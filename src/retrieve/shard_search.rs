//! What a search over shards asks each of them, and how what they find becomes one.
//!
//! ```text
//! (question, statistics of all shards) → candidates of each shard → candidates of all, best first
//! ```
//!
//! A shard scores by the statistics of all shards, and sends numbers instead of texts and vectors: similarities,
//! scores, how close the question's words are, and the few words that a text begins with. So scores and order are those
//! of one server with all chunks.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fusion::FusedCandidate;
use super::options::MOST_CANDIDATES;
use super::proximity::{MOST_TEXTS, MatchedText, PlacedWords, QuestionTerms};
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::options::out_of_range;
use crate::vector::MAX_DIMENSION;

/// The form of what is sent. A shard that has another version of pg_rag may send and expect another one.
const FORMAT: u8 = 1;

/// What a shard is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShardRequest {
    /// The vector to which chunks are to be near; `None`: words alone are looked up.
    pub vector: Option<Vec<f32>>,
    /// The words to be matched, as a tsquery; `None`: vectors alone are looked up.
    pub words: Option<String>,
    /// What words are ranked by: k1, b, the number of all chunks, the sum of their lengths, and of each word in how many
    /// chunks it is.
    pub statistics: Vec<f64>,
    /// The question's words with their places, if it matters how they stand in a text.
    pub terms: Option<QuestionTerms>,
    /// What must hold for the metadata of a chunk, each a JSON object.
    pub filters: Vec<String>,
    /// Settings under which values of filters are read: names and values.
    pub settings: Vec<(String, String)>,
    /// Most chunks of each side.
    pub most: u32,
}

/// What a shard, or all of them, put forward.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShardCandidates {
    /// The nearest vectors, best first.
    pub dense: Vec<FusedCandidate>,
    /// The texts that match best, best first.
    pub lexical: Vec<FusedCandidate>,
    /// How their texts match, by the keys of their chunks.
    pub texts: HashMap<i64, MatchedText>,
    /// The words of the best of each side, of which one is likely to be the best of all, by the keys of their chunks.
    pub best: HashMap<i64, PlacedWords>,
}

impl ShardRequest {
    /// As it is sent.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode(self)
    }

    /// Reads what was sent. Fails where it is no request of this version, or asks for what no search wants.
    pub fn decode(sent: &[u8]) -> Result<ShardRequest> {
        let request: ShardRequest = decode(sent).map_err(|why| {
            let message = format!("cannot read a request for candidates: {why}");
            Error::new(ErrorKind::NotInState, message)
                .hint("The database that asks and this one need the same version of pg_rag.")
        })?;
        let is_vector = |it: &Vec<f32>| {
            (1..=usize::from(MAX_DIMENSION)).contains(&it.len())
                && it.iter().all(|value| value.is_finite())
        };
        if !request.vector.as_ref().is_none_or(is_vector) {
            return Err(Error::invalid(format!(
                "the vector of a request for candidates must have 1 to {MAX_DIMENSION} finite numbers"
            )));
        }
        if request.most > MOST_CANDIDATES {
            return Err(out_of_range("candidates", format!("0..={MOST_CANDIDATES}"), request.most));
        }
        Ok(request)
    }

    /// The filters, read. Fails where one is no JSON.
    pub fn filters(&self) -> Result<Vec<Value>> {
        let read = |filter: &String| {
            exact::read(filter).map_err(|error| {
                Error::invalid(format!(
                    "cannot read the filter of a request for candidates: {error}"
                ))
            })
        };
        self.filters.iter().map(read).collect()
    }
}

impl ShardCandidates {
    /// As it is sent.
    pub fn encode(&self) -> Result<Vec<u8>> {
        encode(self)
    }

    /// Reads what a shard has sent that was asked for `most` chunks of each side; similarities and scores that are no
    /// numbers count as unknown. Fails with the reason where it cannot be an answer to that.
    pub fn decode(sent: &[u8], most: u32) -> Result<ShardCandidates, String> {
        let mut found: ShardCandidates = decode(sent)?;
        let most = most as usize;
        // Two sides, and of each the best.
        if found.dense.len().max(found.lexical.len()) > most
            || found.texts.len() > 2 * MOST_TEXTS
            || found.best.len() > 2
        {
            return Err(format!("it has more than {most} candidates of a side"));
        }
        if !found.texts.values().all(MatchedText::is_plausible)
            || !found.best.values().all(PlacedWords::is_plausible)
        {
            return Err("what it says of a text cannot be".to_owned());
        }
        for one in found.dense.iter_mut().chain(&mut found.lexical) {
            one.similarity = one.similarity.filter(|it| it.is_finite());
            one.lexical = one.lexical.filter(|it| it.is_finite());
        }
        Ok(found)
    }

    /// These candidates with other keys of the chunks. Fails where `key` does.
    pub fn with_keys(
        mut self,
        key: impl Fn(i64) -> Result<i64, String>,
    ) -> Result<ShardCandidates, String> {
        for one in self.dense.iter_mut().chain(&mut self.lexical) {
            one.chunk_id = key(one.chunk_id)?;
        }
        let texts = self.texts.into_iter().map(|(own, text)| Ok((key(own)?, text)));
        let best = self.best.into_iter().map(|(own, words)| Ok((key(own)?, words)));
        let texts = texts.collect::<Result<_, String>>()?;
        let best = best.collect::<Result<_, String>>()?;
        Ok(ShardCandidates { texts, best, ..self })
    }

    /// The best `most` of each side of `all`. Of texts, those of the first chunks are known, as of one server.
    #[must_use]
    pub fn merged(all: Vec<ShardCandidates>, most: usize) -> ShardCandidates {
        let mut merged = ShardCandidates::default();
        for one in all {
            merged.dense.extend(one.dense);
            merged.lexical.extend(one.lexical);
            merged.texts.extend(one.texts);
            merged.best.extend(one.best);
        }
        best_first(&mut merged.dense, |one| one.similarity);
        best_first(&mut merged.lexical, |one| one.lexical);
        let mut first: HashSet<i64> = HashSet::new();
        for side in [&mut merged.dense, &mut merged.lexical] {
            side.truncate(most);
            first.extend(side.iter().take(MOST_TEXTS).map(|one| one.chunk_id));
        }
        merged.texts.retain(|chunk_id, _| first.contains(chunk_id));
        merged
    }
}

/// Sorts by a score, the greatest first and what has none last; those of like score by their keys.
fn best_first(side: &mut [FusedCandidate], score: impl Fn(&FusedCandidate) -> Option<f64>) {
    let known = |one: &FusedCandidate| score(one).unwrap_or(f64::NEG_INFINITY);
    side.sort_by(|a, b| known(b).total_cmp(&known(a)).then(a.chunk_id.cmp(&b.chunk_id)));
}

fn encode<T: Serialize>(sent: &T) -> Result<Vec<u8>> {
    postcard::to_extend(sent, vec![FORMAT]).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("cannot encode what shards are asked: {error}"))
    })
}

/// Reads all of what was sent. Fails with the reason where it has another form.
fn decode<'a, T: Deserialize<'a>>(sent: &'a [u8]) -> Result<T, String> {
    let Some((&FORMAT, body)) = sent.split_first() else {
        return Err("it has another form".to_owned());
    };
    match postcard::take_from_bytes(body) {
        Ok((read, [])) => Ok(read),
        Ok((_, rest)) => Err(format!("{} bytes are left over", rest.len())),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::options::RetrieveOptions;
    use super::super::proximity::tests::{Plain, texts};
    use super::super::proximity::{ClosenessTexts, RemoteTexts};
    use super::*;
    use crate::retrieve::fusion::fuse;

    fn found(chunk_id: i64, similarity: Option<f64>, lexical: Option<f64>) -> FusedCandidate {
        FusedCandidate { chunk_id, similarity, lexical }
    }

    fn ids(side: &[FusedCandidate]) -> Vec<i64> {
        side.iter().map(|one| one.chunk_id).collect()
    }

    #[test]
    fn the_best_of_all_shards_come_first() {
        let first = ShardCandidates {
            dense: vec![found(4, Some(0.9), None), found(1, Some(0.2), None)],
            lexical: vec![found(1, None, Some(7.0))],
            ..ShardCandidates::default()
        };
        let dense = vec![found(3, Some(0.9), None), found(8, None, None), found(9, None, None)];
        let second = ShardCandidates { dense, ..ShardCandidates::default() };
        let all = |most| ShardCandidates::merged(vec![first.clone(), second.clone()], most);
        assert_eq!(ids(&all(9).dense), [3, 4, 1, 8, 9]);
        assert_eq!(ids(&all(9).lexical), [1]);
        assert_eq!(ids(&all(3).dense), [3, 4, 1]);
        assert_eq!(ShardCandidates::merged(Vec::new(), 9), ShardCandidates::default());
    }

    #[test]
    fn keys_are_changed_everywhere() {
        let text = MatchedText::new(&QuestionTerms::default(), &Plain::new("ink"));
        let one = ShardCandidates {
            dense: vec![found(4, None, None)],
            lexical: vec![found(5, None, None)],
            texts: HashMap::from([(6, text)]),
            best: HashMap::from([(7, PlacedWords::new(&Plain::new("ink")))]),
        };
        let moved = one.clone().with_keys(|key| Ok(key + 10)).unwrap();
        assert_eq!((ids(&moved.dense), ids(&moved.lexical)), (vec![14], vec![15]));
        assert_eq!(moved.texts.keys().copied().collect::<Vec<_>>(), [16]);
        assert_eq!(moved.best.keys().copied().collect::<Vec<_>>(), [17]);
        assert!(one.with_keys(|_| Err("no key".to_owned())).is_err());
    }

    #[test]
    fn what_is_sent_is_read() {
        let request = ShardRequest {
            vector: Some(vec![0.25, -1.0]),
            words: Some("'ink'".to_owned()),
            statistics: vec![0.9, 0.4, 3.0, 12.0, 1.0],
            terms: Some(QuestionTerms::new(vec![(1, b"ink".to_vec())])),
            filters: vec![r#"{"lang": "de"}"#.to_owned(), "{".to_owned()],
            settings: vec![("timezone".to_owned(), "UTC".to_owned())],
            most: 100,
        };
        let sent = request.encode().unwrap();
        assert_eq!(ShardRequest::decode(&sent).unwrap(), request);
        assert!(request.filters().unwrap_err().to_string().contains("cannot read the filter"));
        let refused = |sent: &[u8], why: &str| {
            let refused = ShardRequest::decode(sent).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        };
        refused(&[], "another form");
        refused(&[&[FORMAT + 1], &sent[1..]].concat(), "another form");
        refused(&sent[..sent.len() - 1], "cannot read a request");
        refused(&[&sent[..], &[0, 0]].concat(), "2 bytes are left over");
        let wrong = |request: ShardRequest, why: &str| refused(&request.encode().unwrap(), why);
        for vector in [vec![], vec![f32::NAN], vec![1.0, f32::INFINITY], vec![0.5; 16_001]] {
            wrong(ShardRequest { vector: Some(vector), ..request.clone() }, "finite numbers");
        }
        wrong(ShardRequest { most: 100_001, ..request.clone() }, "candidates");
    }

    #[test]
    fn question_terms_are_in_order_however_they_were_sent() {
        let words = vec![(9, b"ink".to_vec()), (2, b"iron".to_vec())];
        let sent = postcard::to_stdvec(&words).unwrap();
        let read: QuestionTerms = postcard::from_bytes(&sent).unwrap();
        assert_eq!(read, QuestionTerms::new(words));
    }

    #[test]
    fn an_answer_that_cannot_be_is_refused() {
        let text = |words: usize| {
            let opening: Vec<(u16, Vec<u8>)> = vec![(1, b"ink".to_vec()); words];
            let sent = postcard::to_stdvec(&(0.5, 1.0, opening)).unwrap();
            postcard::from_bytes::<MatchedText>(&sent).unwrap()
        };
        let one = ShardCandidates {
            dense: vec![found(1, Some(f64::NAN), Some(2.0)), found(2, Some(0.5), None)],
            texts: HashMap::from([(1, text(64))]),
            ..ShardCandidates::default()
        };
        let read =
            |it: &ShardCandidates, most| ShardCandidates::decode(&it.encode().unwrap(), most);
        // What is no number is not known.
        let known = read(&one, 2).unwrap();
        assert_eq!(known.dense, [found(1, None, Some(2.0)), found(2, Some(0.5), None)]);
        assert!(read(&one, 1).unwrap_err().contains("more than 1 candidates"));
        let long = ShardCandidates { texts: HashMap::from([(1, text(65))]), ..one.clone() };
        assert!(read(&long, 2).unwrap_err().contains("what it says of a text"));
        let outside = postcard::to_stdvec(&(1.5, 1.0, Vec::<(u16, Vec<u8>)>::new())).unwrap();
        let outside = postcard::from_bytes::<MatchedText>(&outside).unwrap();
        let outside = ShardCandidates { texts: HashMap::from([(1, outside)]), ..one };
        assert!(read(&outside, 2).unwrap_err().contains("what it says of a text"));
        assert!(ShardCandidates::decode(b"\x01\xff\xff\xff\xff\x0f", 2).is_err());
    }

    #[test]
    fn texts_of_the_first_chunks_alone_count() {
        let most = MOST_TEXTS as i64 + 1;
        let matched = |key| (key, MatchedText::new(&QuestionTerms::default(), &Plain::new("ink")));
        let one = ShardCandidates {
            dense: (0..most).map(|key| found(key, Some(-(key as f64)), None)).collect(),
            texts: (0..most).map(matched).collect(),
            ..ShardCandidates::default()
        };
        let merged = ShardCandidates::merged(vec![one], most as usize);
        assert_eq!(merged.dense.len(), MOST_TEXTS + 1);
        assert_eq!(merged.texts.len(), MOST_TEXTS);
        assert!(!merged.texts.contains_key(&(most - 1)));
    }

    /// Texts of few words, of which many are those of the question.
    fn any_text() -> impl Strategy<Value = String> {
        proptest::collection::vec("ink|iron|new|york|soot|town", 1..9)
            .prop_map(|words| words.join(" "))
    }

    proptest! {
        /// The twin: one server that has all texts.
        #[test]
        fn shards_rank_as_one_server_does(
            all in proptest::collection::vec((any_text(), 0.0..1.0_f64, 0.0..9.0_f64), 1..12),
            shards in 1..4_usize,
        ) {
            let words: Vec<&str> = all.iter().map(|(text, ..)| text.as_str()).collect();
            let texts: ClosenessTexts<Plain> = texts("who made iron ink in town", &words);
            let one = |(chunk_id, (_, similarity, lexical)): (i64, &(String, f64, f64))| {
                found(chunk_id, Some(*similarity), Some(*lexical))
            };
            let whole: Vec<FusedCandidate> = (1..).zip(&all).map(one).collect();
            let mut of_one = (whole.clone(), whole.clone());
            best_first(&mut of_one.0, |it| it.similarity);
            best_first(&mut of_one.1, |it| it.lexical);
            let options = RetrieveOptions::default();
            let expected = fuse(&of_one.0, &of_one.1, &texts, &options);

            let of_shard = |shard: usize| {
                let own = whole.iter().filter(|it| it.chunk_id as usize % shards == shard);
                let own: Vec<FusedCandidate> = own.copied().collect();
                let matched = |it: &FusedCandidate| {
                    let text = MatchedText::new(&texts.question, &texts.of[&it.chunk_id]);
                    (it.chunk_id, text)
                };
                let texts = own.iter().map(matched).collect();
                let best = HashMap::new();
                let found = ShardCandidates { dense: own.clone(), lexical: own, texts, best };
                ShardCandidates::decode(&found.encode().unwrap(), 100).unwrap()
            };
            let ShardCandidates { dense, lexical, texts: of, .. } =
                ShardCandidates::merged((0..shards).map(of_shard).collect(), 100);
            let question = texts.question.clone();
            let mut remote = RemoteTexts { question, of, best: None };
            let best = fuse(&dense, &lexical, &remote, &options)[0].chunk_id;
            let text = PlacedWords::new(&Plain::new(words[best as usize - 1]));
            remote.best = Some((best, text));
            prop_assert_eq!(fuse(&dense, &lexical, &remote, &options), expected);
        }
    }
}
