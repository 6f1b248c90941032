//! Which functions may a statement of a stranger call?
//!
//! PostgreSQL's own mark says it for most: who marks a function STABLE or IMMUTABLE says that it changes
//! nothing. There are some that are marked VOLATILE and do no harm, and some that are not and do:
//! they run a text as a statement, or show what is nobody's business. A list of what is allowed would have
//! three thousand names.

use super::SqlOrigin;

/// What a function promises of its effects and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volatility {
    /// Nothing.
    Volatile,
    /// That it changes nothing, and gives the same for the same within a statement.
    Stable,
    /// That it changes nothing, and gives the same for the same at all times.
    Immutable,
}

/// What PostgreSQL knows of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionFacts {
    /// Its name without a schema.
    pub name: String,
    /// Its name and the types of its arguments, as they would be written.
    pub signature: String,
    /// Whether it came with PostgreSQL.
    pub is_builtin: bool,
    /// The symbol of a function in C, in whichever library.
    pub symbol: Option<String>,
    /// What its owner promises.
    pub volatility: Volatility,
    /// Whether it runs with the rights of its owner.
    pub is_security_definer: bool,
    /// The settings that it changes while it runs, by its declaration.
    pub settings: Vec<String>,
}

/// Functions of PostgreSQL's that are marked VOLATILE for their results, which differ, and change
/// nothing.
const HARMLESS: &[&str] = &[
    "array_sample",
    "array_shuffle",
    "clock_timestamp",
    "gen_random_uuid",
    "pg_database_size",
    "pg_indexes_size",
    "pg_is_in_recovery",
    "pg_relation_size",
    "pg_table_size",
    "pg_tablespace_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "timeofday",
    "uuidv4",
    "uuidv7",
];

/// Functions in C of the extensions that come with PostgreSQL that are VOLATILE and change nothing, by symbol.
const HARMLESS_SYMBOLS: &[&str] =
    &["pg_random_bytes", "uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4"];

/// Functions of PostgreSQL's that run a text as a statement, or read the relation of that name.
const RUN_TEXT: &[&str] = &[
    "currtid2",
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "database_to_xml",
    "database_to_xml_and_xmlschema",
    "database_to_xmlschema",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "schema_to_xml",
    "schema_to_xml_and_xmlschema",
    "schema_to_xmlschema",
    "table_to_xml",
    "table_to_xml_and_xmlschema",
    "table_to_xmlschema",
    "ts_stat",
];

/// Functions in C of the extensions that come with PostgreSQL that run a text as a statement, by symbol.
const RUN_TEXT_SYMBOLS: &[&str] = &[
    "connectby_text",
    "connectby_text_serial",
    "crosstab",
    "crosstab_hash",
    "dblink_exec",
    "dblink_record",
    "xpath_table",
];

/// Functions that show settings, which may hold what an application keeps there.
const SHOW_SETTINGS: &[&str] = &["current_setting", "pg_show_all_settings"];

/// Functions that show what other sessions do, or what this one has done before.
const SHOW_SESSIONS: &[&str] = &[
    "pg_cursor",
    "pg_get_replication_slots",
    "pg_listening_channels",
    "pg_prepared_statement",
    "pg_stat_get_activity",
    "pg_stat_get_progress_info",
    "pg_stat_get_replication_slot",
    "pg_stat_get_subscription",
    "pg_stat_get_wal_receiver",
    "pg_stat_get_wal_senders",
];

/// How those of them begin that show one thing of a session each.
const SHOW_SESSION: &str = "pg_stat_get_backend_";

/// Functions that say what is in the system catalogs; those that begin as [`SHOW_CATALOG`], too.
const SHOW_CATALOGS: &[&str] = &[
    "aclexplode",
    "col_description",
    "obj_description",
    "pg_available_extension_versions",
    "pg_available_extensions",
    "pg_config",
    "pg_describe_object",
    "pg_extension_update_paths",
    "pg_filenode_relation",
    "pg_identify_object",
    "pg_identify_object_as_address",
    "pg_options_to_table",
    "pg_relation_filenode",
    "pg_relation_filepath",
    "pg_sequence_parameters",
    "pg_tablespace_databases",
    "pg_tablespace_location",
    "shobj_description",
];

/// How most functions begin that say what is in the system catalogs.
const SHOW_CATALOG: &str = "pg_get_";

/// Functions that take a number from the server for good.
const TAKE_NUMBERS: &[&str] = &["pg_current_xact_id", "txid_current"];

/// Functions of a library that does not look whether it is to stop.
const UNINTERRUPTIBLE: &[&str] = &["xmlexists", "xpath", "xpath_exists"];

/// Stable functions of pg_rag's that neither use a model nor read documents, by symbol. All others do,
/// and may send what they are given to a provider.
const WITHOUT_MODEL: &[&str] = &[
    "rag_bm25_distance_wrapper",
    "rag_redact_wrapper",
    "rag_redactions_wrapper",
    "rag_template_get_wrapper",
];

/// Functions of pg_rag's that read pipelines although they are marked as immutable, by symbol.
const READ_PIPELINES: &[&str] = &["rag_shard_candidates_wrapper", "rag_shard_statistics_wrapper"];

/// Settings that a function may change while it runs: they decide how names and values are read and written,
/// and none of them how much may be used.
const SETTINGS: &[&str] = &[
    "bytea_output",
    "client_min_messages",
    "datestyle",
    "default_text_search_config",
    "extra_float_digits",
    "intervalstyle",
    "lc_messages",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "plan_cache_mode",
    "search_path",
    "standard_conforming_strings",
    "timezone",
    "xmlbinary",
    "xmloption",
];

