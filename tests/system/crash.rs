//! ragd is killed under load: no session ends, and what was in flight fails clearly or is
//! done again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, answer, count, describe, found, prose};
use super::http_server::{Reply, Server};
use super::{process, provider};

const SESSIONS: usize = 16;
const KILLS: usize = 20;

/// What became of a session's calls.
#[derive(Default)]
struct Tally {
    calls: usize,
    failures: BTreeMap<String, usize>,
    longest: Duration,
    ended: bool,
}

#[test]
fn killing_ragd_loses_no_session() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    cluster.connect().batch_execute(SETUP).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (mut client, stop) = (cluster.connect(), Arc::clone(&stop));
            thread::spawn(move || {
                let tally = keep_busy(&mut client, number, &stop);
                let works = client.query_one("SELECT rag_embed('after all')::text", &[]);
                (tally, works.map_err(|error| describe(&error)).err())
            })
        })
        .collect();
    let killed = kill_again_and_again(&cluster);
    stop.store(true, Ordering::SeqCst);
    let mut sum = Tally::default();
    for session in sessions {
        let (tally, last) = session.join().expect("a session's thread");
        assert!(!tally.ended, "a session ended");
        assert_eq!(last, None, "the call after all kills");
        sum.calls += tally.calls;
        sum.longest = sum.longest.max(tally.longest);
        tally.failures.into_iter().for_each(|(why, n)| *sum.failures.entry(why).or_default() += n);
    }
    println!(
        "{killed} kills, {SESSIONS} sessions: {} calls went well, the longest in {} ms; failed: {:?}",
        sum.calls,
        sum.longest.as_millis(),
        sum.failures
    );
    assert_eq!(killed, KILLS);
    assert!(sum.calls > SESSIONS, "the sessions were not busy");
    let clear = |why: &&String| why.starts_with("08006 ragd went away during the call");
    assert_eq!(sum.failures.keys().find(|why| !clear(why)), None, "a failure that is not clear");
}

/// Embeds, cuts, retrieves and answers until it is to stop.
fn keep_busy(client: &mut Client, number: usize, stop: &AtomicBool) -> Tally {
    let mut tally = Tally::default();
    for turn in (0..).take_while(|_| !stop.load(Ordering::SeqCst)) {
        let text = prose(number * 1000 + turn, 6);
        let started = Instant::now();
        let result = match turn % 4 {
            0 => client.query("SELECT rag_embed($1)::text", &[&text]),
            1 => client
                .query("SELECT rag_embed_batch(ARRAY[$1, $1 || '.', $1 || '!'])::text", &[&text]),
            2 => {
                client.query("SELECT count(*) FROM rag_chunk($1, '{\"max_tokens\": 64}')", &[&text])
            }
            _ => client.query("SELECT count(*) FROM rag_retrieve($1)", &[&text]),
        };
        tally.longest = tally.longest.max(started.elapsed());
        match result {
            Ok(_) => tally.calls += 1,
            Err(error) => *tally.failures.entry(describe(&error)).or_default() += 1,
        }
        if client.is_closed() {
            tally.ended = true;
            break;
        }
    }
    tally
}

/// Kills ragd by SIGKILL and SIGSEGV in turn, each time as soon as there is a new one at work.
fn kill_again_and_again(cluster: &Cluster) -> usize {
    let mut last = None;
    for kill in 0..KILLS {
        let mut next = None;
        let came = wait_for(|| {
            next = process::ragd(cluster.postmaster_pid()).filter(|ragd| Some(*ragd) != last);
            next.is_some()
        });
        if !came {
            return kill;
        }
        // Long enough for the model to be loaded and batches to be under way, and now and then
        // too short for that.
        thread::sleep(Duration::from_millis([400, 900, 50, 650][kill % 4]));
        next.iter().for_each(|ragd| process::signal(*ragd, ["KILL", "SEGV"][kill % 2]));
        last = next;
    }
    KILLS
}

#[test]
fn a_call_to_a_provider_is_not_made_twice() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let slow = Server::play([Reply::chat("too late").delay(Duration::from_secs(60))]);
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(&provider::server("slow", &slow)).unwrap();
    let call = thread::spawn(move || {
        let result = client.query_one("SELECT rag_generate('Hello', 'slow')", &[]);
        (result.map_err(|error| describe(&error)).err(), client)
    });
    assert!(wait_for(|| slow.requests().len() == 1), "the provider was not asked");
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    process::signal(ragd, "KILL");
    let (error, mut client) = call.join().unwrap();
    let error = error.expect("a failed call");
    println!("ragd killed during a provider's call: {error}");
    assert!(error.starts_with("08006 ragd went away during the call"), "{error}");
    assert!(error.contains("repeat the statement"), "{error}");
    assert_eq!(slow.requests().len(), 1, "the provider was asked twice");
    assert_eq!(found(&mut client)[0], "1", "the next call");
    assert!(answer(&mut client).contains("settings page"));
}

#[test]
fn the_supervisor_can_be_ended() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    for signal in ["TERM", "TERM"] {
        let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
        let supervisor = process::parent(ragd).expect("the supervisor");
        process::signal(supervisor, signal);
        assert!(wait_for(|| !process::is_alive(ragd)), "ragd outlives its supervisor");
        assert!(wait_for(|| !process::is_alive(supervisor)), "the supervisor goes on");
        assert_eq!(found(&mut client)[0], "1", "the next call");
    }
}

/// A call comes while the supervisor is there and ragd is not, and then the supervisor leaves.
#[test]
fn a_supervisor_that_leaves_is_replaced_during_a_call() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    assert_eq!(found(&mut client)[0], "1");
    let ragd = process::ragd(cluster.postmaster_pid()).expect("ragd");
    let supervisor = process::parent(ragd).expect("the supervisor");
    process::signal(supervisor, "STOP");
    assert!(wait_for(|| process::is_stopped(supervisor)), "the supervisor goes on");
    process::signal(ragd, "KILL");
    assert!(wait_for(|| !process::is_alive(ragd)), "ragd goes on");
    let call = thread::spawn(move || {
        // A row is locked meanwhile, for which others wait.
        let insert = "INSERT INTO docs VALUES (9, 'x', 'A row in the middle of it.')
                      ON CONFLICT (id) DO UPDATE SET body = excluded.body";
        client.batch_execute(insert).map_err(|error| describe(&error))
    });
    let waits = "SELECT count(*) FROM pg_stat_activity
                 WHERE state = 'active' AND query LIKE 'INSERT INTO docs VALUES (9%'
                   AND wait_event_type = 'Extension'";
    let mut observer = cluster.connect();
    assert!(wait_for(|| count(&mut observer, waits) == 1), "the call does not wait for ragd");
    process::signal(supervisor, "TERM");
    process::signal(supervisor, "CONT");
    let begun = Instant::now();
    assert_eq!(call.join().unwrap(), Ok(()), "the call");
    println!("a call goes on {} ms after the supervisor's end", begun.elapsed().as_millis());
    assert!(!process::is_alive(supervisor), "the supervisor goes on");
}
