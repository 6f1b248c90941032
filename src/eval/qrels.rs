//! Judgements in a table: `qrels.tsv` of BEIR, and the format of TREC.
//!
//! ```text
//! query-id  corpus-id  score           BEIR, with or without the header
//! query-id  0  corpus-id  score        TREC
//! ```

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::exact;

/// The relevant items of each query, as [`super::judgement`] reads them.
pub type Judged = BTreeMap<String, Vec<Value>>;

/// Reads a table. Lines with a score of 0 or below say that something is not relevant, and are left
/// out; so are empty ones.
///
/// Fails with the number of a line that has no two keys and a score.
pub fn parse(table: &str) -> Result<Judged> {
    let mut judged = Judged::new();
    for (at, line) in table.lines().enumerate() {
        let line = if at == 0 { line.trim_start_matches('\u{feff}') } else { line };
        if line.trim().is_empty() || at == 0 && is_header(line) {
            continue;
        }
        let (query, document, score) = fields(line).ok_or_else(|| not_judged(at + 1, line))?;
        let items = judged.entry(query.to_owned()).or_default();
        if score > 0.0 {
            items.push(json!({"source_key": document, "grade": score}));
        }
    }
    Ok(judged)
}

/// Reads the same as BEIR keeps it in memory: `{"query": {"document": score}}`.
pub fn from_json(qrels: &Value) -> Result<Judged> {
    let not_understood = || {
        Error::invalid("qrels is not an object of objects of scores")
            .hint("For instance {\"query 1\": {\"document 7\": 1}}.")
    };
    let mut judged = Judged::new();
    for (query, documents) in qrels.as_object().ok_or_else(not_understood)? {
        let items = judged.entry(query.clone()).or_default();
        for (document, score) in documents.as_object().ok_or_else(not_understood)? {
            let score = exact::rounded(score).as_f64().ok_or_else(not_understood)?;
            if score > 0.0 {
                items.push(json!({"source_key": document, "grade": score}));
            }
        }
    }
    Ok(judged)
}

fn fields(line: &str) -> Option<(&str, &str, f64)> {
    let mut fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    if fields.len() == 1 {
        fields = line.split_whitespace().collect();
    }
    let (query, document, score) = match fields.as_slice() {
        [query, document, score] | [query, _, document, score] => (*query, *document, *score),
        _ => return None,
    };
    let score: f64 = score.parse().ok()?;
    (!query.is_empty() && !document.is_empty() && score.is_finite())
        .then_some((query, document, score))
}

/// Whether the last column is no number.
fn is_header(line: &str) -> bool {
    line.split_whitespace().last().is_some_and(|last| last.parse::<f64>().is_err())
}

fn not_judged(number: usize, line: &str) -> Error {
    let shown: String = line.chars().take(80).collect();
    Error::invalid(format!("line {number} of the judgements is not understood: {shown}"))
        .hint("A line has the query's id, the document's id and a score, with tabs between them.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &str, expected: Value) {
        assert_eq!(json!(parse(table).unwrap()), expected, "{table}");
    }

    #[test]
    fn the_formats_in_use() {
        let one = json!({"q1": [{"source_key": "d 1", "grade": 2.0}], "q2": []});
        check("query-id\tcorpus-id\tscore\nq1\td 1\t2\nq1\td2\t0\n\nq2\td1\t0\n", one);
        check("q1\td1\t1\r\n", json!({"q1": [{"source_key": "d1", "grade": 1.0}]}));
        check("q1 0 d1 1\nq1 0 d2 -1", json!({"q1": [{"source_key": "d1", "grade": 1.0}]}));
        check("", json!({}));
        let object = json!({"q1": {"d1": 1, "d2": 0}});
        let items = json!({"q1": [{"source_key": "d1", "grade": 1.0}]});
        assert_eq!(json!(from_json(&object).unwrap()), items);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (table, line) in
            [("q\td\t1\nq\td\n", "line 2"), ("q\td\t1\nq\td\tx", "line 2"), ("q\t\t1", "line 1")]
        {
            let error = parse(table).unwrap_err();
            assert!(error.message().contains(line), "{table}: {error}");
        }
        assert!(from_json(&json!({"q": ["d"]})).is_err());
        assert!(from_json(&json!([])).is_err());
    }
}
