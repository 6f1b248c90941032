//! `rag.eval_set`, `rag.eval_case` and what is kept of runs.

use pgrx::datum::Interval;
use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;
use serde_json::{Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::eval::judgement::Judgements;
use crate::eval::load::NewCase;
use crate::pg::server::json::{ExactJsonb, Jsonb};
use crate::pg::server::sql::query;
use crate::pg::server::{role, sql};

/// Cases or results that one statement writes.
const ROWS_A_STATEMENT: usize = 1000;

/// A judged question.
pub struct Case {
    /// Primary key.
    pub id: i64,
    /// What is asked.
    pub question: String,
    /// Expected answers, any of which will do.
    pub answers: Vec<String>,
    /// Which documents or passages are relevant.
    pub judgements: Judgements,
    /// A filter of the metadata.
    pub filter: Option<Value>,
}

/// The set called `name`, or the only one the caller may see.
pub fn resolve(name: Option<&str>) -> Result<String> {
    let names = names()?;
    match (name, names.as_slice()) {
        (Some(name), names) if names.iter().any(|known| known == name) => Ok(name.to_owned()),
        (Some(name), names) => Err(unknown(name, names)),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Error::new(ErrorKind::UndefinedObject, "there is no evaluation set")
            .hint("Load one with SELECT rag_eval_load('name', '[{\"question\": ..., \"relevant\": [...]}]').")),
        (None, names) => Err(Error::new(
            ErrorKind::Ambiguous,
            format!("there are {} evaluation sets and none is named", names.len()),
        )
        .hint(format!("Add eval_set => with one of: {}.", names.join(", ")))),
    }
}

/// Whether the caller has an evaluation set called `name`.
pub fn exists(name: &str) -> Result<bool> {
    Ok(names()?.iter().any(|known| known == name))
}

fn names() -> Result<Vec<String>> {
    role::by_policies(|| {
        sql::rows(query!(evaluation.set_names), &[], |row| sql::required(row.get::<String>(1)?))
    })
}

/// The error of a set that is not among the caller's, which are `names`.
pub fn unknown(name: &str, names: &[String]) -> Error {
    let hint = match names {
        [] => "Load it with rag_eval_load.".to_owned(),
        names => format!("Known evaluation sets: {}.", names.join(", ")),
    };
    let message = format!("evaluation set \"{name}\" does not exist");
    Error::new(ErrorKind::UndefinedObject, message).hint(hint)
}

/// The cases of a set, which must have some.
pub fn cases(set: &str) -> Result<Vec<Case>> {
    let statement = query!(evaluation.cases);
    let read = |row: &SpiHeapTupleData<'_>| {
        let answers = row.get::<Vec<Option<String>>>(3)?.unwrap_or_default();
        let relevant = sql::required(row.get::<ExactJsonb>(4)?)?.0;
        let case = Case {
            id: sql::required(row.get(1)?)?,
            question: sql::required(row.get(2)?)?,
            answers: answers.into_iter().flatten().collect(),
            judgements: Judgements::default(),
            filter: row.get::<ExactJsonb>(5)?.map(|filter| filter.0),
        };
        Ok((case, relevant))
    };
    let found = role::by_policies(|| sql::rows(statement, &[set.into()], read))?;
    if found.is_empty() {
        let message = format!("evaluation set \"{set}\" has no case");
        return Err(Error::invalid(message).hint("Add cases with rag_eval_load."));
    }
    found
        .into_iter()
        .map(|(case, relevant)| {
            let judgements = Judgements::parse(&relevant).map_err(|error| in_case(error, &case))?;
            Ok(Case { judgements, ..case })
        })
        .collect()
}

/// Says which case an error is about, unless it has a detail already.
pub fn in_case(error: Error, case: &Case) -> Error {
    match error.detail_text() {
        None => error.detail(format!("Case {}: {}", case.id, case.question)),
        Some(_) => error,
    }
}

/// Makes sure that there is a set called `name` which the caller may change.
pub fn ensure_set(name: &str) -> Result<()> {
    let first = |row: &SpiHeapTupleData<'_>| sql::required(row.get::<String>(1)?);
    let find = query!(evaluation.set_find);
    let insert = query!(evaluation.set_insert);
    if !role::by_policies(|| sql::changed_rows(find, &[name.into()], first))?.is_empty() {
        return Ok(());
    }
    let new = [name.into(), role::current_user().into()];
    if !role::as_superuser(|| sql::changed_rows(insert, &new, first))?.is_empty() {
        return Ok(());
    }
    let message = format!("evaluation set \"{name}\" belongs to another role");
    Err(Error::new(ErrorKind::Forbidden, message).hint("Choose another name."))
}

