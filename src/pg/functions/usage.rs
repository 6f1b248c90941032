//! `rag.spent`.

use pgrx::AnyNumeric;
use pgrx::prelude::*;

use super::trace::money;
use crate::account::Spent;
use crate::account::ledger::Account;
use crate::pg::ragd::usage;
use crate::pg::server::error::OrReport;

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_spent() -> TableIterator<
    'static,
    (
        name!(day, i32),
        name!(role, pg_sys::Oid),
        name!(pipeline, Option<i32>),
        name!(server, String),
        name!(model, String),
        name!(calls, i64),
        name!(tokens_in, i64),
        name!(tokens_out, i64),
        name!(cost, Option<AnyNumeric>),
        name!(unpriced_calls, i64),
        name!(failed_calls, i64),
        name!(tokens_cached, i64),
    ),
> {
    let days = usage::spent_here().or_report();
    let rows = days.into_iter().flat_map(|(day, sums)| sums.into_iter().map(move |it| (day, it)));
    let seen: Vec<_> = rows.filter(|(_, (account, _))| is_seen(account)).map(row).collect();
    TableIterator::new(seen)
}

/// Whether the caller has the rights of the role, or may read all statistics.
fn is_seen(account: &Account) -> bool {
    // SAFETY: look-ups of memberships; a role that is gone has no members.
    unsafe {
        let (caller, role) = (pg_sys::GetUserId(), pg_sys::Oid::from_u32(account.role));
        pg_sys::has_privs_of_role(caller, role)
            || pg_sys::has_privs_of_role(
                caller,
                pg_sys::Oid::from_u32(pg_sys::ROLE_PG_READ_ALL_STATS),
            )
    }
}

fn bigint(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[rustfmt::skip]
type UsageRow = (i32, pg_sys::Oid, Option<i32>, String, String, i64, i64, i64, Option<AnyNumeric>, i64, i64, i64);

fn row((day, (account, spent)): (i32, (Account, Spent))) -> UsageRow {
    let Account { role, pipeline, server, model, .. } = account;
    let Spent { calls, input, cached, output, cost, unpriced, failed } = spent;
    let pipeline = (pipeline != 0).then_some(pipeline);
    let numbers = (bigint(calls), bigint(input), bigint(output));
    let is_known = unpriced < calls;
    let cost = is_known.then(|| money(cost).unwrap_or_else(|| AnyNumeric::from(0)));
    let role = pg_sys::Oid::from_u32(role);
    let last = (bigint(unpriced), bigint(failed), bigint(cached));
    let (calls, input, output) = numbers;
    (day, role, pipeline, server, model, calls, input, output, cost, last.0, last.1, last.2)
}
