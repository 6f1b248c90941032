//! What all sections share: the server with the rows in it, the competitors, the report.

use std::collections::HashSet;

use crate::contest::{Contest, Outcome};
use crate::data::Dataset;
use crate::report::{Report, whole};
use crate::search::{Place, Search};
use crate::server::{self, Server};
use crate::settings::Settings;
use crate::side::Side;
use crate::truth::{Truth, Wanted};
use crate::{Result, table};

/// Rows of the tables that are changed.
const CHANGED: usize = 100_000;

/// Single inserts.
pub const INSERTED: usize = 2_000;

/// `ef_search` where one recall has to do.
pub const EF: u32 = 100;

/// A run of the benchmark.
pub struct Bench {
    pub settings: Settings,
    pub server: Server,
    pub data: Dataset,
    pub sides: Vec<Side>,
    pub report: Report,
    /// Tables that stand with all rows and an index.
    indexed: HashSet<String>,
}

impl Bench {
    /// Gets the vectors and starts the server; `None`, with a word, where one is missing.
    pub fn prepare(settings: Settings) -> Result<Option<Bench>> {
        let Some(data) = Dataset::load(&settings)? else { return Ok(None) };
        let Some(server) = Server::start()? else { return Ok(None) };
        let mut report = Report::new(settings.markdown.clone());
        report.note(&format!("{}, {} queries", data.name, data.queries().len()));
        for line in server::description(&mut server.session()?)? {
            report.note(&line);
        }
        let sides = Side::all(&settings);
        let indexed = HashSet::new();
        Ok(Some(Bench { settings, server, data, sides, report, indexed }))
    }

    /// How many rows a table has that is changed, and how many are inserted one by one.
    pub fn changed(&self) -> (usize, usize) {
        let inserted = INSERTED.min(self.data.len() / 10);
        (CHANGED.min(self.data.len() - inserted), inserted)
    }

    /// Measures each side. What fails is remarked, and the others are still measured.
    pub fn each<T>(
        &mut self,
        mut measure: impl FnMut(&mut Bench, &Side) -> Result<T>,
    ) -> Vec<(Side, T)> {
        let mut measured = Vec::new();
        for side in self.sides.clone() {
            println!("  {} …", side.name);
            match measure(self, &side) {
                Ok(figures) => measured.push((side, figures)),
                Err(error) => self.report.remark(format!("{}: {}", side.name, whole(&*error))),
            }
        }
        measured
    }

    /// The table with all rows, and no index so far.
    pub fn filled(&mut self, side: &Side) -> Result<String> {
        let name = format!("item_{}", side.slug);
        if !self.indexed.contains(&name) {
            let rows = 0..self.data.len();
            table::create(&mut self.server.session()?, &name, &self.data, rows)?;
        }
        Ok(name)
    }

    /// Says that a table has got its index.
    pub fn has_index(&mut self, name: &str) {
        self.indexed.insert(name.to_owned());
    }

    /// The table with all rows and its index, made where it is not there yet.
    pub fn indexed(&mut self, side: &Side) -> Result<Place> {
        let name = self.filled(side)?;
        if !self.indexed.contains(&name) {
            table::index(&mut self.server.session()?, side, &name, &[])?;
            self.has_index(&name);
        }
        Ok(Place::new(side, &name))
    }

    /// The right answers, from all rows or some.
    pub fn truth(&self, wanted: &Wanted) -> Result<Truth> {
        Truth::of(&self.data, wanted)
    }

    /// The recall of an index at [`EF`].
    pub fn recall(&self, place: &Place, truth: &Truth) -> Result<f64> {
        let mut search = Search::open(&self.server, place, &self.data)?;
        search.set_ef(EF)?;
        let found = search.run(&self.data, 0, self.settings.queries)?;
        Ok(truth.recall(&self.data, &found))
    }

    /// A contest with one session and all queries.
    pub fn contest<'a>(&'a self, truth: &'a Truth) -> Contest<'a> {
        Contest {
            server: &self.server,
            data: &self.data,
            truth,
            queries: self.settings.queries,
            sessions: 1,
            rounds: self.settings.rounds,
        }
    }

    /// Remarks why an index stopped, if it did.
    pub fn remark(&mut self, outcome: &Outcome) {
        if let Some(trouble) = &outcome.trouble {
            self.report.remark(format!("{}: {trouble}", outcome.side.name));
        }
    }
}
