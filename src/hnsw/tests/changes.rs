//! Inserts and vacuums, one after the other and at once: nothing is lost and everything is reached.

use std::cell::Cell;

use super::*;
use crate::pages::watched::WatchedStore;

#[test]
fn vacuum_keeps_what_is_left_findable_and_room_is_used_again() {
    let shape = shape(DistanceMetric::Cosine, Storage::Sq8, 16);
    let vectors = vectors(2000, 16);
    let store = built(shape, &vectors);
    let before = recall(&store, &shape, &vectors, &|_| false);
    let gone = |number: usize| !number.is_multiple_of(4);
    let report = vacuum(&store, &mut Gone(|row| gone(number(row)))).unwrap();
    assert_eq!((report.removed, report.left), (1500, 500));
    assert_sound(&store);
    let after = recall(&store, &shape, &vectors, &gone);
    assert!(after >= before - 0.01, "{after} after {before}");
    assert_eq!(scan(&store, encode(&shape, &vectors[0]), OPTIONS).count(), 500);

    let blocks = store.blocks().unwrap();
    let others: Vec<Vec<f32>> = vectors.iter().take(1500).cloned().collect();
    add(&store, &shape, &others, 2000);
    assert_sound(&store);
    let limit = blocks + blocks / 50 + 1;
    assert!(store.blocks().unwrap() <= limit, "{} of {blocks}", store.blocks().unwrap());
    assert_eq!(scan(&store, encode(&shape, &vectors[0]), OPTIONS).count(), 2000);
}

#[test]
fn vacuum_gives_a_cluster_that_was_cut_off_a_way() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 8);
    let vectors = vectors(600, 8);
    let store = RamStore::default();
    store.append(|_, page| HnswMeta::new(VectorColumn::Vector, shape).write(page)).unwrap();
    let mut memory = SearchMemory::default();
    for (number, vector) in vectors.iter().enumerate() {
        insert(&store, &item(&shape, number, vector), 0, &mut memory).unwrap();
    }
    assert_eq!(reachable(&store), 600);
    // The far side loses every link from the near one, as where all nodes between them are gone.
    let is_far = |row: RowId| vectors[number(row)][0] > 0.8;
    let rows: HashMap<u32, RowId> = nodes(&store, &shape).into_iter().collect();
    let graph = PageGraph::new(&store, &shape);
    for (node, _) in rows.iter().filter(|(_, row)| !is_far(**row)) {
        let old = read_links(&graph, *node, 0).unwrap().unwrap();
        let kept: Vec<u32> = old.iter().copied().filter(|link| !is_far(rows[link])).collect();
        assert!(replace_links(&graph, *node, 0, &old, &kept).unwrap());
    }
    let far = rows.values().filter(|row| is_far(**row)).count();
    assert!(far > 20);
    assert_eq!(reachable(&store), 600 - far);
    let gone = rows.values().find(|row| !is_far(**row)).copied().unwrap();
    vacuum(&store, &mut Gone(|row| row == gone)).unwrap();
    assert_sound(&store);
    assert_eq!(reachable(&store), 599);
}

/// The nodes of the ground layer.
fn nodes(store: &RamStore, shape: &IndexShape) -> Vec<(u32, RowId)> {
    let mut nodes = Vec::new();
    for block in 1..store.blocks().unwrap() {
        let read = |page: &Page| {
            for slot in 0..shape.slots(HnswPageKind::Ground) {
                if let Some(seen) = SlotView::of(shape, page, HnswPageKind::Ground, slot)
                    && seen.state() == NodeState::Live
                {
                    nodes.push((shape.node(NodePlace { block, slot }), seen.row()));
                }
            }
        };
        store.read(block, read).unwrap();
    }
    nodes
}

