//! The options of a server about how it is reached and how much it is asked.

use pgrx::prelude::*;

use super::OptionList;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::guc;
use crate::protocol::{CallLimits, Network, has_fit_port};

/// Most calls in a minute, beyond which a limit would be none; each is remembered for a minute.
const MOST: u32 = 100_000;

/// How much a server is asked.
pub fn limits(options: &OptionList) -> Result<CallLimits> {
    Ok(CallLimits {
        first_token_timeout_ms: options.given_milliseconds("first_token_timeout")?,
        within_ms: None,
        max_concurrency: count(options, "max_concurrency")?,
        requests_per_minute: count(options, "requests_per_minute")?,
    })
}

/// How it is reached, as its `owner` has it, under the rules of the administrator.
pub fn network(options: &OptionList, owner: pg_sys::Oid) -> Network {
    Network {
        proxy: options.text("proxy"),
        ca_file: options.text("ca_file"),
        hosts: guc::host_rules(),
        owner: owner.to_u32(),
    }
}

/// Whether these options are acceptable from the current role.
pub fn check(options: &OptionList) -> Result<()> {
    limits(options)?;
    options.text("proxy").map_or(Ok(()), |proxy| check_proxy(&proxy))?;
    // SAFETY: looks the current role up.
    let superuser = unsafe { pg_sys::superuser() };
    match options.text("ca_file") {
        Some(_) if !superuser => {
            let message = "must be superuser to set ca_file";
            Err(Error::new(ErrorKind::Forbidden, message)
                .hint("The file is read with the rights of the server's operating system user."))
        }
        Some(path) if !path.starts_with('/') => {
            Err(Error::invalid(format!("ca_file is not an absolute path: \"{path}\""))
                .hint("The file is read on the database server."))
        }
        _ => Ok(()),
    }
}

fn count(options: &OptionList, name: &str) -> Result<Option<u32>> {
    let Some(text) = options.text(name) else { return Ok(None) };
    match text.parse() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(Some(count)),
        _ => Err(Error::invalid(format!(
            "{name} is not a whole number from 1 to {MOST}: \"{text}\""
        ))),
    }
}

/// Every role can read the options of a server, so no password may stand in this one.
fn check_proxy(address: &str) -> Result<()> {
    // What stands before an @ may be a password.
    let shown = address.rsplit('@').next().unwrap_or_default();
    let unfit = |why: &str| {
        Error::invalid(format!("proxy \"{shown}\" {why}"))
            .hint("It should look like http://host:3128.")
    };
    let Some(rest) = address.strip_prefix("http://") else {
        return Err(unfit("does not begin with http://"));
    };
    match rest.strip_suffix('/').unwrap_or(rest) {
        rest if rest.contains('@') => Err(unfit("holds a user name or password")),
        rest if rest.contains(['/', '?', '#']) => Err(unfit("has a path")),
        rest if rest.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Err(unfit("holds white space"))
        }
        rest if rest.is_empty() || rest.starts_with(':') => Err(unfit("has no host")),
        rest if !has_fit_port(rest) => Err(unfit("has a port that is not between 1 and 65535")),
        _ => Ok(()),
    }
}
