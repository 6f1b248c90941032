//! Providers of language models and embeddings: foreign servers of the wrapper `rag_llm` and their
//! user mappings.
//!
//! Which role may use a server is PostgreSQL's own access control: USAGE on the wrapper to say
//! where a server is, USAGE on the server to call it. Keys are options of user mappings. A key in a
//! file or in the environment belongs to the server's operating system user, so only a superuser
//! may name one: any other role could have the server read any file and send it to a host.

mod local;
mod transport;

use std::ffi::{CStr, CString};
use std::time::Duration;

use pgrx::PgList;
use pgrx::prelude::*;

use super::{trace, usage};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::model;
use crate::pg::server::error::OrReport;
use crate::pg::server::sql::{self, query};
use crate::pg::server::syscache;
use crate::protocol::apis::default_base_url;
use crate::protocol::{
    KeySource, LOCAL_API, PROVIDER_APIS, ProviderConfig, RedactionPolicy, Special, ToolCalling,
    has_fit_port,
};

const WRAPPER: &str = "rag_llm";
const SERVER_OPTIONS: [&str; 18] = [
    "api",
    "base_url",
    "model",
    "connect_timeout",
    "timeout",
    "max_retries",
    "key_header",
    "num_ctx",
    "first_token_timeout",
    "max_concurrency",
    "requests_per_minute",
    "proxy",
    "ca_file",
    "context_window",
    "tokenizer",
    "tools",
    "redact",
    "redact_model",
];
const KEY_OPTIONS: [&str; 3] = ["api_key", "api_key_file", "api_key_env"];

/// How to have the foreign server `name` write, as the current role, and how much it reads.
pub fn language_model(name: &str) -> Result<(ProviderConfig, Capacity)> {
    let server = find(name)?.ok_or_else(|| unknown_llm(name))?;
    let options = OptionList(server.options.clone());
    let window = options.number("context_window", 0)?;
    let tokenizer = options.text("tokenizer");
    let config = read(name, server, None)?;
    let window = (window > 0).then_some(window).or(local::window(&config));
    let usual = config.special.file.is_some().then_some(local::USUAL_READING);
    Ok((config, Capacity { window, usual, tokenizer }))
}

/// Fails where the current role did not choose the server `name` and has no reason to trust it: the server belongs to
/// neither a superuser nor a role whose rights the current one has. A superuser, who has those of all, trusts only superusers'.
pub fn check_choice_of_caller(name: &str) -> Result<()> {
    let Some(server) = find(name)? else { return Ok(()) };
    // SAFETY: look-ups in the catalog by OID.
    let is_trusted = unsafe {
        let has_rights_of_owner = |role| pg_sys::has_privs_of_role(role, server.owner);
        pg_sys::superuser_arg(server.owner)
            || server.owner == pg_sys::GetUserId()
            || !pg_sys::superuser()
                && has_rights_of_owner(pg_sys::GetUserId())
                // A member of a role does not trust that role where it is the one that calls.
                && !has_rights_of_owner(pg_sys::GetOuterUserId())
                && !has_rights_of_owner(pg_sys::GetSessionUserId())
    };
    match is_trusted {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Forbidden,
            format!("rag.llm names the server \"{name}\", which the owner of this function does not trust"),
        )
        .detail("Whoever calls a function with SECURITY DEFINER has made the setting, and what the function's owner may read would be sent there.")
        .hint("Name the server in the function, as in rag_answer(..., llm => '...'), or have it belong to the function's owner or a superuser.")),
    }
}

fn unknown_llm(name: &str) -> Error {
    let message = format!("language model server \"{name}\" does not exist");
    Error::new(ErrorKind::UndefinedObject, message).hint(
        "rag.llm names 'extractive' or a server made with CREATE SERVER ... FOREIGN DATA WRAPPER rag_llm.",
    )
}

/// How much text a language model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Most tokens of a call, the answer included; `None`: not known.
    pub window: Option<u32>,
    /// Tokens of chunks that it reads where nothing else is said, if fewer than there is room for; `None`: as many.
    pub usual: Option<u32>,
    /// The registered model that has its tokenizer; `None`: there is none.
    pub tokenizer: Option<String>,
}

