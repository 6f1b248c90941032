//! What a pipeline says of the questions that it is asked: `rag.pipeline.defaults`.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::stranger;
use crate::pg::server::json::ExactJsonb;
use crate::pg::server::role::{as_superuser, by_policies};
use crate::pg::server::sql::query;
use crate::pg::server::{prepared, sql};
use crate::request::WrittenOptions;

/// Longest defaults, in bytes of their text: they are read for each question.
const LONGEST: usize = 64 << 10;

/// The defaults of `pipeline`; empty if it has none.
pub fn of(pipeline: &Pipeline) -> Result<WrittenOptions> {
    let found = by_policies(|| {
        prepared::rows(query!(defaults.of), &[pipeline.id.into()], |row| row.get(1))
    })?;
    match found.into_iter().next().flatten() {
        None => Ok(WrittenOptions::default()),
        Some(ExactJsonb(defaults)) => WrittenOptions::read(defaults).map_err(|error| {
            error.detail(format!("It is one of the defaults of pipeline \"{}\".", pipeline.name))
        }),
    }
}

/// The defaults of `pipeline` for a question of the caller: none where the caller has neither named it nor trusts its
/// owner. They say which language model reads what was found, and may have it read tables of the caller, too.
pub fn for_caller(pipeline: &Pipeline, is_named: bool) -> Result<WrittenOptions> {
    let defaults = of(pipeline)?;
    match defaults.is_empty() || is_named || stranger::is_trusted(pipeline.id)? {
        true => Ok(defaults),
        false => Ok(WrittenOptions::default()),
    }
}

/// Reads what `rag_create_pipeline` and `rag_alter_pipeline` are given as `defaults`.
///
/// Fails with an invalid parameter, for what no question could be asked with, and for what can only be said
/// of one question.
pub fn read(defaults: Value) -> Result<WrittenOptions> {
    let read = WrittenOptions::read(defaults.clone()).map_err(in_defaults)?;
    let length = exact::written(&defaults).len();
    if length > LONGEST {
        let message = format!("defaults are {length} bytes long, and may have {LONGEST}");
        return Err(Error::new(ErrorKind::InvalidParameter, message));
    }
    let never = [
        ("answer.conversation", "A conversation is of a role, and is named with each question."),
        ("answer.history", "What was said before is told with each question."),
        ("retrieve.offset", "It says which page of one question is wanted."),
        ("retrieve.route", "It says how the pipeline is chosen, before that has been done."),
    ];
    match never.into_iter().find(|(path, _)| read.value(path).is_some_and(|it| !it.is_null())) {
        Some((path, why)) => {
            let message = format!("option \"{path}\" cannot be a default of a pipeline");
            Err(Error::invalid(message).hint(why))
        }
        None => Ok(read),
    }
}

/// Says that an error is about `defaults`, which has the keys that `options` has elsewhere.
pub fn in_defaults(error: Error) -> Error {
    match error.detail_text() {
        None => error.detail("In the argument defaults."),
        Some(_) => error,
    }
}

/// Keeps `defaults` of a pipeline that is the caller's, and of its successor; empty ones take them away.
pub fn store(pipeline: i32, defaults: WrittenOptions) -> Result<()> {
    let defaults = (!defaults.is_empty()).then(|| ExactJsonb(defaults.into_json()));
    let arguments = [pipeline.into(), defaults.into()];
    as_superuser(|| sql::execute(query!(defaults.set), &arguments)).map(drop)
}
