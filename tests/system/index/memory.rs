//! A build for which the system has no memory fails with an error: sessions go on, this one too.

use super::*;

/// Larger than what is left for the build, in either index.
const LARGE: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE wide (v vector(1000));
    INSERT INTO wide SELECT array_fill(n::real, ARRAY[1000])::vector FROM generate_series(1, 60000) AS n;
    CREATE TABLE wordy (tsv tsvector);
    INSERT INTO wordy SELECT array_to_tsvector(ARRAY(SELECT 'word' || n * 100 + m FROM generate_series(1, 100) AS m))
    FROM generate_series(1, 20000) AS n;";

/// Bytes that the session may have beside those that it has.
const LEFT: u64 = 120 << 20;

#[test]
fn a_build_that_gets_no_memory_fails_alone() {
    let Some(cluster) = Cluster::start(&["maintenance_work_mem = 2GB"]) else { return };
    let mut other = cluster.connect();
    other.batch_execute(LARGE).unwrap();
    for index in ["wide USING rag_hnsw (v vector_l2_ops)", "wordy USING rag_bm25 (tsv)"] {
        let mut client = cluster.connect();
        // The library, and what a session has anyway.
        client.batch_execute("LOAD 'pg_rag'").unwrap();
        limit(&mut other, count(&mut client, "SELECT pg_backend_pid()::bigint"));
        let error = client.batch_execute(&format!("CREATE INDEX ON {index}")).unwrap_err();
        let code = error.code().map_or("none", |code| code.code());
        assert!(["53000", "53200"].contains(&code), "{index}: {code} {error}");
        assert_eq!(count(&mut client, "SELECT 1::bigint"), 1, "{index}: this session");
        assert_eq!(count(&mut other, "SELECT 1::bigint"), 1, "{index}: another session");
    }
}

/// Has the system refuse more memory to a process: the server's user may do that.
fn limit(client: &mut Client, process: i64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kilobytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    let most = kilobytes * 1024 + LEFT;
    // What it does not read may be a broken pipe to COPY.
    let program = format!("cat >/dev/null; prlimit --pid={process} --as={most}");
    client.batch_execute(&format!("COPY (SELECT 1) TO PROGRAM '{program}'")).unwrap();
}