/// How to have the foreign server `name` embed or rerank, as the current role; with `model`, or with
/// that of the server's options.
pub fn embedding_config(name: &str, model: Option<&str>) -> Result<ProviderConfig> {
    let unknown = || {
        Error::new(ErrorKind::UndefinedObject, format!("server \"{name}\" does not exist")).hint(
            format!(
                "CREATE SERVER {} FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url '...').",
                pgrx::spi::quote_identifier(name)
            ),
        )
    };
    let server = find(name)?.ok_or_else(unknown)?;
    read(name, server, model)
}

fn read(name: &str, server: ForeignServer, model: Option<&str>) -> Result<ProviderConfig> {
    check_usage(name)?;
    let options = OptionList(server.options);
    let key = OptionList(mapping_options(server.oid));
    let api = options.text("api").unwrap_or_else(|| "openai".to_owned());
    let base_url = match (options.text("base_url"), default_base_url(&api)) {
        _ if api == LOCAL_API => None,
        (None, Some(usual)) => Some(usual.to_owned()),
        _ => Some(options.required(name, "base_url")?),
    };
    let model = match model {
        Some(model) => model.to_owned(),
        None => options.required(name, "model")?,
    };
    let mut special = options.special()?;
    special.file = local::file(&api, &model)?;
    let finder = options.text("redact_model");
    special.redact_model = finder.as_deref().map(model::find_token_classifier).transpose()?;
    let config = ProviderConfig {
        name: name.to_owned(),
        base_url: base_url.unwrap_or_else(|| local::address(&special)),
        api,
        model,
        api_key: key.source(),
        connect_timeout_ms: options.milliseconds("connect_timeout", 5)?,
        timeout_ms: options.milliseconds("timeout", 60)?,
        max_retries: options.number("max_retries", 3)?,
        special,
        limits: transport::limits(&options)?,
        network: transport::network(&options, server.owner),
    };
    if config.special.redact != RedactionPolicy::Nothing {
        let within = Duration::from_millis(config.timeout_ms);
        trace::hides_pii(config.special.redact_model.as_ref(), within);
    }
    usage::prepare(&config)?;
    Ok(config)
}

/// Called by CREATE and ALTER of server, user mapping and wrapper.
#[pg_extern(sql = false)]
fn rag_llm_validator(options: Vec<Option<String>>, catalog: pg_sys::Oid) {
    let options = OptionList(options.into_iter().flatten().filter_map(split_option).collect());
    validate(&options, catalog).or_report();
}

fn validate(options: &OptionList, catalog: pg_sys::Oid) -> Result<()> {
    if catalog == pg_sys::ForeignServerRelationId {
        options.only(&SERVER_OPTIONS)?;
        check_server(options)
    } else if catalog == pg_sys::UserMappingRelationId {
        options.only(&KEY_OPTIONS)?;
        check_key(options)
    } else {
        options.only(&[])
    }
}

fn check_server(options: &OptionList) -> Result<()> {
    if let Some(api) = options.text("api").filter(|api| !PROVIDER_APIS.contains(&api.as_str())) {
        return Err(Error::invalid(format!("unknown api \"{api}\""))
            .hint(format!("Known apis: {}.", PROVIDER_APIS.join(", "))));
    }
    local::check(options)?;
    options.text("base_url").map_or(Ok(()), |url| check_base_url(&url))?;
    options.milliseconds("connect_timeout", 5)?;
    options.milliseconds("timeout", 60)?;
    options.number("max_retries", 3)?;
    options.number("context_window", 0)?;
    options.special()?;
    transport::check(options)
}

/// Every role can read the options of a server, so nothing secret may stand in its address.
/// ragd checks the address again, whole, when it calls.
fn check_base_url(url: &str) -> Result<()> {
    // What stands before an @ may be a password.
    let shown = url.rsplit('@').next().unwrap_or_default();
    let unfit = |why: &str| {
        Error::invalid(format!("base_url \"{shown}\" {why}"))
            .hint("It should look like https://host/v1.")
    };
    let Some(rest) = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")) else {
        return Err(unfit("begins neither with http:// nor with https://"));
    };
    match rest {
        _ if rest.contains('@') => Err(unfit("holds a user name or password")
            .hint("Put the key into the user mapping, where only its role sees it.")),
        _ if rest.contains(['?', '#']) => Err(unfit("has a query or a fragment")),
        _ if rest.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Err(unfit("holds white space"))
        }
        _ if rest.is_empty() || rest.starts_with(['/', ':']) => Err(unfit("has no host")),
        _ if !has_fit_port(rest.split('/').next().unwrap_or_default()) => {
            Err(unfit("has a port that is not between 1 and 65535"))
        }
        _ => Ok(()),
    }
}

