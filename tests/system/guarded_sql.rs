//! Statements that a model or a stranger has written: what is refused, what runs, and that nothing else
//! happens.

#[path = "guarded_sql/gold.rs"]
mod gold;
#[path = "guarded_sql/harmless.rs"]
mod harmless;
#[path = "guarded_sql/hostile.rs"]
mod hostile;
#[path = "guarded_sql/session.rs"]
mod session;
#[path = "guarded_sql/setup.rs"]
mod setup;
#[path = "guarded_sql/sqlsmith.rs"]
mod sqlsmith;

use std::collections::BTreeMap;

use postgres::{Client, Error};

use self::harmless::HARMLESS;
use self::hostile::{HOSTILE, Hostile, OUTSIDE_OF_SCHEMAS, UNDER_POLICIES};
use self::setup::SETUP;
use super::cluster::Cluster;
use super::documents::{assert_fails, count, describe};

/// The extension, and what hostile statements may lay hands on.
fn prepared(settings: &[&str]) -> Option<Cluster> {
    let cluster = Cluster::start(settings)?;
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE").unwrap();
    client.batch_execute(SETUP).unwrap_or_else(|error| panic!("{}", describe(&error)));
    Some(cluster)
}

/// What the first problem of a statement is called; "ok" where there is none.
fn checked(client: &mut Client, statement: &str, options: &str) -> String {
    let query = "SELECT coalesce(problem, 'ok') FROM rag_sql_check($1, $2::text::jsonb)";
    let rows = client.query(query, &[&statement, &options]);
    let rows = rows.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error)));
    rows[0].get(0)
}

/// How a statement ends: its SQLSTATE, "ok" where it runs.
fn ended(client: &mut Client, statement: &str, timeout: &str, options: &str) -> String {
    let query = "SELECT count(*) FROM rag_sql_run($1, timeout => $2::text::interval, options => $3::text::jsonb)";
    match client.query_one(query, &[&statement, &timeout, &options]) {
        Ok(_) => "ok".to_owned(),
        Err(error) => code(&error),
    }
}

fn code(error: &Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), |it| it.code().code().to_owned())
}

/// What is wrong with what becomes of a statement; `None`: it is as expected.
fn surprise(client: &mut Client, (expected, statement): Hostile, options: &str) -> Option<String> {
    let problem = checked(client, statement, options);
    let (word, codes) = match expected.strip_prefix("run ") {
        Some(codes) => ("ok", codes),
        None => (expected, ""),
    };
    // What is cancelled for its time is given little, and what is for its memory has enough.
    let timeout = if codes.contains("57014") { "1 second" } else { "2 minutes" };
    let end = ended(client, statement, timeout, options);
    let is_expected = match codes {
        "" => end != "ok",
        codes => codes.split('|').any(|code| code == end),
    };
    (problem != word || !is_expected)
        .then(|| format!("{statement}: {problem}, {end} instead of {expected}"))
}

/// What a session has that a statement could have changed, and what there is in the database.
const STATE: &str = "
    SELECT 'marks', count(*)::text FROM marks
    UNION ALL SELECT 'items', count(*)::text || min(name) || max(name) FROM items
    UNION ALL SELECT 'counter', last_value::text || is_called::text FROM counter
    UNION ALL SELECT 'large objects', count(*)::text FROM pg_largeobject_metadata
    UNION ALL SELECT 'relations', count(*)::text || md5(string_agg(relname, ',' ORDER BY oid)) FROM pg_class
        WHERE relnamespace NOT IN ('pg_toast'::regnamespace, 'pg_catalog'::regnamespace)
    UNION ALL SELECT 'functions', count(*)::text FROM pg_proc
    UNION ALL SELECT 'roles', string_agg(rolname || rolsuper::text, ',' ORDER BY rolname) FROM pg_roles
    UNION ALL SELECT 'slots', count(*)::text FROM pg_replication_slots
    UNION ALL SELECT 'statements', count(*)::text FROM pg_prepared_statements
    UNION ALL SELECT 'cursors', count(*)::text FROM pg_cursors WHERE name <> ''
    UNION ALL SELECT 'locks', count(*)::text FROM pg_locks
        WHERE locktype = 'advisory' OR pid = pg_backend_pid() AND locktype = 'relation'
          AND relation NOT IN (SELECT oid FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace)
          AND relation NOT IN ('marks'::regclass, 'items'::regclass, 'items_pkey'::regclass, 'counter'::regclass)
    UNION ALL SELECT 'session', concat_ws(' ', pg_backend_pid(), session_user, current_user)
    UNION ALL SELECT 'files', count(*)::text FROM pg_ls_dir('.') AS f WHERE f LIKE 'mark%'
    UNION ALL SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'plpgsql.%'";

