//! `rag.sql_example`: questions of the past with queries that answer them.
//!
//! A pair is an instruction in all but name, so only pairs of roles that the caller trusts are shown to the caller's
//! model. And only those whose query the caller could run: no other names what the caller may not read, and
//! none is out of date.

use pgrx::pg_sys::Oid;

use crate::error::{Error, ErrorKind, Result};
use crate::guarded_sql::options::GuardOptions;
use crate::pg::guarded_sql;
use crate::pg::ragd::hybrid_score::nearest;
use crate::pg::server::role;
use crate::pg::server::sql::{self, query, required};
use crate::text_to_sql::options::SqlOptions;
use crate::text_to_sql::prompt::{VerifiedPair, fitting};

/// Most pairs that are looked at, the newest.
const MOST_PAIRS: i64 = 1000;

/// So many times as many pairs are checked as are wanted.
const CHECKED: usize = 4;

/// Longest question of a pair, in bytes.
const LONGEST_QUESTION: usize = 16 << 10;

/// Longest note, in bytes.
const LONGEST_NOTE: usize = 16 << 10;

/// Pairs that are like the question, the nearest last, since a model heeds most what it has read last.
pub fn chosen(question: &str, options: &SqlOptions) -> Result<Vec<VerifiedPair>> {
    let most = options.examples as usize;
    if most == 0 {
        return Ok(Vec::new());
    }
    let caller = role::current_role();
    let pairs = role::as_superuser(|| trusted(caller))?;
    let nearest = nearest(question, pairs, |pair| &pair.question)?;
    let runs = |pair: &VerifiedPair| {
        let problems = guarded_sql::check(Some(&pair.sql), &options.guard);
        problems.unwrap_or_else(|error| error.raise(&pair.sql)).is_empty()
    };
    let mut shown = fitting(nearest.into_iter().take(most * CHECKED).filter(runs).collect(), most);
    shown.reverse();
    Ok(shown)
}

/// The pairs of roles that `caller` trusts, the newest first.
fn trusted(caller: Oid) -> Result<Vec<VerifiedPair>> {
    sql::rows(query!(text_to_sql.examples), &[caller.into(), MOST_PAIRS.into()], |row| {
        Ok(VerifiedPair {
            id: required(row.get(1)?)?,
            question: required(row.get(2)?)?,
            sql: required(row.get(3)?)?,
            note: row.get(4)?,
        })
    })
}

/// Keeps a pair of the current role, if its query may run; its number.
pub fn keep(
    question: &str,
    statement: &str,
    note: Option<&str>,
    guard: &GuardOptions,
) -> Result<i64> {
    let lengths = [
        ("question", question.len(), LONGEST_QUESTION),
        ("note", note.map_or(0, str::len), LONGEST_NOTE),
    ];
    for (name, length, most) in lengths {
        if length > most {
            let message = format!("{name} has {length} bytes, more than {most}");
            return Err(Error::new(ErrorKind::DocumentLimit, message));
        }
    }
    if question.trim().is_empty() {
        return Err(Error::invalid("question must not be empty"));
    }
    guarded_sql::ensure(Some(statement), guard).unwrap_or_else(|error| error.raise(statement));
    let (owner, name) = (role::current_role(), role::current_user());
    let arguments = [owner.into(), name.into(), question.into(), statement.into(), note.into()];
    let put = query!(text_to_sql.example_put);
    role::as_superuser(|| sql::changed_number(put, &arguments))
}

/// Deletes a pair of the caller's; whether it was there.
pub fn delete(id: i64) -> Result<bool> {
    let arguments = [role::current_role().into(), id.into()];
    let statement = query!(text_to_sql.example_delete);
    Ok(role::as_superuser(|| sql::execute(statement, &arguments))? > 0)
}
