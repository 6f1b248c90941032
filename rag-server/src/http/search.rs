//! `/search`: the passages that speak of a question, without an answer.

use std::sync::Arc;

use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::time::timeout;
use tokio_postgres::types::{Json as Jsonb, Type};

use super::Caller;
use super::request::JsonBody;
use crate::database::Parameter;
use crate::failure::Failure;
use crate::members::{AsWritten, Options, or_default, write};
use crate::question::too_long;

/// Most queries of one request.
const MOST_QUERIES: usize = 100;
/// Most passages of all queries together that can be asked for, as many as of one query.
const MOST_PASSAGES: i64 = 10_000;
/// Most bytes of passages that can be asked for, and as many as are sent where nothing is said.
const MOST_BYTES: usize = 10 << 20;

/// What is looked for, with the arguments of `rag_retrieve`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageSearch {
    query: Option<String>,
    queries: Option<Vec<String>>,
    pipeline: Option<String>,
    k: Option<i32>,
    mode: Option<String>,
    filter: Option<AsWritten>,
    rewrite: Option<String>,
    rerank: Option<String>,
    offset: Option<i64>,
    #[serde(default, deserialize_with = "or_default")]
    options: Options,
    max_bytes: Option<usize>,
}

/// The passages for one query, best first, each a row of `rag_retrieve`.
#[derive(Debug, Default, Serialize)]
pub struct Passages {
    passages: Vec<Box<RawValue>>,
    /// Whether there are more of them that did not fit.
    truncated: bool,
}

/// What is found for a query, or for each of several in their order.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SearchResults {
    /// Of `query`.
    One(Passages),
    /// Of `queries`.
    Each {
        /// An entry for each.
        results: Vec<Passages>,
    },
}

/// Looks for one query or for several.
pub async fn search(
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(search): JsonBody<PassageSearch>,
) -> Result<Json<SearchResults>, Failure> {
    let bytes = search.bytes_of_a_query()?;
    search.check_passages()?;
    let mut options = search.options;
    if let Some(offset) = search.offset {
        options.change_retrieve(|retrieve| {
            retrieve.insert("offset".to_owned(), write(&offset));
        });
    }
    let options = Jsonb(options);
    let count = search.queries.as_ref().map_or(1, Vec::len);
    let (sql, query): (&str, Parameter<'_>) = match &search.queries {
        None => (include_str!("../../sql/search.sql"), (&search.query, Type::TEXT)),
        Some(queries) => (include_str!("../../sql/search_batch.sql"), (queries, Type::TEXT_ARRAY)),
    };
    let parameters: [Parameter<'_>; 9] = [
        query,
        (&search.pipeline, Type::TEXT),
        (&search.k, Type::INT4),
        (&search.mode, Type::TEXT),
        (&search.filter, Type::JSONB),
        (&search.rewrite, Type::TEXT),
        (&search.rerank, Type::TEXT),
        (&options, Type::JSONB),
        (&bytes, Type::INT8),
    ];
    let mut lease = caller.database.lease().await?;
    let longest = lease.limits().answer;
    // Where it takes too long, the lease stays busy, which cancels the statement.
    let found = timeout(longest, lease.rows(sql, &parameters)).await;
    let rows = found.map_err(|_| too_long("the search", longest))??;
    drop(lease);
    let rows = rows.iter().map(|row| {
        let Jsonb(passage): AsWritten = row.get(1);
        FoundPassage { question_no: row.get(0), passage, is_last: row.get(2) }
    });
    let mut results = by_query(rows, count);
    Ok(Json(match search.queries {
        None => SearchResults::One(results.pop().unwrap_or_default()),
        Some(_) => SearchResults::Each { results },
    }))
}

impl PassageSearch {
    /// After how many bytes no more passages are sent for a query, of which the best one is sent in any case. The error is
    /// what of the request cannot be.
    fn bytes_of_a_query(&self) -> Result<i64, Failure> {
        let count = match (&self.query, &self.queries) {
            (Some(_), None) => 1,
            (None, Some(queries)) if (1..=MOST_QUERIES).contains(&queries.len()) => queries.len(),
            (None, Some(queries)) => {
                let message = format!(
                    "queries must have between 1 and {MOST_QUERIES} entries, not {}",
                    queries.len()
                );
                return Err(Failure::request(message).param("queries"));
            }
            _ => {
                let missing = Failure::request("the body must have either query or queries");
                return Err(missing.param("query"));
            }
        };
        let bytes = self.max_bytes.unwrap_or(MOST_BYTES);
        if !(1..=MOST_BYTES).contains(&bytes) {
            let message = format!("max_bytes must be between 1 and {MOST_BYTES}, not {bytes}");
            return Err(Failure::request(message).param("max_bytes"));
        }
        Ok(i64::try_from(bytes.div_ceil(count)).unwrap_or(i64::MAX))
    }

