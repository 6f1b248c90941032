//! `rag.tool_definition`: functions that roles have let agents call.

use pgrx::pg_sys::Oid;

use super::{FunctionArgument, arguments_of, signature};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::guarded_sql::{function_signature, may_execute};
use crate::pg::server::role;
use crate::pg::server::sql::{self, query, required};
use crate::pg::text_to_sql::within_search_path;

/// Longest name, in bytes.
const LONGEST_NAME: usize = 63;

/// Longest description, in bytes.
const LONGEST_DESCRIPTION: usize = 2000;

/// Most arguments of a function that a language model is to give.
const MOST_ARGUMENTS: usize = 20;

/// What the catalogs say of a function.
struct FunctionKind {
    name: String,
    is_plain: bool,
    is_variadic: bool,
    has_result: bool,
}

/// Lets agents call a function by a name. It takes the place of the current role's tool of the same name.
///
/// Fails where the name or the description is none, the current role may not execute the function, or no language model
/// could call it.
pub fn add(name: &str, function: Oid, description: &str) -> Result<()> {
    check_name(name)?;
    check_description(description)?;
    let signature = checked(function)?;
    let (owner, owner_name) = (role::current_role(), role::current_user());
    let arguments =
        [owner.into(), owner_name.into(), name.into(), signature.into(), description.trim().into()];
    role::as_superuser(|| sql::execute(query!(agent_tools.put), &arguments)).map(drop)
}

/// Takes a tool of the current role away; whether it was there.
pub fn remove(name: &str) -> Result<bool> {
    let arguments = [role::current_role().into(), name.into()];
    Ok(role::as_superuser(|| sql::execute(query!(agent_tools.drop), &arguments))? > 0)
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = name.bytes().next().is_some_and(|first| first.is_ascii_lowercase());
    match begins && name.len() <= LONGEST_NAME && name.bytes().all(is_plain) {
        true => Ok(()),
        false => {
            let shown: String = name.chars().take(80).collect();
            let message = format!(
                "the name of a tool must be a letter and at most 62 letters, digits and underscores, all small, not \"{shown}\""
            );
            Err(Error::invalid(message).hint("For instance 'weather_of_city'."))
        }
    }
}

fn check_description(description: &str) -> Result<()> {
    let length = description.len();
    if length > LONGEST_DESCRIPTION {
        let message = format!("description has {length} bytes, more than {LONGEST_DESCRIPTION}");
        return Err(Error::new(ErrorKind::DocumentLimit, message));
    }
    match description.trim().is_empty() {
        false => Ok(()),
        true => Err(Error::invalid("description must not be empty").hint(
            "Say what the function returns and what its arguments mean: a language model decides by it.",
        )),
    }
}

/// The function with all schemas, if a language model can call it and the current role may.
fn checked(function: Oid) -> Result<String> {
    let Some(kind) = kind(function)? else {
        let message = format!("function with the OID {} does not exist", function.to_u32());
        return Err(Error::new(ErrorKind::UndefinedObject, message));
    };
    let shown = function_signature(function);
    if !may_execute(function) {
        let message = format!("permission denied for function {shown}");
        return Err(Error::new(ErrorKind::Forbidden, message));
    }
    if !kind.is_plain {
        let message = format!("{shown} is no plain function");
        return Err(Error::new(ErrorKind::WrongObjectType, message).hint(
            "Procedures, aggregates and window functions are called from a function around them.",
        ));
    }
    if !kind.has_result {
        let message = format!("function {shown} returns nothing that can be read");
        return Err(Error::new(ErrorKind::WrongObjectType, message)
            .hint("A tool returns a value, rows, or columns that it declares."));
    }
    let arguments = arguments_of(vec![function])?.remove(&function).unwrap_or_default();
    check_arguments(&shown, &kind, &arguments)?;
    let types: Vec<String> = arguments.into_iter().map(|it| it.qualified_type).collect();
    Ok(signature(&kind.name, &types))
}

fn check_arguments(shown: &str, kind: &FunctionKind, arguments: &[FunctionArgument]) -> Result<()> {
    let refused = |what: String, hint: &str| {
        let message = format!("function {shown} {what}");
        Err(Error::new(ErrorKind::Unsupported, message).hint(hint))
    };
    if kind.is_variadic {
        return refused(
            "has a variable number of arguments".to_owned(),
            "Declare an array instead.",
        );
    }
    if arguments.len() > MOST_ARGUMENTS {
        let what = format!("has {} arguments, more than {MOST_ARGUMENTS}", arguments.len());
        return refused(what, "Give those that never change a value in a function around it.");
    }
    for (number, FunctionArgument { argument, is_pseudo, .. }) in (1..).zip(arguments) {
        if *is_pseudo {
            let what = format!("has an argument of type {}", argument.sql_type);
            return refused(what, "Declare the type of its values.");
        }
        if argument.name.is_empty() {
            let what = format!("has no name for argument {number}");
            return refused(
                what,
                "Name its arguments: a language model gives them by their names.",
            );
        }
    }
    Ok(())
}

fn kind(function: Oid) -> Result<Option<FunctionKind>> {
    let found = within_search_path(|| {
        sql::rows(query!(agent_tools.function), &[function.into()], |row| {
            Ok(FunctionKind {
                name: required(row.get(1)?)?,
                is_plain: required(row.get(2)?)?,
                is_variadic: required(row.get(3)?)?,
                has_result: required(row.get(4)?)?,
            })
        })
    })?;
    Ok(found.into_iter().next())
}
