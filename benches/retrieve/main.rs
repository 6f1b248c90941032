//! # What does retrieval find, on judged sets?
//!
//! ```text
//! make bench-retrieve ARGS="[SET ...] [--configurations JSON | --rerank NAME ...] [--split NAME] [--questions N]
//!     [--chunking JSON] [--contextual] [--graph] [--themes] [--fit [--out FILE]]"
//! ```
//!
//! Sets (scifact where none is named, `all` for all of them):
//!
//! * `scifact`, `squad_train_sample`, `hotpotqa500`, `pgdocs14`, `xquad/en` and the other languages:
//!   nDCG and recall of documents, latency
//! * `chunking_eval`: share of the reference characters that the first 5 chunks cover
//!
//! Each set becomes a table with a pipeline of default settings in a private server of its own, and
//! `rag_eval` asks all its questions under each configuration. The figures stand beside those of other
//! ways, measured on the same sets with programs of their own: BM25 as Lucene has it, vectors
//! alone, and both fused by reciprocal rank in Python. With `--graph` the pipelines keep what their chunks name, and hybrid
//! searches with and without a walk are compared; how large the mentions are, and how long communities take, is said, too. `--themes`
//! asks for the whole of chapters, and of articles of which each paragraph is a document: with summaries of trees, the strategies
//! `local` and `global`, and with chunks alone. `--fit` fits to the model how much its vectors, and how much closeness, count in
//! a search: of several weights those with the best nDCG@10 for half of the questions, told by a hash of their label, as the mean
//! of all sets. It prints the figures of both halves, and writes the weights into the calibration file `--out`. Goals are printed beside what was measured, and
//! missing one fails nothing.
//!
//! The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that `PG_RAG_PG_CONFIG` names.
//! The model is the one of whose name the folder `$PG_RAG_MODEL` is, by default the default one; a name that none of the
//! package's models has is that of the model in this folder, which the server must be able to read. The sets are
//! those of `$PG_RAG_DATA` (default `../shared/data`). Embedding one takes minutes.

#[path = "../../tests/system/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "../support/invocation.rs"]
mod invocation;
#[path = "../index/machine.rs"]
#[allow(dead_code)]
mod machine;
#[path = "../../tests/system/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../index/report.rs"]
#[allow(dead_code)]
mod report;

mod baseline;
mod figures;
mod fit;
mod sets;
mod settings;
mod themes;

use std::time::Instant;

use postgres::Client;

use cluster::Cluster;
use fit::FittedSet;
use invocation::{judged_data, settings_or_exit};
use report::{Report, whole};
use sets::Set;
use settings::Settings;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let choices = format!("sets are {}, or all", sets::NAMES.join(", "));
    let settings = settings_or_exit(Settings::parse(), Some(&choices));
    let Some(folder) = judged_data() else {
        println!("skipped: no judged data; set PG_RAG_DATA");
        return;
    };
    let buffers = format!("shared_buffers = {}MB", 1024.min(machine::memory() / 8));
    let model = sets::model_setting();
    let lines = [buffers.as_str(), &model, "max_wal_size = 8GB", "jit = off"];
    let Some(cluster) = Cluster::start(&lines) else { return };
    let mut report = Report::new(None);
    report.note(&machine::description());
    let mut fitted: Vec<FittedSet> = Vec::new();
    for name in &settings.sets {
        report.heading(name);
        // One that fails does not end the others.
        let measured = Set::read(&folder, name, settings.split.as_deref()).and_then(|set| {
            match settings.fits {
                true => fit::measure(&cluster, set, &settings).map(|it| fitted.push(it)),
                false => measure(&cluster, &set, &settings, &mut report),
            }
        });
        if let Err(error) = measured {
            report.note(&format!("{name}: {}", whole(&*error)));
        }
    }
    if settings.fits
        && let Err(error) = fit::choose(&fitted, settings.out.as_deref(), &mut report)
    {
        report.note(&whole(&*error));
    }
    if settings.has_themes {
        themes::measure(&cluster, &folder, settings.questions, &mut report);
    }
}

fn measure(cluster: &Cluster, set: &Set, settings: &Settings, report: &mut Report) -> Result<()> {
    let mut client = fresh(cluster)?;
    let started = Instant::now();
    fill(&mut client, set, settings)?;
    let filled = started.elapsed().as_secs_f64();
    let chunks: i64 = client.query_one("SELECT count(*) FROM doc_rag_chunks", &[])?.get(0);
    if settings.has_graph {
        report.note(&mentions(&mut client)?);
        report.note(&communities(&mut client)?);
    }
    let questions = load(&mut client, set, settings.questions)?;
    report.note(&format!(
        "{} documents, {chunks} chunks, made in {filled:.0} s; {questions} questions",
        set.documents.len()
    ));
    let started = Instant::now();
    let configurations = &settings.configurations;
    let query = "SELECT configuration, metric, k, value, ci_low, ci_high, difference, p_value
                 FROM rag_eval(eval_set => 'set', configurations => $1::text::json)";
    let rows = client.query(query, &[configurations])?;
    let took = started.elapsed().as_secs_f64();
    figures::show(report, set, &rows);
    if settings.has_graph {
        // Whether both of two paragraphs are found shows a walk best.
        figures::note(report, &rows, ("all_found", 5));
    }
    report.note(&format!("asked in {took:.0} s"));
    Ok(())
}