/// Asked by the superuser in the session itself, which has called the extension before: that adds settings.
fn state(client: &mut Client) -> BTreeMap<String, String> {
    assert_eq!(checked(client, "SELECT 1", "{}"), "ok");
    let rows = client.query(STATE, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)));
    rows.iter()
        .map(|row| (row.get(0), row.get::<_, Option<String>>(1).unwrap_or_default()))
        .collect()
}

#[test]
fn hostile_statements_do_nothing() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute("PREPARE prepared AS DELETE FROM items").unwrap();
    let before = state(&mut client);
    let mut surprises = Vec::new();
    let lists = [(HOSTILE, "{}"), (OUTSIDE_OF_SCHEMAS, r#"{"schemas": ["public"]}"#)];
    for (statements, options) in lists {
        for one in statements {
            surprises.extend(surprise(&mut client, *one, options));
        }
    }
    assert!(HOSTILE.len() > 250, "{} statements", HOSTILE.len());
    assert_eq!(state(&mut client), before);
    client.batch_execute("SET ROLE agent").unwrap();
    for (statements, options) in lists.into_iter().chain([(UNDER_POLICIES, "{}")]) {
        for one in statements {
            surprises.extend(surprise(&mut client, *one, options).map(|it| format!("agent: {it}")));
        }
    }
    client.batch_execute("RESET ROLE").unwrap();
    assert_eq!(state(&mut client), before);
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

/// Ways to hide a call in a statement.
const WRAPPINGS: &[&str] = &[
    "SELECT * FROM (SELECT @) AS s",
    "WITH s AS MATERIALIZED (SELECT @) TABLE s",
    "WITH s AS NOT MATERIALIZED (SELECT @ AS v) SELECT 1 FROM s WHERE v IS NOT NULL",
    "SELECT CASE WHEN id > 0 THEN (@)::text END FROM items",
    "SELECT (SELECT (@)::text)",
    "SELECT id FROM items AS i, LATERAL (SELECT @ WHERE i.id > 0) AS l (v)",
    "SELECT id FROM items WHERE (@) IS NULL",
    "SELECT id FROM items ORDER BY (@)::text",
    "SELECT count(*) FROM items GROUP BY (@)::text",
    "SELECT max((@)::text) FILTER (WHERE true) FROM items",
    "SELECT ARRAY[ROW((@)::text, 1)]",
    "SELECT 1 UNION ALL SELECT length((@)::text)",
    "SELECT first_value((@)::text) OVER () FROM items",
    "SELECT * FROM items AS a LEFT JOIN items AS b ON length((@)::text) > a.id",
    "SELECT EXISTS (SELECT FROM items HAVING (@) IS NOT NULL)",
    "SELECT jsonb_build_object('a', @)",
    "SELECT * FROM generate_series(1, length((@)::text))",
    "SELECT coalesce(NULL, NULLIF((@)::text, 'a'))",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + length((@)::text) FROM r WHERE n < 3) TABLE r",
    "SELECT id FROM items LIMIT (SELECT length((@)::text))",
];

#[test]
fn a_hostile_call_is_found_wherever_it_is_hidden() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    let before = state(&mut client);
    let calls = HOSTILE.iter().filter_map(|(expected, statement)| {
        let call = statement.strip_prefix("SELECT ")?;
        let is_call = *expected == "function" && call.ends_with(')') && !call.contains(" FROM ");
        // As many results as arguments: one.
        (is_call && !call.contains(", pg_sleep")).then_some(call)
    });
    let calls: Vec<&str> = calls.collect();
    assert!(calls.len() > 60, "{} calls", calls.len());
    let (mut found, mut missed) = (0, Vec::new());
    for call in calls {
        for wrapping in WRAPPINGS {
            let statement = wrapping.replace('@', call);
            match checked(&mut client, &statement, "{}").as_str() {
                "function" => found += 1,
                // Not every wrapping fits the type of every call.
                "error" => {}
                other => missed.push(format!("{other}: {statement}")),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(found > 1000, "only {found} fit");
    println!("{found} hidden calls were found");
    assert_eq!(state(&mut client), before);
}

/// What nests, and how one more level is written around or behind it.
const NESTINGS: &[(&str, &str, &str)] = &[
    ("1", "", " + 1"),
    ("1", "- ", ""),
    ("true", "NOT ", ""),
    ("1", "(SELECT ", ")"),
    ("1", "abs(", ")"),
    ("'a'", "", " || 'a'"),
    ("1", "CASE WHEN true THEN ", " END"),
    ("1", "ARRAY[", "]"),
    ("1", "", " UNION SELECT 1"),
    ("1 FROM items", "1 FROM (SELECT ", ") AS i"),
];

#[test]
fn a_statement_that_is_too_deep_is_an_error_and_ends_no_session() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    for (middle, before, after) in NESTINGS {
        for levels in [100, 1000, 3000, 10_000, 100_000] {
            let nested =
                format!("SELECT {}{middle}{}", before.repeat(levels), after.repeat(levels));
            if nested.len() > 1 << 20 {
                continue;
            }
            let query = "SELECT coalesce(sqlstate, 'ok') FROM rag_sql_check($1) LIMIT 1";
            let end: String = match client.query_one(query, &[&nested]) {
                Ok(row) => row.get(0),
                Err(error) => code(&error),
            };
            // Too deep for the stack, for the grammar, or for the ten seconds of a check; or no type for it.
            let is_told = ["ok", "54001", "53200", "42601", "57014", "42704", "42883"]
                .contains(&end.as_str());
            assert!(is_told, "{end}: {levels} times {before:?} {after:?}");
        }
        assert_eq!(checked(&mut client, "SELECT 1", "{}"), "ok");
    }
}

#[test]
fn harmless_statements_have_the_rows_that_they_have_otherwise() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    for role in ["postgres", "agent"] {
        client.batch_execute(&format!("SET ROLE {role}")).unwrap();
        for statement in HARMLESS {
            assert_eq!(checked(&mut client, statement, "{}"), "ok", "{role}: {statement}");
            let bare = statement.split("--").next().unwrap().trim().trim_end_matches(';');
            let plain =
                format!("SELECT coalesce(jsonb_agg(to_jsonb(r))::text, '') FROM ({bare}) AS r");
            let guarded = "SELECT coalesce(jsonb_agg(data ORDER BY row_no)::text, '') FROM rag_sql_run($1, 1000)";
            let plain: String = client
                .query_one(&plain, &[])
                .unwrap_or_else(|error| panic!("{plain}: {}", describe(&error)))
                .get(0);
            let row = client.query_one(guarded, &[statement]);
            let row =
                row.unwrap_or_else(|error| panic!("{role}: {statement}: {}", describe(&error)));
            // Names that are there twice get numbers.
            let plain = if plain.contains("?column?") { String::new() } else { plain };
            let own: String = row.get(0);
            assert!(plain.is_empty() || own == plain, "{statement}: {own} is not {plain}");
        }
    }
}

#[test]
fn rows_are_counted_and_cut() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    let mut check = |call: &str, rows: i64, truncated: Option<bool>| {
        let query = format!("SELECT count(*), bool_or(truncated), max(row_no)::bigint FROM {call}");
        let row = client
            .query_one(&query, &[])
            .unwrap_or_else(|error| panic!("{query}: {}", describe(&error)));
        let last: Option<i64> = row.get(2);
        assert_eq!(
            (row.get::<_, i64>(0), row.get::<_, Option<bool>>(1)),
            (rows, truncated),
            "{call}"
        );
        assert_eq!(last.unwrap_or(0), rows, "{call}");
    };
    check("rag_sql_run('TABLE items')", 100, Some(false));
    check("rag_sql_run('TABLE items', 100)", 100, Some(false));
    check("rag_sql_run('TABLE items', 99)", 99, Some(true));
    check("rag_sql_run('TABLE items', 1)", 1, Some(true));
    check("rag_sql_run('SELECT 1 WHERE false', 1)", 0, None);
    check("rag_sql_run('SELECT FROM items')", 100, Some(false));
    check("rag_sql_run('TABLE items', NULL, NULL, NULL, NULL)", 100, Some(false));
    // A query without an end whose first rows come at once has these.
    let endless = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) TABLE r";
    check(&format!("rag_sql_run('{endless}')"), 200, Some(true));
    check(
        "rag_sql_run('SELECT repeat(''x'', 1000) FROM items', options => '{\"max_bytes\": 10000}')",
        9,
        Some(true),
    );
    let names: String = client
        .query_one(
            "SELECT data::text FROM rag_sql_run('SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a')",
            &[],
        )
        .unwrap()
        .get(0);
    assert_eq!(names, r#"{"a": 1, "a_2": 2, "a_4": 4, "a_2_3": 3}"#);
    for (call, says) in [
        ("rag_sql_run(NULL)", "22004 sql must not be NULL"),
        ("rag_sql_check(NULL)", "22004 sql must not be NULL"),
        ("rag_sql_run('SELECT 1', 0)", "22023 max_rows must be between 1 and 100000, not 0"),
        ("rag_sql_run('SELECT 1', timeout => '0')", "22023 timeout must be greater than 0"),
        ("rag_sql_run('SELECT 1', timeout => '-1 s')", "22023 timeout must not be negative"),
        ("rag_sql_run('SELECT 1', max_cost => 'NaN')", "22023 max_cost must be greater than 0"),
        (
            "rag_sql_run('SELECT 1', options => '{\"max_row\": 1}')",
            "22023 unknown option \"max_row\"",
        ),
        ("rag_sql_run('SELECT 1', options => '[]')", "22023 options is not a JSON object"),
        (
            "rag_sql_check('SELECT 1', '{\"tables\": [\"no\"]}')",
            "42704 relation \"no\" of the options does not exist",
        ),
        (
            "rag_sql_check('SELECT 1', '{\"schemas\": [\"no\"]}')",
            "42704 schema \"no\" of the options does not exist",
        ),
        (
            "rag_sql_check('SELECT 1', '{\"functions\": [\"no(int)\"]}')",
            "42704 function \"no(int)\" of the options does not exist",
        ),
        ("rag_sql_check(repeat('x', 2000000))", "54000 sql has 2000000 bytes"),
    ] {
        assert_fails(&mut client, &format!("SELECT * FROM {call}"), &[says]);
    }
}

