//! Who answers more queries a second, and how right are the answers?
//!
//! ```text
//! places, truth, values of ef_search → for each place, recall and speed at each value
//! ```
//!
//! At each value every index first runs all queries once, which brings its pages into memory
//! and gives its recall. Then they take turns, and who begins changes, so that whatever else
//! the machine does falls on all of them.

use std::thread;
use std::time::{Duration, Instant};

use crate::Result;
use crate::data::Dataset;
use crate::interpolation::Point;
use crate::search::{Place, Search};
use crate::server::Server;
use crate::side::Side;
use crate::truth::Truth;

/// What is run.
pub struct Contest<'a> {
    pub server: &'a Server,
    pub data: &'a Dataset,
    pub truth: &'a Truth,
    /// How many queries each session runs.
    pub queries: usize,
    /// Sessions at once.
    pub sessions: usize,
    pub rounds: usize,
}

/// What an index has shown, and why it stopped if it did.
pub struct Outcome {
    pub side: Side,
    pub points: Vec<Point>,
    pub trouble: Option<String>,
}

/// An index in the contest.
struct Runner {
    searches: Vec<Search>,
    outcome: Outcome,
}

impl Contest<'_> {
    /// Lets the indexes compete.
    pub fn run(&self, places: &[Place], ef: &[u32]) -> Vec<Outcome> {
        let mut runners: Vec<Runner> =
            places.iter().map(|place| self.enter(&place.side, self.open(place))).collect();
        for ef in ef {
            let recalls: Vec<Option<f64>> =
                runners.iter_mut().map(|runner| self.warm_up(runner, *ef)).collect();
            let speeds = self.speeds(&mut runners);
            for ((runner, recall), speed) in runners.iter_mut().zip(recalls).zip(speeds) {
                let (Some(recall), Some(speed)) = (recall, speed) else { continue };
                let name = &runner.outcome.side.name;
                println!("  ef_search {ef}: {name} {recall:.4} → {speed:.0} queries/s");
                runner.outcome.points.push(Point { ef: *ef, recall, speed });
            }
        }
        runners.into_iter().map(|runner| runner.outcome).collect()
    }

    fn open(&self, place: &Place) -> Result<Vec<Search>> {
        (0..self.sessions).map(|_| Search::open(self.server, place, self.data)).collect()
    }

    fn enter(&self, side: &Side, searches: Result<Vec<Search>>) -> Runner {
        let side = side.clone();
        match searches {
            Ok(searches) => {
                Runner { searches, outcome: Outcome { side, points: Vec::new(), trouble: None } }
            }
            Err(error) => {
                let trouble = Some(error.to_string());
                let outcome = Outcome { side, points: Vec::new(), trouble };
                Runner { searches: Vec::new(), outcome }
            }
        }
    }

    /// The recall, from a first run of the queries in each session.
    fn warm_up(&self, runner: &mut Runner, ef: u32) -> Option<f64> {
        runner.attempt(|searches| {
            let mut recall = 0.0;
            for search in searches {
                search.set_ef(ef)?;
                recall = self.truth.recall(self.data, &search.run(self.data, 0, self.queries)?);
            }
            Ok(recall)
        })
    }

    /// Queries a second of each, all sessions together: the median of the rounds.
    fn speeds(&self, runners: &mut [Runner]) -> Vec<Option<f64>> {
        let mut times = vec![Vec::new(); runners.len()];
        for round in 0..self.rounds {
            for turn in 0..runners.len() {
                let at = (round + turn) % runners.len();
                times[at].extend(runners[at].attempt(|searches| self.race(searches)));
            }
        }
        let all = (self.queries.min(self.data.queries().len()) * self.sessions) as f64;
        let speed = |times: Vec<Duration>| median(times).map(|time| all / time.as_secs_f64());
        times.into_iter().map(speed).collect()
    }

    /// How long the sessions take for all queries, each beginning elsewhere.
    fn race(&self, searches: &mut [Search]) -> Result<Duration> {
        let apart = self.queries / searches.len().max(1);
        let started = Instant::now();
        thread::scope(|scope| {
            let run = |(number, search): (usize, _)| (number * apart, search);
            let sessions: Vec<_> = searches.iter_mut().enumerate().map(run).collect();
            let threads: Vec<_> = sessions
                .into_iter()
                .map(|(first, search): (usize, &mut Search)| {
                    scope.spawn(move || search.run(self.data, first, self.queries).map(|_| ()))
                })
                .collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("a session's thread"))
        })?;
        Ok(started.elapsed())
    }
}

impl Runner {
    /// Does something with the sessions, unless something has failed before.
    fn attempt<T>(&mut self, action: impl FnOnce(&mut [Search]) -> Result<T>) -> Option<T> {
        if self.outcome.trouble.is_some() {
            return None;
        }
        let result = action(&mut self.searches);
        result.map_err(|error| self.outcome.trouble = Some(error.to_string())).ok()
    }
}

/// The median; `None` of nothing.
pub fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort();
    times.get(times.len() / 2).copied()
}
