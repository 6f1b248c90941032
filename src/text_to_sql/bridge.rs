//! # bridge: by way of which table do two others join that do not join by themselves?
//!
//! ```text
//! FROM outcomes AS o JOIN patients AS p ON o.patient_id = p.patient_id     outcomes has no patient_id
//!   → FROM outcomes AS o JOIN treatments AS via ON o.treatment_id = via.treatment_id
//!                        JOIN patients AS p ON p.patient_id = via.patient_id
//! ```
//!
//! Small models join any two tables by the key of one. Where exactly one table has that key and joins the other, too, the
//! query means the way over it. Where that table is in the query, its column is taken from there.

use super::columns::{alias_of, called, words};
use super::reference::{are_equated, bare, length, operand_before};
use super::table::TableDocument;

/// What the table between is called.
const ALIAS: &str = "via";

/// Two references that a JOIN compares: the wrong one, and the other.
struct JoinCondition<'a> {
    /// Where the words of the join begin.
    start: usize,
    /// Where the condition ends.
    end: usize,
    /// JOIN, with what stands before it.
    kind: &'a str,
    /// The table that is joined, as it stands there.
    joined: &'a str,
    /// What qualifies the wrong reference, as it stands there.
    qualifier: &'a str,
    /// The column that the wrong reference names, as [`bare`] has it.
    name: String,
    other: &'a str,
}

impl JoinCondition<'_> {
    /// Whether the wrong reference is to the table that is joined.
    fn is_of_joined(&self) -> bool {
        let last = self.joined.split_whitespace().next_back();
        let called = last.and_then(|it| it.rsplit('.').next());
        called.is_some_and(|it| bare(it) == bare(self.qualifier))
    }
}

/// A table that joins two others.
struct BridgeTable<'a> {
    table: &'a TableDocument,
    /// Its column that the wrong reference names.
    column: &'a str,
    /// The columns by which it joins the table that has no such column: that table's, and its own.
    link: (&'a str, &'a str),
}

/// The query with a table between, where the reference at byte `start` is of a column that its table does not have;
/// `None` where there is no such table, or not one alone.
#[must_use]
pub fn bridged(sql: &str, start: usize, tables: &[TableDocument]) -> Option<String> {
    let join = condition_at(sql, start)?;
    let words = self::words(sql);
    let JoinCondition { qualifier, name, .. } = &join;
    let lacking = called(&words, &bare(qualifier), tables)?;
    let (other_qualifier, _) = join.other.rsplit_once('.')?;
    let other = called(&words, &bare(other_qualifier), tables)?;
    let bridge = between(lacking, other, name, tables)?;
    let BridgeTable { table, column, link: (of_lacking, of_bridge) } = bridge;
    if words.contains(&table.bare.to_lowercase()) {
        let alias = alias_of(&sql[..join.start], table)?;
        let dot = start + sql[start..].find('.')?;
        let sides = [format!("{qualifier}.{of_lacking}"), format!("{alias}.{of_bridge}")];
        let link = match are_equated(sql, &sides.each_ref().map(|side| bare(side))) {
            true => String::new(),
            false => format!(" AND {}", sides.join(" = ")),
        };
        let (before, condition, after) = (&sql[..start], &sql[dot..join.end], &sql[join.end..]);
        return Some(format!("{before}{alias}{condition}{link}{after}"));
    }
    if words.iter().any(|word| word == ALIAS) {
        return None;
    }
    let (kind, joined, other_side) = (join.kind, join.joined, join.other);
    let link = format!("{qualifier}.{of_lacking} = {ALIAS}.{of_bridge}");
    let compared = format!("{other_side} = {ALIAS}.{column}");
    // The table that is joined last is named in the last condition.
    let (first, second) = if join.is_of_joined() { (compared, link) } else { (link, compared) };
    let (before, after) = (&sql[..join.start], &sql[join.end..]);
    Some(format!(
        "{before}{kind} {} AS {ALIAS} ON {first} {kind} {joined} ON {second}{after}",
        table.name
    ))
}

/// Whether the reference at byte `start` is to the table of the JOIN whose condition it is part of. With a reference to another
/// table in its place, nothing would join that table.
#[must_use]
pub fn is_of_joined(sql: &str, start: usize) -> bool {
    condition_at(sql, start).is_some_and(|it| it.is_of_joined())
}

