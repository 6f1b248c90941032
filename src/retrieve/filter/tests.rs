use serde_json::json;

use super::*;

fn columns() -> Vec<MetadataColumn> {
    let kinds = [
        ("lang", MetadataKind::Text),
        ("year", MetadataKind::Scalar),
        ("tags", MetadataKind::Array),
        ("more", MetadataKind::Json),
        ("more.size", MetadataKind::Scalar),
        ("stars", MetadataKind::Integer),
        ("sizes", MetadataKind::Integers),
    ];
    kinds.map(|(name, kind)| MetadataColumn { name: name.into(), kind }).into()
}

fn column(column: usize, test: Test) -> Condition {
    Condition::Column(ColumnTest { column, path: Vec::new(), test })
}

fn equal(place: usize, value: &str) -> Condition {
    column(place, Test::Compare(Comparison::Equal, value.into()))
}

fn check(filter: Value, expected: &[Condition]) {
    assert_eq!(parse(&filter, &columns()).unwrap(), Condition::All(expected.into()), "{filter}");
}

fn check_error(filter: Value, message: &str) {
    let error = parse(&filter, &columns()).unwrap_err();
    assert!(error.message().contains(message), "{error} does not say {message}");
}

#[test]
fn conditions() {
    use Comparison::*;
    check(json!({}), &[]);
    check(json!({"lang": "en"}), &[equal(0, "en")]);
    check(json!({"year": 2020}), &[equal(1, "2020")]);
    check(json!({"lang": null}), &[column(0, Test::Null)]);
    check(json!({"lang": {"ne": null}}), &[column(0, Test::NotNull)]);
    check(
        json!({"lang": ["en", null]}),
        &[column(0, Test::OneOf { values: vec!["en".into()], or_null: true })],
    );
    check(json!({"lang": []}), &[column(0, Test::OneOf { values: vec![], or_null: false })]);
    check(
        json!({"year": {"gte": 2020, "$lt": 2024.5}}),
        &[
            column(1, Test::Compare(Less, "2024.5".into())),
            column(1, Test::Compare(GreaterOrEqual, "2020".into())),
        ],
    );
}