#[test]
fn an_emptied_index_is_as_good_as_new() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 8);
    let vectors = vectors(300, 8);
    let store = inserted(shape, &vectors);
    // More than a page has nodes.
    for number in 900..1500 {
        insert_loose(&store, row(number), NodeState::Null).unwrap();
    }
    assert_eq!(vacuum(&store, &mut Gone(|_| true)).unwrap().removed, 900);
    assert_sound(&store);
    assert_eq!(scan(&store, encode(&shape, &vectors[0]), OPTIONS).count(), 0);
    let blocks = store.blocks().unwrap();
    add(&store, &shape, &vectors, 0);
    assert_sound(&store);
    assert!(store.blocks().unwrap() <= blocks + 1);
    assert!(recall(&store, &shape, &vectors, &|_| false) >= 0.99);
}

#[test]
fn a_scan_whose_entry_is_freed_meanwhile_begins_elsewhere() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 8);
    let vectors = vectors(200, 8);
    let store = RamStore::default();
    store.append(|_, page| HnswMeta::new(VectorColumn::Vector, shape).write(page)).unwrap();
    let mut memory = SearchMemory::default();
    for (number, vector) in vectors.iter().enumerate() {
        insert(&store, &item(&shape, number, vector), 0, &mut memory).unwrap();
    }
    let options = ScanOptions { ef_search: 10, is_iterative: false, ..OPTIONS };
    let probe = Probe::Vector(encode(&shape, &vectors[150]));
    let query = ScanQuery { probe, conditions: Vec::new() };
    let mut scan = Scan::begin(&store, query, options, Visited::default()).unwrap();
    let entry = read_meta(&store).unwrap().entry.unwrap();
    let graph = PageGraph::new(&store, &shape);
    let first = graph.with_node(entry.node, 0, |slot| slot.row()).unwrap().unwrap();
    vacuum(&store, &mut Gone(|row| row == first)).unwrap();
    let found = std::iter::from_fn(|| scan.next(&store).unwrap()).count();
    assert_eq!((entry.layer, found), (0, 10));
}

#[test]
fn an_insert_whose_entry_is_freed_meanwhile_begins_elsewhere() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 8);
    let vectors = vectors(51, 8);
    let store = RamStore::default();
    store.append(|_, page| HnswMeta::new(VectorColumn::Vector, shape).write(page)).unwrap();
    let mut memory = SearchMemory::default();
    let mut put = |number: usize| {
        insert(&store, &item(&shape, number, &vectors[number]), 0, &mut memory).unwrap();
    };
    (0..50).for_each(&mut put);
    let freed = nodes(&store, &shape).into_iter().find(|(_, it)| *it == row(20)).unwrap().0;
    vacuum(&store, &mut Gone(|it| it == row(20))).unwrap();
    // As an insert has read block 0 that began before.
    let stale = page::EntryPoint { node: freed, layer: 0 };
    let set = |first: &mut Page| {
        let meta = HnswMeta { entry: Some(stale), ..HnswMeta::read(first)? };
        meta.write(first);
        Ok(true)
    };
    store.write(0, set).unwrap();
    put(50);
    let reachable = reachable(&store);
    assert!(reachable > 40, "{reachable} of 50 nodes are reached");
}

#[test]
fn an_insert_leaves_the_pages_of_other_vectors_as_they_are() {
    let shape = shape(DistanceMetric::Cosine, Storage::Sq8, 384);
    let vectors = vectors(400, 384);
    let store = built(shape, &vectors[..380]);
    let pages = || -> Vec<(Option<HnswPageKind>, Page)> {
        let blocks = 1..store.blocks().unwrap();
        blocks.map(|block| store.read(block, |page| (page::kind(page), *page)).unwrap()).collect()
    };
    let before = pages();
    add(&store, &shape, &vectors[380..], 380);
    assert_sound(&store);
    let after = pages();
    let changed = |kind: HnswPageKind| {
        let pairs = before.iter().zip(&after).filter(|(old, _)| old.0 == Some(kind));
        pairs.filter(|(old, new)| old.1 != new.1).count()
    };
    // 380 nodes fill 20 pages, so the new ones lie on others.
    assert_eq!(changed(HnswPageKind::Ground), 0);
    assert!(changed(HnswPageKind::Links) > 0);
}