#[test]
fn errors_say_where_and_what_helps() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    let mut check = |statement: &str, state: &str, position: u32, message: &str, hint: &str| {
        let error = client.query("SELECT rag_sql_run($1)", &[&statement]).unwrap_err();
        let error = error.as_db_error().unwrap_or_else(|| panic!("{statement}: {error}"));
        assert_eq!(error.code().code(), state, "{statement}");
        assert!(error.message().contains(message), "{statement}: {}", error.message());
        assert!(error.hint().unwrap_or_default().contains(hint), "{statement}: {:?}", error.hint());
        let place = match error.position() {
            Some(postgres::error::ErrorPosition::Internal { position, query }) => {
                assert_eq!(query, statement);
                *position
            }
            None => 0,
            other => panic!("{statement}: {other:?}"),
        };
        assert_eq!(place, position, "{statement}");
        let row = "SELECT position, coalesce(hint, '') FROM rag_sql_check($1)";
        let row = client.query_one(row, &[&statement]).unwrap();
        assert_eq!(row.get::<_, Option<i32>>(0).unwrap_or(0), position as i32, "{statement}");
        assert!(row.get::<_, String>(1).contains(hint), "{statement}");
    };
    check("SELECT nam FROM items", "42703", 8, "column \"nam\" does not exist", "items.name");
    check("SELECT 'ä', nam FROM items", "42703", 13, "column \"nam\" does not exist", "items.name");
    check("SELECT 1 FROM itms", "42P01", 15, "relation \"itms\" does not exist", "");
    check("SELEC 1", "42601", 1, "syntax error", "");
    check(
        "SELECT id FROM items WHERE pg_sleep(1) IS NULL",
        "42501",
        28,
        "pg_sleep(double precision) is volatile",
        "\"functions\"",
    );
    check(
        "SELECT 'ä', relname FROM pg_class",
        "42501",
        26,
        "pg_catalog.pg_class is one of the system's",
        "catalogs",
    );
    check("SELECT 1;  SELECT 2", "42501", 12, "2 statements", "one query");
    check("SELECT 1 INTO made", "42501", 15, "INTO makes a table", "");
    check("SELECT 1 WHERE 'a' = 1", "22P02", 16, "invalid input syntax for type integer", "");
    // Errors while it runs have no place.
    assert_fails(
        &mut client,
        "SELECT rag_sql_run('SELECT 1 / (id - 1) FROM items')",
        &["22012 division by zero"],
    );
    assert_fails(
        &mut client,
        "SELECT rag_sql_run('SELECT runs_text(''SELECT nam FROM items'')')",
        &["42703 column \"nam\" does not exist"],
    );
    assert_fails(
        &mut client,
        "SELECT rag_sql_run('TABLE items', max_cost => 0.5)",
        &["53400 the plan of the statement costs", "raise the limit"],
    );
    assert_fails(
        &mut client,
        "SELECT rag_sql_run('TABLE items', options => '{\"max_plan_rows\": 10}')",
        &["53400 the plan of the statement expects 100 rows, over max_plan_rows (10)"],
    );
}