/// Why a function is not to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionRefusal {
    /// It may change something.
    Volatile,
    /// It runs a text as a statement, or reads the relation of that name.
    RunsText,
    /// It shows settings.
    ShowsSettings,
    /// It shows what sessions do.
    ShowsSessions,
    /// It shows system catalogs.
    ShowsCatalogs,
    /// It takes a number of a transaction.
    TakesNumbers,
    /// It cannot be interrupted.
    Uninterruptible,
    /// It uses a model, or reads pipelines.
    UsesModels,
    /// It runs with its owner's rights.
    SecurityDefiner,
    /// It changes this setting while it runs.
    ChangesSetting(String),
}

/// Why the function is not to be called by words of `origin`; `None`: it may be. `catalogs`: whether system
/// catalogs may be read. Functions that the options list are not asked about.
#[must_use]
pub fn function_refusal(
    facts: &FunctionFacts,
    origin: SqlOrigin,
    catalogs: bool,
) -> Option<FunctionRefusal> {
    let by_name = if facts.is_builtin { named(&facts.name) } else { by_symbol(facts) };
    let applies = |refusal: &FunctionRefusal| match refusal {
        FunctionRefusal::ShowsSettings | FunctionRefusal::Uninterruptible => origin.is_of_author(),
        FunctionRefusal::ShowsCatalogs => origin.is_of_author() && !catalogs,
        _ => true,
    };
    by_name.filter(applies).or_else(|| by_mark(facts))
}

fn by_mark(facts: &FunctionFacts) -> Option<FunctionRefusal> {
    let is_listed = |names: &[&str], name: &str| names.contains(&name);
    let is_harmless = match &facts.symbol {
        Some(symbol) if !facts.is_builtin => is_listed(HARMLESS_SYMBOLS, symbol),
        _ => facts.is_builtin && is_listed(HARMLESS, &facts.name),
    };
    if facts.volatility == Volatility::Volatile && !is_harmless {
        return Some(FunctionRefusal::Volatile);
    }
    if facts.is_security_definer {
        return Some(FunctionRefusal::SecurityDefiner);
    }
    let is_bound = |name: &&String| !is_listed(SETTINGS, &name.to_ascii_lowercase());
    facts.settings.iter().find(is_bound).cloned().map(FunctionRefusal::ChangesSetting)
}

fn named(name: &str) -> Option<FunctionRefusal> {
    let lists = [
        (RUN_TEXT, FunctionRefusal::RunsText),
        (SHOW_SETTINGS, FunctionRefusal::ShowsSettings),
        (SHOW_SESSIONS, FunctionRefusal::ShowsSessions),
        (SHOW_CATALOGS, FunctionRefusal::ShowsCatalogs),
        (TAKE_NUMBERS, FunctionRefusal::TakesNumbers),
        (UNINTERRUPTIBLE, FunctionRefusal::Uninterruptible),
    ];
    let listed = lists.into_iter().find(|(names, _)| names.contains(&name));
    match listed {
        Some((_, refusal)) => Some(refusal),
        None if name.starts_with(SHOW_SESSION) => Some(FunctionRefusal::ShowsSessions),
        None if name.starts_with(SHOW_CATALOG) => Some(FunctionRefusal::ShowsCatalogs),
        None => None,
    }
}

fn by_symbol(facts: &FunctionFacts) -> Option<FunctionRefusal> {
    let symbol = facts.symbol.as_deref()?;
    let is_ours = symbol.starts_with("rag_") && symbol.ends_with("_wrapper");
    if RUN_TEXT_SYMBOLS.contains(&symbol) {
        return Some(FunctionRefusal::RunsText);
    }
    let uses_models =
        is_ours && facts.volatility == Volatility::Stable && !WITHOUT_MODEL.contains(&symbol);
    (uses_models || READ_PIPELINES.contains(&symbol)).then_some(FunctionRefusal::UsesModels)
}

impl FunctionRefusal {
    /// What is said of the function called `signature`.
    #[must_use]
    pub fn detail(&self, signature: &str) -> String {
        match self {
            FunctionRefusal::Volatile => {
                format!("function {signature} is volatile, so it may change something")
            }
            FunctionRefusal::RunsText => {
                format!(
                    "function {signature} runs a text as a statement or reads a table by its name"
                )
            }
            FunctionRefusal::ShowsSettings => format!("function {signature} shows settings"),
            FunctionRefusal::ShowsSessions => {
                format!("function {signature} shows what sessions do")
            }
            FunctionRefusal::ShowsCatalogs => {
                format!("function {signature} shows system catalogs")
            }
            FunctionRefusal::TakesNumbers => {
                format!("function {signature} takes the number of a transaction")
            }
            FunctionRefusal::Uninterruptible => {
                format!("function {signature} cannot be interrupted while it runs")
            }
            FunctionRefusal::UsesModels => {
                format!("function {signature} uses a model or reads pipelines")
            }
            FunctionRefusal::SecurityDefiner => {
                format!("function {signature} runs with its owner's rights")
            }
            FunctionRefusal::ChangesSetting(name) => {
                format!("function {signature} changes the setting {name} while it runs")
            }
        }
    }

    /// What the caller can do so that the function called `signature` may be called.
    #[must_use]
    pub fn hint(&self, signature: &str) -> String {
        let listed = signature.replace('\\', "\\\\").replace('"', "\\\"");
        match self {
            FunctionRefusal::ShowsCatalogs => {
                "Allow system catalogs with {\"catalogs\": true}.".to_owned()
            }
            _ => format!("If it does no harm, list it: {{\"functions\": [\"{listed}\"]}}."),
        }
    }
}

#[cfg(test)]
#[path = "function_tests.rs"]
mod tests;
