//! rag_bm25: texts of few words, so that each query finds many, with weights and without positions.

use std::collections::BTreeMap;

use super::super::cluster::Cluster;
use super::{BY_INDEX, BY_TABLE, Draw, Session, trials};

/// The word of rank n is about 1/n times as frequent as the first.
const FUNCTIONS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE FUNCTION words(most int, vocabulary int) RETURNS tsvector LANGUAGE plpgsql VOLATILE AS $$
    DECLARE
        drawn tsvector;
    BEGIN
        SELECT to_tsvector('simple', string_agg('w' || floor(exp(random() * ln(vocabulary)))::int, ' '))
        INTO drawn FROM generate_series(1, 1 + (random() * most)::int);
        RETURN CASE floor(random() * 8)
            WHEN 0 THEN strip(drawn)
            WHEN 1 THEN setweight(drawn, 'A')
            WHEN 2 THEN setweight(drawn, 'B') || setweight(to_tsvector('simple', 'w1 w2 w1'), 'A')
            ELSE drawn
        END;
    END $$;";

/// What is drawn for a table.
struct TextTable {
    words: usize,
    vocabulary: usize,
}

impl TextTable {
    fn step(&self, draw: &mut Draw) -> String {
        let TextTable { words, vocabulary } = self;
        let (divisor, rest) = (2 + draw.below(5), draw.below(2));
        let rows = 1 + draw.below(800);
        let insert = format!(
            "INSERT INTO texts (tsv) SELECT CASE WHEN random() < 0.97 THEN words({words}, {vocabulary}) END
             FROM generate_series(1, {rows})"
        );
        match draw.below(8) {
            0..3 => insert,
            3 => format!("DELETE FROM texts WHERE id % {divisor} = {rest}"),
            4 => format!(
                "UPDATE texts SET tsv = words({words}, {vocabulary}) WHERE id % {divisor} = {rest}"
            ),
            5 => format!("BEGIN; {insert}; ROLLBACK"),
            6 => format!(
                "INSERT INTO texts (tsv) SELECT words(3000, 100000) FROM generate_series(1, {rest})"
            ),
            _ => draw
                .one_of(&["VACUUM texts", "VACUUM texts", "REINDEX INDEX CONCURRENTLY texts_tsv"])
                .into(),
        }
    }

    /// A query of words, `depth` operators deep at most.
    fn words(&self, draw: &mut Draw, depth: usize) -> String {
        let word = |draw: &mut Draw| format!("w{}", 1 + draw.below(self.vocabulary));
        if depth == 0 || draw.one_in(3) {
            return match draw.below(8) {
                0 => format!("w{}:*", 1 + draw.below(9)),
                1 => format!("{}:A", word(draw)),
                2 => format!("({} <-> {})", word(draw), word(draw)),
                3 => format!("({} <2> {})", word(draw), word(draw)),
                _ => word(draw),
            };
        }
        let (left, right) = (self.words(draw, depth - 1), self.words(draw, depth - 1));
        match draw.below(5) {
            0 => format!("!({left})"),
            1 | 2 => format!("({left} & {right})"),
            _ => format!("({left} | {right})"),
        }
    }

    fn query(&self, draw: &mut Draw) -> String {
        let conditions = self.words(draw, 3);
        let ranked_by = if draw.one_in(2) { self.words(draw, 2) } else { conditions.clone() };
        let other = draw.one_of(&["", "", "AND id % 3 = 1"]);
        let score = format!("tsv <@> rag_bm25_query('texts_tsv', '{ranked_by}')");
        format!(
            "SELECT id, ctid::text, {score} FROM texts WHERE tsv @@ '{conditions}' {other} ORDER BY {score}"
        )
    }
}

/// Rows with their scores, in the order in which they came.
fn found(session: &mut Session, query: &str) -> Vec<(i32, String, f64)> {
    session.query(query).iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

#[test]
fn rag_bm25_finds_what_the_table_has() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut session = Session::begin(&cluster, FUNCTIONS);
    let mut queries = 0;
    trials(|mut draw| {
        session.statements.clear();
        let table = TextTable { words: 2 + draw.below(40), vocabulary: 3 + draw.below(60) };
        session.run(
            "DROP TABLE IF EXISTS texts; CREATE TABLE texts (id serial PRIMARY KEY, tsv tsvector)",
        );
        session.run(&format!("SELECT setseed({})", draw.seed()));
        session.run(&format!("SET rag.bm25_k1 = {}", draw.one_of(&["0.9", "1.2", "0", "1000"])));
        session.run(&format!("SET rag.bm25_b = {}", draw.one_of(&["0.4", "0.75", "0", "1"])));
        let created_at = draw.below(3);
        for step in 0..4 + draw.below(8) {
            if step == created_at {
                session.run("CREATE INDEX texts_tsv ON texts USING rag_bm25 (tsv)");
            }
            let statement = table.step(&mut draw);
            if step >= created_at || !statement.starts_with("REINDEX") {
                session.run(&statement);
            }
            if step >= created_at {
                queries += 4;
                (0..4).for_each(|_| compare(&mut session, &table, &mut draw));
            }
        }
        session.run("VACUUM texts");
        session.assert_sound("rag_bm25_check('texts_tsv')");
        queries += 10;
        (0..10).for_each(|_| compare(&mut session, &table, &mut draw));
    });
    println!("rag_bm25 against the table: {queries} queries");
}

fn compare(session: &mut Session, table: &TextTable, draw: &mut Draw) {
    let query = table.query(draw);
    session.run(BY_TABLE);
    let expected = found(session, &query);
    session.run(BY_INDEX);
    session.assert_plan(&query, "texts_tsv");
    let given = found(session, &query);
    let told = |what: &str| format!("{what}\n{query};\n{}", session.script());
    // Rows of one score may come in any order.
    assert!(given.is_sorted_by(|a, b| a.2 <= b.2), "{}", told("rows out of order"));
    let by_id = |rows: &[(i32, String, f64)]| -> BTreeMap<i32, (String, f64)> {
        rows.iter().map(|(id, ctid, score)| (*id, (ctid.clone(), *score))).collect()
    };
    assert_eq!(by_id(&given), by_id(&expected), "{}", told("other rows than the table's"));
    assert_eq!(given.len(), expected.len(), "{}", told("a row comes twice"));
    let limit = 1 + draw.below(40);
    let first = found(session, &format!("{query} LIMIT {limit}"));
    let scores = |rows: &[(i32, String, f64)]| -> Vec<f64> {
        rows.iter().take(limit).map(|row| row.2).collect()
    };
    let told = |what: &str| format!("{what}\n{query} LIMIT {limit};\n{}", session.script());
    assert_eq!(scores(&first), scores(&expected), "{}", told("other scores than the table's"));
}
