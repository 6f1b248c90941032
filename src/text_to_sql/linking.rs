//! # linking: which tables and columns does the question need?
//!
//! ```text
//! (relations with scores, room in tokens) → definitions of some of them
//! ```
//!
//! Where all fit, all are shown: nothing that is left out can be asked for. Else the best are, together with those that
//! join them by foreign keys, first with their keys and the columns that the question names, then with their other
//! columns, and last further tables, as there is room for.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::table::{TableDocument, tokens};
use crate::text::lexical_score::AskedWords;

/// Part of the best score below which a table is not shown.
const WORTH: f64 = 0.1;

/// What a table gets of the score of one that refers to it, of one that it refers to, and of the second best
/// of those that it joins.
const OF_REFERRING: f64 = 0.4;
const OF_REFERRED: f64 = 0.15;
const OF_JOINED: f64 = 0.5;

/// Most tables on the way from one table to the others that are shown for its sake.
const LONGEST_WAY: usize = 2;

/// A table of so many columns is shown with all of them from the beginning.
const FEW_COLUMNS: usize = 6;

/// Most columns that are shown of a table from the beginning since the question names them.
const MOST_NAMED: usize = 12;

/// Fewest tokens of a column, with its type.
const LEAST_OF_COLUMN: usize = 2;

/// From which share of a word of the question on a column is named by it.
const NAMED: f64 = 0.6;

/// What is shown of the relations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedSchema {
    /// Their definitions.
    pub text: String,
    /// Places of those that are shown.
    pub tables: Vec<usize>,
}

/// Whether all `tables` fit in `room` tokens, so that their scores do not matter.
#[must_use]
pub fn all_fit(tables: &[TableDocument], room: usize) -> bool {
    whole(tables, room).is_some()
}

/// What is shown of `tables`, which have these scores, in at most `room` tokens. `interrupt` is called between two of
/// them, and at each that a way from one to another leads over.
#[must_use]
pub fn link(
    tables: &[TableDocument],
    scores: &[f64],
    asked: &AskedWords,
    room: usize,
    interrupt: &mut dyn FnMut(),
) -> LinkedSchema {
    if let Some(text) = whole(tables, room) {
        return LinkedSchema { text, tables: (0..tables.len()).collect() };
    }
    let mut choice = TableChoice::new(tables, scores, room, interrupt);
    for table in tables {
        interrupt();
        choice.first.push(first_columns(table, asked));
        choice.sizes.push(table.sizes(tables));
    }
    // Half of the room is for columns: a table without those that are asked for is of no use.
    choice.take_best(room / 2, interrupt);
    choice.take_referred(interrupt);
    choice.take_columns();
    choice.take_best(0, interrupt);
    choice.schema()
}

/// All definitions; `None` where they do not fit.
fn whole(tables: &[TableDocument], room: usize) -> Option<String> {
    let columns: usize = tables.iter().map(|table| table.columns.len()).sum();
    if LEAST_OF_COLUMN * columns > room {
        return None;
    }
    let all = |table: &TableDocument| {
        table.definition(tables, &vec![true; table.columns.len()], &|_| true)
    };
    let text: String = tables.iter().map(all).collect();
    (tokens(&text) <= room).then_some(text)
}

/// Which tables and columns are shown so far.
struct TableChoice<'a> {
    tables: &'a [TableDocument],
    /// Places of all tables, the best first.
    order: Vec<usize>,
    scores: Vec<f64>,
    neighbours: Vec<BTreeSet<usize>>,
    /// The columns that are shown of each table first.
    first: Vec<Vec<bool>>,
    /// Tokens of the head of each table, and of each of its columns.
    sizes: Vec<(usize, Vec<usize>)>,
    /// The columns that are shown of each table that is.
    shown: HashMap<usize, Vec<bool>>,
    left: usize,
}

impl<'a> TableChoice<'a> {
    /// Nothing yet; what is shown first, and sizes, are to be added.
    fn new(
        tables: &'a [TableDocument],
        scores: &[f64],
        room: usize,
        interrupt: &mut dyn FnMut(),
    ) -> TableChoice<'a> {
        let scores = spread(tables, scores, interrupt);
        let mut order: Vec<usize> = (0..tables.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        TableChoice {
            tables,
            order,
            scores,
            neighbours: neighbours(tables, interrupt),
            first: Vec::with_capacity(tables.len()),
            sizes: Vec::with_capacity(tables.len()),
            shown: HashMap::new(),
            left: room,
        }
    }

