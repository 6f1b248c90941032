use super::{FunctionFacts, FunctionRefusal, Volatility, function_refusal};
use crate::guarded_sql::SqlOrigin;

fn builtin(name: &str, volatility: Volatility) -> FunctionFacts {
    FunctionFacts {
        name: name.to_owned(),
        signature: format!("{name}()"),
        is_builtin: true,
        symbol: None,
        volatility,
        is_security_definer: false,
        settings: Vec::new(),
    }
}

fn users(symbol: Option<&str>, volatility: Volatility) -> FunctionFacts {
    let symbol = symbol.map(str::to_owned);
    FunctionFacts { is_builtin: false, symbol, ..builtin("of_a_user", volatility) }
}

fn check(facts: &FunctionFacts, origin: SqlOrigin, expected: Option<FunctionRefusal>) {
    assert_eq!(function_refusal(facts, origin, false), expected, "{facts:?} in {origin:?}");
}

const ORIGINS: [SqlOrigin; 5] = [
    SqlOrigin::Statement,
    SqlOrigin::View,
    SqlOrigin::ListedView,
    SqlOrigin::Policy,
    SqlOrigin::Function,
];

#[test]
fn a_volatile_function_is_refused_wherever_it_is_called() {
    for origin in ORIGINS {
        let refused = Some(FunctionRefusal::Volatile);
        check(&builtin("pg_sleep", Volatility::Volatile), origin, refused.clone());
        check(&users(None, Volatility::Volatile), origin, refused.clone());
        check(&users(Some("lo_manage"), Volatility::Volatile), origin, refused);
        check(&builtin("random", Volatility::Volatile), origin, None);
        check(&users(Some("uuid_generate_v4"), Volatility::Volatile), origin, None);
        check(&builtin("lower", Volatility::Immutable), origin, None);
        check(&users(None, Volatility::Stable), origin, None);
    }
}

#[test]
fn names_of_harmless_functions_are_nobody_elses() {
    let mut random = builtin("random", Volatility::Volatile);
    random.is_builtin = false;
    check(&random, SqlOrigin::Statement, Some(FunctionRefusal::Volatile));
    random.symbol = Some("random".to_owned());
    check(&random, SqlOrigin::Statement, Some(FunctionRefusal::Volatile));
}

#[test]
fn what_runs_text_is_refused_whatever_its_mark() {
    for origin in ORIGINS {
        let refused = Some(FunctionRefusal::RunsText);
        check(&builtin("table_to_xml", Volatility::Stable), origin, refused.clone());
        check(&builtin("query_to_xml", Volatility::Volatile), origin, refused.clone());
        check(&users(Some("crosstab"), Volatility::Stable), origin, refused);
    }
}

#[test]
fn owners_of_views_and_policies_may_read_settings() {
    let setting = builtin("current_setting", Volatility::Stable);
    check(&setting, SqlOrigin::Statement, Some(FunctionRefusal::ShowsSettings));
    for origin in &ORIGINS[1..] {
        check(&setting, *origin, None);
    }
}

#[test]
fn sessions_are_shown_to_nobody_and_catalogs_where_they_are_allowed() {
    for name in ["pg_stat_get_activity", "pg_stat_get_backend_activity"] {
        let refused = Some(FunctionRefusal::ShowsSessions);
        check(&builtin(name, Volatility::Stable), SqlOrigin::View, refused);
    }
    let shows = builtin("pg_get_functiondef", Volatility::Stable);
    check(&shows, SqlOrigin::Statement, Some(FunctionRefusal::ShowsCatalogs));
    assert_eq!(function_refusal(&shows, SqlOrigin::Statement, true), None);
}

#[test]
fn functions_of_pg_rag_that_use_models_are_refused() {
    let refused = Some(FunctionRefusal::UsesModels);
    let embeds = users(Some("rag_embed_wrapper"), Volatility::Stable);
    check(&embeds, SqlOrigin::Statement, refused);
    let verifies = users(Some("rag_verify_wrapper"), Volatility::Immutable);
    check(&verifies, SqlOrigin::Statement, None);
    for symbol in super::WITHOUT_MODEL {
        check(&users(Some(symbol), Volatility::Stable), SqlOrigin::Statement, None);
    }
}

#[test]
fn rights_and_settings_of_others_are_refused() {
    let mut function = users(None, Volatility::Immutable);
    function.settings = vec!["search_path".to_owned(), "TimeZone".to_owned()];
    check(&function, SqlOrigin::Statement, None);
    function.settings.push("work_mem".to_owned());
    let refused = FunctionRefusal::ChangesSetting("work_mem".to_owned());
    check(&function, SqlOrigin::Statement, Some(refused));
    function.is_security_definer = true;
    check(&function, SqlOrigin::Policy, Some(FunctionRefusal::SecurityDefiner));
}

#[test]
fn lists_have_each_name_once() {
    let lists = [
        super::HARMLESS,
        super::RUN_TEXT,
        super::SHOW_SETTINGS,
        super::SHOW_SESSIONS,
        super::SHOW_CATALOGS,
        super::TAKE_NUMBERS,
        super::UNINTERRUPTIBLE,
    ];
    let mut names: Vec<&str> = lists.concat();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_hint_lists_the_function_as_json() {
    let hint = FunctionRefusal::Volatile.hint("\"My f\"(text)");
    assert_eq!(hint, "If it does no harm, list it: {\"functions\": [\"\\\"My f\\\"(text)\"]}.");
}
