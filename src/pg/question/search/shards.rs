//! A search of a pipeline whose chunks are those of pipelines in other databases.
//!
//! The question is embedded here, once. What is asked of the shards goes over foreign tables, as the caller: who he is
//! mapped to on a server decides what he sees there. A statement has a branch for every shard, in a form for which
//! postgres_fdw asks all shards at the same time.
//!
//! First each shard says how frequent the words are there (`rag.shard_statistics`), and then, by the sums of that, which
//! of its chunks are candidates (`rag.shard_candidates`, see [`crate::retrieve::shard_search`]). So scores are those of a
//! single server that has all chunks, and no shard's own idea of which words are rare counts. The chunks that are
//! wanted are read as those of a table.

mod as_shard;
mod candidates;
mod lost;

use std::collections::HashMap;

use pgrx::prelude::*;
use serde_json::json;

pub use self::as_shard::{database_number, own_candidates, own_statistics};
use self::lost::{LostShard, attempt, noticing_loss};
use super::Search;
use super::filter_sql::FilterSql;
use super::statement::Statements;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::shard::{self, Shard};
use crate::pg::catalog::view::{self, ViewColumn};
use crate::pg::index::bm25;
use crate::pg::ragd::trace;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::{query, render, required};
use crate::pg::server::{prepared, sql};
use crate::retrieve::filter::Comparison;

/// The shards of the pipeline that is searched.
#[derive(Default)]
pub struct SearchedShards {
    /// All of them, in their order; none of a pipeline that has its chunks here.
    pub all: Vec<Shard>,
    /// The columns of their foreign tables besides the number of the chunk, as SQL.
    pub columns: String,
}

const HINT: &str = "Bring the server back, take the shard out with rag_alter_pipeline(..., shards => ...), or have the others answer with options => '{\"retrieve\": {\"partial\": true}}'.";

const HINT_LOST: &str = "The transaction had begun there, so it cannot be committed. Ask again in another one, which leaves the shard out where it is not there.";

impl SearchedShards {
    /// Those of a pipeline.
    pub fn of(pipeline: &Pipeline) -> Result<Self> {
        if !pipeline.has_shards {
            return Ok(SearchedShards::default());
        }
        let columns = view::columns(pipeline.view.oid)?;
        let others = columns.iter().filter(|column| column.name != "chunk_id");
        let columns: Vec<String> = others.map(|column| format!("c.{}", column.name)).collect();
        Ok(SearchedShards { all: shard::of(pipeline)?, columns: columns.join(", ") })
    }

    /// What users call the shard that a chunk is of.
    pub fn name_of(&self, chunk_id: i64) -> Option<Box<str>> {
        let number = shard::number_of(chunk_id);
        let own = self.all.iter().find(|shard| shard.number == number);
        own.map(|shard| shard.name().into_boxed_str())
    }
}

/// The chunks whose keys a parameter has, as a relation with these columns.
pub(super) fn chunks(shards: &[&Shard], columns: &str, keys: &str) -> String {
    of_keys(shards, query!(shard.chunks_branch), keys, &[("columns", columns)])
}

/// The chunks of the documents of which some chunks are, as a relation with these columns.
pub(super) fn documents(shards: &[&Shard], columns: &str, key: &ViewColumn, keys: &str) -> String {
    let operators = Operators::of(key.type_oid);
    let equal = operators.operator(Comparison::Equal);
    let values = [
        ("columns", columns),
        ("key", key.name.as_str()),
        ("cast", &operators.cast),
        ("equal", &equal),
    ];
    of_keys(shards, query!(shard.documents_branch), keys, &values)
}

/// The condition that two chunks, `v` and `h`, are of one shard: rows of different shards may have the same key.
pub(super) fn same_shard() -> String {
    render(query!(shard.same_shard), &[("bits", &shard::OWN_BITS.to_string())])
}

