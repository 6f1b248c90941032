//! # table: what does a language model get to read of a relation?
//!
//! ```text
//! relation, columns, keys, comments → create table orders ( -- what was sold
//!                                       id integer primary key,
//!                                       customer integer references customers (id) -- who bought it
//!                                     );
//! ```
//!
//! The form is that of a definition, which models have read more of than of any other. A comment of the database
//! is a comment there, on one line and cut, so that it ends where the line does.

use crate::text::line::single_line;

/// Longest comment on a relation that is shown, in characters.
const RELATION_COMMENT: usize = 300;

/// Longest comment on a column that is shown, in characters.
const COLUMN_COMMENT: usize = 160;

/// Longest sentence about a relation, in characters: what an embedding model reads at once.
const LONGEST_SENTENCE: usize = 600;

/// ASCII characters of two tokens, about: names of tables and columns have more tokens than prose.
const CHARACTERS: usize = 7;

/// A relation that the caller may read, with those of its columns that the caller may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDocument {
    /// How a statement names it: quoted, and with its schema, where that is needed.
    pub name: String,
    /// Its name alone, as it is in the catalog.
    pub bare: String,
    /// Whether it is a view.
    pub is_view: bool,
    /// The comment on it.
    pub comment: Option<String>,
    /// Its columns, in their order.
    pub columns: Vec<TableColumn>,
    /// Places of the columns of the primary key; none where there is none, or not all may be read.
    pub primary_key: Vec<usize>,
    /// Foreign keys to other relations of the same list.
    pub foreign_keys: Vec<ForeignKey>,
}

/// A column that the caller may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableColumn {
    /// How a statement names it, quoted where needed.
    pub name: String,
    /// Its name as it is in the catalog.
    pub bare: String,
    /// Its type, as PostgreSQL writes it.
    pub sql_type: String,
    /// The comment on it.
    pub comment: Option<String>,
    /// The values of its type, where that is an enum.
    pub labels: Vec<String>,
    /// Some of its values, where they are to be shown.
    pub values: Vec<String>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// Places of its columns.
    pub columns: Vec<usize>,
    /// Place of the relation that it refers to, in the list of all.
    pub table: usize,
    /// Places of that relation's columns.
    pub referenced: Vec<usize>,
}

/// A part of a definition: what it says, and what is said of it.
struct DefinitionLine {
    text: String,
    comment: Option<String>,
}

impl TableDocument {
    /// Its definition, with those columns that `shown` says, and references to relations that are there.
    #[must_use]
    pub fn definition(
        &self,
        tables: &[TableDocument],
        shown: &[bool],
        is_there: &dyn Fn(usize) -> bool,
    ) -> String {
        let is_shown = |place: usize| shown.get(place) == Some(&true);
        let places = (0..self.columns.len()).filter(|place| is_shown(*place));
        let mut lines: Vec<DefinitionLine> =
            places.map(|place| self.line(place, tables, is_there)).collect();
        lines.extend(self.composite_keys(tables, &is_shown, is_there));
        let last = lines.len().saturating_sub(1);
        let mut text = self.header();
        for (at, DefinitionLine { text: line, comment }) in lines.into_iter().enumerate() {
            let comma = if at < last { "," } else { "" };
            text += &format!("  {line}{comma}{}\n", behind(comment));
        }
        match (0..self.columns.len()).filter(|place| !is_shown(*place)).count() {
            0 => {}
            left_out => text += &format!("  -- and {left_out} more columns\n"),
        }
        text + ");\n"
    }

    /// About how many tokens its definition has without any column, and with each of them.
    #[must_use]
    pub fn sizes(&self, tables: &[TableDocument]) -> (usize, Vec<usize>) {
        let everything = |_: usize| true;
        let keys = self.composite_keys(tables, &everything, &everything);
        let size = |line: DefinitionLine| tokens(&(line.text + &behind(line.comment))) + 2;
        let header = tokens(&self.header()) + 12 + keys.into_iter().map(size).sum::<usize>();
        // Of several keys of a column the one is written whose table is there.
        let largest = |place: usize| {
            let keys = self.foreign_keys.iter().filter(|key| key.columns == [place]);
            let alone = keys.map(|key| size(self.line(place, tables, &|table| table == key.table)));
            alone.fold(size(self.line(place, tables, &|_| false)), usize::max)
        };
        (header, (0..self.columns.len()).map(largest).collect())
    }

