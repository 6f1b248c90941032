//! How long `rag_graph` takes to find paths, over chunks that name both entities and over relations.

use std::time::Instant;

use postgres::Client;

use crate::report::{Report, Table};
use crate::{Result, percentile};

/// Questions that are asked, of those that name something from which there is a path.
const QUESTIONS: usize = 100;

/// Bounds of the length of a path.
const HOPS: [i32; 4] = [1, 2, 3, 4];

/// What paths go over, by the argument `predicate`.
const OVER: [(&str, Option<&[&str]>); 3] = [
    ("named together", None),
    ("any of five predicates", Some(&["*"])),
    ("two of them", Some(&["says_1", "says_2"])),
];

/// A language model that is never asked: nothing runs what is to be done in the background.
const SERVER: &str = "CREATE SERVER nobody FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', model 'none')";

/// What is named side by side in a text is related there, by one of five predicates in turns.
const RELATE: &str = "
    INSERT INTO doc_rag_chunks_extracted (content_hash, no, template, subject, predicate, object, subject_start, subject_end,
                                          object_start, object_end, start_char, end_char, unreadable)
    SELECT content_hash, no, 'none', subject, 'says_' || no % 5, object, subject_start, subject_end, object_start, object_end,
           least(subject_start, object_start), greatest(subject_end, object_end), false
    FROM (SELECT c.content_hash, row_number() OVER w AS no, m.norm AS subject, lead(m.norm) OVER w AS object,
                 m.start_char AS subject_start, m.end_char AS subject_end,
                 lead(m.start_char) OVER w AS object_start, lead(m.end_char) OVER w AS object_end
          FROM doc_rag_chunks_mentions AS m JOIN doc_rag_chunks AS c USING (chunk_id)
          WHERE m.start_char IS NOT NULL
          WINDOW w AS (PARTITION BY m.chunk_id ORDER BY m.start_char, m.norm)) AS s
    WHERE object IS NOT NULL
    ON CONFLICT DO NOTHING";

/// Gives the pipeline a graph with relations of texts, all of it empty.
pub fn create_graph(client: &mut Client) -> Result<()> {
    client.batch_execute(SERVER)?;
    let alter = r#"SELECT rag_alter_pipeline('doc', options => '{"graph": {"entities": "rules", "extract": {"llm": "nobody"}}}')"#;
    client.batch_execute(alter)?;
    Ok(())
}

/// Relates what is named, and looks for paths.
pub fn measure(client: &mut Client, questions: &[String], report: &mut Report) -> Result<()> {
    client.batch_execute("TRUNCATE doc_rag_chunks_extracted")?;
    let related = client.execute(RELATE, &[])?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks_extracted")?;
    let query = "SELECT entities FROM rag_graph($1, hops => $2, predicate => $3)";
    let statement = client.prepare(query)?;
    let mut paths = |question: &String, hops: i32, over: Option<&[&str]>| -> Result<usize> {
        Ok(client.query(&statement, &[question, &hops, &over])?.len())
    };
    let mut asked: Vec<&String> = Vec::new();
    for question in questions {
        if asked.len() == QUESTIONS {
            break;
        }
        if paths(question, 1, None)? > 0 {
            asked.push(question);
        }
    }
    report.note(&format!("{related} relations; {} questions for paths", asked.len()));
    let mut table = Table::new(["rag_graph, ms", "hops", "p50", "p95", "paths found"]);
    for (name, over) in OVER {
        for hops in HOPS {
            let (mut times, mut found) = (Vec::new(), 0);
            for question in asked.iter().copied() {
                let started = Instant::now();
                found += paths(question, hops, over)?;
                times.push(started.elapsed().as_secs_f64() * 1000.0);
            }
            let [p50, p95] = [0.5, 0.95].map(|share| format!("{:.2}", percentile(&times, share)));
            let mean = found as f64 / asked.len().max(1) as f64;
            table.row([name.to_owned(), hops.to_string(), p50, p95, format!("{mean:.1}")]);
        }
    }
    report.table(&table);
    Ok(())
}
