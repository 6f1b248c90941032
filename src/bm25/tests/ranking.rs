//! Scores, and what is skipped on the way to the best.

use super::*;

#[test]
fn scores_are_those_of_the_formula() {
    let mut twin = Twin::default();
    let words = |pairs: &[(&str, u32)]| {
        pairs.iter().map(|(word, tf)| (word.as_bytes().to_vec(), *tf)).collect()
    };
    twin.0.insert(row(1), (4, words(&[("cat", 2), ("dog", 2)])));
    twin.0.insert(row(2), (8, words(&[("cat", 1), ("cats", 3)])));
    twin.0.insert(row(3), (3, words(&[("dog", 3)])));
    let store = empty();
    twin.0.keys().for_each(|row| put(&store, &twin.document(*row)));
    let settings = Bm25Settings { k1: 1.2, b: 0.75 };
    let hits = all_hits(&store, &[term("cat", 1.0)], settings, 0);
    let idf = (1.0f64 + (3.0 - 2.0 + 0.5) / (2.0 + 0.5)).ln();
    let expected = |tf: f64, length: f64| idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / 5.0));
    assert_eq!([hits[0].row, hits[1].row], [row(1), row(2)]);
    assert!((hits[0].score - expected(2.0, 4.0)).abs() < 1e-12, "{hits:?}");
    assert!((hits[1].score - expected(1.0, 8.0)).abs() < 1e-12, "{hits:?}");
    // A prefix is one term: row 2 has it four times.
    let hits = all_hits(&store, &[term("cat*", 2.0)], settings, 0);
    assert_eq!(hits[0].row, row(2));
    assert!((hits[0].score - 2.0 * expected(4.0, 8.0)).abs() < 1e-12, "{hits:?}");
}

#[test]
fn settings_and_weights_are_checked() {
    let refused = |settings: Bm25Settings, weight: f64| {
        let error = Bm25Search::new(vec![term("a", weight)], settings, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    };
    refused(Bm25Settings { k1: -1.0, b: 0.5 }, 1.0);
    refused(Bm25Settings { k1: f64::NAN, b: 0.5 }, 1.0);
    refused(Bm25Settings { k1: 1.0, b: 1.5 }, 1.0);
    refused(Bm25Settings::default(), -0.5);
    refused(Bm25Settings::default(), f64::INFINITY);
    let long = vec![b'x'; LONGEST_LEXEME + 1];
    assert!(IndexedDocument::new(row(1), 1, [(&long[..], 1)]).is_err());
}

/// The first ten of common words are found without decoding most blocks, in texts of which some
/// speak of a thing and their neighbours do too.
#[test]
fn most_blocks_are_skipped() {
    let (store, scratch, mut random) = (empty(), RamStore::default(), Random(7));
    let mut builder = IndexBuilder::new(&scratch, usize::MAX);
    for number in 0..100_000 {
        let (mut length, mut terms) = random.words(5000, 60);
        if number / 100 % 40 == 7 {
            for word in [&b"w1"[..], b"w2", b"w3"] {
                let often = random.below(9);
                *terms.entry(word.to_vec()).or_default() += 1 + often;
                length += 1 + often;
            }
        }
        let terms = terms.iter().map(|(term, frequency)| (&term[..], *frequency));
        builder.add(&IndexedDocument::new(row(number), 30 + length, terms).unwrap()).unwrap();
    }
    builder.finish(&store).unwrap();
    for words in [&["w1"][..], &["w1", "w2"], &["w1", "w2", "w3"], &["w1", "w300"]] {
        let query: Vec<Term> = words.iter().map(|word| term(word, 1.0)).collect();
        let mut search = Bm25Search::new(query.clone(), Bm25Settings::default(), 10).unwrap();
        let hits: Vec<Bm25Hit> = (0..10).map(|_| search.next(&store).unwrap().unwrap()).collect();
        let effort = search.effort();
        let blocks = effort.decoded + effort.skipped;
        assert!(effort.decoded * 4 < blocks, "{words:?}: {effort:?}");
        assert!(blocks > 400 && effort.scored < 10_000, "{words:?}: {effort:?}");
        let all = all_hits(&store, &query, Bm25Settings::default(), 1 << 20);
        assert_eq!(hits[..], all[..10]);
    }
}