    /// The best tables, each with what joins it to those before, as long as so many tokens are `kept`. The very best is
    /// shown in any case.
    fn take_best(&mut self, kept: usize, interrupt: &mut dyn FnMut()) {
        let Some(best) = self.order.first().copied() else { return };
        if self.shown.is_empty() && !self.take(&[best], 0) {
            self.take_part(best);
        }
        for table in self.order.clone() {
            interrupt();
            if self.scores[table] < WORTH * self.scores[best] {
                break;
            }
            if self.shown.contains_key(&table) {
                continue;
            }
            let with_way = self.with_way(table, interrupt);
            if !self.take(&with_way, kept) {
                self.take(&[table], kept);
            }
        }
    }

    /// What the tables that are shown refer to.
    fn take_referred(&mut self, interrupt: &mut dyn FnMut()) {
        for table in self.order.clone() {
            interrupt();
            if self.shown.contains_key(&table) {
                for key in &self.tables[table].foreign_keys {
                    self.take(&[key.table], 0);
                }
            }
        }
    }

    /// Other columns of the tables that are shown, those of the best first.
    fn take_columns(&mut self) {
        for table in &self.order {
            let Some(shown) = self.shown.get_mut(table) else { continue };
            for (shown, size) in shown.iter_mut().zip(&self.sizes[*table].1) {
                if !*shown && *size <= self.left {
                    self.left -= size;
                    *shown = true;
                }
            }
        }
    }

    /// Shows these tables if all of them fit that are not yet shown, beside so many tokens that are `kept`.
    fn take(&mut self, tables: &[usize], kept: usize) -> bool {
        let is_new = |table: &&usize| !self.shown.contains_key(*table);
        let new: BTreeSet<usize> = tables.iter().filter(is_new).copied().collect();
        let size: usize = new.iter().map(|table| self.first_size(*table)).sum();
        if size + kept > self.left {
            return false;
        }
        self.left -= size;
        self.shown.extend(new.into_iter().map(|table| (table, self.first[table].clone())));
        true
    }

    /// Shows as many columns of a table as fit, which is too large even with the first ones.
    fn take_part(&mut self, table: usize) {
        let (header, columns) = &self.sizes[table];
        self.left = self.left.saturating_sub(*header);
        let first = self.first[table].iter().zip(columns).map(|(is_first, size)| {
            let fits = *is_first && *size <= self.left;
            self.left -= if fits { *size } else { 0 };
            fits
        });
        let first = first.collect();
        self.shown.insert(table, first);
    }

    fn first_size(&self, table: usize) -> usize {
        let (header, columns) = &self.sizes[table];
        let first = self.first[table].iter().zip(columns).filter(|(is_first, _)| **is_first);
        header + first.map(|(_, size)| size).sum::<usize>()
    }

    /// The table, and those on the shortest way by foreign keys from it to one that is shown. Thousands of others may
    /// be looked at on the way, where that many refer to the same table.
    fn with_way(&self, table: usize, interrupt: &mut dyn FnMut()) -> Vec<usize> {
        let mut from: HashMap<usize, usize> = HashMap::new();
        let mut waiting = VecDeque::from([(table, 0)]);
        while let Some((at, steps)) = waiting.pop_front() {
            interrupt();
            if steps > 0 && self.shown.contains_key(&at) {
                return way(table, at, &from);
            }
            if steps > LONGEST_WAY {
                continue;
            }
            let mut next: Vec<usize> = self.neighbours[at].iter().copied().collect();
            next.sort_by(|a, b| self.scores[*b].total_cmp(&self.scores[*a]));
            for next in next {
                if next != table && !from.contains_key(&next) {
                    from.insert(next, at);
                    waiting.push_back((next, steps + 1));
                }
            }
        }
        vec![table]
    }

    fn schema(&self) -> LinkedSchema {
        let tables: BTreeSet<usize> = self.shown.keys().copied().collect();
        let is_there = |table: usize| self.shown.contains_key(&table);
        let definition = |table: &usize| {
            self.tables[*table].definition(self.tables, &self.shown[table], &is_there)
        };
        let text = tables.iter().map(definition).collect();
        LinkedSchema { text, tables: tables.into_iter().collect() }
    }
}