    /// Places of columns of its keys.
    pub fn key_columns(&self) -> impl Iterator<Item = usize> {
        let foreign = self.foreign_keys.iter().flat_map(|key| key.columns.iter().copied());
        self.primary_key.iter().copied().chain(foreign)
    }

    /// What it is about, in words for an embedding model.
    #[must_use]
    pub fn sentence(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|it| spaced(&it.bare)).collect();
        let comment = self.comment.as_deref().map(|it| format!(", {}", single_line(it)));
        let (name, comment) = (spaced(&self.bare), comment.unwrap_or_default());
        format!("{name}{comment}: {}", columns.join(", ")).chars().take(LONGEST_SENTENCE).collect()
    }

    fn header(&self) -> String {
        let kind = if self.is_view { "view" } else { "table" };
        let comment = shortened(self.comment.as_deref(), RELATION_COMMENT);
        format!("create {kind} {} ({}\n", self.name, behind(comment))
    }

    fn line(
        &self,
        place: usize,
        tables: &[TableDocument],
        is_there: &dyn Fn(usize) -> bool,
    ) -> DefinitionLine {
        let column = &self.columns[place];
        let mut text = format!("{} {}", column.name, column.sql_type);
        if self.primary_key == [place] {
            text += " primary key";
        }
        let refers = |key: &&ForeignKey| key.columns == [place] && is_there(key.table);
        if let Some(key) = self.foreign_keys.iter().find(refers) {
            text += &references(key, tables);
        }
        DefinitionLine { text, comment: column.said() }
    }

    /// Keys of several columns, which have lines of their own.
    fn composite_keys(
        &self,
        tables: &[TableDocument],
        is_shown: &dyn Fn(usize) -> bool,
        is_there: &dyn Fn(usize) -> bool,
    ) -> Vec<DefinitionLine> {
        let listed = |places: &[usize]| names(&self.columns, places);
        let is_listed =
            |places: &[usize]| places.len() > 1 && places.iter().all(|it| is_shown(*it));
        let mut lines = Vec::new();
        if is_listed(&self.primary_key) {
            lines.push(format!("primary key ({})", listed(&self.primary_key)));
        }
        let keys = self.foreign_keys.iter().filter(|key| is_listed(&key.columns));
        for key in keys.filter(|key| is_there(key.table)) {
            let to = references(key, tables);
            lines.push(format!("foreign key ({}){to}", listed(&key.columns)));
        }
        lines.into_iter().map(|text| DefinitionLine { text, comment: None }).collect()
    }
}

