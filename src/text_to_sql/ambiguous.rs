//! # ambiguous: which table's column is meant where two that are joined by it have it?
//!
//! ```text
//! SELECT count(DISTINCT patient_id) FROM visits AS v JOIN patients AS p ON v.patient_id = p.patient_id
//!   → SELECT count(DISTINCT v.patient_id) FROM …     either is the same
//! ```
//!
//! PostgreSQL takes no name without a table that two tables have. An inner join by equality makes both columns the same, as
//! USING says of itself. An outer join does not: one of them may be NULL there.

use super::columns::{alias_of, words};
use super::reference::{are_equated, bare, length};
use super::table::TableDocument;

/// Words of a query in which a comparison may not hold for each row: joins that keep rows without a partner, and conditions of
/// which not all hold.
const UNCERTAIN: [&str; 5] = ["left", "right", "full", "or", "not"];

/// The reference at byte `start` of `sql`, of so many bytes, with the first of the two tables before it; `None` where they
/// are not two, or not the same by an inner join.
#[must_use]
pub fn qualified(sql: &str, start: usize, tables: &[TableDocument]) -> Option<(usize, String)> {
    let length = length(&sql[start..])?;
    let reference = &sql[start..start + length];
    let name = bare(reference);
    let words = words(sql);
    // What a query within another compares need not hold outside of it.
    let queries = words.iter().filter(|word| *word == "select").count();
    let is_uncertain = words.iter().any(|word| UNCERTAIN.contains(&word.as_str()));
    if name.contains('.') || is_uncertain || queries > 1 {
        return None;
    }
    let has =
        |table: &&TableDocument| table.columns.iter().any(|it| it.bare.to_lowercase() == name);
    let is_named = |table: &&TableDocument| words.contains(&table.bare.to_lowercase());
    let mut holders = tables.iter().filter(has).filter(is_named);
    let (first, second, third) = (holders.next()?, holders.next()?, holders.next());
    let (first, second) = (alias_of(sql, first)?, alias_of(sql, second)?);
    let sides = [first, second].map(|alias| format!("{}.{name}", bare(alias)));
    (third.is_none() && are_equated(sql, &sides)).then(|| (length, format!("{first}.{reference}")))
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    fn check(sql: &str, expected: Option<&str>) {
        let tables = [
            table("visits", &["id", "patient_id", "day"]),
            table("patients", &["patient_id", "day"]),
            table("bills", &["patient_id"]),
        ];
        let start = sql.find("patient_id").unwrap();
        let found = qualified(sql, start, &tables)
            .map(|(length, text)| format!("{}{text}{}", &sql[..start], &sql[start + length..]));
        assert_eq!(found.as_deref(), expected, "{sql}");
    }

    #[test]
    fn what_is_the_same_in_both_tables_is_taken_from_one() {
        check(
            "SELECT count(patient_id) FROM visits AS v JOIN patients p ON p.patient_id=v.\"patient_id\"",
            Some(
                "SELECT count(v.patient_id) FROM visits AS v JOIN patients p ON p.patient_id=v.\"patient_id\"",
            ),
        );
        check(
            "SELECT patient_id FROM patients AS p, visits AS v WHERE v.patient_id = p.patient_id",
            Some(
                "SELECT v.patient_id FROM patients AS p, visits AS v WHERE v.patient_id = p.patient_id",
            ),
        );
    }

    #[test]
    fn a_table_in_quotes_is_called_as_it_is_written() {
        check(
            "SELECT patient_id FROM \"Visits\" JOIN patients p ON p.patient_id = \"Visits\".patient_id",
            Some(
                "SELECT \"Visits\".patient_id FROM \"Visits\" JOIN patients p ON p.patient_id = \"Visits\".patient_id",
            ),
        );
    }

    #[test]
    fn what_may_differ_is_left() {
        for sql in [
            "SELECT patient_id FROM visits v LEFT JOIN patients p ON v.patient_id = p.patient_id",
            "SELECT patient_id FROM visits v JOIN patients p ON v.id = p.patient_id",
            "SELECT patient_id FROM visits v JOIN patients p ON v.patient_id <= p.patient_id",
            "SELECT patient_id FROM visits v JOIN visits w ON v.patient_id = w.patient_id",
            "SELECT patient_id FROM visits v JOIN patients p ON v.patient_id = p.patient_id, bills b",
            "SELECT patient_id.x FROM visits v JOIN patients p ON v.patient_id = p.patient_id",
            "SELECT patient_id FROM visits v, patients p WHERE v.patient_id = p.patient_id OR v.id = 1",
            "SELECT patient_id FROM visits v, patients p WHERE NOT v.patient_id = p.patient_id",
            "SELECT patient_id FROM visits v, patients p WHERE v.id IN (SELECT 1 WHERE v.patient_id = p.patient_id)",
            "SELECT patient_id FROM visits",
        ] {
            check(sql, None);
        }
    }
}