#[test]
fn equal_vectors_do_not_cut_off_the_others() {
    let shape = shape(DistanceMetric::L2, Storage::Sq8, 8);
    let mut vectors = vectors(600, 8);
    vectors.extend(std::iter::repeat_n(vec![1.0; 8], 300));
    for store in [built(shape, &vectors), inserted(shape, &vectors)] {
        let found = scan(&store, encode(&shape, &vectors[10]), OPTIONS).next().unwrap();
        assert_eq!(found.1, row(10));
        assert_eq!(scan(&store, encode(&shape, &[1.0; 8]), OPTIONS).count(), 900);
    }
}

#[test]
fn inserts_at_once_lose_nothing() {
    let shape = shape(DistanceMetric::L2, Storage::Sq8, 8);
    let vectors = vectors(1200, 8);
    let store = inserted(shape, &vectors[..200]);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (store, vectors) = (&store, &vectors);
            let from = 200 + part * 250;
            scope.spawn(move || add(store, &shape, &vectors[from..from + 250], from));
        }
    });
    assert_eq!(check(&store).unwrap().1.live, 1200);
    assert!(recall(&store, &shape, &vectors, &|_| false) >= 0.98);
}

#[test]
fn first_inserts_at_once_find_one_another() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let vectors = vectors(8, 4);
    for round in 0..300 {
        let store = inserted(shape, &[]);
        let barrier = std::sync::Barrier::new(vectors.len());
        std::thread::scope(|scope| {
            for (number, vector) in vectors.iter().enumerate() {
                let (store, barrier) = (&store, &barrier);
                let layer = if (number + round).is_multiple_of(5) { 1 } else { 0 };
                scope.spawn(move || {
                    barrier.wait();
                    let item = item(&shape, number, vector);
                    insert(store, &item, layer, &mut SearchMemory::default()).unwrap();
                });
            }
        });
        assert_sound(&store);
        assert_eq!(check(&store).unwrap().1.live, 8);
    }
}

/// Takes all links to a row's node away, as a crash between the node and the links to it does.
fn lose(store: &RamStore, shape: &IndexShape, row: RowId) {
    let graph = PageGraph::new(store, shape);
    let lost = nodes(store, shape).into_iter().find(|(_, of)| *of == row).unwrap().0;
    for node in 0..shape.nodes_below(store.blocks().unwrap()) as u32 {
        if let Ok(Some(old)) = read_links(&graph, node, 0)
            && old.contains(&lost)
        {
            let new: Vec<u32> = old.iter().copied().filter(|it| *it != lost).collect();
            assert!(replace_links(&graph, node, 0, &old, &new).unwrap());
        }
    }
}

#[test]
fn a_vacuum_mends_what_an_insert_has_left() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let vectors = vectors(300, 4);
    let store = inserted(shape, &vectors);
    lose(&store, &shape, row(150));
    assert_ne!(check(&store).unwrap().0, []);
    repair(&store, &mut Gone(|_| false)).unwrap();
    assert_sound(&store);
    // And again, with what has come since all had ways.
    add(&store, &shape, &vectors[..1], 300);
    lose(&store, &shape, row(300));
    assert_ne!(check(&store).unwrap().0, []);
    repair(&store, &mut Gone(|_| false)).unwrap();
    assert_sound(&store);
}

/// Whether a vacuum without dead rows looks at more than where the next node comes to.
fn looks_at_ways(store: &RamStore) -> bool {
    let reads = Cell::new(0);
    let before_read = || reads.set(reads.get() + 1);
    let watched = WatchedStore::new(store).before_read(&before_read);
    repair(&watched, &mut Gone(|_| false)).unwrap();
    reads.get() > 10
}

