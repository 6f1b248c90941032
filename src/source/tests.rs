//! What the kinds of sources have in common, and samples of each for the tests of other folders.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A chunk of row 7.
pub fn passage(content: &str) -> Passage {
    Passage {
        rank: 1,
        score: 0.5,
        pipeline: "docs".to_owned(),
        shard: None,
        source_key: "7".to_owned(),
        chunk_id: 70,
        chunk_no: 0,
        content: content.to_owned(),
        start_char: 0,
        end_char: content.chars().count() as i32,
        lead: None,
        parts: Box::default(),
        heading: None,
        context: None,
        metadata: json!({}),
        written_metadata: "{}".into(),
        similarity: Some(0.5),
        lexical: None,
        dense_rank: None,
        lexical_rank: None,
        rerank_score: None,
        via: None,
    }
}

/// The chunk `chunk_id` that begins at character 100 of a row of its own.
pub fn leaf(chunk_id: i64, content: &str) -> Leaf {
    let end_char = 100 + content.chars().count() as i32;
    let source_key = format!("row {chunk_id}");
    let pipeline = "docs".to_owned();
    let (shard, chunk_no, start_char) = (None, 2, 100);
    let span = ChunkSpan { pipeline, shard, chunk_id, source_key, chunk_no, start_char, end_char };
    Leaf { span, content: content.to_owned(), quoted: Vec::new() }
}

/// A summary of a chunk for each of `leaves`, whose IDs are counted from 70.
pub fn summary(content: &str, leaves: &[&str]) -> Source {
    let leaves = (70..).zip(leaves).map(|(id, content)| leaf(id, content)).collect();
    let title = Some("Opening hours".to_owned());
    let (content, similarity) = (content.to_owned(), Some(0.25));
    let (documents, is_named) = (1, false);
    let summary_id = 5;
    Source::Summary(Summary { summary_id, title, content, similarity, leaves, documents, is_named })
}

/// Row 17 of the table "orders".
pub fn order() -> Source {
    let row = RelationRow { relation: "orders".to_owned(), key: Some("17".to_owned()) };
    let columns = [("status", Some("shipped")), ("note", None), ("total", Some("49.90"))];
    Source::Rows(StatementRows::new(row, &columns))
}

/// A chunk, a summary and a row.
pub fn one_of_each() -> [Source; 3] {
    let mill = "The mill opens at nine. It closes at noon.";
    let tower = "Über uns. The tower opens at ten.";
    let both = "Both welcome dogs.";
    [Source::Chunk(passage("Visitors park behind it.")), summary(both, &[mill, tower]), order()]
}

#[test]
fn each_kind_says_what_it_is() {
    let check = |source: &Source, label: &str, position: &str, heading: Option<&str>| {
        assert_eq!((source.label().as_str(), source.position().as_str()), (label, position));
        assert_eq!(source.heading(), heading);
    };
    let [chunk, summary, row] = one_of_each();
    check(&chunk, "7", "characters 0-24", None);
    check(&summary, "Opening hours", "from row 70, row 71", Some("Opening hours"));
    check(&row, "orders 17", "", Some("orders"));
    let headed = Passage { heading: Some("Manual > Parking".into()), ..passage("Text.") };
    check(&Source::Chunk(headed), "7", "Manual > Parking", Some("Manual > Parking"));
    let (heading, context) = (Some("Parking".into()), Some("Mill > Parking".into()));
    let in_context = Passage { heading, context, ..passage("Text.") };
    check(&Source::Chunk(in_context), "7", "Parking", Some("Mill > Parking"));
}

#[test]
fn rows_are_read_column_by_column() {
    assert_eq!(order().content(), "status: shipped\ntotal: 49.90");
    let property = |source: &Source, name| source.property(name);
    let [chunk, summary, row] = one_of_each();
    assert_eq!(property(&row, "source_key").as_deref(), Some("17"));
    assert_eq!(property(&chunk, "end_char").as_deref(), Some("24"));
    assert_eq!(property(&summary, "similarity").as_deref(), Some("0.250"));
    assert_eq!((property(&summary, "chunk_id"), property(&row, "chunk_id")), (None, None));
}

