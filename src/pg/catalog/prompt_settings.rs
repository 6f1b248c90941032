//! How a pipeline's questions are put to a language model, and what it says of itself.

use super::template;
use crate::error::Result;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query};
use crate::rewrite::route::Choice;

/// What is to be said; `None` stays as it is, and an empty text takes it away.
#[derive(Default)]
pub struct Wording {
    /// The template of answers.
    pub template: Option<String>,
    /// What is in the pipeline.
    pub description: Option<String>,
}

impl Wording {
    /// An error where the template does not exist.
    pub fn check(&self) -> Result<()> {
        match self.template.as_deref() {
            None | Some("") => Ok(()),
            Some(name) => template::find(name).map(drop),
        }
    }

    /// Keeps it, of a pipeline that is the caller's, and of its successor.
    pub fn store(&self, pipeline: i32) -> Result<()> {
        if self.template.is_none() && self.description.is_none() {
            return Ok(());
        }
        let statement = query!(template.set_wording);
        let arguments =
            [pipeline.into(), self.template.clone().into(), self.description.clone().into()];
        as_superuser(|| sql::execute(statement, &arguments)).map(drop)
    }
}

/// Gives a successor what the pipeline says whose place it is to take.
pub fn inherit(successor: i32, old: i32) -> Result<()> {
    let statement = query!(template.inherit_wording);
    as_superuser(|| sql::execute(statement, &[successor.into(), old.into()])).map(drop)
}

/// The name of the template in which the pipeline's questions are answered, if it has one.
pub fn template_of(pipeline: i32) -> Result<Option<String>> {
    let statement = query!(template.of_pipeline);
    let found = sql::rows(statement, &[pipeline.into()], |row| row.get::<String>(1))?;
    Ok(found.into_iter().next().flatten())
}

/// The pipelines that the caller may see, by their IDs, with what is in them.
pub fn choices() -> Result<Vec<(i32, Choice)>> {
    let statement = query!(template.described_pipelines);
    sql::rows(statement, &[], |row| {
        let (name, description) = (sql::required(row.get(2)?)?, sql::required(row.get(3)?)?);
        Ok((sql::required(row.get(1)?)?, Choice { name, description }))
    })
}