#[test]
fn a_vacuum_looks_at_ways_only_where_a_node_has_come() {
    let (metric, storage) = (DistanceMetric::L2, Storage::Float32);
    // Pages with many slots, and with one.
    for dimensions in [4, 1500] {
        let shape = shape(metric, storage, dimensions);
        let vectors = vectors(40, dimensions);
        let first = &vectors[..30];
        for (store, last) in [(built(shape, first), 0), (inserted(shape, first), 29)] {
            assert!(looks_at_ways(&store) && !looks_at_ways(&store), "{dimensions}");
            for number in 30..34 {
                add(&store, &shape, &vectors[number..=number], number);
                assert!(looks_at_ways(&store) && !looks_at_ways(&store), "{dimensions}: {number}");
            }
            // There are as many free slots as before, and another node in one of them.
            let report = vacuum(&store, &mut Gone(|it| it == row(last))).unwrap();
            assert_eq!(report.removed, 1);
            add(&store, &shape, &vectors[34..35], 34);
            assert!(looks_at_ways(&store) && !looks_at_ways(&store), "{dimensions}");
            assert_sound(&store);
        }
    }
}

/// What is remembered is how block 0 was before: the node may have come behind the walk.
#[test]
fn a_node_that_comes_while_ways_are_followed_is_looked_at_next() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let vectors = vectors(101, 4);
    let store = inserted(shape, &vectors[..100]);
    let reads = Cell::new(0);
    let before_read = || {
        reads.set(reads.get() + 1);
        // By then the vacuum knows where the next node comes to.
        if reads.get() == 11 {
            add(&store, &shape, &vectors[100..], 100);
        }
    };
    let watched = WatchedStore::new(&store).before_read(&before_read);
    repair(&watched, &mut Gone(|_| false)).unwrap();
    assert_eq!(check(&store).unwrap().1.live, 101);
    assert!(looks_at_ways(&store));
    assert!(!looks_at_ways(&store));
}

/// Its number may be given again after a crash, so the number of pages says nothing.
#[test]
fn a_vacuum_always_looks_at_ways_where_the_last_page_is_blank() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let store = inserted(shape, &vectors(30, 4));
    assert!(looks_at_ways(&store) && !looks_at_ways(&store));
    store.append(|_, _| ()).unwrap();
    assert!(looks_at_ways(&store) && looks_at_ways(&store));
}

/// As of a row whose vector is NULL: the vacuum removes it, and no node is dead.
#[test]
fn a_vacuum_that_finds_no_node_dead_gives_ways_too() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let vectors = vectors(100, 4);
    let store = inserted(shape, &vectors);
    insert_loose(&store, row(900), NodeState::Null).unwrap();
    lose(&store, &shape, row(50));
    assert_ne!(check(&store).unwrap().0, []);
    let report = vacuum(&store, &mut Gone(|it| it == row(900))).unwrap();
    assert_eq!((report.removed, report.left), (1, 100));
    assert_sound(&store);
}

/// Each page is read once for its rows, and ways are left to the next vacuum.
#[test]
fn a_vacuum_gives_no_ways_where_it_may_not() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let vectors = vectors(100, 4);
    let store = inserted(shape, &vectors);
    lose(&store, &shape, row(50));
    assert_eq!(vacuum(&store, &mut Hurried(|_| false)).unwrap().left, 100);
    assert_ne!(check(&store).unwrap().0, []);
    vacuum(&store, &mut Gone(|_| false)).unwrap();
    assert_sound(&store);
}

#[test]
fn check_names_a_node_that_walks_pass_over() {
    let shape = shape(DistanceMetric::L2, Storage::Float32, 4);
    let store = built(shape, &vectors(50, 4));
    let node = nodes(&store, &shape).into_iter().next().unwrap().0;
    let NodePlace { block, slot } = shape.place(node);
    let unmark = |page: &mut Page| {
        page[shape.offset(HnswPageKind::Ground, slot) + 7] = 0;
        Ok(true)
    };
    store.write(block, unmark).unwrap();
    let problems = check(&store).unwrap().0;
    let found: Vec<(&str, u32, u32)> =
        problems.iter().map(|it| (it.problem, it.block, it.slot)).collect();
    assert_eq!(found, [("no mark", block, slot)]);
}