/// The tables from `start` to `end` along the way that was gone.
fn way(start: usize, end: usize, from: &HashMap<usize, usize>) -> Vec<usize> {
    let mut tables = vec![end];
    let mut at = end;
    while at != start {
        let Some(before) = from.get(&at) else { break };
        at = *before;
        tables.push(at);
    }
    tables
}

/// Which tables refer to each other.
fn neighbours(tables: &[TableDocument], interrupt: &mut dyn FnMut()) -> Vec<BTreeSet<usize>> {
    let mut neighbours = vec![BTreeSet::new(); tables.len()];
    for (place, table) in tables.iter().enumerate() {
        interrupt();
        for key in table.foreign_keys.iter().filter(|key| key.table != place) {
            neighbours[place].insert(key.table);
            neighbours[key.table].insert(place);
        }
    }
    neighbours
}

/// The scores with a part of those of neighbours: a question names the ends of a join and not its middle.
fn spread(tables: &[TableDocument], scores: &[f64], interrupt: &mut dyn FnMut()) -> Vec<f64> {
    let mut spread = scores.to_vec();
    for (place, table) in tables.iter().enumerate() {
        interrupt();
        let others = table.foreign_keys.iter().map(|key| key.table).filter(|it| *it != place);
        let others: BTreeSet<usize> = others.collect();
        let mut referred: Vec<f64> = others.iter().map(|it| scores[*it]).collect();
        referred.sort_by(|a, b| b.total_cmp(a));
        spread[place] += OF_REFERRED * referred.first().copied().unwrap_or(0.0);
        spread[place] += OF_JOINED * referred.get(1).copied().unwrap_or(0.0);
        for other in others {
            spread[other] = spread[other].max(scores[other] + OF_REFERRING * scores[place]);
        }
    }
    spread
}

