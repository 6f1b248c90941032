//! Which functions may an agent call, and what do they return?
//!
//! ```text
//! registry   functions that roles have let agents call
//! call       a call, as guarded SQL runs it
//! ```
//!
//! A tool is a function of SQL under a name that a language model knows. It runs with the rights of whoever asks, under
//! the limits of guarded SQL: it changes nothing and takes no longer than it may. Who has let agents call it answers for
//! what it does beyond that, as who names it in the options of `rag_sql_run` does.

mod call;
pub mod registry;

use std::collections::HashMap;

use pgrx::pg_sys::Oid;

pub use self::call::{ToolLimits, returned};

use crate::answer::strategy::agent::{ArgumentKind, ToolArgument, ToolOffer};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::sql::{self, query, required};
use crate::pg::text_to_sql::within_search_path;

/// Most tools of which an agent is told.
const MOST: usize = 20;

/// A function that the caller's agents may call.
#[derive(Clone, Debug)]
pub struct AgentTool {
    /// What a language model is told of it.
    pub offer: ToolOffer,
    /// Its OID.
    oid: Oid,
    /// Its name with its schema, quoted.
    function: String,
    /// The types of its arguments, in their order and quoted with their schemas.
    types: Vec<String>,
}

/// An argument of a function, as the catalogs have it.
struct FunctionArgument {
    argument: ToolArgument,
    /// The type with its schema, quoted.
    qualified_type: String,
    is_pseudo: bool,
}

impl AgentTool {
    /// The function with the types of its arguments, as guarded SQL is told which one it is.
    fn signature(&self) -> String {
        signature(&self.function, &self.types)
    }

    /// Whether its name is still its own, so that no other function is called by it. Who has added it is not looked up
    /// again.
    pub fn is_there(&self) -> Result<bool> {
        let arguments = [self.oid.into(), self.function.as_str().into()];
        let found = within_search_path(|| {
            // A call finds the function that has the name by then, whatever the statement saw when it began.
            sql::with_latest_snapshot(|| {
                sql::rows(query!(agent_tools.is_there), &arguments, |row| {
                    required(row.get::<bool>(1)?)
                })
            })
        })?;
        Ok(found.first() == Some(&true))
    }
}

fn signature(function: &str, types: &[String]) -> String {
    format!("{function}({})", types.join(", "))
}

/// The tools that the caller's agents may call, by their names: those that are `wanted`, or all of them.
///
/// Fails where one that is wanted is not there or not for the caller, and where there are more than an agent is told of.
pub fn usable(wanted: Option<&[String]>) -> Result<Vec<AgentTool>> {
    let names = wanted.unwrap_or_default().to_vec();
    let found = within_search_path(|| {
        let arguments = [names.clone().into(), wanted.is_some().into()];
        sql::rows(query!(agent_tools.usable), &arguments, |row| {
            let (name, description): (String, String) =
                (required(row.get(1)?)?, required(row.get(2)?)?);
            Ok((name, description, required(row.get::<Oid>(3)?)?, required(row.get::<String>(4)?)?))
        })
    })?;
    if let Some(missing) = names.iter().find(|name| found.iter().all(|it| it.0 != **name)) {
        return Err(unusable(missing));
    }
    if found.len() > MOST {
        let message = format!("{} tools could be called, more than {MOST}", found.len());
        return Err(Error::new(ErrorKind::DocumentLimit, message)
            .hint("Name those that matter in the option \"answer.tools\"."));
    }
    let arguments = arguments_of(found.iter().map(|it| it.2).collect())?;
    let tool = |(name, description, oid, function): (String, String, Oid, String)| {
        let own = arguments.get(&oid).map(Vec::as_slice).unwrap_or_default();
        let types = own.iter().map(|it| it.qualified_type.clone()).collect();
        let arguments = own.iter().map(|it| it.argument.clone()).collect();
        AgentTool { offer: ToolOffer { name, description, arguments }, oid, function, types }
    };
    Ok(found.into_iter().map(tool).collect())
}

fn unusable(name: &str) -> Error {
    let shown: String = name.chars().take(80).collect();
    let message = format!("tool \"{shown}\" does not exist, or you may not call it");
    Error::new(ErrorKind::UndefinedObject, message).hint(
        "The view rag.tool lists those that you can use: added by a role that you trust, with EXECUTE on the function for you.",
    )
}

/// What each of some functions is given, by the function.
fn arguments_of(functions: Vec<Oid>) -> Result<HashMap<Oid, Vec<FunctionArgument>>> {
    let rows = within_search_path(|| {
        sql::rows(query!(agent_tools.arguments), &[functions.into()], |row| {
            Ok((required(row.get::<Oid>(1)?)?, argument(row)?))
        })
    })?;
    let mut arguments: HashMap<Oid, Vec<FunctionArgument>> = HashMap::new();
    for (function, argument) in rows {
        arguments.entry(function).or_default().push(argument);
    }
    Ok(arguments)
}

/// A row of `arguments` of agent_tools.sql.
fn argument(row: &pgrx::spi::SpiHeapTupleData<'_>) -> Result<FunctionArgument, pgrx::spi::Error> {
    let is_whole = required(row.get::<bool>(7)?)?;
    let kind = match required(row.get::<String>(6)?)?.as_str() {
        "N" if is_whole => ArgumentKind::Integer,
        "N" => ArgumentKind::Number,
        "B" => ArgumentKind::Boolean,
        _ => ArgumentKind::Text,
    };
    let argument = ToolArgument {
        name: required(row.get(2)?)?,
        sql_type: required(row.get(3)?)?,
        kind,
        is_list: required(row.get(5)?)?,
        has_default: required(row.get(8)?)?,
    };
    Ok(FunctionArgument {
        argument,
        qualified_type: required(row.get(4)?)?,
        is_pseudo: required(row.get(9)?)?,
    })
}
