//! A standby that is asked while the primary writes.

use super::*;
use crate::at_work::{PRIMARY, assert_replayed, read_meanwhile};

#[test]
fn a_standby_finds_what_the_primary_finds() {
    let Some(primary) = Cluster::start(&PRIMARY) else { return };
    let mut writer = primary.connect();
    writer.batch_execute(&format!("{VECTORS} {INDEX}")).unwrap();
    insert(&mut writer, 1, 2000).unwrap();
    let standby = primary.standby();
    let reads = read_meanwhile(&standby, read, || {
        (1..=5).for_each(|round| write_round(&mut writer, round));
    });
    assert_replayed(&mut writer, &mut standby.connect());
    assert_alike(&mut writer, &mut standby.connect());
    println!("standby: {reads} reads of 100 questions while the primary wrote");
}

/// Asks a standby once. Any error is a defect.
fn read(client: &mut Client) {
    client.batch_execute(BY_INDEX).unwrap();
    assert_plan(client, NEAREST);
    assert_eq!(nearest(client).len(), 1000, "rows found by the standby");
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
