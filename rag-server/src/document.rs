//! A document as its chunks tell it.

use serde::Serialize;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::database::{Lease, Parameter};
use crate::failure::Failure;
use axum::http::StatusCode;

/// A stretch of a document without a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Its first character in the document, counted from 0.
    pub start: i32,
    /// One past its last.
    pub end: i32,
    /// The heading above it.
    pub heading: Option<String>,
    /// Its text.
    pub text: String,
}

/// As much of a document as is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// The first character that is wanted, counted from 0.
    pub start: i32,
    /// Bytes of text after which no more chunks are read; the last chunk is read whole.
    pub most_bytes: i64,
}

/// A document, or a stretch of one.
#[derive(Debug, Serialize)]
pub struct Document {
    /// What was read of it, in its order.
    pub parts: Vec<Part>,
    /// Whether there is more behind the last part.
    pub truncated: bool,
}

/// Reads a stretch of the row with the key `key`, in the form of `source_key`. Nothing is left where it begins behind the
/// end. An unknown pipeline and a row that the role cannot see are 404.
pub async fn open(
    lease: &mut Lease,
    pipeline: &str,
    key: &str,
    stretch: Stretch,
) -> Result<Document, Failure> {
    let missing = |what: String| Failure::new(StatusCode::NOT_FOUND, "not_found", what);
    let sql = include_str!("../sql/open_statement.sql");
    let statements = lease.rows(sql, &[(&pipeline, Type::TEXT)]).await?;
    let Some(statement) = statements.first() else {
        return Err(missing(format!("there is no pipeline {pipeline:?} that the role sees")));
    };
    let statement = statement.get(0);
    let rows = chunks(lease, statement, key, stretch).await?;
    let beginning = Stretch { start: 0, most_bytes: 1 };
    if rows.is_empty() && chunks(lease, statement, key, beginning).await?.is_empty() {
        return Err(missing(format!("pipeline {pipeline:?} has no text of a row {key:?}")));
    }
    let truncated = rows.last().is_some_and(|row| !row.get::<_, bool>(5));
    let mut parts = Vec::new();
    for row in rows {
        add(
            &mut parts,
            Part { start: row.get(1), end: row.get(2), heading: row.get(3), text: row.get(4) },
        );
    }
    Ok(Document { parts, truncated })
}

async fn chunks(
    lease: &mut Lease,
    statement: &str,
    key: &str,
    stretch: Stretch,
) -> Result<Vec<Row>, Failure> {
    let Stretch { start, most_bytes } = stretch;
    let parameters: [Parameter<'_>; 3] =
        [(&key, Type::TEXT), (&start, Type::INT4), (&most_bytes, Type::INT8)];
    lease.rows(statement, &parameters).await
}

/// Adds a chunk: without what it repeats, and to the part before it where it goes on with that.
fn add(parts: &mut Vec<Part>, mut chunk: Part) {
    let Some(last) = parts.last_mut() else {
        parts.push(chunk);
        return;
    };
    if chunk.end <= last.end {
        return;
    }
    if chunk.start < last.end {
        let repeated = usize::try_from(last.end - chunk.start).unwrap_or_default();
        chunk.text = chunk.text.chars().skip(repeated).collect();
        chunk.start = last.end;
    }
    if chunk.start == last.end && chunk.heading == last.heading {
        last.text.push_str(&chunk.text);
        last.end = chunk.end;
    } else {
        parts.push(chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[(i32, &str)], expected: &[(i32, &str)]) {
        let part = |&(start, text): &(i32, &str)| {
            let end = start + i32::try_from(text.chars().count()).unwrap();
            Part { start, end, heading: None, text: text.to_owned() }
        };
        let mut parts = Vec::new();
        chunks.iter().map(part).for_each(|chunk| add(&mut parts, chunk));
        assert_eq!(parts, expected.iter().map(part).collect::<Vec<_>>());
    }

    #[test]
    fn chunks_become_the_document_again() {
        check(&[], &[]);
        check(&[(0, "über "), (5, "alles")], &[(0, "über alles")]);
        check(&[(0, "abcd"), (2, "cdef")], &[(0, "abcdef")]);
        check(&[(0, "abcd"), (6, "ef")], &[(0, "abcd"), (6, "ef")]);
        check(&[(0, "abcdef"), (2, "cd"), (4, "efgh")], &[(0, "abcdefgh")]);
    }
}