#[test]
fn numbers_have_all_their_digits() {
    let check =
        |filter: &str, expected: Condition| check(exact::read(filter).unwrap(), &[expected]);
    check(r#"{"year": 12345678901234567.89}"#, equal(1, "12345678901234567.89"));
    check(r#"{"year": 1.50}"#, equal(1, "1.50"));
    check(r#"{"lang": 1.50}"#, equal(0, "1.50"));
    check(r#"{"more.n": 0.10}"#, {
        let test = Test::Compare(Comparison::Equal, "0.10".into());
        Condition::Column(ColumnTest { column: 3, path: vec!["n".into()], test })
    });
    let contained = Test::Contains(r#"{"n":12345678901234567.89}"#.into());
    check(r#"{"more": {"contains": {"n": 12345678901234567.89}}}"#, column(3, contained));
    let elements = Test::Overlaps(r#"{"1.50","2"}"#.into());
    check(r#"{"tags": [1.50, 2]}"#, column(2, elements));
    check_error(exact::read(r#"{"lang": {"like": 1.50}}"#).unwrap(), "\"lang\" with 1.50");
    check_error(exact::read(r#"{"year": {"in": 1.50}}"#).unwrap(), "{\"in\": 1.50}");
}

#[test]
fn ranges_exclusions_and_patterns() {
    use Comparison::*;
    check(
        json!({"year": {"between": [2020, 2024]}}),
        &[Condition::All(vec![
            column(1, Test::Compare(GreaterOrEqual, "2020".into())),
            column(1, Test::Compare(LessOrEqual, "2024".into())),
        ])],
    );
    let one_of = Test::OneOf { values: vec!["en".into()], or_null: false };
    check(json!({"lang": {"nin": ["en"]}}), &[Condition::Not(Box::new(column(0, one_of)))]);
    let like = |ignores_case| Test::Like { pattern: r"e\\_%".into(), ignores_case };
    check(json!({"lang": {"like": r"e\\_%"}}), &[column(0, like(false))]);
    check(json!({"lang": {"ilike": r"e\\_%"}}), &[column(0, like(true))]);
}

#[test]
fn arrays_are_asked_for_their_elements() {
    let contains = |array: &str| column(2, Test::Contains(array.into()));
    check(json!({"tags": "a"}), &[contains(r#"{"a"}"#)]);
    check(json!({"tags": {"contains": ["a", 1]}}), &[contains(r#"{"a","1"}"#)]);
    check(json!({"tags": {"contains": "x\"y\\,{"}}), &[contains(r#"{"x\"y\\,{"}"#)]);
    check(json!({"tags": ["a"]}), &[column(2, Test::Overlaps(r#"{"a"}"#.into()))]);
    check(json!({"tags": {"any": []}}), &[column(2, Test::Overlaps("{}".into()))]);
    check(json!({"tags": {"eq": ["a"]}}), &[equal(2, r#"{"a"}"#)]);
    let or_null =
        Condition::Any(vec![column(2, Test::Null), column(2, Test::Overlaps(r#"{"a"}"#.into()))]);
    check(json!({"tags": ["a", null]}), std::slice::from_ref(&or_null));
    check(json!({"tags": {"nin": ["a", null]}}), &[Condition::Not(Box::new(or_null))]);
    check_error(json!({"tags": {"contains": [null]}}), "compares \"tags\" with null");
}

#[test]
fn integers_are_compared_with_any_number() {
    use Comparison::*;
    let compared = |comparison, value: &str| column(5, Test::Compare(comparison, value.into()));
    check(json!({"stars": 5.0}), &[equal(5, "5")]);
    check(json!({"stars": {"gte": 5.5}}), &[compared(GreaterOrEqual, "6")]);
    check(json!({"stars": {"lt": -5.5}}), &[compared(LessOrEqual, "-6")]);
    check(json!({"stars": {"lt": 5.0}}), &[compared(Less, "5")]);
    check(json!({"stars": 5.5}), &[Condition::Any(vec![])]);
    check(json!({"stars": {"ne": 5.5}}), &[Condition::All(vec![])]);
    check(
        json!({"stars": {"between": [4.5, 6.0]}}),
        &[Condition::All(vec![compared(GreaterOrEqual, "5"), compared(LessOrEqual, "6")])],
    );
    check(
        json!({"stars": [5.0, 5.5, null]}),
        &[column(5, Test::OneOf { values: vec!["5".into()], or_null: true })],
    );
    check(exact::read(r#"{"stars": 6e400}"#).unwrap(), &[equal(5, "6e400")]);
    check(json!({"stars": "5.0"}), &[equal(5, "5.0")]);
    check(json!({"sizes": [5.0]}), &[column(6, Test::Overlaps(r#"{"5"}"#.into()))]);
    check(json!({"sizes": {"contains": 5.5}}), &[column(6, Test::Contains(r#"{"5.5"}"#.into()))]);
}

#[test]
fn paths_lead_into_json() {
    let at = |path: &[&str], test| {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        Condition::Column(ColumnTest { column: 3, path, test })
    };
    let equal = |value: &str| Test::Compare(Comparison::Equal, value.into());
    check(json!({"more.of.0": "x"}), &[at(&["of", "0"], equal("\"x\""))]);
    check(json!({"more.of": true}), &[at(&["of"], equal("true"))]);
    check(json!({"more": {"contains": {"a": 1}}}), &[at(&[], Test::Contains("{\"a\":1}".into()))]);
    let contains = ["1", "\"b\""].map(|value| at(&["of"], Test::Contains(value.into())));
    check(json!({"more.of": {"any": [1, "b"]}}), &[Condition::Any(contains.into())]);
    // A column of the whole name goes before a path.
    check(json!({"more.size": 3}), &[super::tests::equal(4, "3")]);
    check_error(json!({"year.of": 3}), "unknown column \"year.of\"");
    check_error(json!({"more.of": {"lt": [1]}}), "compares \"more.of\" with [1]");
}

#[test]
fn conditions_stand_within_others() {
    let all = |conditions: &[Condition]| Condition::All(conditions.into());
    check(
        json!({"or": [{"lang": "en", "year": 1}, {"$not": {"lang": "de"}}]}),
        &[Condition::Any(vec![
            all(&[equal(0, "en"), equal(1, "1")]),
            all(&[Condition::Not(Box::new(all(&[equal(0, "de")])))]),
        ])],
    );
    check(json!({"and": []}), &[all(&[])]);
    check_error(json!({"or": {"lang": "en"}}), "wants a list of objects");
    check_error(json!({"or": ["en"]}), "wants a list of objects");
    check_error(json!({"not": [1]}), "wants an object");
    let nested = |levels| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
    assert!(parse(&nested(MAX_DEPTH), &columns()).is_ok());
    check_error(nested(MAX_DEPTH + 1), "more than 32 deep");
}

#[test]
fn a_filter_has_so_many_conditions() {
    let of = |count: usize| json!({ "or": vec![json!({"lang": "en"}); count] });
    assert!(parse(&of(MOST_TESTS), &columns()).is_ok());
    check_error(of(MOST_TESTS + 1), "filter has 1001 conditions, and may have 1000");
    // A list is one, however long.
    assert!(parse(&json!({ "lang": vec!["en"; 5000] }), &columns()).is_ok());
}

#[test]
fn a_column_goes_before_a_word_of_the_language() {
    let or = [MetadataColumn { name: "or".into(), kind: MetadataKind::Scalar }];
    assert_eq!(parse(&json!({"or": 1}), &or).unwrap(), Condition::All(vec![equal(0, "1")]));
    let either = parse(&json!({"$or": [{"or": 1}]}), &or).unwrap();
    assert_eq!(either.column_tests().len(), 1);
    assert!(matches!(either, Condition::All(parts) if matches!(parts[0], Condition::Any(_))));
}

#[test]
fn what_cannot_be_understood_is_named() {
    check_error(json!([1]), "not a JSON object");
    check_error(json!({"colour": 1}), "unknown column \"colour\"");
    check_error(json!({"year": {"near": 1}}), "unknown operator \"near\"");
    check_error(
        json!({"year": {"like": "2%"}}),
        "filter on \"year\": operator \"like\" applies to text only",
    );
    check_error(json!({"tags": {"$ilike": "a"}}), "operator \"$ilike\" applies to text only");
    check_error(json!({"lang": {"like": 2}}), "compares \"lang\" with 2");
    check_error(json!({"lang": {"like": "2\\"}}), "compares \"lang\"");
    check_error(
        json!({"lang": {"contains": "e"}}),
        "operator \"contains\" applies to arrays and JSON only",
    );
    let error = parse(&json!({"more": {"size": 10}}), &columns()).unwrap_err();
    assert!(error.hint_text().unwrap().contains("\"more.size\""), "{error}");
    check_error(json!({"year": {"any": [1]}}), "operator \"any\" applies to arrays and JSON only");
    check_error(json!({"year": {"gt": [1]}}), "compares \"year\"");
    check_error(json!({"year": {"in": 3}}), "wants a list");
    check_error(json!({"year": {"nin": null}}), "wants a list");
    check_error(json!({"year": {"between": [1]}}), "wants a list of two values");
    check_error(json!({"year": {}}), "no operator");
    check_error(json!({"tags": {"lt": "a"}}), "compares \"tags\" with \"a\"");
}