/// A session in a database without anything but the extension, and the model if that does not come with it.
fn fresh(cluster: &Cluster) -> Result<Client> {
    cluster.connect().batch_execute("DROP DATABASE IF EXISTS judged")?;
    cluster.connect().batch_execute("CREATE DATABASE judged")?;
    let mut client = cluster.connect_to("judged");
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
    if let Some((name, folder)) = sets::own_model() {
        let add = "SELECT rag_add_model($1, $2)
                   WHERE NOT EXISTS (SELECT FROM rag.model WHERE rag.model.name = $1)";
        client.query(add, &[&name, &folder])?;
    }
    Ok(client)
}

fn fill(client: &mut Client, set: &Set, settings: &Settings) -> Result<()> {
    client.batch_execute("CREATE TABLE doc (id text PRIMARY KEY, title text, body text)")?;
    for part in set.documents.chunks(1000) {
        let column = |at: usize| part.iter().map(|it| it[at].as_str()).collect::<Vec<_>>();
        client.execute(
            "INSERT INTO doc SELECT * FROM unnest($1::text[], $2::text[], $3::text[])",
            &[&column(0), &column(1), &column(2)],
        )?;
    }
    client.batch_execute("VACUUM (ANALYZE) doc")?;
    let graph = match settings.has_graph {
        true => r#"{"graph": {"entities": "rules"}}"#,
        false => "{}",
    };
    let create = "SELECT rag_create_pipeline('doc', $1, refresh => 'manual', chunking => coalesce($4::text::jsonb, '{}'),
                      options => jsonb_build_object('config', $2::text, 'backfill', 'background') || $3::text::jsonb || $5::text::jsonb)";
    let (content, context) = match settings.is_contextual {
        true => ("body", r#"{"contextual": true, "title": "title"}"#),
        false => (set.content, "{}"),
    };
    client.execute(create, &[&content, &set.config, &context, &settings.chunking, &graph])?;
    client.batch_execute("CALL rag_run('doc')")?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks")?;
    Ok(())
}

/// How many mentions and entities there are, and how large they are beside the chunks, with indexes.
fn mentions(client: &mut Client) -> Result<String> {
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks_mentions")?;
    let query =
        "SELECT count(*), count(DISTINCT norm), pg_total_relation_size('doc_rag_chunks_mentions'),
                     pg_total_relation_size('doc_rag_chunks') FROM doc_rag_chunks_mentions";
    let row = client.query_one(query, &[])?;
    let [count, entities, size, chunks] = [0, 1, 2, 3].map(|at| row.get::<_, i64>(at));
    let share = 100.0 * size as f64 / chunks as f64;
    Ok(format!("{count} mentions of {entities} entities, {share:.1} % of the size of the chunks"))
}

/// How many communities there are, and how long finding them takes.
fn communities(client: &mut Client) -> Result<String> {
    let started = Instant::now();
    client.batch_execute("SELECT rag_alter_pipeline('doc', options => '{\"communities\": {}}')")?;
    client.batch_execute("CALL rag_run('doc')")?;
    let found = started.elapsed().as_secs_f64();
    let query = "SELECT count(DISTINCT community), count(DISTINCT norm), coalesce(max(level), 0) + 1 FROM doc_rag_chunks_communities";
    let row = client.query_one(query, &[])?;
    let (count, entities, levels) =
        (row.get::<_, i64>(0), row.get::<_, i64>(1), row.get::<_, i32>(2));
    Ok(format!(
        "{count} communities of {entities} entities on {levels} levels, found in {found:.1} s"
    ))
}

/// The questions, or the first so many; their number.
fn load(client: &mut Client, set: &Set, most: Option<usize>) -> Result<i64> {
    client.execute("SELECT rag_eval_load('set', $1::text::jsonb)", &[&set.cases.to_string()])?;
    if let Some(most) = most {
        let rest = "DELETE FROM rag.eval_case WHERE id NOT IN
                        (SELECT id FROM rag.eval_case ORDER BY md5(label) LIMIT $1)";
        client.execute(rest, &[&i64::try_from(most)?])?;
    }
    Ok(client.query_one("SELECT count(*) FROM rag.eval_case", &[])?.get(0))
}
