//! Damaged pages of both indexes: whatever bytes a disk gives back, a statement ends with rows or with an
//! error, the server goes on, and REINDEX mends the index.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use pg_rag::hnsw::page::{HnswPageKind, kind};
use pg_rag::pages::{HEADER_BYTES as HEADER, PAGE_SIZE as PAGE, TRAILER_BYTES as TRAILER};
use postgres::{Client, Error};

use super::cluster::{Cluster, wait_for};
use super::documents::{count, describe};
use super::random::Random;

/// Indexes of each kind, each with damage of its own.
const TRIALS: usize = 24;

/// An access method, and what is done with an index of it. `{n}` is the number of its table.
struct Method {
    name: &'static str,
    make: &'static str,
    statements: &'static [&'static str],
    /// Counts what is wrong with the index.
    check: &'static str,
}

const HNSW: Method = Method {
    name: "rag_hnsw",
    make: "
        CREATE TABLE v{n} (id bigint, kind integer, v vector(12));
        INSERT INTO v{n} SELECT i, i % 5, point(i) FROM generate_series(1, 600) AS i;
        CREATE INDEX v{n}_index ON v{n} USING rag_hnsw (v vector_l2_ops, kind)
            WITH (m = 4, ef_construction = 16, storage = {storage});",
    statements: &[
        "SELECT id FROM v{n} ORDER BY v <-> point(7) LIMIT 10",
        "SELECT id FROM v{n} WHERE kind = 3 ORDER BY v <-> point(7) LIMIT 10",
        "SELECT id FROM v{n} ORDER BY v <-> point(11)",
        "INSERT INTO v{n} SELECT i, i % 5, point(i) FROM generate_series(601, 620) AS i",
        "SELECT * FROM rag_hnsw_check('v{n}_index')",
        "SELECT * FROM rag_hnsw_stats('v{n}_index')",
        "SELECT rag_hnsw_recall('v{n}_index', queries => 5)",
        "SELECT rag_hnsw_prewarm('v{n}_index')",
        "DELETE FROM v{n} WHERE id % 3 = 0",
        "VACUUM (INDEX_CLEANUP on) v{n}",
        "INSERT INTO v{n} SELECT i, i % 5, point(i) FROM generate_series(621, 640) AS i",
        "SELECT id FROM v{n} ORDER BY v <-> point(7) LIMIT 50",
    ],
    check: "SELECT count(*) FROM rag_hnsw_check('v{n}_index')",
};

const BM25: Method = Method {
    name: "rag_bm25",
    make: "
        CREATE TABLE v{n} (id bigint, t tsvector);
        INSERT INTO v{n} SELECT i, words(i) FROM generate_series(1, 600) AS i;
        CREATE INDEX v{n}_index ON v{n} USING rag_bm25 (t);
        INSERT INTO v{n} SELECT i, words(i) FROM generate_series(601, 640) AS i;",
    statements: &[
        "SELECT id FROM v{n} ORDER BY t <@> rag_bm25_query('v{n}_index', 'w1 | w7') LIMIT 10",
        "SELECT id FROM v{n} WHERE t @@ 'w2 & w3' ORDER BY t <@> rag_bm25_query('v{n}_index', 'w2 & w3') LIMIT 10",
        "SELECT id FROM v{n} WHERE t @@ 'w1' ORDER BY t <@> rag_bm25_query('v{n}_index', 'w1 | w2 | w3')",
        "INSERT INTO v{n} SELECT i, words(i) FROM generate_series(641, 700) AS i",
        "SELECT * FROM rag_bm25_check('v{n}_index')",
        "SELECT * FROM rag_bm25_stats('v{n}_index')",
        "DELETE FROM v{n} WHERE id % 3 = 0",
        "VACUUM (INDEX_CLEANUP on) v{n}",
        "INSERT INTO v{n} SELECT i, words(i) FROM generate_series(701, 720) AS i",
        "SELECT id FROM v{n} ORDER BY t <@> rag_bm25_query('v{n}_index', 'w1 | w9') LIMIT 50",
    ],
    check: "SELECT count(*) FROM rag_bm25_check('v{n}_index')",
};

/// The same number gives the same vector, and the same words, everywhere.
const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION point(number bigint) RETURNS vector LANGUAGE sql IMMUTABLE AS $$
        SELECT array_agg(hashint8extended(number * 16 + d, 5)::float8 / 9223372036854775808.0::float8)::vector
        FROM generate_series(1, 12) AS d
    $$;
    CREATE FUNCTION words(number bigint) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
        SELECT array_to_tsvector(array_agg(DISTINCT 'w' || (1 + (hashint8(number * 16 + d) & 63))))
        FROM generate_series(1, 8) AS d
    $$;";

#[test]
fn a_damaged_rag_hnsw_index_ends_in_rows_or_errors() {
    damage(&HNSW, 0x6e0d);
}

#[test]
fn a_damaged_rag_bm25_index_ends_in_rows_or_errors() {
    damage(&BM25, 0xb25);
}

