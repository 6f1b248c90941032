//! A standby that is asked while the primary writes.

use super::*;

#[test]
fn a_standby_finds_what_the_primary_finds() {
    let settings = [
        "wal_level = replica",
        "wal_keep_size = 512MB",
        // Read by the standby: it waits for its queries and cancels none.
        "max_standby_streaming_delay = -1",
    ];
    let Some(primary) = Cluster::start(&settings) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut writer, 1, 2000).unwrap();
    let standby = primary.standby();
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<JoinHandle<usize>> = (0..2)
        .map(|_| {
            let (client, stop) = (standby.connect(), Arc::clone(&stop));
            thread::spawn(move || read_until(client, &stop))
        })
        .collect();
    for round in 1..=5 {
        write_round(&mut writer, round);
    }
    stop.store(true, Ordering::SeqCst);
    let reads: usize = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
    assert_replayed(&mut writer, &mut standby.connect());
    assert_alike(&mut writer, &mut standby.connect());
    println!("standby: {reads} reads of 100 questions while the primary wrote");
    assert!(reads > 0, "the standby was not asked");
}

/// Asks a standby until it is told to stop; how often. Any error is a defect.
fn read_until(mut client: Client, stop: &AtomicBool) -> usize {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(&mut client, NEAREST);
    let mut reads = 0;
    while !stop.load(Ordering::SeqCst) {
        assert_eq!(nearest(&mut client).len(), 1000, "rows found by the standby");
        reads += 1;
    }
    reads
}

/// Inserts row by row, deletes, vacuums, fills the gaps, and once builds anew.
fn write_round(client: &mut Client, round: i64) {
    for id in 0..100 {
        insert(client, round * 10_000 + id, round * 10_000 + id).unwrap();
    }
    insert(client, round * 10_000 + 100, round * 10_000 + 700).unwrap();
    client.execute("DELETE FROM items WHERE hashint8(id + $1) % 3 = 0", &[&round]).unwrap();
    client.batch_execute("VACUUM items").unwrap();
    insert(client, round * 10_000 + 1000, round * 10_000 + 1300).unwrap();
    if round == 3 {
        client.batch_execute("REINDEX INDEX CONCURRENTLY items_v").unwrap();
    }
}

/// Waits until the standby has all that the primary wrote.
fn assert_replayed(primary: &mut Client, standby: &mut Client) {
    let written: String =
        primary.query_one("SELECT pg_current_wal_lsn()::text", &[]).unwrap().get(0);
    let replayed = format!("SELECT (pg_last_wal_replay_lsn() >= '{written}'::pg_lsn)::int::bigint");
    assert!(wait_for(|| count(standby, &replayed) == 1), "the standby does not follow");
}

/// Both have the same index and find the same with it.
fn assert_alike(primary: &mut Client, standby: &mut Client) {
    assert_sound(primary, "items_v", "on the primary");
    assert_sound(standby, "items_v", "on the standby");
    for client in [&mut *primary, &mut *standby] {
        client.batch_execute(BY_INDEX).unwrap();
        assert_plan(client, NEAREST);
    }
    assert_eq!(nearest(primary), nearest(standby), "primary and standby differ");
}
