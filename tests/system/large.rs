//! 10 MB in one row.

use std::thread;
use std::time::{Duration, Instant};

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, count, describe, found, prose};

/// 10 MB that take 10 million characters.
fn ten_megabytes() -> String {
    let mut text = String::new();
    for seed in 0.. {
        text += &prose(seed, 1000);
        if text.len() >= 10_000_000 {
            break;
        }
    }
    text.truncate(10_000_000);
    text
}

#[test]
fn ten_megabytes_are_cut() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let text = ten_megabytes();
    client.execute("CREATE TABLE big AS SELECT $1::text AS body", &[&text]).unwrap();
    for method in ["recursive", "fixed"] {
        let started = Instant::now();
        let cut = "SELECT content, start_char, end_char, token_count FROM big, rag_chunk(body, jsonb_build_object('by', $1::text))";
        let rows = client.query(cut, &[&method]).unwrap();
        println!("10 MB, {method}: {} chunks in {} ms", rows.len(), started.elapsed().as_millis());
        assert!(rows.len() > 5000, "{} chunks", rows.len());
        let mut end = 0;
        for row in &rows {
            // The text is ASCII, so characters are bytes.
            let span = row.get::<_, i32>(1) as usize..row.get::<_, i32>(2) as usize;
            assert_eq!(text.get(span.clone()), Some(row.get(0)), "{span:?}");
            assert!(text[end..span.start].trim().is_empty(), "text is lost before {span:?}");
            assert!(row.get::<_, i32>(3) <= 256, "{span:?} is too long");
            end = span.end;
        }
        assert!(text[end..].trim().is_empty(), "text is lost at the end");
    }
}

#[test]
fn ten_megabytes_can_be_cancelled() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let (text, mut canceller) = (ten_megabytes(), cluster.canceller(&mut client));
    let canceller = thread::spawn(move || {
        let embedding = "SELECT waiting FROM rag.daemon_status()";
        assert!(wait_for(|| count(canceller.observer(), embedding) > 0), "nothing is embedded");
        canceller.cancel()
    });
    let result = client.execute("INSERT INTO docs VALUES (10, 'big', $1)", &[&text]);
    let ended = Instant::now();
    let error = describe(&result.expect_err("embedding 10 MB takes longer"));
    assert!(error.starts_with("57014"), "{error}");
    let took = ended.saturating_duration_since(canceller.join().unwrap());
    println!("10 MB: cancel took {} ms", took.as_millis());
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs"), 3);
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 3);
    let drained = wait_for(|| count(&mut client, "SELECT waiting FROM rag.daemon_status()") == 0);
    assert!(drained, "ragd works for nobody");
    assert_eq!(found(&mut client)[0], "1", "the next call");
}
