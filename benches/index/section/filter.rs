//! What if a WHERE keeps only some of the rows?
//!
//! A scan of the index then has to go on until enough rows pass. An index that holds the
//! filter's column can know which rows pass without looking at them.

use super::show;
use crate::Result;
use crate::bench::Bench;
use crate::data::bucket;
use crate::search::Place;
use crate::side::Side;
use crate::table;
use crate::truth::Wanted;

/// Filtered queries take long, so that fewer of them do.
const QUERIES: usize = 150;

/// A condition on the rows.
#[derive(Clone, Copy)]
struct Filter {
    /// For the report: which rows are kept.
    name: &'static str,
    column: FilterColumn,
    /// The first value that is kept, and the one after the last.
    from: i32,
    to: i32,
}

/// What a condition is about.
#[derive(Clone, Copy)]
enum FilterColumn {
    /// Has nothing to do with the vector.
    Bucket,
    /// How much the vector is like the queries.
    Likeness,
}

const TENTH: Filter = Filter::of_bucket("10 % of the rows", 100);
const HUNDREDTH: Filter = Filter::of_bucket("1 % of the rows", 10);

/// Without the column in the index.
const APART: [Filter; 2] = [TENTH, HUNDREDTH];

/// With the column in the index.
const WITHIN: [Filter; 7] = [
    Filter::of_bucket("50 % of the rows", 500),
    TENTH,
    HUNDREDTH,
    Filter::of_bucket("0.1 % of the rows", 1),
    Filter::of_likeness("the 50 % of the rows that are least like the queries", 0, 500),
    Filter::of_likeness("the 10 % of the rows that are most like the queries", 900, 1000),
    Filter::of_likeness("the 10 % of the rows that are least like the queries", 0, 100),
];

impl Filter {
    const fn of_bucket(name: &'static str, to: i32) -> Filter {
        Filter { name, column: FilterColumn::Bucket, from: 0, to }
    }

    const fn of_likeness(name: &'static str, from: i32, to: i32) -> Filter {
        Filter { name, column: FilterColumn::Likeness, from, to }
    }

    fn condition(&self) -> String {
        format!("{} BETWEEN {} AND {}", self.column.name(), self.from, self.to - 1)
    }

    /// The rows that a query should find.
    fn wanted(&self, bench: &Bench) -> Wanted {
        let Filter { column, from, to, .. } = *self;
        let likeness = bench.data.likeness.clone();
        let label = format!("{}-{from}-{to}", column.name());
        Wanted::first(bench.data.len()).but(&label, move |id| {
            let value = match column {
                FilterColumn::Bucket => bucket(id),
                FilterColumn::Likeness => likeness[id],
            };
            (from..to).contains(&value)
        })
    }
}

impl FilterColumn {
    fn name(self) -> &'static str {
        match self {
            FilterColumn::Bucket => "bucket",
            FilterColumn::Likeness => "likeness",
        }
    }
}

/// The filter goes through the rows that the index gives.
pub fn run(bench: &mut Bench) -> Result<()> {
    let places = bench.each(Bench::indexed).into_iter().map(|(_, place)| place).collect();
    compare(bench, places, &APART)
}

/// Ours has the columns in the index; pgvector's has no such thing and does as before.
pub fn run_column(bench: &mut Bench) -> Result<()> {
    let places = bench.each(|bench, side| match side.is_pgvector() {
        true => bench.indexed(side),
        false => with_columns(bench, side),
    });
    let places: Vec<Place> = places.into_iter().map(|(_, place)| place).collect();
    compare(bench, places.clone(), &WITHIN)?;
    for place in places.iter().filter(|place| !place.side.is_pgvector()) {
        table::drop(&mut bench.server.session()?, &place.table)?;
    }
    Ok(())
}

fn with_columns(bench: &mut Bench, side: &Side) -> Result<Place> {
    let name = format!("column_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..bench.data.len())?;
    let columns = [FilterColumn::Bucket, FilterColumn::Likeness].map(FilterColumn::name);
    table::index(&mut client, side, &name, &columns)?;
    Ok(Place::new(side, &name))
}

fn compare(bench: &mut Bench, mut places: Vec<Place>, filters: &[Filter]) -> Result<()> {
    for filter in filters {
        let truth = bench.truth(&filter.wanted(bench))?;
        for place in &mut places {
            place.filter = Some(filter.condition());
        }
        let mut contest = bench.contest(&truth);
        contest.queries = contest.queries.min(QUERIES);
        println!("  kept: {}", filter.name);
        let outcomes = contest.run(&places, &bench.settings.ef);
        bench.report.note(&format!("The filter keeps {}.", filter.name));
        show(bench, &outcomes, &[0.90, 0.96, 0.99]);
    }
    Ok(())
}
