//! # lexical: which of these relations speak of the question, by their words?
//!
//! ```text
//! (question, names, columns, comments and values of each relation) → a score for each
//! ```

use super::table::TableDocument;
use crate::text::lexical_score::{AskedWords, WeighedWords};

/// What the words of a relation weigh.
const OF_NAME: f64 = 3.0;
const OF_COLUMN: f64 = 1.5;
const OF_VALUE: f64 = 1.0;
const OF_COMMENT: f64 = 0.75;

/// What a word of a comment is worth where names are looked for.
const OF_REMARK: f64 = 0.5;

/// The words of a relation: its name, its columns, comments and values.
#[must_use]
pub fn words_of(table: &TableDocument) -> WeighedWords {
    let mut words = WeighedWords::default();
    words.add(&table.bare, OF_NAME);
    words.add(table.comment.as_deref().unwrap_or_default(), OF_COMMENT);
    for column in &table.columns {
        words.add(&column.bare, OF_COLUMN);
        words.add(column.comment.as_deref().unwrap_or_default(), OF_COMMENT);
        column.labels.iter().chain(&column.values).for_each(|it| words.add(it, OF_VALUE));
    }
    words
}

/// How many of the words that are asked for name one of `tables`, one of its columns or a value of an enum; a word of a
/// comment counts half. `interrupt` is called between two tables.
#[must_use]
pub fn named_in(asked: &AskedWords, tables: &[TableDocument], interrupt: &mut dyn FnMut()) -> f64 {
    asked.best_in(tables.iter().flat_map(|table| {
        interrupt();
        names_of(table)
    }))
}

/// What a relation is named by, with what each text of it is worth.
fn names_of(table: &TableDocument) -> impl Iterator<Item = (&str, f64)> {
    let comments = table.columns.iter().map(|it| &it.comment).chain([&table.comment]);
    let labels = table.columns.iter().flat_map(|it| &it.labels).map(String::as_str);
    let names = table.columns.iter().map(|it| it.bare.as_str()).chain([table.bare.as_str()]);
    let of_comments = comments.filter_map(|it| it.as_deref()).map(|it| (it, OF_REMARK));
    names.chain(labels).map(|it| (it, 1.0)).chain(of_comments)
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::table;
    use super::*;

    fn best(question: &str, tables: &[TableDocument]) -> String {
        let texts: Vec<WeighedWords> = tables.iter().map(words_of).collect();
        let scores = AskedWords::of(question).scores(&texts, &mut || {});
        let best = (0..tables.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        best.filter(|best| scores[*best] > 0.0).map_or(String::new(), |it| tables[it].name.clone())
    }

    #[test]
    fn names_columns_and_comments_count() {
        let mut tables = vec![
            table("author", &["id", "name", "homepage"]),
            table("publication", &["id", "title", "citation_num"]),
            table("paperkeywords", &["id", "word"]),
            table("kunden", &["id", "ort"]),
        ];
        tables[3].comment = Some("customers of the shop".to_owned());
        assert_eq!(best("Which authors are there?", &tables), "author");
        assert_eq!(best("the number of citations", &tables), "publication");
        assert_eq!(best("Which keywords are there", &tables), "paperkeywords");
        assert_eq!(best("Wie viele Kunden gibt es in einem Ort?", &tables), "kunden");
        assert_eq!(best("all customers", &tables), "kunden");
        assert_eq!(best("dark matter", &tables), "");
        assert_eq!(best("", &tables), "");
    }

    #[test]
    fn a_rare_word_says_more_than_one_that_all_have() {
        let tables =
            [table("a", &["name"]), table("b", &["name", "salary"]), table("c", &["name"])];
        assert_eq!(best("name and salary", &tables), "b");
        let texts: Vec<WeighedWords> = tables.iter().map(words_of).collect();
        let scores = AskedWords::of("name").scores(&texts, &mut || {});
        assert!(scores.iter().all(|score| *score > 0.0), "{scores:?}");
    }
}
