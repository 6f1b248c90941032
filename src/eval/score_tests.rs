//! Tests of `score.rs`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A chunk of row `key` that has the characters `chars`.
fn chunk(key: &str, id: i64, chars: Range<i32>) -> RankedChunk<'static> {
    RankedChunk::new(key, (id, id as i32), chars, "")
}

/// One chunk a row.
fn rows(keys: &[&str]) -> Vec<RankedChunk<'static>> {
    keys.iter().enumerate().map(|(id, key)| chunk(key, id as i64, 0..10)).collect()
}

fn check(relevant: Value, found: &[RankedChunk<'_>], k: u32, expected: &[(EvalMetric, f64)]) {
    let scores = scores(&Judgements::parse(&relevant).unwrap(), found, &[k]);
    for (metric, value) in expected {
        let measure = Measure::at(*metric, k);
        let score = scores.iter().find(|(known, _)| *known == measure);
        let score = score.unwrap_or_else(|| panic!("no {}", measure.label())).1;
        assert!((score - value).abs() < 1e-9, "{}: {score}, not {value}", measure.label());
    }
}

#[test]
fn binary_relevance_of_rows() {
    use EvalMetric::{AllFound, HitRate, Mrr, Ndcg, Precision, Recall};
    let found = rows(&["x", "a", "y", "b"]);
    let relevant = json!(["a", "b", "c"]);
    let both = (1.0 / 3f64.log2() + 1.0 / 5f64.log2()) / (1.0 + 1.0 / 3f64.log2() + 0.5);
    let expected = [
        (Ndcg, both),
        (Recall, 2.0 / 3.0),
        (Precision, 0.4),
        (HitRate, 1.0),
        (AllFound, 0.0),
        (Mrr, 0.5),
    ];
    check(relevant.clone(), &found, 5, &expected);
    check(relevant.clone(), &found, 1, &[(Ndcg, 0.0), (Recall, 0.0), (HitRate, 0.0), (Mrr, 0.0)]);
    check(relevant, &[], 5, &[(Ndcg, 0.0), (Recall, 0.0), (Precision, 0.0), (Mrr, 0.0)]);
    check(json!(["a"]), &rows(&["a"]), 10, &[(Ndcg, 1.0), (AllFound, 1.0), (Precision, 0.1)]);
}

#[test]
fn grades_are_gains() {
    // As trec_eval has it: 2 on the second place, of an ideal 2 then 1.
    let relevant = json!([{"source_key": "a", "grade": 2}, {"source_key": "b", "grade": 1}]);
    let expected = (1.0 + 2.0 / 3f64.log2()) / (2.0 + 1.0 / 3f64.log2());
    check(relevant, &rows(&["b", "a"]), 10, &[(EvalMetric::Ndcg, expected)]);
}

#[test]
fn a_row_has_one_place_however_many_chunks_are_found() {
    let found =
        [chunk("x", 1, 0..9), chunk("x", 2, 9..20), chunk("a", 3, 0..9), chunk("a", 4, 9..20)];
    check(json!(["a"]), &found, 2, &[(EvalMetric::Mrr, 0.5), (EvalMetric::Precision, 0.5)]);
}

#[test]
fn chunks_are_told_apart() {
    let found = [chunk("a", 1, 0..9), chunk("a", 2, 9..20)];
    check(
        json!([{"chunk_id": 2}]),
        &found,
        2,
        &[(EvalMetric::Mrr, 0.5), (EvalMetric::Recall, 1.0)],
    );
    let named = json!([{"source_key": "a", "chunk_no": 2}]);
    check(named, &found, 2, &[(EvalMetric::Mrr, 0.5), (EvalMetric::Recall, 1.0)]);
}

#[test]
fn composite_keys_are_found() {
    let found = [chunk(r#"{"Site": "x", "No": 1}"#, 1, 0..9)];
    check(json!([{"source_key": {"No": 1, "Site": "x"}}]), &found, 1, &[(EvalMetric::Recall, 1.0)]);
}

#[test]
fn spans_are_covered_by_characters() {
    use EvalMetric::{AllFound, HitRate, Mrr, Precision, SpanPrecision, SpanRecall};
    let reference =
        |start: i32, end: i32| json!({"source_key": "a", "start_char": start, "end_char": end});
    let relevant = json!([reference(10, 30), reference(100, 120)]);
    let found = [chunk("b", 1, 0..50), chunk("a", 2, 20..60), chunk("a", 3, 25..120)];
    check(relevant.clone(), &found, 1, &[(SpanRecall, 0.0), (SpanPrecision, 0.0), (HitRate, 0.0)]);
    let second = [(SpanRecall, 0.25), (SpanPrecision, 10.0 / 90.0), (Mrr, 0.5), (Precision, 0.5)];
    check(relevant.clone(), &found, 2, &second);
    let third = [(SpanRecall, 0.75), (SpanPrecision, 30.0 / 150.0), (AllFound, 0.0)];
    check(relevant, &found, 3, &third);
    let all = json!([reference(20, 60)]);
    check(all, &found, 2, &[(AllFound, 1.0), (SpanRecall, 1.0)]);
}

#[test]
fn a_case_without_anything_relevant_has_no_scores() {
    let none = Judgements::parse(&json!([])).unwrap();
    assert!(scores(&none, &rows(&["a"]), &[1, 10]).is_empty());
}

/// nDCG, recall, precision and reciprocal rank as their definitions say, one place after the other.
fn naive(grades: &[(u8, u8)], ranking: &[u8], k: usize) -> [f64; 4] {
    let grade = |key: u8| grades.iter().filter(|it| it.0 == key).map(|it| it.1).max().unwrap_or(0);
    let mut keys: Vec<u8> = grades.iter().map(|it| it.0).filter(|key| grade(*key) > 0).collect();
    keys.sort_by_key(|key| std::cmp::Reverse(grade(*key)));
    keys.dedup();
    let discounted = |keys: &[u8]| {
        let mut sum = 0.0;
        for (place, key) in keys.iter().enumerate().take(k) {
            sum += f64::from(grade(*key)) / ((place + 2) as f64).ln() * 2f64.ln();
        }
        sum
    };
    let found: Vec<u8> = ranking.iter().copied().take(k).filter(|key| grade(*key) > 0).collect();
    let mut reciprocal = 0.0;
    for place in (0..ranking.len().min(k)).rev() {
        if grade(ranking[place]) > 0 {
            reciprocal = 1.0 / (place + 1) as f64;
        }
    }
    let recall = found.len() as f64 / keys.len() as f64;
    [discounted(ranking) / discounted(&keys), recall, found.len() as f64 / k as f64, reciprocal]
}

proptest! {
    #[test]
    fn scores_are_those_of_the_definitions(
        grades in proptest::collection::vec((0u8..12, 0u8..4), 1..8),
        ranking in Just((0u8..12).collect::<Vec<_>>()).prop_shuffle(),
        length in 0usize..12,
        k in 1u32..15,
    ) {
        let mut grades = grades;
        grades.sort();
        let items: Vec<Value> = grades.iter()
            .map(|(key, grade)| json!({"source_key": key.to_string(), "grade": grade})).collect();
        let judgements = Judgements::parse(&json!(items)).unwrap();
        prop_assume!(!judgements.items().is_empty());
        let ranking = &ranking[..length];
        let keys: Vec<String> = ranking.iter().map(u8::to_string).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let scores = scores(&judgements, &rows(&keys), &[k]);
        let metrics = [EvalMetric::Ndcg, EvalMetric::Recall, EvalMetric::Precision, EvalMetric::Mrr];
        for (metric, expected) in metrics.into_iter().zip(naive(&grades, ranking, k as usize)) {
            let found = scores.iter().find(|(it, _)| it.metric == metric).unwrap().1;
            prop_assert!((found - expected).abs() < 1e-9, "{}: {found}, not {expected}", metric.name());
            prop_assert!((0.0..=1.0 + 1e-12).contains(&found));
        }
    }
}

#[test]
fn a_context_is_precise_if_what_is_useful_stands_in_front() {
    let check = |useful: &[bool], expected: f64| {
        assert!((context_precision(useful) - expected).abs() < 1e-9, "{useful:?}");
    };
    check(&[], 0.0);
    check(&[false, false], 0.0);
    check(&[true, false], 1.0);
    check(&[false, true], 0.5);
    check(&[true, false, true], (1.0 + 2.0 / 3.0) / 2.0);
}

#[test]
fn judgements_say_what_of_a_context_is_useful() {
    let judgements = Judgements::parse(&json!(["1", "3", "9"])).unwrap();
    let (precision, recall) = context(&judgements, &rows(&["2", "1", "2", "3"])).unwrap();
    // The second chunk of a row has no place of its own.
    assert!((precision - (0.5 + 2.0 / 3.0) / 2.0).abs() < 1e-9, "{precision}");
    assert!((recall - 2.0 / 3.0).abs() < 1e-9, "{recall}");
    assert_eq!(context(&judgements, &[]), Some((0.0, 0.0)));
    assert_eq!(context(&Judgements::parse(&json!([])).unwrap(), &[]), None);
}
