//! Any order of inserts, flushes and vacuums, and any damage.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, u64),
    Long(u32),
    Flush(bool),
    Vacuum(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u8..90, 1u64..u64::MAX).prop_map(|(count, seed)| Step::Insert(count, seed)),
        1 => (2500u32..9000).prop_map(Step::Long),
        2 => any::<bool>().prop_map(Step::Flush),
        1 => (0u8..8).prop_map(Step::Vacuum),
    ];
    prop::collection::vec(step, 1..14)
}

fn query() -> impl Strategy<Value = Vec<Term>> {
    let word = prop_oneof![
        5 => (0u32..40).prop_map(|number| format!("w{number}")),
        1 => (0u32..12).prop_map(|number| format!("w{number}*")),
        1 => Just("nowhere".to_owned()),
    ];
    let weight = prop_oneof![3 => Just(1.0), 1 => 0.0..3.0f64];
    prop::collection::vec((word, weight).prop_map(|(word, weight)| term(&word, weight)), 0..6)
}

/// A place on a page, more often one where much depends on it.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![24usize..260, 0..PAGE_SIZE, PAGE_SIZE - 8..PAGE_SIZE]
}

fn settings() -> impl Strategy<Value = Bm25Settings> {
    prop_oneof![
        Just(Bm25Settings::default()),
        (0.0..3.0f64, 0.0..=1.0f64).prop_map(|(k1, b)| Bm25Settings { k1, b }),
        Just(Bm25Settings { k1: 0.0, b: 1.0 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn an_index_is_its_twin(steps in steps(), query in query(), settings in settings()) {
        let (store, mut twin) = (empty(), Twin::default());
        let mut number = 0;
        for step in steps {
            match step {
                Step::Insert(count, seed) => {
                    let mut random = Random(seed);
                    for _ in 0..count {
                        // Rows come in no order, as free room of a table is used again.
                        number += 1;
                        let row = row(number ^ 37);
                        twin.0.insert(row, random.words(60, 30));
                        put(&store, &twin.document(row));
                    }
                }
                Step::Long(count) => {
                    number += 1;
                    twin.0.insert(row(number ^ 37), long(count));
                    put(&store, &twin.document(row(number ^ 37)));
                }
                Step::Flush(all) => {
                    flush(&store, if all { Merging::All } else { Merging::Quick }).unwrap();
                }
                Step::Vacuum(rest) => {
                    let is_dead = |row: RowId| u32::from(row.line) % 8 == u32::from(rest);
                    let before = twin.0.len();
                    twin.0.retain(|row, _| !is_dead(*row));
                    let report = vacuum(&store, &mut |row| is_dead(row)).unwrap();
                    prop_assert_eq!(report.removed as usize, before - twin.0.len());
                    prop_assert_eq!(report.left as usize, twin.0.len());
                    prop_assert_eq!(report.recovered, 0);
                }
            }
        }
        compare(&store, &twin, &query, settings);
    }

    #[test]
    fn a_build_is_its_twin(
        seed in 1u64..u64::MAX,
        count in 0u32..900,
        memory in prop_oneof![Just(1usize), Just(20_000), Just(usize::MAX)],
        query in query(),
    ) {
        let count = if memory == 1 { count / 20 } else { count };
        let (mut random, mut twin) = (Random(seed), Twin::default());
        let (store, scratch) = (empty(), RamStore::default());
        let mut builder = IndexBuilder::new(&scratch, memory);
        for number in 0..count {
            let row = row(number ^ 5);
            twin.0.insert(row, random.words(300, 30));
            builder.add(&twin.document(row)).unwrap();
        }
        prop_assert_eq!(builder.finish(&store).unwrap(), u64::from(count));
        compare(&store, &twin, &query, Bm25Settings::default());
        let seen = figures(&store).unwrap();
        prop_assert_eq!(seen.segments.len(), usize::from(count > 0));
        prop_assert_eq!((seen.free_pages, seen.lost_pages), (0, 0));
    }

    #[test]
    fn damage_is_an_error_and_no_more(
        damage in prop::collection::vec((0usize..60, place(), any::<u8>()), 1..60),
        query in query(),
    ) {
        let (store, _) = sample();
        let blocks = store.blocks().unwrap();
        for (block, at, byte) in damage {
            let block = (block as u32) % blocks;
            store.write(block, |page| { page[at] = byte; Ok(true) }).unwrap();
        }
        let mut search = Bm25Search::new(query.clone(), Bm25Settings::default(), 3).unwrap();
        let mut given = 0;
        while given < 10_000 && matches!(search.next(&store), Ok(Some(_))) {
            given += 1;
        }
        prop_assert!(given < 10_000);
        let document = IndexedDocument::new(row(9999), 3, [(&b"w1"[..], 3)]).unwrap();
        let twin = Twin(BTreeMap::from([(row(9998), long(4000))]));
        let outcomes = [
            statistics(&store, &query).map(drop),
            check(&store).map(drop),
            insert(&store, &document).map(drop),
            flush(&store, Merging::All),
            insert(&store, &twin.document(row(9998))).map(drop),
            tidy(&store).map(drop),
            vacuum(&store, &mut |row| row.line == 3).map(drop),
            rows(&store, &mut Vec::<RowId>::new()),
            matching(&store, &query, &mut Vec::<RowId>::new()).map(drop),
            one_by_one(&store, None).map(drop),
            one_by_one(&store, Some(query.clone())).map(drop),
            figures(&store).map(drop),
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            let kinds = [ErrorKind::IndexCorrupted, ErrorKind::OutOfResources];
            prop_assert!(kinds.contains(&error.kind()), "{error:?}");
        }
    }

    #[test]
    fn pages_of_chance_are_an_error(
        pages in prop::collection::vec(prop::collection::vec(any::<u8>(), PAGE_SIZE), 1..5),
    ) {
        let store = empty();
        for bytes in &pages {
            store.append(|_, page| page.copy_from_slice(bytes)).unwrap();
        }
        // They are lost pages, and are found.
        let report = vacuum(&store, &mut |_| false).unwrap();
        prop_assert_eq!(report.recovered as usize, pages.len());
        let query = [term("w1", 1.0)];
        // A first page that names them as segments and lists.
        store.write(0, |page| {
            let mut meta = Bm25Meta::read(page)?;
            let chain = super::page::Chain { number: 1, head: 1, tail: 1, pages: 3 };
            (meta.sealed, meta.pending) = (chain, chain);
            meta.write(page);
            Ok(true)
        }).unwrap();
        let error = statistics(&store, &query).unwrap_err();
        prop_assert_eq!(error.kind(), ErrorKind::IndexCorrupted);
    }
}
