//! A database with something of everything that an update must keep.

use postgres::Client;

use crate::cluster::wait_for;
use crate::documents::{QUESTION, SETUP, count};

const DATA: &str = include_str!("data.sql");

/// Rows of the pipeline `notes`, which is paused, that wait for workers; [`DATA`] leaves 200.
const WAITING: &str = "SELECT count(*) FROM rag.queue AS q JOIN rag.pipeline AS p ON p.id = q.pipeline AND p.name = 'notes'";

/// Tables of which nobody changes a row during an update, and in which [`DATA`] leaves some.
const KEPT: [&str; 16] = [
    "docs_rag_chunks",
    "rag.conversation",
    "rag.conversation_turn",
    "rag.eval_case",
    "rag.eval_floor",
    "rag.eval_metric",
    "rag.eval_result",
    "rag.eval_run",
    "rag.eval_set",
    "rag.feedback",
    "rag.trace_log",
    "rag.tree_root",
    "report_rag_chunks",
    "report_rag_chunks_tree",
    "story_rag_chunks_communities",
    "story_rag_chunks_mentions",
];

/// Texts that pipelines give, of which none is empty.
const ANSWERS: [&str; 4] = [
    "SELECT rag_answer('When is lunch served?', 'notes')",
    "SELECT string_agg(source_key, ' ' ORDER BY score DESC, source_key) FROM rag_retrieve('Who walked with Anna Peeters?', 'story', k => 3)",
    "SELECT string_agg(entities::text, ' ' ORDER BY rank) FROM rag_graph('Anna Peeters', 'story', hops => 2)",
    "SELECT string_agg(content, ' ' ORDER BY no) FROM rag_summary('1', 'report')",
];

/// Makes this version of the extension, [`SETUP`] and [`DATA`] in an empty database; when it returns there is nothing left to
/// do but what waits for the pipeline that is paused.
pub fn fill(client: &mut Client, version: &str) {
    let create = format!("CREATE EXTENSION pg_rag VERSION '{version}' CASCADE");
    // The library has functions of this version only, and need not have all of the old one's.
    client.batch_execute("SET check_function_bodies = off").unwrap();
    client.batch_execute(&SETUP.replace("CREATE EXTENSION pg_rag CASCADE", &create)).unwrap();
    client.batch_execute("RESET check_function_bodies").unwrap();
    client.batch_execute(DATA).unwrap();
    for pipeline in ["story", "report"] {
        client.batch_execute(&format!("CALL rag_run('{pipeline}')")).unwrap();
    }
    assert!(wait_for(|| count(client, WAITING) == 200), "the rows of the pipeline do not wait");
}

/// What the pipelines say, a text for each question.
pub fn answers(client: &mut Client) -> Vec<String> {
    let of_documents = format!("SELECT rag_answer('{QUESTION}', 'docs')");
    let questions = std::iter::once(of_documents.as_str()).chain(ANSWERS);
    questions
        .map(|question| {
            let answer: Option<String> = client.query_one(question, &[]).unwrap().get(0);
            answer.filter(|answer| !answer.is_empty()).unwrap_or_else(|| panic!("{question}"))
        })
        .collect()
}

/// Copies the rows of the tables in [`KEPT`].
pub fn keep(client: &mut Client) {
    client.batch_execute("CREATE SCHEMA kept").unwrap();
    for table in KEPT {
        client.batch_execute(&format!("CREATE TABLE {} AS TABLE {table}", copy_of(table))).unwrap();
        let rows = count(client, &format!("SELECT count(*) FROM {table}"));
        assert!(rows > 0, "{table} is empty");
    }
}

fn copy_of(table: &str) -> String {
    format!("kept.{}", table.replace('.', "_"))
}

/// Asserts that the tables have the rows that [`keep`] has copied, perhaps with further columns, and no others; and that as
/// many rows wait as did.
pub fn assert_kept(client: &mut Client) {
    for table in KEPT {
        let copy = copy_of(table);
        let lost = format!(
            "SELECT count(*) FROM {copy} AS was WHERE NOT EXISTS (SELECT FROM {table} AS now WHERE to_jsonb(now) @> to_jsonb(was))"
        );
        assert_eq!(count(client, &lost), 0, "rows that {table} has lost");
        let more = format!("SELECT (SELECT count(*) FROM {table}) - (SELECT count(*) FROM {copy})");
        assert_eq!(count(client, &more), 0, "rows that {table} has got");
    }
    assert_eq!(count(client, WAITING), 200, "rows that wait");
}

/// Has done what waits, and asserts that it is, and that everything goes on.
pub fn finish(client: &mut Client) {
    for step in [
        "SELECT rag_resume('notes')",
        "INSERT INTO story VALUES (13, 'It is told that Gustav Peeters walked with Anna Peeters.')",
        "CALL rag_run('story')",
        "UPDATE report SET body = body || E'\\n\\n# Part 7\\n\\nThe harbour was closed in May.' WHERE id = 1",
        "CALL rag_run('report')",
        "UPDATE docs SET body = body || ' Keep it secret.' WHERE id = 1",
        "SELECT rag_answer('And where is Room 7?', 'notes', options => jsonb_build_object('answer',
                           jsonb_build_object('conversation', id))) FROM rag.conversation",
        "SELECT rag_feedback(id, 0.5) FROM rag.trace_log",
    ] {
        client.batch_execute(step).unwrap_or_else(|error| panic!("{step}: {error:?}"));
    }
    for (what, query, expected) in [
        ("rows are done", "SELECT rag_wait('notes', '5 minutes')::int::bigint", 1),
        (
            "rows have chunks",
            "SELECT count(*) FROM notes JOIN notes_rag_chunks AS c ON c.source_id = id AND c.content = body",
            201,
        ),
        (
            "somebody new is in the graph",
            "SELECT count(*) FROM story_rag_chunks_mentions WHERE norm = 'gustav peeters'",
            1,
        ),
        (
            "the document has another tree",
            "SELECT count(*) FROM rag.tree_root AS r LEFT JOIN kept.rag_tree_root AS k ON k.root = r.root WHERE k.root IS NULL",
            1,
        ),
        (
            "a statement embeds",
            "SELECT count(*) FROM docs_rag_chunks WHERE content LIKE '%secret%'",
            1,
        ),
        ("the conversation goes on", "SELECT count(*) FROM rag.conversation_turn", 2),
        ("ratings", "SELECT count(*) FROM rag.feedback", 2),
        (
            "the evaluation set is found",
            "SELECT count(*) FROM rag_eval('notes', 'lunch', k => '{1}') WHERE metric = 'recall' AND value = 1",
            1,
        ),
    ] {
        assert_eq!(count(client, query), expected, "{what}");
    }
}