impl TableColumn {
    /// What is said of it: its comment, and values that it can have.
    fn said(&self) -> Option<String> {
        let listed = |values: &[String]| {
            let quoted = |value: &String| format!("'{}'", single_line(value).replace('\'', "''"));
            values.iter().map(quoted).collect::<Vec<_>>().join(", ")
        };
        let mut said = Vec::new();
        said.extend(shortened(self.comment.as_deref(), COLUMN_COMMENT));
        if !self.labels.is_empty() {
            said.push(format!("one of {}", listed(&self.labels)));
        }
        if !self.values.is_empty() {
            said.push(format!("such as {}", listed(&self.values)));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// About how many tokens a text of names and types has: 3.5 ASCII characters are one, and each other character.
#[must_use]
pub fn tokens(text: &str) -> usize {
    let ascii = text.chars().filter(char::is_ascii).count();
    (2 * ascii).div_ceil(CHARACTERS) + text.chars().filter(|it| !it.is_ascii()).count()
}

fn references(key: &ForeignKey, tables: &[TableDocument]) -> String {
    let Some(table) = tables.get(key.table) else { return String::new() };
    format!(" references {} ({})", table.name, names(&table.columns, &key.referenced))
}

fn names(columns: &[TableColumn], places: &[usize]) -> String {
    let names = places.iter().filter_map(|place| columns.get(*place)).map(|it| it.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

fn behind(comment: Option<String>) -> String {
    comment.map(|comment| format!(" -- {comment}")).unwrap_or_default()
}

fn shortened(comment: Option<&str>, most: usize) -> Option<String> {
    let line = single_line(comment?);
    let cut: String = line.chars().take(most).collect();
    let ellipsis = if cut.len() < line.len() { "..." } else { "" };
    (!cut.is_empty()).then(|| cut + ellipsis)
}

/// With documents for the tests of other files.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// A column of this name and type, without more.
    pub fn column(name: &str, sql_type: &str) -> TableColumn {
        let (name, bare) = (name.to_owned(), name.to_owned());
        TableColumn { name, bare, sql_type: sql_type.to_owned(), ..TableColumn::default() }
    }

    /// A table of this name whose first column is its key.
    pub fn table(name: &str, columns: &[&str]) -> TableDocument {
        TableDocument {
            name: name.to_owned(),
            bare: name.to_owned(),
            columns: columns.iter().map(|name| column(name, "integer")).collect(),
            primary_key: vec![0],
            ..TableDocument::default()
        }
    }

    /// Has the column at `place` refer to the first of the table at `to`.
    pub fn refer(table: &mut TableDocument, place: usize, to: usize) {
        let key = ForeignKey { columns: vec![place], table: to, referenced: vec![0] };
        table.foreign_keys.push(key);
    }

    fn shop() -> Vec<TableDocument> {
        let mut orders = table("orders", &["id", "customer", "status"]);
        orders.comment = Some("what was sold\n);\ndrop table orders;".to_owned());
        orders.columns[2] = TableColumn {
            labels: vec!["new".to_owned(), "o'clock".to_owned()],
            comment: Some("where it is".to_owned()),
            ..column("status", "state")
        };
        refer(&mut orders, 1, 1);
        vec![orders, table("customers", &["id", "name"])]
    }

    #[test]
    fn a_relation_is_a_definition_with_comments_on_their_lines() {
        let tables = shop();
        let all = |_: usize| true;
        assert_eq!(
            tables[0].definition(&tables, &[true; 3], &all),
            "create table orders ( -- what was sold ); drop table orders;\n  id integer primary key,\n  \
             customer integer references customers (id),\n  status state -- where it is; one of 'new', 'o''clock'\n);\n"
        );
    }

    #[test]
    fn what_is_left_out_is_counted_and_not_referred_to() {
        let tables = shop();
        let alone = |table: usize| table == 0;
        let text = tables[0].definition(&tables, &[true, true, false], &alone);
        assert!(text.contains("  customer integer\n  -- and 1 more columns\n);"), "{text}");
        assert!(!text.contains("customers"), "{text}");
    }

    #[test]
    fn keys_of_several_columns_have_lines_of_their_own() {
        let mut tables = shop();
        tables[0].primary_key = vec![0, 1];
        let key = ForeignKey { columns: vec![0, 1], table: 1, referenced: vec![0, 1] };
        tables[0].foreign_keys = vec![key];
        let text = tables[0].definition(&tables, &[true; 3], &|_| true);
        assert!(text.contains("  primary key (id, customer),\n"), "{text}");
        assert!(
            text.contains("  foreign key (id, customer) references customers (id, name)\n);"),
            "{text}"
        );
        let text = tables[0].definition(&tables, &[true, false, true], &|_| true);
        assert!(!text.contains("key"), "{text}");
    }

    #[test]
    fn sizes_are_those_of_the_definition_or_a_little_more() {
        let tables = shop();
        for table in &tables {
            let (header, columns) = table.sizes(&tables);
            let whole = table.definition(&tables, &vec![true; columns.len()], &|_| true);
            let sum = header + columns.iter().sum::<usize>();
            assert!(sum >= tokens(&whole), "{sum} for {whole}");
            assert!(sum <= tokens(&whole) + 30, "{sum} for {whole}");
        }
        assert_eq!((tokens(""), tokens("id integer"), tokens("水水")), (0, 3, 2));
    }
}