fn of_keys(shards: &[&Shard], template: &str, keys: &str, values: &[(&str, &str)]) -> String {
    let branch = |shard: &&Shard| {
        let (offset, next) = (shard.offset().to_string(), shard.end().to_string());
        let own = [("offset", &*offset), ("next", &next), ("keys", keys)];
        let own = render(query!(shard.own_chunks), &own);
        let of_shard = [("offset", &*offset), ("table", &shard.relation.sql), ("own", &own)];
        render(template, &[&of_shard, values].concat())
    };
    let branches: Vec<String> = shards.iter().map(branch).collect();
    render(query!(shard.chunks), &[("branches", &branches.join("\nUNION ALL\n"))])
}

/// What a shard answers.
struct ShardAnswer<T> {
    number: i32,
    /// The model that its chunks are embedded by now.
    model: String,
    said: T,
}

/// What all shards say of themselves, each in a branch that `template` makes of its description.
fn of_all(shards: &[&Shard], template: &str) -> String {
    let branch = |shard: &&Shard| {
        let values = [
            ("number", &*shard.number.to_string()),
            ("table", &shard.description.sql),
            ("remote", &pgrx::spi::quote_literal(&shard.remote)),
            ("view", &pgrx::spi::quote_literal(json!([shard.schema, shard.view]).to_string())),
        ];
        render(template, &values)
    };
    let branches: Vec<String> = shards.iter().map(branch).collect();
    render(query!(shard.of_all), &[("branches", &branches.join("\nUNION ALL\n"))])
}

/// Has the planner leave grouping to the other server, which alone can call the functions for shards, until this is
/// dropped.
fn computed_there() -> LocalSettings {
    let mut settings = LocalSettings::new();
    settings.set(c"enable_hashagg", c"off");
    settings.set(c"enable_sort", c"off");
    settings
}

impl Search {
    /// By which statistics words are ranked: the parameters of the formula, the number of all chunks, the sum of
    /// their lengths, and of each of `words`, a tsquery, in how many chunks it is. No words have no frequencies.
    fn statistics(&self, shards: &[&Shard], words: Option<&str>) -> Result<Vec<f64>> {
        let settings = bm25::settings();
        let mut statistics = vec![settings.k1, settings.b];
        statistics.extend(match words {
            Some(words) => self.counted(shards, words)?,
            None => vec![0.0; 2],
        });
        Ok(statistics)
    }