/// The condition that has the reference at `wrong` and begins behind ON.
fn condition_at(sql: &str, wrong: usize) -> Option<JoinCondition<'_>> {
    let wrong_end = wrong + length(&sql[wrong..])?;
    let reference = &sql[wrong..wrong_end];
    let (qualifier, name) = reference.rsplit_once('.')?;
    let (condition, end, other) = match operand_before(&sql[..wrong]) {
        Some(at) => (at, wrong_end, sql[at..wrong].trim_end().strip_suffix('=')?.trim_end()),
        None => {
            let rest = sql[wrong_end..].trim_start().strip_prefix('=')?.trim_start();
            let at = sql.len() - rest.len();
            (wrong, at + length(rest)?, &rest[..length(rest)?])
        }
    };
    let before = sql[..condition].trim_end();
    let before = strip_word(before, "on")?.trim_end();
    let join = before.to_ascii_lowercase().rfind("join")?;
    let joined = before[join + "join".len()..].trim();
    let kept = sql[..join].trim_end();
    let start = ["outer", "inner", "left"]
        .into_iter()
        .fold(kept, |kept, word| strip_word(kept, word).map_or(kept, str::trim_end));
    let is_plain =
        ["right", "full", "cross", "natural"].iter().all(|it| strip_word(start, it).is_none());
    let start = start.len() + (sql[start.len()..].len() - sql[start.len()..].trim_start().len());
    (is_plain && joined.split_whitespace().count() <= 3).then(|| JoinCondition {
        start,
        end,
        kind: sql[start..join + "join".len()].trim(),
        joined,
        qualifier: qualifier.trim_end(),
        name: bare(name),
        other,
    })
}

/// The text before its last word, if that is `word`.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(word.len())?;
    let is_last = text.is_char_boundary(at) && text[at..].eq_ignore_ascii_case(word);
    let before = text.get(..at)?;
    (is_last && !before.ends_with(|c: char| c.is_alphanumeric() || "_.\"".contains(c)))
        .then_some(before)
}

/// The one table that has the column `name`, which refers to `other`, and that joins `lacking`.
fn between<'a>(
    lacking: &'a TableDocument,
    other: &TableDocument,
    name: &str,
    tables: &'a [TableDocument],
) -> Option<BridgeTable<'a>> {
    let found = tables.iter().filter_map(|table| {
        let column = table.columns.iter().find(|it| it.bare.to_lowercase() == name)?;
        let mut of_other = keys(table, other, tables).map(|(own, _)| own);
        let to_lacking = keys(table, lacking, tables).map(|(own, referenced)| (referenced, own));
        let link = to_lacking.chain(keys(lacking, table, tables)).next()?;
        let is_third = table.name != lacking.name && table.name != other.name;
        let is_bridge = is_third && of_other.any(|own| own == column.name);
        is_bridge.then_some(BridgeTable { table, column: &column.name, link })
    });
    let mut found = found.take(2);
    let (bridge, second) = (found.next()?, found.next());
    second.is_none().then_some(bridge)
}

