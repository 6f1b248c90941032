//! What a pipeline says of itself: what is in it, for `pipeline => 'auto'`.

use crate::error::Result;
use crate::pg::server::role::{as_superuser, by_policies};
use crate::pg::server::sql::{self, query};
use crate::rewrite::route::Choice;

/// Keeps the description of a pipeline that is the caller's, and of its successor. `None` leaves it as it
/// is, and an empty text takes it away.
pub fn store(pipeline: i32, description: Option<&str>) -> Result<()> {
    if description.is_none() {
        return Ok(());
    }
    let statement = query!(pipeline.set_description);
    as_superuser(|| sql::execute(statement, &[pipeline.into(), description.into()])).map(drop)
}

/// Gives a successor the description and the defaults of the pipeline whose place it is to take.
pub fn inherit(successor: i32, old: i32) -> Result<()> {
    let statement = query!(pipeline.inherit_description);
    as_superuser(|| sql::execute(statement, &[successor.into(), old.into()])).map(drop)
}

/// The pipelines that the caller may see, by their IDs, with what is in them.
pub fn choices() -> Result<Vec<(i32, Choice)>> {
    let statement = query!(pipeline.described);
    by_policies(|| {
        sql::rows(statement, &[], |row| {
            let (name, description) = (sql::required(row.get(2)?)?, sql::required(row.get(3)?)?);
            Ok((sql::required(row.get(1)?)?, Choice { name, description }))
        })
    })
}