    /// The sums of what the shards count.
    fn counted(&self, shards: &[&Shard], words: &str) -> Result<Vec<f64>> {
        let statement = of_all(shards, query!(shard.statistics_branch));
        let settings = computed_there();
        let found = prepared::rows_planned_for_values(&statement, &[words.into()], |row| {
            let (number, model) = (required(row.get(1)?)?, required(row.get(2)?)?);
            Ok(ShardAnswer { number, model, said: required(row.get::<Vec<f64>>(3)?)? })
        })?;
        drop(settings);
        let mut sums: Vec<f64> = Vec::new();
        for counted in self.of_each(shards, found)? {
            sums.resize(sums.len().max(counted.len()), 0.0);
            sums.iter_mut().zip(&counted).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    /// What each shard has said, if all are there and have the pipeline's model.
    fn of_each<T>(&self, shards: &[&Shard], answers: Vec<ShardAnswer<T>>) -> Result<Vec<T>> {
        let mut answers: HashMap<i32, ShardAnswer<T>> =
            answers.into_iter().map(|it| (it.number, it)).collect();
        let own = shards.iter().map(|shard| match answers.remove(&shard.number) {
            None => Err(gone(shard, self.pipeline())),
            Some(it) if it.model != self.pipeline().model => {
                Err(other_model(shard, &it.model, self.pipeline()))
            }
            Some(it) => Ok(it.said),
        });
        own.collect()
    }

    /// Does `work` with the statements for all shards, or for those that answer if the options are content with
    /// them. Fails with the server's SQLSTATE where one does not answer, and they are not, or none answers, or the
    /// transaction had begun there: its end would fail, too.
    pub(super) fn asking<T>(
        &self,
        filter: &FilterSql,
        work: impl Fn(&Statements<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut statements = Statements::new(self, filter);
        if statements.shards.is_empty() {
            return work(&statements);
        }
        if !self.options.partial {
            return match noticing_loss(|| work(&statements)) {
                Ok(done) => done,
                Err(lost) => lost.raise(&statements.shards, self.pipeline(), HINT),
            };
        }
        let begun = trace::depth();
        let mut is_repeated = false;
        loop {
            let lost = match attempt(|| work(&statements)) {
                Ok(done) => return done,
                Err(lost) => lost,
            };
            trace::close(begun);
            self.check_can_go_on(&statements.shards, &lost);
            let dead = self.dead(&statements.shards);
            let are_all_alive = dead.is_empty();
            if dead.len() == statements.shards.len() || are_all_alive && is_repeated {
                lost.raise(&statements.shards, self.pipeline(), HINT);
            }
            // One that is there again by now is asked once more.
            is_repeated |= are_all_alive;
            if !are_all_alive {
                statements.shards.retain(|shard| dead.iter().all(|it| it.0 != shard.number));
                self.tell_missing(&statements.shards, &dead);
            }
        }
    }

    /// Raises a loss after which the transaction cannot be committed, whatever the others answer.
    fn check_can_go_on(&self, shards: &[&Shard], lost: &LostShard) {
        if lost.ends_transaction() {
            lost.raise(shards, self.pipeline(), HINT_LOST);
        }
    }

    /// The numbers of the shards that do not answer, and what was heard instead.
    fn dead(&self, shards: &[&Shard]) -> Vec<(i32, LostShard)> {
        let lost = |shard: &&Shard| {
            let statement = render(query!(shard.probe), &[("table", &shard.relation.sql)]);
            let lost = attempt(|| sql::rows(&statement, &[], |_| Ok(()))).err()?;
            self.check_can_go_on(&[*shard], &lost);
            Some((shard.number, lost))
        };
        shards.iter().filter_map(lost).collect()
    }

    /// Says which shards an answer is without.
    fn tell_missing(&self, asked: &[&Shard], dead: &[(i32, LostShard)]) {
        let name = &self.pipeline().name;
        for (number, LostShard { message, .. }) in dead {
            let missing = self.shards.all.iter().filter(|shard| shard.number == *number);
            for shard in missing.map(Shard::name) {
                warning!(
                    "shard \"{shard}\" of pipeline \"{name}\" does not answer, and is left out: {message}"
                );
            }
        }
        let is_asked = |shard: &&Shard| asked.iter().any(|it| it.number == shard.number);
        let missing = self.shards.all.iter().filter(|shard| !is_asked(shard)).map(Shard::name);
        let missing: Vec<String> = missing.collect();
        let detail = format!("without {}", missing.join(", "));
        trace::done("shards", detail, std::time::Duration::ZERO, Default::default());
    }
}

fn gone(shard: &Shard, pipeline: &Pipeline) -> Error {
    let (name, remote, server) = (&pipeline.name, &shard.remote, &shard.server);
    let message = format!(
        "pipeline \"{remote}\", a shard of \"{name}\", is not there on server \"{server}\""
    );
    Error::new(ErrorKind::UndefinedObject, message)
        .hint("It was dropped or renamed, or the role of the user mapping may not read it.")
}

fn other_model(shard: &Shard, model: &str, pipeline: &Pipeline) -> Error {
    let (name, own) = (&pipeline.name, &pipeline.model);
    let message = format!(
        "pipeline \"{name}\" has model \"{own}\", and its shard \"{}\" now has \"{model}\"",
        shard.name()
    );
    Error::new(ErrorKind::DimensionMismatch, message)
        .hint("Once all shards have the same model, drop the pipeline and create it again.")
}
