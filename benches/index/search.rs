//! A session that searches one table through its index.

use postgres::{Client, SimpleQueryMessage, Statement};

use crate::Result;
use crate::data::Dataset;
use crate::server::Server;
use crate::side::Side;
use crate::table::Vector;
use crate::truth::NEAREST;

/// The session, with its prepared statement.
pub struct Search {
    client: Client,
    statement: Statement,
    side: Side,
}

/// Where to search.
#[derive(Clone)]
pub struct Place {
    pub side: Side,
    pub table: String,
    /// A condition on rows, if there is one.
    pub filter: Option<String>,
}

impl Place {
    pub fn new(side: &Side, table: &str) -> Place {
        Place { side: side.clone(), table: table.to_owned(), filter: None }
    }

    /// The statement, with the query's vector as `vector` has it.
    fn statement(&self, vector: &str) -> String {
        let filter = self.filter.iter().map(|filter| format!("WHERE {filter} "));
        let filter: String = filter.collect();
        format!(
            "SELECT id FROM {} {filter}ORDER BY embedding <=> {vector} LIMIT {NEAREST}",
            self.table
        )
    }
}

impl Search {
    /// Opens a session. Fails if the planner would not use the index.
    pub fn open(server: &Server, place: &Place, data: &Dataset) -> Result<Search> {
        let mut client = server.session()?;
        client.batch_execute("SET enable_seqscan = off")?;
        if place.filter.is_some() {
            client.batch_execute(&place.side.set_iterative())?;
        }
        let plan = plan(&mut client, place, data.row(0))?;
        if !plan.contains(&format!("{}_index", place.table)) {
            return Err(format!("the plan does not use the index: {plan}").into());
        }
        let statement = client.prepare(&place.statement("$1"))?;
        Ok(Search { client, statement, side: place.side.clone() })
    }

    /// Sets how many candidates a search keeps.
    pub fn set_ef(&mut self, ef: u32) -> Result<()> {
        Ok(self.client.batch_execute(&self.side.set_ef(ef))?)
    }

    /// Runs the first `count` queries, one after the other, beginning with that of number
    /// `first`; gives the rows that each finds.
    pub fn run(&mut self, data: &Dataset, first: usize, count: usize) -> Result<Vec<Vec<i32>>> {
        let queries: Vec<&[f32]> = data.queries().take(count).collect();
        let mut found = vec![Vec::new(); queries.len()];
        for at in 0..queries.len() {
            let at = (first + at) % queries.len();
            let rows = self.client.query(&self.statement, &[&Vector(queries[at])])?;
            found[at] = rows.iter().map(|row| row.get(0)).collect();
        }
        Ok(found)
    }
}

/// The plan of a search, on one line.
fn plan(client: &mut Client, place: &Place, query: &[f32]) -> Result<String> {
    let values: Vec<String> = query.iter().map(f32::to_string).collect();
    let vector = format!("'[{}]'::vector", values.join(","));
    let explain = format!("EXPLAIN (COSTS OFF) {}", place.statement(&vector));
    let lines = client.simple_query(&explain)?.into_iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(|line| line.trim().to_owned()),
        _ => None,
    });
    // The vector itself would be most of it.
    let short = |line: String| line.chars().take(80).collect::<String>();
    Ok(lines.map(short).collect::<Vec<_>>().join("; "))
}