#[test]
fn any_vacuum_links_what_has_lost_its_links() {
    let settings = ["autovacuum = off", "ignore_checksum_failure = on"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(UNLINKED).unwrap();
    let file = file_of(&mut client, "linked_index");
    drop(client);
    cluster.stop("INT");
    forget_links(Path::new(&file));
    cluster.boot();
    let mut client = cluster.connect();
    let unreachable =
        "SELECT count(*) FROM rag_hnsw_check('linked_index') WHERE problem = 'unreachable'";
    let lost = count(&mut client, unreachable);
    println!("{lost} of 600 nodes have no link");
    assert!(lost >= 100, "only {lost} nodes have lost all links to them");
    // There are no dead rows.
    client.batch_execute("VACUUM linked").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag_hnsw_check('linked_index')"), 0);
}

const UNLINKED: &str = "
    CREATE TABLE linked (id bigint, v vector(12));
    INSERT INTO linked SELECT i, point(i) FROM generate_series(1, 600) AS i;
    CREATE INDEX linked_index ON linked USING rag_hnsw (v vector_l2_ops);";

/// Empties all pages with links but the first: a page of zeros has empty lists.
fn forget_links(path: &Path) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("an index");
    let pages = file.metadata().expect("its size").len() as usize / PAGE;
    let has_links = |number: &usize| {
        let mut page = [0; PAGE];
        file.read_exact_at(&mut page, (number * PAGE) as u64).expect("a page");
        kind(&page) == Some(HnswPageKind::Links)
    };
    for page in (0..pages).filter(has_links).skip(1) {
        let nothing = [0; PAGE - HEADER - TRAILER];
        file.write_all_at(&nothing, (page * PAGE + HEADER) as u64).expect("to damage an index");
    }
}

/// Makes indexes, damages their files while the server is down, and does everything with each.
fn damage(method: &'static Method, seed: u64) {
    // A page whose checksum is wrong never reaches the index, unless PostgreSQL is told to let it.
    let settings = ["autovacuum = off", "ignore_checksum_failure = on", "jit = off"];
    let Some(mut cluster) = Cluster::start(&settings) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let storages = ["sq8, residuals = on", "float32", "float16", "binary"];
    for trial in 0..TRIALS {
        let make = method.make.replace("{storage}", storages[trial % storages.len()]);
        client
            .batch_execute(&of_trial(&make, trial))
            .unwrap_or_else(|e| panic!("{}", describe(&e)));
    }
    let files: Vec<String> =
        (0..TRIALS).map(|trial| file_of(&mut client, &format!("v{trial}_index"))).collect();
    drop(client);
    cluster.stop("INT");
    let mut random = Random(seed);
    files.iter().for_each(|file| spoil(Path::new(file), &mut random));
    cluster.boot();
    let mut errors = 0;
    for trial in 0..TRIALS {
        let mut client = cluster.connect();
        let worker = thread::spawn(move || work(method, &mut client, trial));
        // Who waits for a page that it has locked itself cannot be cancelled.
        assert!(wait_for(|| worker.is_finished()), "{} of trial {trial} hangs", method.name);
        errors += worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
    println!("{}: {errors} errors of {}", method.name, TRIALS * method.statements.len());
    assert!(errors > 0, "nothing was damaged");
    for crash in ["was terminated by signal", "PANIC:", "panicked at"] {
        assert!(!cluster.log().contains(crash), "a session crashed: {crash}");
    }
}

/// Where an index stands on disk.
fn file_of(client: &mut Client, index: &str) -> String {
    let file = "SELECT current_setting('data_directory') || '/' || pg_relation_filepath($1::text::regclass)";
    client.query_one(file, &[&index]).unwrap().get(0)
}

fn of_trial(statement: &str, trial: usize) -> String {
    statement.replace("{n}", &trial.to_string())
}

/// Changes bytes of some pages, and sometimes a page from its beginning to its end.
fn spoil(path: &Path, random: &mut Random) {
    let file = OpenOptions::new().read(true).write(true).open(path).expect("an index");
    let pages = file.metadata().expect("its size").len() as usize / PAGE;
    let put = |page: usize, at: usize, bytes: &[u8]| {
        file.write_all_at(bytes, (page * PAGE + at) as u64).expect("to damage an index");
    };
    for _ in 0..1 + random.below(200) {
        let (page, at) = (random.below(pages), HEADER + random.below(PAGE - HEADER));
        put(page, at, &[random.below(256) as u8]);
    }
    if random.below(3) == 0 {
        let noise: Vec<u8> = (HEADER..PAGE).map(|_| random.below(256) as u8).collect();
        put(random.below(pages), HEADER, &noise);
    }
}

/// Does everything with a damaged index, and mends it. How many statements failed.
fn work(method: &Method, client: &mut Client, trial: usize) -> usize {
    // So long nothing takes, and what goes round in circles is cancelled.
    client
        .batch_execute(
            "SET enable_seqscan = off; SET enable_sort = off; SET statement_timeout = '120s'",
        )
        .unwrap();
    let file = of_trial("SELECT pg_relation_filepath('v{n}_index')", trial);
    let file: String = client.query_one(&file, &[]).unwrap().get(0);
    let mut errors = 0;
    for statement in method.statements {
        let statement = of_trial(statement, trial);
        if let Err(error) = client.simple_query(&statement) {
            assert_says_damage(&error, &statement, &file);
            errors += 1;
        }
    }
    client.batch_execute(&of_trial("REINDEX INDEX v{n}_index", trial)).unwrap();
    let check = of_trial(method.check, trial);
    assert_eq!(count(client, &check), 0, "{} of trial {trial} after REINDEX", method.name);
    errors
}

/// The index is corrupted, or points to rows that cannot be; memory may not be enough for what it says, and its first page may
/// tell of other dimensions than the column has. Of the index's own `file` no block is read that is not there.
fn assert_says_damage(error: &Error, statement: &str, file: &str) {
    let said = describe(error);
    let kinds = ["XX001", "XX002", "58P01", "58030", "53000", "53200", "22000 expected "];
    // PostgreSQL has no code of its own for a block beyond all files of a table.
    let is_damage =
        kinds.iter().any(|kind| said.starts_with(kind)) || said.contains("could not open file");
    assert!(is_damage, "{statement}: {said}");
    assert!(!said.contains(&format!("file \"{file}")), "{statement}: {said}");
}