fn check_key(options: &OptionList) -> Result<()> {
    if options.0.len() > 1 {
        return Err(Error::invalid("a user mapping names its key in one way only")
            .hint(format!("Give one of {}.", KEY_OPTIONS.join(", "))));
    }
    // SAFETY: looks the current role up.
    let superuser = unsafe { pg_sys::superuser() };
    match options.0.first() {
        Some((name, _)) if name != "api_key" && !superuser => {
            Err(Error::new(ErrorKind::Forbidden, format!("must be superuser to set {name}"))
                .hint("Use api_key, or ask an administrator for the mapping."))
        }
        _ => Ok(()),
    }
}

struct ForeignServer {
    oid: pg_sys::Oid,
    owner: pg_sys::Oid,
    options: Vec<(String, String)>,
}

fn find(name: &str) -> Result<Option<ForeignServer>> {
    let Ok(c_name) = CString::new(name) else { return Ok(None) };
    // SAFETY: with missing_ok the look-ups return NULL or a valid struct in this memory context.
    unsafe {
        let server = pg_sys::GetForeignServerByName(c_name.as_ptr(), true);
        if server.is_null() {
            return Ok(None);
        }
        let wrapper = pg_sys::GetForeignDataWrapper((*server).fdwid);
        if CStr::from_ptr((*wrapper).fdwname).to_bytes() != WRAPPER.as_bytes() {
            return Err(Error::new(
                ErrorKind::WrongObjectType,
                format!("server \"{name}\" is not of the foreign data wrapper {WRAPPER}"),
            )
            .hint(format!(
                "CREATE SERVER ... FOREIGN DATA WRAPPER {WRAPPER} OPTIONS (...) makes one that is."
            )));
        }
        let options = read_options((*server).options);
        let (oid, owner) = ((*server).serverid, (*server).owner);
        Ok(Some(ForeignServer { oid, owner, options }))
    }
}

fn check_usage(name: &str) -> Result<()> {
    let statement = query!(provider.usage);
    let allowed = sql::rows(statement, &[name.into()], |row| sql::required(row.get::<bool>(1)?))?;
    match allowed.first() {
        Some(true) => Ok(()),
        _ => Err(Error::new(
            ErrorKind::Forbidden,
            format!("permission denied for server \"{name}\""),
        )
        .hint(format!(
            "GRANT USAGE ON FOREIGN SERVER {} TO the role.",
            pgrx::spi::quote_identifier(name)
        ))),
    }
}

/// Options of the current role's mapping, else of PUBLIC's, else none.
fn mapping_options(server: pg_sys::Oid) -> Vec<(String, String)> {
    // SAFETY: GetUserMapping raises an error where there is no mapping, so it is called only
    // where one of the two it looks for exists.
    unsafe {
        let role = pg_sys::GetUserId();
        if !mapping_exists(role, server) && !mapping_exists(pg_sys::InvalidOid, server) {
            return Vec::new();
        }
        read_options((*pg_sys::GetUserMapping(role, server)).options)
    }
}

fn mapping_exists(role: pg_sys::Oid, server: pg_sys::Oid) -> bool {
    syscache::exists(pg_sys::SysCacheIdentifier::USERMAPPINGUSERSERVER, [role, server])
}

/// # Safety
///
/// `list` is a List of DefElem whose values are strings, as of a foreign server or mapping.
unsafe fn read_options(list: *mut pg_sys::List) -> Vec<(String, String)> {
    // SAFETY: by this function's contract.
    unsafe {
        PgList::<pg_sys::DefElem>::from_pg(list)
            .iter_ptr()
            .map(|element| {
                let name = CStr::from_ptr((*element).defname).to_string_lossy().into_owned();
                let value = CStr::from_ptr(pg_sys::defGetString(element));
                (name, value.to_string_lossy().into_owned())
            })
            .collect()
    }
}

