//! Where statements stand, and what of them is looked up in whose search path.

use std::collections::BTreeSet;

use regex::Regex;

use super::source::{self, RustFile, Statement, files, rust_files, statements};
use super::{check, sql};

/// What makes a text a statement: a verb in capitals, and further on another word in capitals.
const SQL: &str = r"(?s)\b(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|REVOKE|TRUNCATE|COPY|COMMENT|ANALYZE|WITH)\b\s.*\b[A-Z]{2,}\b";

#[test]
fn sql_is_in_sql_files() {
    let statement = Regex::new(SQL).unwrap();
    let outside_tests = |source: &RustFile| source.file.is_below(&["src/"]);
    let breaches = rust_files().into_iter().filter(outside_tests).flat_map(|source| {
        let is_sql = |text: &&source::Text| {
            let bare = text.text.trim_start_matches(['b', 'c', 'r', '#', '"']);
            let alone = bare.starts_with("SELECT ");
            !text.in_test && !text.in_hint && (alone || statement.is_match(&text.text))
        };
        let texts = source.strings.iter().filter(is_sql);
        texts
            .map(|text| format!("{}:{}: {}", source.path(), text.line, text.text))
            .collect::<Vec<_>>()
    });
    check("SQL outside sql/ (a hint may show a statement)", breaches);
}

#[test]
fn every_statement_is_used() {
    let sources = rust_files();
    let sources = || sources.iter().filter(|source| source.file.is_below(&["src/"]));
    let names =
        |text: &String| sources().any(|it| it.strings.iter().any(|s| s.text.ends_with(text)));
    let installed = files(&["sql/install"], &[".sql"]).into_iter().map(|file| file.path);
    let not_installed = installed.filter(|path| !names(&format!("/{path}\"")));

    let statements = statements();
    assert!(statements.len() > 100, "the statements were not found below sql/query");
    let mut seen = BTreeSet::new();
    let wrong = statements.iter().map(Statement::path).filter(|path| {
        let used = format!("query!({path})");
        !seen.insert(path.clone()) || !sources().any(|it| it.file.text.contains(&used))
    });
    check("SQL that is used nowhere, or there twice", not_installed.chain(wrong));
}

/// Statements that run with the search path `pg_catalog, pg_temp`, within `Acting` or `Settings` of
/// `src/pg/server/role.rs`: whole files, or statements by name. What is not here runs as its caller, or becomes
/// part of a view or policy.
const ACTING: &[&str] = &[
    "activity.",
    "agent_tools.",
    "chunk.",
    "column_relations.forget_other",
    "column_relations.insert",
    "column_relations.named",
    "column_relations.of_row",
    "column_relations.row",
    "column_relations.said_never",
    "column_relations.short",
    "communities.delete",
    "communities.entities",
    "communities.forget_gone",
    "communities.put",
    "communities.standing",
    "context_lines.around",
    "context_lines.count_missing",
    "context_lines.forget_gone",
    "context_lines.inherit",
    "context_lines.known",
    "context_lines.missing",
    "context_lines.put",
    "context_lines.unused",
    "context_lines.use",
    "conversation.insert",
    "conversation.turn_insert",
    "derivation.ask_again",
    "derivation.count_missing_texts",
    "derivation.due",
    "derivation.forget_gone_texts",
    "derivation.forget_texts",
    "derivation.missing_texts",
    "derivation.note_progress",
    "derivation.remove",
    "derivation.set",
    "derivation.set_missing",
    "derivation.set_state",
    "derivation.state",
    "derivation.unfinished",
    "evaluation.metrics_insert",
    "evaluation.results_insert",
    "evaluation.run_insert",
    "event.pipelines_altered",
    "event.pipelines_lost",
    "event.pipelines_perhaps_smaller",
    "event.pipelines_to_give",
    "extracted_relations.forget_older",
    "extracted_relations.inherit",
    "extracted_relations.insert",
    "generation.content_size",
    "graph.insert",
    "guarded_sql.called",
    "guarded_sql.inheriting",
    "guarded_sql.primary_keys",
    "kept_reply.",
    "pipeline.alter",
    "pipeline.delete",
    "pipeline.fill_from",
    "pipeline.filled",
    "pipeline.hold",
    "pipeline.hold_now",
    "pipeline.inherit_description",
    "pipeline.insert",
    "pipeline.live",
    "pipeline.lock",
    "pipeline.pause",
    "pipeline.set_description",
    "pipeline.take",
    "pipeline.take_both",
    "pipeline.take_name",
    "pipeline.unnamed",
    "provider.budgets",
    "provider.price",
    "queue.",
    "representations.embed",
    "representations.give_up",
    "representations.insert",
    "representations.unembedded",
    "stranger.",
    "text_to_sql.columns",
    "text_to_sql.examples",
    "text_to_sql.keys",
    "text_to_sql.may_execute",
    "text_to_sql.relations",
    "text_to_sql.values",
    "trace.insert",
    "trace.insert_feedback",
    "tree.children_of",
    "tree.chunks",
    "tree.contents",
    "tree.documents",
    "tree.embed",
    "tree.fenced",
    "tree.first_chunks",
    "tree.first_chunks_of",
    "tree.insert",
    "tree.known",
    "tree.leaves",
    "tree.made",
    "tree.nodes",
    "tree.sentences",
    "tree.set_roots",
    "tree.summaries",
    "tree.sweep",
    "tree.unembedded",
    "tree_change.",
    "trigger.outside",
];