/// By which single columns `from` refers to `to`: its own, and the other's.
fn keys<'a>(
    from: &'a TableDocument,
    to: &TableDocument,
    tables: &'a [TableDocument],
) -> impl Iterator<Item = (&'a str, &'a str)> {
    from.foreign_keys.iter().filter_map(move |key| match (&key.columns[..], &key.referenced[..]) {
        ([own], [referenced]) if tables[key.table].name == to.name => {
            let referenced = &tables[key.table].columns[*referenced];
            Some((from.columns[*own].name.as_str(), referenced.name.as_str()))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::{refer, table};
    use super::*;

    fn clinic() -> Vec<TableDocument> {
        let mut tables = vec![
            table("patients", &["patient_id", "name"]),
            table("treatments", &["treatment_id", "patient_id", "diag_id"]),
            table("outcomes", &["outcome_id", "treatment_id"]),
            table("diagnoses", &["diag_id", "diag_name"]),
        ];
        refer(&mut tables[1], 1, 0);
        refer(&mut tables[1], 2, 3);
        refer(&mut tables[2], 1, 1);
        tables
    }

    fn check(sql: &str, wrong: &str, expected: Option<&str>) {
        let found = bridged(sql, sql.find(wrong).unwrap(), &clinic());
        assert_eq!(found.as_deref(), expected, "{sql}");
    }

    #[test]
    fn a_table_between_two_others_is_joined() {
        check(
            "SELECT p.name FROM outcomes AS o INNER JOIN patients AS p ON o.patient_id = p.patient_id WHERE p.name > 'a'",
            "o.patient",
            Some(
                "SELECT p.name FROM outcomes AS o INNER JOIN treatments AS via ON o.treatment_id = via.treatment_id \
                 INNER JOIN patients AS p ON p.patient_id = via.patient_id WHERE p.name > 'a'",
            ),
        );
        check(
            "SELECT 1 FROM outcomes AS s JOIN public.patients ON s.patient_id = patients.patient_id",
            "s.patient",
            Some(
                "SELECT 1 FROM outcomes AS s JOIN treatments AS via ON s.treatment_id = via.treatment_id \
                 JOIN public.patients ON patients.patient_id = via.patient_id",
            ),
        );
        check(
            "SELECT 1 FROM diagnoses d LEFT JOIN outcomes o ON d.diag_id=o.diag_id",
            "o.diag_id",
            Some(
                "SELECT 1 FROM diagnoses d LEFT JOIN treatments AS via ON d.diag_id = via.diag_id \
                 LEFT JOIN outcomes o ON o.treatment_id = via.treatment_id",
            ),
        );
        check(
            "SELECT 1 FROM outcomes JOIN patients ON patients.patient_id = outcomes.patient_id",
            "outcomes.patient",
            Some(
                "SELECT 1 FROM outcomes JOIN treatments AS via ON outcomes.treatment_id = via.treatment_id \
                 JOIN patients ON patients.patient_id = via.patient_id",
            ),
        );
    }

    #[test]
    fn a_table_between_that_is_there_is_called_by_its_alias() {
        check(
            "SELECT 1 FROM treatments t JOIN outcomes o ON o.treatment_id = t.treatment_id JOIN patients p ON o.patient_id = p.patient_id",
            "o.patient",
            Some(
                "SELECT 1 FROM treatments t JOIN outcomes o ON o.treatment_id = t.treatment_id JOIN patients p ON t.patient_id = p.patient_id",
            ),
        );
    }

    #[test]
    fn names_in_quotes_keep_them_and_their_case() {
        check(
            "SELECT 1 FROM outcomes AS \"O\" JOIN patients p ON \"O\".patient_id = p.patient_id",
            "\"O\".patient",
            Some(
                "SELECT 1 FROM outcomes AS \"O\" JOIN treatments AS via ON \"O\".treatment_id = via.treatment_id \
                 JOIN patients p ON p.patient_id = via.patient_id",
            ),
        );
        check(
            "SELECT 1 FROM treatments \"T\" JOIN outcomes \"O\" ON \"O\".treatment_id = \"T\".treatment_id JOIN patients p ON \"O\".patient_id = p.patient_id",
            "\"O\".patient",
            Some(
                "SELECT 1 FROM treatments \"T\" JOIN outcomes \"O\" ON \"O\".treatment_id = \"T\".treatment_id JOIN patients p ON \"T\".patient_id = p.patient_id",
            ),
        );
    }

    #[test]
    fn what_is_joined_by_nothing_else_is_joined_to_the_table_between() {
        check(
            "SELECT 1 FROM treatments t JOIN patients p ON p.patient_id = t.patient_id JOIN outcomes o ON p.patient_id = o.patient_id WHERE true",
            "o.patient",
            Some(
                "SELECT 1 FROM treatments t JOIN patients p ON p.patient_id = t.patient_id JOIN outcomes o ON p.patient_id = t.patient_id AND o.treatment_id = t.treatment_id WHERE true",
            ),
        );
    }

    #[test]
    fn a_reference_is_of_the_table_that_its_join_joins_or_not() {
        let sql = "SELECT o.a FROM patients AS p JOIN shop.outcomes AS o ON p.b = o.c";
        for (reference, expected) in [("o.c", true), ("p.b", false), ("o.a", false)] {
            assert_eq!(is_of_joined(sql, sql.find(reference).unwrap()), expected, "{reference}");
        }
    }

    #[test]
    fn what_is_no_join_of_two_tables_over_a_third_is_left() {
        for (sql, wrong) in [
            ("SELECT o.patient_id FROM outcomes AS o", "o.patient"),
            ("SELECT 1 FROM outcomes o, patients p WHERE o.patient_id = p.patient_id", "o.patient"),
            (
                "SELECT 1 FROM outcomes o RIGHT JOIN patients p ON o.patient_id = p.patient_id",
                "o.patient",
            ),
            ("SELECT 1 FROM outcomes o JOIN patients p ON o.name = p.name", "o.name"),
            (
                "SELECT 1 FROM outcomes o JOIN patients p ON o.patient_id = p.patient_id JOIN treatments t ON true",
                "o.patient",
            ),
            (
                "SELECT 1 FROM outcomes o JOIN (SELECT * FROM patients) p ON o.patient_id = p.patient_id",
                "o.patient",
            ),
            ("JOIN patients p ON o.patient_id = p.patient_id", "o.patient"),
        ] {
            check(sql, wrong, None);
        }
    }
}
