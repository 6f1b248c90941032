//! A version of the extension that never was, and the script that brings it to the present one.
//!
//! It is the present installation script less a few objects, of each kind that versions add. The script of the update makes them
//! by the very words of the installation script, so it is right whatever these come to be, and what the test finds wrong is what
//! PostgreSQL or the extension do with a right script.

use crate::cluster::Cluster;
use crate::offered::{InstalledScripts, offer_scripts};

/// Earlier than any version that is released.
pub const EARLIER: &str = "0.0.9";

/// A version to which the update fails with its last statement, when all else is done.
pub const BROKEN: &str = "broken";

/// With what each script of an update begins, as sql/upgrade/README.md says.
const HEADER: &str =
    "COMMENT ON EXTENSION pg_rag IS 'question answering over the rows of a database';\n";

/// What the earlier version has in other words: the present ones, the earlier ones, and what the update does about it.
const OTHERWISE: [(&str, &str, &str); 3] = [
    (
        ",\n    created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()\n);\nCREATE INDEX feedback_of_trace",
        "\n);\nCREATE INDEX feedback_of_trace",
        "ALTER TABLE rag.feedback ADD COLUMN created_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp();\n",
    ),
    (
        "    version integer DEFAULT NULL\n) RETURNS text\nSTABLE",
        "    version integer DEFAULT NULL\n) RETURNS text\nVOLATILE",
        "ALTER FUNCTION rag_template_get(text, integer) STABLE;\n",
    ),
    (
        "CREATE VIEW rag.strategy AS SELECT s.name, s.description, s.calls, s.options FROM",
        "CREATE VIEW rag.strategy AS SELECT s.name, s.description, s.calls FROM",
        "CREATE OR REPLACE VIEW rag.strategy AS SELECT s.name, s.description, s.calls, s.options FROM rag.strategies() AS s;\n",
    ),
];

/// What the earlier version lacks, by how it begins and ends: comments, an index, a policy, a mark for dumps, a view, a function,
/// a row, a table, a trigger and a privilege that is revoked.
const MISSING: [(&str, &str); 12] = [
    ("COMMENT ON COLUMN rag.queue.fill IS", "';"),
    ("CREATE INDEX queue_order", ";"),
    ("CREATE POLICY owners ON rag.feedback", ";"),
    ("COMMENT ON COLUMN rag.feedback.created_at IS", "';"),
    ("SELECT pg_catalog.pg_extension_config_dump('rag.feedback_id_seq'", ";"),
    ("CREATE VIEW rag.answer_log ", "GRANT SELECT ON rag.answer_log TO PUBLIC;"),
    ("CREATE FUNCTION rag_trace_delete(", "whether it existed';"),
    ("COMMENT ON COLUMN rag.strategy.options IS", "';"),
    (
        "INSERT INTO rag.template (name, version, content, description, created_by)\nVALUES ('condense'",
        "NULL);",
    ),
    ("CREATE TABLE rag.sql_example (", "pg_extension_config_dump('rag.sql_example_id_seq', '');"),
    ("CREATE TRIGGER cascade AFTER DELETE ON rag.conversation FOR EACH ROW", ";"),
    ("REVOKE EXECUTE ON FUNCTION rag.case_has_set FROM PUBLIC", ";"),
];

/// Has the server find [`EARLIER`] beside the present version, with the scripts of its updates, in a folder of its own.
/// `false`, with a word, where PostgreSQL looks for extensions in one folder only.
pub fn offer(cluster: &Cluster) -> bool {
    let installed = InstalledScripts::of(cluster);
    let (present, script) = (&installed.version, installed.script());
    let update = update(&script);
    let broken = format!("{update}SELECT 1 / 0;\n");
    let scripts = [
        (format!("pg_rag--{EARLIER}.sql"), earlier(&script)),
        (format!("pg_rag--{EARLIER}--{present}.sql"), update),
        (format!("pg_rag--{EARLIER}--{BROKEN}.sql"), broken),
        (format!("pg_rag--{present}.sql"), script),
    ];
    offer_scripts(cluster, &scripts)
}

/// The installation script of the earlier version.
fn earlier(script: &str) -> String {
    let mut earlier = script.to_owned();
    for (begin, end) in MISSING {
        earlier = earlier.replacen(piece(script, begin, end), "", 1);
    }
    for (now, before, _) in OTHERWISE {
        earlier = earlier.replacen(piece(script, now, ""), before, 1);
    }
    earlier
}

/// The script that brings the earlier version to the present one.
fn update(script: &str) -> String {
    let changes = OTHERWISE.iter().map(|(_, _, change)| (*change).to_owned());
    let made = MISSING.iter().map(|(begin, end)| format!("{}\n", piece(script, begin, end)));
    std::iter::once(HEADER.to_owned()).chain(changes).chain(made).collect()
}

/// The one place of a script that begins and ends so.
fn piece<'a>(script: &'a str, begin: &str, end: &str) -> &'a str {
    let places: Vec<usize> = script.match_indices(begin).map(|(place, _)| place).collect();
    let [place] = places[..] else { panic!("{begin:?} is {} times in the script", places.len()) };
    let rest = &script[place..];
    let inside = &rest[begin.len()..];
    let length = inside.find(end).unwrap_or_else(|| panic!("{begin:?} has no {end:?}"));
    &rest[..begin.len() + length + end.len()]
}
