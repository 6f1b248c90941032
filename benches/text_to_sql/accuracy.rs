//! How often are the rows those of a person's query?

use std::fs;
use std::path::PathBuf;

use postgres::Client;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::questions::{Judged, Questions};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::{Result, session, share};

/// What is aimed at: right with one attempt, right with all, and wrong.
const GOALS: &str = "goals for the questions of the set instruct_basic: right 0.60 with one attempt and 0.75 with three, wrong at most 0.10";

/// How a question ended.
#[derive(Default)]
struct Endings {
    asked: usize,
    right: usize,
    right_at_once: usize,
    wrong: usize,
    refused: usize,
    failed: usize,
}

pub fn measure(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    report.heading("Execution accuracy");
    if !prepare(cluster, questions)? {
        report.note(
            "skipped: no llama.cpp or no model; make bench-text-to-sql GGUF=/path/model.gguf",
        );
        return Ok(());
    }
    let mut endings = Endings::default();
    for judged in questions.some(settings.questions) {
        let mut client = session(cluster, &judged.database)?;
        judge(&mut client, judged, settings, &mut endings)?;
    }
    let mut refused = 0;
    let count = settings.questions.unwrap_or(usize::MAX);
    let unanswerable = &questions.unanswerable[..count.min(questions.unanswerable.len())];
    for (database, question) in unanswerable {
        let asked = ask(&mut session(cluster, database)?, question, "", settings)?;
        refused += usize::from(matches!(asked, Asked::Refused));
    }
    show(report, &endings, settings);
    report.note(&format!(
        "refused of those without an answer: {}",
        share(refused, unanswerable.len())
    ));
    report.note(GOALS);
    Ok(())
}

fn show(report: &mut Report, endings: &Endings, settings: &Settings) {
    let Endings { asked, right, right_at_once, wrong, refused, failed } = *endings;
    let mut table = Table::new(["ending", "questions"]);
    table.row(["right with the first query".to_owned(), share(right_at_once, asked)]);
    table.row([format!("right within {} attempts", settings.attempts), share(right, asked)]);
    table.row(["other rows than a person's query".to_owned(), share(wrong, asked)]);
    table.row(["refused".to_owned(), share(refused, asked)]);
    table.row(["no query that runs".to_owned(), share(failed, asked)]);
    report.table(&table);
}

/// Registers the model of `PG_RAG_TEST_GGUF` in each database; false where there is none, or nothing to run it.
fn prepare(cluster: &Cluster, questions: &Questions) -> Result<bool> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.exists());
    let (Some(library), Some(model)) = (variable("PG_RAG_LLAMA"), variable("PG_RAG_TEST_GGUF"))
    else {
        return Ok(false);
    };
    // Where the server's user can read them, whoever runs the benchmark.
    let libraries = cluster.folder().join("llama");
    fs::create_dir(&libraries)?;
    for file in fs::read_dir(library)?.flatten().filter(|it| it.file_name() != ".made-from") {
        fs::copy(file.path(), libraries.join(file.file_name()))?;
    }
    let path = cluster.folder().join("model.gguf");
    fs::copy(model, &path)?;
    cluster.give(&libraries);
    cluster.give(&path);
    let library = format!("rag.llama_library='{}'", libraries.join("libllama.so").display());
    cluster.configure(&[&library]);
    cluster.reload();
    for database in questions.databases() {
        session(cluster, database)?.batch_execute(&format!(
            "SELECT * FROM rag_add_model('writer', '{}');
             CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'local', model 'writer', timeout '600', num_ctx '8192')",
            path.display()
        ))?;
    }
    Ok(true)
}

/// What comes of a question.
enum Asked {
    /// The rows, and after how many queries of the model.
    Rows(Vec<String>, usize),
    Refused,
    Failed,
}

fn judge(
    client: &mut Client,
    judged: &Judged,
    settings: &Settings,
    endings: &mut Endings,
) -> Result<()> {
    let expected: Vec<Vec<String>> =
        judged.queries().iter().flatten().filter_map(|query| rows(client, query)).collect();
    if expected.is_empty() {
        return Ok(());
    }
    endings.asked += 1;
    match ask(client, &judged.question, &judged.instructions, settings)? {
        Asked::Rows(rows, queries) if expected.contains(&rows) => {
            endings.right += 1;
            endings.right_at_once += usize::from(queries == 1);
        }
        Asked::Rows(..) => endings.wrong += 1,
        Asked::Refused => endings.refused += 1,
        Asked::Failed => endings.failed += 1,
    }
    Ok(())
}

fn ask(
    client: &mut Client,
    question: &str,
    instructions: &str,
    settings: &Settings,
) -> Result<Asked> {
    let options =
        json!({"attempts": settings.attempts, "max_rows": 10_000, "timeout": 30}).to_string();
    let asked = format!("{question} {instructions}");
    let query = "SELECT rows::text, attempts::text FROM rag_sql($1, llm => 'writer', options => $2::text::jsonb)";
    let Ok(row) = client.query_one(query, &[&asked.trim(), &options]) else {
        return Ok(Asked::Failed);
    };
    let Some(found) = row.get::<_, Option<String>>(0) else { return Ok(Asked::Refused) };
    let attempts: Value = serde_json::from_str(row.get(1))?;
    let found: Value = serde_json::from_str(&found)?;
    let rows = found.as_array().into_iter().flatten().map(values).collect::<Vec<_>>();
    Ok(Asked::Rows(sorted(rows), attempts.as_array().map_or(0, Vec::len)))
}

/// The rows of a person's query; `None` where it does not run.
fn rows(client: &mut Client, query: &str) -> Option<Vec<String>> {
    let found = client
        .query("SELECT data::text FROM rag_sql_run($1, 10000, timeout => '30 s')", &[&query])
        .ok()?;
    let row = |row: &postgres::Row| serde_json::from_str::<Value>(row.get(0)).ok();
    let rows: Option<Vec<Value>> = found.iter().map(row).collect();
    Some(sorted(rows?.iter().map(values).collect()))
}

/// The values of a row whatever its columns are called, in an order of their own; numbers to four digits.
fn values(row: &Value) -> String {
    let shown = |value: &Value| match value.as_f64() {
        Some(number) => format!("{number:.4}"),
        None => value.to_string(),
    };
    let values = row.as_object().into_iter().flatten().map(|(_, value)| shown(value));
    sorted(values.collect()).join(" ")
}

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort_unstable();
    rows
}