/// Whether the statement at `path` is one of [`ACTING`].
pub fn is_acting(path: &str) -> bool {
    ACTING.iter().any(|known| is_of(path, known))
}

/// Whether `known` is this statement, or the file that it is in.
fn is_of(path: &str, known: &str) -> bool {
    path == known || known.ends_with('.') && path.starts_with(known)
}

#[test]
fn what_callers_run_names_its_operators_with_their_schema() {
    let statements = statements();
    let unknown =
        ACTING.iter().filter(|known| !statements.iter().any(|it| is_of(&it.path(), known)));
    let unknown = unknown.map(|known| format!("no {known} is there"));
    let not_acting = statements.iter().filter(|it| !is_acting(&it.path()));
    let unsafe_ones = not_acting.flat_map(|statement| {
        let found = sql::looked_up(&statement.text).into_iter();
        found.map(|(line, what)| format!("{}:{}: {what}", statement.path(), statement.line + line))
    });
    check("looked up in the caller's search path", unsafe_ones.chain(unknown));
}

/// rag-server asks as whoever has a token, in a session whose search path begins with pg_catalog and the schema of the
/// extension: so functions are found there, but an operator for just the types at hand would go before PostgreSQL's own.
#[test]
fn what_rag_server_asks_names_its_operators_with_their_schema() {
    let literal = Regex::new("(?s)'([^']*)'").unwrap();
    let placeholder = Regex::new(r"%(\d\$)?[IsL]").unwrap();
    let files = files(&["rag-server/sql"], &[".sql"]);
    assert!(files.len() > 10, "the statements were not found below rag-server/sql");
    let breaches = files.iter().flat_map(|file| {
        let lines = file.text.lines().filter(|line| !line.starts_with("--"));
        let text = lines.collect::<Vec<_>>().join("\n");
        // What is a statement by itself, or a part of one.
        let inner = literal.captures_iter(&text).map(|it| it[1].to_owned());
        let is_sql = |it: &String| ["SELECT ", "OPERATOR(", "::"].iter().any(|is| it.contains(is));
        let inner = inner.filter(is_sql);
        let inner = inner.map(|it| placeholder.replace_all(&it, "{x}").into_owned());
        let texts: Vec<String> = inner.chain([text.clone()]).collect();
        let found = texts.iter().flat_map(|text| sql::looked_up(text)).map(|(_, what)| what);
        let found = found.filter(|what| !what.starts_with("rag_"));
        found.map(|what| format!("{}: {what}", file.path)).collect::<Vec<_>>()
    });
    check("looked up in the search path of a token's role", breaches);
}

/// A subselect with LIMIT that locks rows takes others each time that it is read: by itself it is read
/// once, and also where what it finds is kept.
#[test]
fn a_limit_on_locked_rows_holds_under_any_plan() {
    let limit =
        Regex::new(r"(?is)\bLIMIT\s+\S+\s+FOR\s+(NO\s+KEY\s+|KEY\s+)?(UPDATE|SHARE)\b").unwrap();
    let comment = Regex::new("--[^\n]*").unwrap();
    let is_read_once = |before: &str| match opened_last(before) {
        Some(place) => {
            let before = before[..place].trim_end();
            before.ends_with("AS MATERIALIZED") || before.ends_with("ARRAY")
        }
        None => true,
    };
    let (mut found, mut breaches) = (0, Vec::new());
    for file in files(&["sql"], &[".sql"]) {
        let text = comment.replace_all(&file.text, "");
        for place in limit.find_iter(&text) {
            found += 1;
            if !is_read_once(&text[..place.start()]) {
                breaches.push(format!("{}: {}", file.path, place.as_str()));
            }
        }
    }
    assert!(found >= 2, "the statements that claim rows were not found");
    check("LIMIT on locked rows in a subselect that may be read again", breaches);
}

/// The place of the parenthesis that is still open at the end of `text`, the last of them.
fn opened_last(text: &str) -> Option<usize> {
    let mut closed = 0;
    text.bytes().enumerate().rev().find_map(|(place, byte)| {
        match byte {
            b')' => closed += 1,
            b'(' if closed == 0 => return Some(place),
            b'(' => closed -= 1,
            _ => {}
        }
        None
    })
}