/// The columns that are shown first: all of few, else keys and those that the question names.
fn first_columns(table: &TableDocument, asked: &AskedWords) -> Vec<bool> {
    let count = table.columns.len();
    if count <= FEW_COLUMNS {
        return vec![true; count];
    }
    let mut first = vec![false; count];
    table.key_columns().for_each(|place| first[place] = true);
    let said = |place: &usize| {
        let column = &table.columns[*place];
        let comment = column.comment.as_deref().unwrap_or_default();
        asked.shared_with(&column.bare).max(asked.shared_with(comment) / 2.0)
    };
    let mut named: Vec<(usize, f64)> =
        (0..count).map(|place| (place, said(&place))).filter(|(_, said)| *said >= NAMED).collect();
    named.sort_by(|a, b| b.1.total_cmp(&a.1));
    named.into_iter().take(MOST_NAMED).for_each(|(place, _)| first[place] = true);
    first
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lexical::words_of;
    use super::super::table::tests::{refer, table};
    use super::*;
    use crate::text::lexical_score::WeighedWords;

    fn linked(tables: &[TableDocument], question: &str, room: usize) -> LinkedSchema {
        let asked = AskedWords::of(question);
        let texts: Vec<WeighedWords> = tables.iter().map(words_of).collect();
        link(tables, &asked.scores(&texts, &mut || {}), &asked, room, &mut || {})
    }

    fn check(tables: &[TableDocument], question: &str, room: usize, expected: &[&str]) {
        let linked = linked(tables, question, room);
        let names: Vec<&str> = linked.tables.iter().map(|it| tables[*it].name.as_str()).collect();
        assert_eq!(names, expected, "{question}: {}", linked.text);
        assert!(tokens(&linked.text) <= room, "{} tokens: {}", tokens(&linked.text), linked.text);
    }

    /// Authors and publications, which only `writes` joins, among others.
    fn library() -> Vec<TableDocument> {
        let mut tables = vec![
            table("author", &["aid", "name", "homepage"]),
            table("publication", &["pid", "title", "year"]),
            table("writes", &["aid", "pid"]),
            table("organization", &["oid", "continent"]),
        ];
        tables[2].primary_key = vec![];
        refer(&mut tables[2], 0, 0);
        refer(&mut tables[2], 1, 1);
        let other = |n: usize| table(&format!("t{n}"), &["a", "b", "c", "d", "e", "f", "g"]);
        tables.extend((0..50).map(other));
        tables
    }

    #[test]
    fn all_are_shown_where_all_fit() {
        let tables = &library()[..4];
        assert!(all_fit(tables, 1500));
        check(tables, "dark matter", 1500, &["author", "publication", "writes", "organization"]);
        check(&[], "dark matter", 100, &[]);
    }

    #[test]
    fn what_joins_two_tables_is_shown_with_them() {
        let tables = library();
        assert!(!all_fit(&tables, 300));
        check(
            &tables,
            "Which authors have publications?",
            300,
            &["author", "publication", "writes"],
        );
    }

    #[test]
    fn what_a_table_refers_to_is_shown() {
        let mut tables = library();
        refer(&mut tables[0], 2, 3);
        check(
            &tables,
            "homepages of each author",
            300,
            &["author", "publication", "writes", "organization"],
        );
    }

    #[test]
    fn columns_that_are_named_come_before_others() {
        let mut names: Vec<String> = (0..200).map(|n| format!("column_{n}")).collect();
        names[150] = "salary".to_owned();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let tables = [table("staff", &names), table("other", &names[..100])];
        let linked = linked(&tables, "the highest salary", 200);
        assert_eq!(linked.tables, [0]);
        assert!(linked.text.contains("  salary integer"), "{}", linked.text);
        assert!(linked.text.contains("column_0 integer primary key"), "{}", linked.text);
        assert!(linked.text.contains(" more columns"), "{}", linked.text);
        assert!(tokens(&linked.text) <= 200);
    }

    #[test]
    fn tables_that_are_hardly_meant_leave_room_for_the_columns_of_those_that_are() {
        let names: Vec<String> = (0..30).map(|n| format!("column_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut tables = vec![table("staff", &names)];
        tables.extend((0..50).map(|n| table(&format!("report_{n}"), &["a", "b"])));
        let scores: Vec<f64> = (0..tables.len()).map(|n| if n == 0 { 1.0 } else { 0.5 }).collect();
        let linked = link(&tables, &scores, &AskedWords::default(), 600, &mut || {});
        assert!(linked.text.contains("column_29"), "{}", linked.text);
        assert!(linked.tables.len() > 5, "{}", linked.text);
        assert!(tokens(&linked.text) <= 600);
    }

    #[test]
    fn a_table_too_large_for_the_room_is_cut() {
        let names: Vec<String> = (0..50).map(|n| format!("salary_{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check(&[table("staff", &names), table("b", &names)], "salary of staff", 60, &["staff"]);
    }

    #[test]
    fn a_look_for_interrupts_is_taken_at_each_table_on_the_way() {
        let columns = ["a", "b", "c", "d", "e", "f"];
        let count = 60;
        let mut tables: Vec<TableDocument> =
            (0..count).map(|n| table(&format!("t{n}"), &columns)).collect();
        tables.push(table("alone", &columns));
        tables.push(table("hub", &columns));
        (0..count).for_each(|place| refer(&mut tables[place], 0, count + 1));
        let scores: Vec<f64> =
            (0..tables.len()).map(|n| if n == count { 2.0 } else { 1.0 }).collect();
        let mut looks = 0;
        // No way leads to the only table that there is room for, and each is looked for among all others.
        let linked = link(&tables, &scores, &AskedWords::default(), 80, &mut || looks += 1);
        assert_eq!(linked.tables, [count]);
        assert!(looks > count * count, "{looks} looks");
    }

    proptest! {
        #[test]
        fn the_room_is_kept_whatever_the_tables(
            columns in proptest::collection::vec(1usize..30, 1..20),
            keys in proptest::collection::vec((0usize..20, 0usize..20), 0..30),
            room in 150usize..800,
        ) {
            let names: Vec<String> = (0..30).map(|n| format!("name_{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut tables: Vec<TableDocument> = columns.iter().enumerate()
                .map(|(n, count)| table(&format!("table_{n}"), &names[..*count])).collect();
            let count = tables.len();
            for (from, to) in keys {
                refer(&mut tables[from % count], 0, to % count);
            }
            let linked = linked(&tables, "the name of table 7", room);
            prop_assert!(tokens(&linked.text) <= room, "{} over {room}", tokens(&linked.text));
            prop_assert!(!linked.tables.is_empty());
        }
    }
}
