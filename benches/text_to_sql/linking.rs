//! How often does the prompt have all tables that are needed?

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::http_server::{Reply, Request, Server};
use crate::questions::{Judged, Questions};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::{Result, session, share};

/// What is aimed at with the usual room.
const GOAL: f64 = 0.97;

/// What ranks tables, as settings say it: a model that is not there leaves words alone.
const RANKED_BY: [(&str, &str); 2] = [
    ("words", "SET rag.embedding_model = 'none'"),
    ("words and vectors", "RESET rag.embedding_model"),
];

/// What the language model says, by the question that it is asked.
type Script = Arc<Mutex<HashMap<String, String>>>;

pub fn measure(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    report.heading("Schema linking");
    let script = Script::default();
    let replies = Arc::clone(&script);
    let http = Server::answer(move |request| reply(request, &replies));
    let mut table = Table::new(["room in tokens", "ranked by", "all tables shown", "median ms"]);
    let mut missed = BTreeSet::new();
    for tokens in &settings.tokens {
        for (name, setting) in RANKED_BY {
            let (mut asked, mut found, mut times) = (0, 0, Vec::new());
            for (_, judged) in questions.some(settings) {
                let begun = Instant::now();
                let Some(lacking) = lacking(cluster, &http, &script, judged, *tokens, setting)?
                else {
                    continue;
                };
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                asked += 1;
                found += usize::from(lacking.is_empty());
                if !lacking.is_empty() {
                    let lacking = lacking.into_iter().collect::<Vec<_>>().join(", ");
                    missed.insert(format!(
                        "{tokens} tokens, {}: {} lacks {lacking}",
                        judged.database, judged.question
                    ));
                }
            }
            let cells =
                [tokens.to_string(), name.to_owned(), share(found, asked), median(&mut times)];
            table.row(cells);
        }
    }
    table_of(report, &table, &missed);
    Ok(())
}

fn table_of(report: &mut Report, table: &Table, missed: &BTreeSet<String>) {
    report.table(table);
    report.note(&format!("goal: {GOAL} at 1500 tokens"));
    missed.iter().for_each(|it| report.note(it));
}

/// The tables that the query of a person reads and the prompt does not have; `None` where the query does not run.
fn lacking(
    cluster: &Cluster,
    http: &Server,
    script: &Script,
    judged: &Judged,
    tokens: u32,
    setting: &str,
) -> Result<Option<BTreeSet<String>>> {
    let mut client = session(cluster, &judged.database)?;
    let server = format!(
        "CREATE SERVER IF NOT EXISTS scripted FOREIGN DATA WRAPPER rag_llm
             OPTIONS (api 'openai', base_url '{}', model 'm', max_retries '0');
         CREATE USER MAPPING IF NOT EXISTS FOR PUBLIC SERVER scripted OPTIONS (api_key 'none');
         {setting}",
        http.base_url()
    );
    client.batch_execute(&server)?;
    let queries = judged.queries();
    let Some(query) = queries.first().and_then(|choices| choices.first()) else { return Ok(None) };
    script.lock().unwrap().insert(judged.question.clone(), query.clone());
    let options =
        json!({"schema_tokens": tokens, "attempts": 1, "examples": 0, "timeout": 60}).to_string();
    let ask = "SELECT tables, usage::text FROM rag_sql($1, llm => 'scripted', options => $2::text::jsonb)";
    // Some queries do not run as they are written.
    let Ok(row) = client.query_one(ask, &[&judged.question, &options]) else { return Ok(None) };
    let usage: Value = serde_json::from_str(row.get(1))?;
    let shown: BTreeSet<&str> =
        usage["tables_shown"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let read: Vec<String> = row.get(0);
    Ok(Some(read.into_iter().filter(|table| !shown.contains(table.as_str())).collect()))
}

/// The query of a person for the question that is asked last.
fn reply(request: &Request, script: &Script) -> Reply {
    let body: Value = serde_json::from_str(request.text()).unwrap_or_default();
    let said = body["messages"][1]["content"].as_str().unwrap_or_default();
    let question = said.rsplit_once("\nQuestion: ").map_or("", |(_, question)| question);
    let script = script.lock().unwrap();
    let sql = script.get(question.trim()).cloned().unwrap_or_default();
    Reply::chat(&json!({"reason": "", "answerable": true, "sql": sql}).to_string())
}

fn median(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).map_or_else(|| "-".to_owned(), |it| format!("{it:.1}"))
}