/// Adds cases to a set that the caller may change, in place of those of the same label. The labels
/// must be different.
pub fn replace_cases(set: &str, cases: &[NewCase]) -> Result<()> {
    let statement = query!(evaluation.cases_replace);
    for part in cases.chunks(ROWS_A_STATEMENT) {
        check_for_interrupts!();
        let rows = part.iter().map(|case| {
            json!({
                "label": case.label,
                "question": case.question,
                "answers": case.answers,
                "relevant": case.relevant,
                "filter": case.filter,
            })
        });
        let arguments = [set.into(), Jsonb(rows.collect()).into()];
        role::as_superuser(|| sql::execute(statement, &arguments))?;
    }
    Ok(())
}

/// Deletes a set of the caller's, or its case with a label; the number of cases.
pub fn delete(set: &str, label: Option<&str>) -> Result<i64> {
    let set = resolve(Some(set))?;
    let Some(label) = label else {
        let statement = query!(evaluation.set_delete);
        return role::as_superuser(|| sql::changed_number(statement, &[set.into()]));
    };
    let statement = query!(evaluation.case_delete);
    let cases = role::as_superuser(|| sql::execute(statement, &[set.into(), label.into()]))?;
    Ok(cases as i64)
}

/// Deletes runs of the caller's that are older than so long; how many.
pub fn purge(older_than: Interval, set: Option<&str>) -> Result<i64> {
    let statement = query!(evaluation.purge);
    let arguments = [role::current_role().into(), older_than.into(), set.into()];
    role::as_superuser(|| sql::changed_number(statement, &arguments))
}

/// Gives a set of the caller's to a role that the caller is a member of.
pub fn give(set: &str, owner: &str) -> Result<()> {
    let set = resolve(Some(set))?;
    let is_mine = query!(evaluation.role_is_mine);
    let mine = sql::rows(is_mine, &[owner.into()], |row| sql::required(row.get::<bool>(1)?))?;
    if !mine.contains(&true) {
        let message = format!("must be a member of role \"{owner}\" to give it an evaluation set");
        return Err(Error::new(ErrorKind::Forbidden, message));
    }
    let statement = query!(evaluation.set_give);
    role::as_superuser(|| sql::execute(statement, &[set.into(), owner.into()])).map(drop)
}

/// A run to be kept.
pub struct EvalRun<'a> {
    /// Name of the evaluation set.
    pub set: &'a str,
    /// How many cases were asked.
    pub cases: usize,
    /// The cutoffs k at which metrics are taken.
    pub ks: &'a [u32],
    /// The configurations, as they were given.
    pub configurations: &'a str,
    /// The options, as they were given.
    pub options: Value,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// Metrics, as rows of `rag.eval_metric`.
    pub metrics: Vec<Value>,
    /// Results by case, as rows of `rag.eval_result`.
    pub results: Vec<Value>,
}

/// Keeps a run of the current role; its number.
pub fn keep(run: EvalRun<'_>) -> Result<i64> {
    let ks: Vec<i32> = run.ks.iter().map(|k| *k as i32).collect();
    let arguments = [
        run.set.into(),
        role::current_user().into(),
        (run.cases as i32).into(),
        ks.into(),
        run.configurations.into(),
        Jsonb(run.options).into(),
        env!("CARGO_PKG_VERSION").into(),
        run.seconds.into(),
    ];
    // Runs are not the caller's to write: what is there has been measured.
    role::as_superuser(|| {
        let statement = query!(evaluation.run_insert);
        let ids =
            sql::changed_rows(statement, &arguments, |row| sql::required(row.get::<i64>(1)?))?;
        // It may have been deleted while its cases were asked.
        let id = *ids.first().ok_or_else(|| unknown(run.set, &[]))?;
        let metrics = query!(evaluation.metrics_insert);
        let results = query!(evaluation.results_insert);
        insert(metrics, id, &run.metrics)?;
        insert(results, id, &run.results)?;
        Ok(id)
    })
}

fn insert(statement: &str, run: i64, rows: &[Value]) -> Result<()> {
    for part in rows.chunks(ROWS_A_STATEMENT) {
        check_for_interrupts!();
        sql::execute(statement, &[run.into(), Jsonb(Value::Array(part.to_vec())).into()])?;
    }
    Ok(())
}
