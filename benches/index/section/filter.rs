//! What if a WHERE keeps only some of the rows?
//!
//! A scan of the index then has to go on until enough rows pass. An index that holds the
//! filter's column can know which rows pass without looking at them.

use super::show;
use crate::Result;
use crate::bench::Bench;
use crate::data::{HUNDREDTH, TENTH, bucket};
use crate::search::Place;
use crate::side::Side;
use crate::table;
use crate::truth::Wanted;

/// Filtered queries take long, so that fewer of them do.
const QUERIES: usize = 300;

/// The filter goes through the rows that the index gives.
pub fn run(bench: &mut Bench) -> Result<()> {
    let places = bench.each(Bench::indexed).into_iter().map(|(_, place)| place).collect();
    compare(bench, places)
}

/// Ours has the column in the index; pgvector's has no such thing and does as before.
pub fn run_column(bench: &mut Bench) -> Result<()> {
    let places = bench.each(|bench, side| match side.is_pgvector() {
        true => bench.indexed(side),
        false => with_column(bench, side),
    });
    let places: Vec<Place> = places.into_iter().map(|(_, place)| place).collect();
    compare(bench, places.clone())?;
    for place in places.iter().filter(|place| !place.side.is_pgvector()) {
        table::drop(&mut bench.server.session()?, &place.table)?;
    }
    Ok(())
}

fn with_column(bench: &mut Bench, side: &Side) -> Result<Place> {
    let name = format!("column_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..bench.data.len())?;
    table::index(&mut client, side, &name, &["bucket"])?;
    Ok(Place::new(side, &name))
}

fn compare(bench: &mut Bench, mut places: Vec<Place>) -> Result<()> {
    for (value, share) in [(TENTH, "10 %"), (HUNDREDTH, "1 %")] {
        let passes = move |id| bucket(id) == value;
        let wanted = Wanted::first(bench.data.len()).but(&format!("bucket-{value}"), passes);
        let truth = bench.truth(&wanted)?;
        for place in &mut places {
            place.filter = Some(format!("bucket = {value}"));
        }
        let mut contest = bench.contest(&truth);
        contest.queries = contest.queries.min(QUERIES);
        println!("  {share} pass");
        let outcomes = contest.run(&places, &bench.settings.ef);
        bench.report.note(&format!("The filter keeps {share} of the rows."));
        show(bench, &outcomes, &[0.90, 0.96, 0.99]);
    }
    Ok(())
}