#[test]
fn what_the_options_name_is_allowed() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute("CREATE SCHEMA \"Shop\"; CREATE TABLE \"Shop\".\"My orders\" (id int);")
        .unwrap();
    let mut check = |statement: &str, options: &str, expected: &str| {
        assert_eq!(checked(&mut client, statement, options), expected, "{statement} {options}");
    };
    check("TABLE items", r#"{"tables": ["items"]}"#, "ok");
    check("TABLE items", r#"{"tables": ["public.items"]}"#, "ok");
    check("TABLE items", r#"{"tables": ["marks"]}"#, "relation");
    check("TABLE items", r#"{"tables": []}"#, "relation");
    check("TABLE items", r#"{"schemas": []}"#, "relation");
    check("SELECT 1", r#"{"schemas": []}"#, "ok");
    check("TABLE items", r#"{"schemas": ["secret"]}"#, "relation");
    check("TABLE items", r#"{"schemas": ["secret"], "tables": ["items"]}"#, "ok");
    check("TABLE \"Shop\".\"My orders\"", r#"{"schemas": ["Shop"]}"#, "ok");
    check("TABLE \"Shop\".\"My orders\"", r#"{"tables": ["\"Shop\".\"My orders\""]}"#, "ok");
    // A view of a listed schema shows what is there, and a listed view what its owner has chosen.
    check("TABLE salaries", r#"{"schemas": ["public"]}"#, "relation");
    check("TABLE salaries", r#"{"tables": ["salaries"]}"#, "ok");
    check("SELECT * FROM salaries, secret.salary", r#"{"tables": ["salaries"]}"#, "relation");
    check("TABLE catalogs", r#"{"tables": ["catalogs"]}"#, "ok");
    check("TABLE catalogs", r#"{"catalogs": true}"#, "ok");
    check("TABLE pg_class", r#"{"catalogs": true}"#, "ok");
    check("TABLE pg_class", r#"{"tables": ["pg_class"]}"#, "ok");
    check("TABLE pg_stat_activity", r#"{"catalogs": true}"#, "function");
    check("SELECT pg_get_viewdef('salaries')", r#"{"catalogs": true}"#, "ok");
    check("SELECT * FROM family", r#"{"schemas": ["public", "secret"]}"#, "ok");
    check("SELECT * FROM distant", r#"{"schemas": ["public"]}"#, "relation");
    check("SELECT * FROM distant", r#"{"tables": ["distant"]}"#, "ok");
    check("SELECT leave_mark('a')", r#"{"functions": ["leave_mark"]}"#, "ok");
    check("SELECT leave_mark('a')", r#"{"functions": ["leave_mark(text)"]}"#, "ok");
    check("SELECT leave_mark('a')", r#"{"functions": ["public.leave_mark"]}"#, "ok");
    check("SELECT definer(), greedy()", r#"{"functions": ["definer", "greedy()"]}"#, "ok");
    check("SELECT definer(), greedy()", r#"{"functions": ["definer"]}"#, "function");
    check("SELECT * FROM marking", r#"{"functions": ["leave_mark"]}"#, "ok");
    check("SELECT rag_embed('a')", r#"{"functions": ["rag_embed"]}"#, "ok");
    check("SELECT current_setting('work_mem')", r#"{"functions": ["current_setting"]}"#, "ok");
    // A function that is listed still writes nothing.
    let options = r#"{"functions": ["leave_mark", "nextval"]}"#;
    for statement in ["SELECT leave_mark('a')", "SELECT nextval('counter')", "TABLE marking"] {
        assert_eq!(ended(&mut client, statement, "1 minute", options), "25006", "{statement}");
    }
    assert_eq!(count(&mut client, "SELECT count(*) FROM marks"), 0);
}

#[test]
fn roles_see_what_they_may_see() {
    let Some(cluster) = prepared(&[]) else { return };
    let mut owner = cluster.connect();
    owner
        .batch_execute(
            "CREATE ROLE stranger LOGIN;
             CREATE TABLE notes (id integer, tenant text, body text);
             INSERT INTO notes VALUES (1, 'a', 'one'), (2, 'b', 'two');
             ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
             CREATE POLICY own ON notes USING (tenant = current_setting('app.tenant', true));
             GRANT SELECT (id, tenant) ON notes TO agent;
             CREATE VIEW open_notes AS SELECT body FROM notes;
             GRANT SELECT ON open_notes TO agent;
             CREATE VIEW own_notes WITH (security_invoker) AS SELECT id, tenant FROM notes;
             GRANT SELECT ON own_notes TO agent;
             CREATE FUNCTION private() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
             REVOKE EXECUTE ON FUNCTION private FROM PUBLIC;",
        )
        .unwrap();
    let mut stranger = cluster.connect_as("stranger");
    for call in ["rag_sql_check('SELECT 1')", "rag_sql_run('SELECT 1')"] {
        let call = format!("SELECT * FROM {call}");
        assert_fails(&mut stranger, &call, &["42501 permission denied for function rag_sql_"]);
    }
    let mut agent = cluster.connect_as("agent");
    let ids = |agent: &mut Client, statement: &str| {
        let query = "SELECT coalesce(string_agg(data->>'id', ',' ORDER BY row_no), '') FROM rag_sql_run($1)";
        let row = agent.query_one(query, &[&statement]);
        row.unwrap_or_else(|error| panic!("{statement}: {}", describe(&error))).get::<_, String>(0)
    };
    assert_eq!(ids(&mut agent, "SELECT id FROM notes"), "");
    agent.batch_execute("SET app.tenant = 'b'").unwrap();
    assert_eq!(ids(&mut agent, "SELECT id FROM notes"), "2");
    assert_eq!(ids(&mut agent, "SELECT id FROM own_notes"), "2");
    for statement in
        ["SELECT body FROM notes", "SELECT id FROM notes WHERE body = 'two'", "TABLE notes"]
    {
        assert_eq!(checked(&mut agent, statement, "{}"), "permission", "{statement}");
        assert_eq!(ended(&mut agent, statement, "1 minute", "{}"), "42501", "{statement}");
    }
    assert_eq!(checked(&mut agent, "SELECT private()", "{}"), "permission");
    assert_eq!(checked(&mut agent, "SELECT count(*) FROM open_notes", "{}"), "ok");
    // A relation behind a view is not named to a role that may not read it.
    let said: String = agent
        .query_one(
            "SELECT detail FROM rag_sql_check('TABLE salaries', '{\"schemas\": [\"public\"]}')",
            &[],
        )
        .unwrap()
        .get(0);
    assert!(!said.contains("salary") && said.contains("behind"), "{said}");
}