    /// Refuses several queries that together ask for too many passages. What one may ask for is the database's to say, and
    /// so is how many are meant where nothing is said.
    fn check_passages(&self) -> Result<(), Failure> {
        let Some(queries) = self.queries.as_ref().filter(|queries| queries.len() > 1) else {
            return Ok(());
        };
        let of_each = self.k.map(i64::from).or_else(|| self.options.number("k")).unwrap_or(0);
        let count = i64::try_from(queries.len()).unwrap_or(i64::MAX);
        if of_each.saturating_mul(count) <= MOST_PASSAGES {
            return Ok(());
        }
        let message = format!(
            "k times the number of queries must be at most {MOST_PASSAGES}, not {of_each} times {count}"
        );
        Err(Failure::request(message).param("k").hint("send a smaller k, or fewer queries at once"))
    }
}

/// A row of the statements.
struct FoundPassage {
    question_no: i32,
    passage: Box<RawValue>,
    is_last: bool,
}

/// The passages of each of so many queries. They come in the order of the queries.
fn by_query(rows: impl Iterator<Item = FoundPassage>, count: usize) -> Vec<Passages> {
    let mut results: Vec<Passages> = (0..count).map(|_| Passages::default()).collect();
    for FoundPassage { question_no, passage, is_last } in rows {
        let place = usize::try_from(question_no).ok().and_then(|number| number.checked_sub(1));
        let Some(found) = place.and_then(|place| results.get_mut(place)) else { continue };
        found.passages.push(passage);
        found.truncated = !is_last;
    }
    results
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn bytes(body: Value) -> Result<i64, Failure> {
        let search: PassageSearch = serde_json::from_value(body).unwrap();
        search.bytes_of_a_query()
    }

    #[test]
    fn what_is_sent_is_divided_among_the_queries() {
        let most = 10 << 20;
        assert_eq!(bytes(json!({"query": "a"})).unwrap(), most);
        assert_eq!(bytes(json!({"query": "a", "queries": null})).unwrap(), most);
        assert_eq!(bytes(json!({"query": "a", "max_bytes": 7})).unwrap(), 7);
        assert_eq!(bytes(json!({"queries": ["a", "b"], "max_bytes": 7})).unwrap(), 4);
        assert_eq!(bytes(json!({"queries": vec!["a"; 100], "max_bytes": 1})).unwrap(), 1);
    }

    #[test]
    fn what_cannot_be_searched_is_named() {
        let check = |body: Value, param: &str, words: &str| {
            let failure = bytes(body).unwrap_err();
            assert_eq!((failure.status.as_u16(), failure.param), (400, Some(param)));
            assert!(failure.message.contains(words), "{}", failure.message);
        };
        check(json!({}), "query", "either query or queries");
        check(json!({"query": "a", "queries": ["a"]}), "query", "either query or queries");
        check(json!({"queries": []}), "queries", "between 1 and 100 entries, not 0");
        check(json!({"queries": vec!["a"; 101]}), "queries", "not 101");
        check(json!({"query": "a", "max_bytes": 0}), "max_bytes", "between 1 and 10485760, not 0");
        check(json!({"query": "a", "max_bytes": 1 << 30}), "max_bytes", "not 1073741824");
        let unknown = serde_json::from_value::<PassageSearch>(json!({"query": "a", "pipline": 1}));
        assert!(unknown.err().unwrap().to_string().contains("pipline"));
    }

    #[test]
    fn queries_ask_for_so_many_passages_together() {
        let check = |body: Value| {
            let search: PassageSearch = serde_json::from_value(body).unwrap();
            search.check_passages()
        };
        let queries = |count: usize, k: Value| json!({"queries": vec!["a"; count], "k": k});
        for fits in [queries(100, json!(100)), queries(2, json!(5000)), queries(100, Value::Null)] {
            assert!(check(fits).is_ok());
        }
        // A single query is the database's to judge.
        assert!(check(json!({"query": "a", "k": 10_001})).is_ok());
        let in_options = json!({"queries": ["a", "b"], "options": {"k": 5001}});
        for (much, words) in [
            (queries(100, json!(101)), "at most 10000, not 101 times 100"),
            (queries(100, json!(i32::MAX)), "not 2147483647 times 100"),
            (in_options, "not 5001 times 2"),
        ] {
            let failure = check(much).unwrap_err();
            assert_eq!((failure.status.as_u16(), failure.param), (400, Some("k")));
            assert!(failure.message.contains(words), "{}", failure.message);
        }
    }

    #[test]
    fn each_query_has_its_passages_and_says_whether_there_are_more() {
        let row = |question_no, passage: &str, is_last| FoundPassage {
            question_no,
            passage: RawValue::from_string(passage.to_owned()).unwrap(),
            is_last,
        };
        // Numbers stay as they were written.
        let rows = [row(1, "1.50", false), row(1, "2", true), row(3, "3", false)];
        let results = SearchResults::Each { results: by_query(rows.into_iter(), 3) };
        assert_eq!(
            serde_json::to_string(&results).unwrap(),
            r#"{"results":[{"passages":[1.50,2],"truncated":false},{"passages":[],"truncated":false},{"passages":[3],"truncated":true}]}"#
        );
        let one = SearchResults::One(by_query([row(1, "{}", true)].into_iter(), 1).pop().unwrap());
        assert_eq!(serde_json::to_string(&one).unwrap(), r#"{"passages":[{}],"truncated":false}"#);
    }
}
