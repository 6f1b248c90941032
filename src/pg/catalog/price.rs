//! `rag.price` and `rag.budget`, to be read as the superuser.

use crate::account::calendar::Period;
use crate::account::{Price, SpendingLimit};
use crate::error::Result;
use crate::pg::server::sql::{self, query};

/// What a model of a server costs; `None` where `rag.price` has no row for it.
pub fn price(server: &str, model: &str) -> Result<Option<Price>> {
    let statement = query!(provider.price);
    let found = sql::rows(statement, &[server.into(), model.into()], |row| {
        let [input, cached, output] = [1, 2, 3].map(|column| sql::required(row.get(column)?));
        Ok(Price { input: input?, cached: cached?, output: output? })
    })?;
    Ok(found.first().copied())
}

/// How much a role may spend.
pub fn limits(role: &str) -> Result<Vec<SpendingLimit>> {
    let statement = query!(provider.budgets);
    let found = sql::rows(statement, &[role.into()], |row| {
        let period: String = sql::required(row.get(1)?)?;
        let max_tokens = row.get::<i64>(2)?.map(|most| most.max(0) as u64);
        Ok((Period::named(&period), max_tokens, row.get(3)?))
    })?;
    let limit = |(period, max_tokens, max_cost): (Option<Period>, _, _)| {
        Some(SpendingLimit { period: period?, max_tokens, max_cost })
    };
    Ok(found.into_iter().filter_map(limit).collect())
}
