//! How many queries a second at which recall, alone and with a second session beside?

use super::show;
use crate::Result;
use crate::bench::Bench;
use crate::search::Place;
use crate::truth::Wanted;

pub fn run(bench: &mut Bench) -> Result<()> {
    let truth = bench.truth(&Wanted::first(bench.data.len()))?;
    let places: Vec<Place> =
        bench.each(Bench::indexed).into_iter().map(|(_, place)| place).collect();
    for sessions in [1, 2] {
        let mut contest = bench.contest(&truth);
        contest.sessions = sessions;
        println!("  {sessions} at once");
        let outcomes = contest.run(&places, &bench.settings.ef);
        bench.report.note(&format!("Sessions at once: {sessions}."));
        show(bench, &outcomes, &[0.96, 0.99]);
    }
    Ok(())
}