fn split_option(option: String) -> Option<(String, String)> {
    option.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
}

/// Name and value pairs of a server or mapping.
struct OptionList(Vec<(String, String)>);

impl OptionList {
    fn only(&self, known: &[&str]) -> Result<()> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                Err(Error::invalid(format!("unknown option \"{name}\"")).hint(match known {
                    _ if KEY_OPTIONS.contains(&name.as_str()) => {
                        format!("It is an option of a user mapping: CREATE USER MAPPING FOR ... SERVER ... OPTIONS ({name} '...').")
                    }
                    [] => "There are no options here.".to_owned(),
                    _ => format!("Known options: {}.", known.join(", ")),
                }))
            }
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn required(&self, server: &str, name: &str) -> Result<String> {
        self.text(name).ok_or_else(|| {
            Error::invalid(format!("server \"{server}\" has no option {name}")).hint(format!(
                "ALTER SERVER {} OPTIONS (ADD {name} '...').",
                pgrx::spi::quote_identifier(server)
            ))
        })
    }

    fn number(&self, name: &str, default: u32) -> Result<u32> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| {
            Error::invalid(format!(
                "{name} is not a whole number from 0 to {}: \"{text}\"",
                u32::MAX
            ))
        })
    }

    fn special(&self) -> Result<Special> {
        let key_header = self.text("key_header");
        let is_plain = |name: &String| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if let Some(name) = key_header.as_ref().filter(|name| !is_plain(name)) {
            return Err(Error::invalid(format!(
                "key_header is not the name of a header: \"{name}\""
            ))
            .hint("For instance api-key."));
        }
        let num_ctx = match self.number("num_ctx", 0)? {
            0 if self.text("num_ctx").is_some() => {
                return Err(Error::invalid("num_ctx must be at least 1, not 0")
                    .hint("Leave it out for as many as are usual where the model runs."));
            }
            0 => None,
            tokens => Some(tokens),
        };
        let (tools, redact) = (self.tools()?, self.redact()?);
        if redact == RedactionPolicy::Nothing && self.text("redact_model").is_some() {
            return Err(Error::invalid("redact_model is for servers with redact 'pii'").hint(
                "Add the option redact 'pii', which finds personal data by rules beside the model.",
            ));
        }
        Ok(Special { key_header, num_ctx, tools, redact, ..Special::default() })
    }

    fn tools(&self) -> Result<ToolCalling> {
        match self.text("tools").as_deref() {
            None | Some("native") => Ok(ToolCalling::Native),
            Some("json") => Ok(ToolCalling::Json),
            Some(other) => Err(Error::invalid(format!(
                "tools must be native or json, not \"{other}\""
            ))
            .hint("native: as tools of the provider's protocol; json: as JSON of a schema.")),
        }
    }

    fn redact(&self) -> Result<RedactionPolicy> {
        match self.text("redact").as_deref() {
            None => Ok(RedactionPolicy::Nothing),
            Some("pii") => Ok(RedactionPolicy::Pii),
            Some(other) => Err(Error::invalid(format!("redact must be pii, not \"{other}\""))
                .hint("pii: personal data are replaced by placeholders; without the option nothing is.")),
        }
    }

    /// A time in seconds, fractions allowed.
    fn milliseconds(&self, name: &str, default: u32) -> Result<u64> {
        let default = u64::from(default) * 1000;
        Ok(self.given_milliseconds(name)?.unwrap_or(default))
    }

    fn given_milliseconds(&self, name: &str) -> Result<Option<u64>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => {
                Ok(Some(((seconds * 1000.0) as u64).max(1)))
            }
            _ => Err(Error::invalid(format!("{name} is not a number of seconds: \"{text}\""))
                .hint("Seconds are above 0 and at most 86400, fractions allowed.")),
        }
    }

    fn source(&self) -> KeySource {
        match self.0.first() {
            Some((name, value)) if name == "api_key" => KeySource::Inline(value.clone()),
            Some((name, value)) if name == "api_key_file" => KeySource::File(value.clone()),
            Some((_, value)) => KeySource::Environment(value.clone()),
            None => KeySource::None,
        }
    }
}
