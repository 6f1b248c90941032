//! # found: how does a query reach the documents that a search has found?
//!
//! ```text
//! (table, its key, keys and texts that were found) → found_reviews (id, place, content) beside the tables
//! ```
//!
//! A relation that exists for one query alone. It has the key of the table whose rows are the documents, so a query joins
//! it to keep to what was found, by meaning and not by words.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::table::{ForeignKey, TableColumn, TableDocument};

/// Longest name of a table after which the relation is called, in bytes: with what stands before it, it is one still.
const LONGEST_NAME: usize = 56;

/// The column with the place of a document among those that were found, and the one with its text.
const PLACE: &str = "place";
const CONTENT: &str = "content";

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// The values of the key, as text.
    pub key: Vec<String>,
    /// Its text, as it was found.
    pub content: String,
}

/// The documents of a table that were found, as a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRelation {
    /// How a prompt shows it; its names are not quoted.
    pub document: TableDocument,
    /// Its rows, the best document first; each key once.
    rows: Vec<FoundRow>,
}

impl FoundRelation {
    /// The relation of `rows`, the best first, of the table at `place` of `tables`, whose key columns are called `key`;
    /// `None` where there are no rows, or a column of the key is not among those that may be read.
    #[must_use]
    pub fn new(
        tables: &[TableDocument],
        place: usize,
        key: &[String],
        rows: Vec<FoundRow>,
    ) -> Option<FoundRelation> {
        let table = tables.get(place)?;
        let of_name = |name: &String| table.columns.iter().position(|it| it.bare == *name);
        let referenced: Vec<usize> = key.iter().map(of_name).collect::<Option<_>>()?;
        let mut seen = HashSet::new();
        let fits = |row: &FoundRow| row.key.len() == key.len() && seen.insert(row.key.clone());
        let rows: Vec<FoundRow> = rows.into_iter().filter(fits).collect();
        if rows.is_empty() || referenced.is_empty() {
            return None;
        }
        let column = |bare: String, sql_type: &str, comment: Option<&str>| TableColumn {
            name: bare.clone(),
            bare,
            sql_type: sql_type.to_owned(),
            comment: comment.map(str::to_owned),
            ..TableColumn::default()
        };
        let of_key = referenced.iter().map(|at| &table.columns[*at]);
        let mut columns: Vec<TableColumn> =
            of_key.map(|it| column(it.bare.clone(), &it.sql_type, None)).collect();
        let of_place = column(free(PLACE, key), "integer", Some("1 is the best"));
        columns.extend([of_place, column(free(CONTENT, key), "text", Some("what it says"))]);
        let own: Vec<usize> = (0..key.len()).collect();
        let foreign = ForeignKey { columns: own.clone(), table: place, referenced };
        let bare = free_name(tables, &table.bare);
        let document = TableDocument {
            name: bare.clone(),
            bare,
            is_view: false,
            comment: Some(format!(
                "the documents of {} that a search by meaning has found for the question: join it where the question asks \
                 what documents say, and select its key beside the figures",
                table.bare
            )),
            columns,
            primary_key: own,
            foreign_keys: vec![foreign],
        };
        Some(FoundRelation { document, rows })
    }

    /// Its rows as an array of arrays of texts and numbers, in the order of its columns.
    #[must_use]
    pub fn rows(&self) -> Value {
        let row = |(place, row): (usize, &FoundRow)| {
            let key = row.key.iter().map(|it| json!(it));
            Value::Array(key.chain([json!(place), json!(row.content)]).collect())
        };
        (1..).zip(&self.rows).map(row).collect()
    }
}

/// `name`, or it with lines behind it where a column of the key is called so.
fn free(name: &str, key: &[String]) -> String {
    let mut name = name.to_owned();
    while key.contains(&name) {
        name.push('_');
    }
    name
}

fn free_name(tables: &[TableDocument], table: &str) -> String {
    let mut end = table.len().min(LONGEST_NAME);
    while !table.is_char_boundary(end) {
        end -= 1;
    }
    let mut name = format!("found_{}", &table[..end]);
    while tables.iter().any(|it| it.bare == name) && name.len() < LONGEST_NAME + 7 {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    fn row(key: &[&str], content: &str) -> FoundRow {
        let key = key.iter().map(|it| (*it).to_owned()).collect();
        FoundRow { key, content: content.to_owned() }
    }

    fn relation(
        tables: &[TableDocument],
        key: &[&str],
        rows: Vec<FoundRow>,
    ) -> Option<FoundRelation> {
        let key: Vec<String> = key.iter().map(|it| (*it).to_owned()).collect();
        FoundRelation::new(tables, 0, &key, rows)
    }

    #[test]
    fn a_document_is_a_row_once_and_refers_to_its_own() {
        let tables = [table("reviews", &["id", "body"])];
        let rows = vec![row(&["7"], "Late."), row(&["3"], "Broken."), row(&["7"], "And wet.")];
        let found = relation(&tables, &["id"], rows).unwrap();
        assert_eq!(found.rows(), json!([["7", 1, "Late."], ["3", 2, "Broken."]]));
        let shown = found.document.definition(&tables, &[true; 3], &|_| true);
        for part in [
            "create table found_reviews (",
            "id integer primary key references reviews (id),",
            "  place integer, -- 1 is the best\n",
            "  content text -- what it says\n",
        ] {
            assert!(shown.contains(part), "{part:?} is not in {shown}");
        }
    }

    #[test]
    fn names_that_are_taken_are_left_to_whose_they_are() {
        let mut tables = vec![table("notes", &["place", "content"]), table("found_notes", &["id"])];
        let rows = vec![row(&["1", "2"], "a")];
        let found = relation(&tables, &["place", "content"], rows.clone()).unwrap();
        let names: Vec<&str> = found.document.columns.iter().map(|it| it.bare.as_str()).collect();
        assert_eq!(names, ["place", "content", "place_", "content_"]);
        assert_eq!(found.document.bare, "found_notes_");
        tables[0].bare = "ö".repeat(31);
        let found = relation(&tables, &["place", "content"], rows).unwrap();
        assert_eq!(found.document.bare.len(), 6 + LONGEST_NAME);
    }

    #[test]
    fn what_may_not_be_read_has_no_relation() {
        let tables = [table("reviews", &["id", "body"])];
        assert_eq!(relation(&tables, &["secret"], vec![row(&["1"], "a")]), None);
        assert_eq!(relation(&tables, &["id"], Vec::new()), None);
        assert_eq!(relation(&tables, &["id"], vec![row(&["1", "2"], "a")]), None);
        assert_eq!(relation(&tables, &[], vec![row(&[], "a")]), None);
        assert_eq!(relation(&[], &["id"], vec![row(&["1"], "a")]), None);
    }
}