#[test]
fn an_id_depends_on_what_is_cited_only() {
    let found = |chunk_id, rank, start_char| {
        Source::Chunk(Passage { chunk_id, rank, start_char, ..passage("Text.") }).id()
    };
    assert_eq!(found(1, 1, 0), found(2, 9, 0));
    assert_ne!(found(1, 1, 0), found(1, 1, 3));
    let total = |text: &str| {
        let row = RelationRow { relation: "orders".to_owned(), key: None };
        Source::Rows(StatementRows::new(row, &[("count", Some(text))])).id()
    };
    assert_eq!(total("3"), total("3"));
    assert_ne!(total("3"), total("4"));
    let ids: std::collections::HashSet<SourceId> = one_of_each().iter().map(Source::id).collect();
    assert_eq!(ids.len(), 3);
    for id in ids {
        let kept = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<SourceId>(&kept).unwrap(), id);
    }
}

#[test]
fn users_are_told_what_a_source_is() {
    let [chunk, summary, row] = one_of_each();
    assert_eq!(json!(chunk)["chunk_id"], 70);
    let leaf = |id: i64, end: i32| json!({"pipeline": "docs", "chunk_id": id, "source_key": format!("row {id}"), "chunk_no": 2, "start_char": 100, "end_char": end});
    let expected = json!({
        "summary_id": 5, "title": "Opening hours", "content": "Both welcome dogs.",
        "similarity": 0.25, "leaves": [leaf(70, 142), leaf(71, 133)]
    });
    assert_eq!(json!(summary), expected);
    let expected =
        json!({"relation": "orders", "key": "17", "content": "status: shipped\ntotal: 49.90"});
    assert_eq!(json!(row), expected);
}

#[test]
fn a_summary_is_checked_by_its_leaves() {
    let [_, summary, row] = one_of_each();
    let text = summary.checked_text();
    assert_eq!(
        text,
        "The mill opens at nine. It closes at noon.\n\nÜber uns. The tower opens at ten."
    );
    let found = text.find("The tower").unwrap();
    let start = text[..found].chars().count();
    let place = summary.place(start..start + 23).unwrap();
    let expected =
        json!({"pipeline": "docs", "source_key": "row 71", "start_char": 110, "end_char": 133});
    assert_eq!(place.in_row(), expected);
    assert_eq!(summary.characters(&place), Some(start..start + 23));
    // Characters of two leaves are those of the first, and what lies between belongs to none.
    let across = summary.place(30..60).unwrap();
    assert_eq!(across.in_row()["end_char"], 142);
    assert_eq!(summary.place(42..44), None);
    let row_place = row.place(8..15).unwrap();
    assert_eq!(row_place.in_row(), json!({"relation": "orders", "key": "17"}));
    assert_eq!(row.characters(&row_place), Some(0..row.content().len()));
    assert_eq!(summary.characters(&row_place), None);
}

proptest! {
    /// The span of any part of an original leads back to that part.
    #[test]
    fn a_place_leads_back(
        leaves in prop::collection::vec("\\PC{1,12}", 1..4),
        at in 0_usize..4,
        part in (0.0_f64..1.0, 0.0_f64..1.0),
    ) {
        let texts: Vec<&str> = leaves.iter().map(String::as_str).collect();
        let source = summary("Short.", &texts);
        let originals = source.originals();
        let original = &originals[at % originals.len()];
        let byte = |share: f64| original.text.floor_char_boundary((share * original.text.len() as f64) as usize);
        let (from, to) = (byte(part.0.min(part.1)), byte(part.0.max(part.1)));
        let chars = source.characters(&original.place_of(from..to)).unwrap();
        let text: String = source.checked_text().chars().skip(chars.start).take(chars.len()).collect();
        prop_assert_eq!(&text, &original.text[from..to]);
        if from < to {
            prop_assert_eq!(source.place(chars), Some(original.place_of(from..to)));
        }
    }
}
