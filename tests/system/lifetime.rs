//! ragd lives as long as the server, costs nothing while nobody asks, and is never left over.

use std::time::Duration;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, count, found};
use super::process;

#[test]
fn no_ragd_outlives_its_server() {
    let Some(mut cluster) = Cluster::start(&[]) else { return };
    cluster.connect().batch_execute(SETUP).unwrap();
    for signal in ["KILL", "QUIT", "INT", "TERM"] {
        let mut client = cluster.connect();
        assert_eq!(found(&mut client)[0], "1", "before {signal}");
        drop(client);
        let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
        let supervisor = process::parent(ragd).expect("the supervisor");
        // They keep the shared memory for a little longer than a postmaster that is killed.
        let others = if signal == "KILL" { cluster.halt() } else { Vec::new() };
        cluster.stop(signal);
        for (what, process) in [("ragd", ragd), ("the supervisor", supervisor)] {
            assert!(wait_for(|| !process::is_alive(process)), "{what} outlives a {signal}");
        }
        let are_gone = wait_for(|| others.iter().all(|other| !process::is_alive(*other)));
        assert!(are_gone, "a process outlives a {signal}");
        cluster.boot();
    }
    let mut client = cluster.connect();
    assert!(answer(&mut client).contains("settings page"));
    assert_eq!(count(&mut client, "SELECT count(*) FROM docs_rag_chunks"), 3);
}

#[test]
fn idle_costs_nothing() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    found(&mut client);
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    let supervisor = process::parent(ragd).expect("the supervisor");
    let used = || [ragd, supervisor].map(process::ticks);
    process::until_quiet(&[ragd, supervisor]);
    let before = used();
    std::thread::sleep(Duration::from_secs(3));
    let after = used();
    let ticks = [after[0] - before[0], after[1] - before[1]];
    println!(
        "idle for 3 s: ragd {} ms, supervisor {} ms of processor time",
        ticks[0] * 10,
        ticks[1] * 10
    );
    assert!(ticks.iter().all(|ticks| *ticks <= 2), "busy while nobody asks: {ticks:?} ticks");
}

#[test]
fn preloaded_it_starts_with_the_server() {
    let Some(cluster) = Cluster::start(&["shared_preload_libraries = 'pg_rag'"]) else { return };
    let postmaster = cluster.postmaster_pid();
    assert!(wait_for(|| process::ragd(postmaster).is_some()), "ragd was not started");
    let ragd = process::ragd(postmaster);
    cluster.connect().batch_execute(SETUP).unwrap();
    assert_eq!(process::ragd(postmaster), ragd, "the first call started another ragd");
    assert!(answer(&mut cluster.connect()).contains("settings page"));
}
