//! A search of a pipeline whose chunks are those of pipelines in other databases.
//!
//! The question is embedded here, once. What is asked of the shards goes over foreign tables, as the caller: who he is
//! mapped to on a server decides what he sees there. Each statement has a branch for every shard, in a form for which
//! postgres_fdw sends order and limit along and asks all shards at the same time.
//!
//! Words are ranked by the statistics of all shards, which are fetched first. So scores are those of a single
//! server that has all chunks, and no shard's own idea of which words are rare counts.

mod lost;
mod own_figures;
mod row_estimates;

use std::collections::{HashMap, HashSet};

use pgrx::prelude::*;
use pgrx::spi::SpiHeapTupleData;

use self::lost::{LostShard, attempt, noticing_loss};
pub use self::own_figures::{database_number, own_statistics};
use self::row_estimates::ManyRows;
pub use self::row_estimates::register_row_estimates;
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
use crate::pg::server::vector::Vector;
use crate::pg::server::{prepared, sql};
use crate::retrieve::filter::Comparison;
use crate::retrieve::fusion::FusedCandidate;

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

/// What all shards put forward, where `of` makes a statement of how the number of a chunk is written, a relation, and
/// the parameter that says how many it gives.
pub(super) fn found(shards: &[&Shard], of: impl Fn(&str, &str, &str) -> String) -> String {
    let branch = |shard: &&Shard| {
        let offset = shard.offset().to_string();
        let chunk_id = render(query!(retrieve.chunk_id_of_shard), &[("offset", &offset)]);
        format!("({})", of(&chunk_id, &shard.relation.sql, "$7"))
    };
    let branches: Vec<String> = shards.iter().map(branch).collect();
    render(query!(shard.found), &[("branches", &branches.join("\nUNION ALL\n"))])
}

/// Has the shards sort and cut what they send, until this is dropped.
pub(super) fn sorted_there() -> (ManyRows, LocalSettings) {
    let mut settings = LocalSettings::new();
    // What so many rows would cost is no reason to compile a plan that asks others for a few.
    settings.set(c"jit", c"off");
    (ManyRows::expect(), settings)
}

/// How many chunks each shard is asked for, of which the best `most` of all are wanted: its share if they are spread
/// by chance, and six standard deviations more. What comes from a shard is read digit by digit, which takes longer than to
/// find it.
pub(super) fn share_of(most: i64, shards: usize) -> i64 {
    let expected = most as f64 / shards.max(1) as f64;
    ((expected + 6.0 * expected.sqrt()).ceil() as i64).min(most)
}

/// Whether a shard has given as many of what was `found` as it was asked for, so that it may have others that belong to
/// the best `most`.
pub(super) fn is_cut(found: &[FusedCandidate], share: i64, most: i64) -> bool {
    let mut given: HashMap<i32, i64> = HashMap::new();
    for one in found {
        *given.entry(shard::number_of(one.chunk_id)).or_default() += 1;
    }
    share < most && given.values().any(|count| *count >= share)
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

/// What a shard says of itself when a question is asked.
struct CountedShard {
    number: i32,
    model: String,
    /// How frequent the words of the question are.
    counted: Vec<f64>,
}

/// A row of `statistics` of shard.sql.
fn counted_shard(row: &SpiHeapTupleData<'_>) -> Result<CountedShard, pgrx::spi::Error> {
    let counted = required(row.get::<Vec<f64>>(3)?)?;
    Ok(CountedShard { number: required(row.get(1)?)?, model: required(row.get(2)?)?, counted })
}

/// `statistics` of shard.sql over the descriptions of shards.
fn of_descriptions(shards: &[&Shard], template: &str) -> String {
    let branch = |shard: &&Shard| {
        let values = [
            ("number", &*shard.number.to_string()),
            ("table", &shard.description.sql),
            ("remote", &pgrx::spi::quote_literal(&shard.remote)),
        ];
        render(template, &values)
    };
    let branches: Vec<String> = shards.iter().map(branch).collect();
    render(query!(shard.statistics), &[("branches", &branches.join("\nUNION ALL\n"))])
}

impl Search {
    /// By which statistics words are ranked: the parameters of the formula, the number of all chunks, the sum of
    /// their lengths, and of each of `words`, a tsquery, in how many chunks it is. No words have no frequencies.
    pub(super) fn statistics(
        &self,
        statements: &Statements<'_>,
        words: Option<&str>,
    ) -> Result<Vec<f64>> {
        let settings = bm25::settings();
        let mut statistics = vec![settings.k1, settings.b];
        let counted = match words {
            Some(words) => self.counted(&statements.shards, words)?,
            None => {
                self.check_models(&statements.shards)?;
                vec![0.0; 2]
            }
        };
        statistics.extend(counted);
        Ok(statistics)
    }

    /// The sums of what the shards count.
    fn counted(&self, shards: &[&Shard], words: &str) -> Result<Vec<f64>> {
        let statement = of_descriptions(shards, query!(shard.statistics_branch));
        // What groups is the other server, which alone can count.
        let mut settings = LocalSettings::new();
        settings.set(c"enable_hashagg", c"off");
        settings.set(c"enable_sort", c"off");
        let found = prepared::rows_planned_for_values(&statement, &[words.into()], counted_shard)?;
        drop(settings);
        let mut sums: Vec<f64> = Vec::new();
        for counted in self.of_each(shards, found)? {
            sums.resize(sums.len().max(counted.len()), 0.0);
            sums.iter_mut().zip(&counted).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }

    /// An error where a shard is gone or has another model, for a question that has no words to be counted.
    fn check_models(&self, shards: &[&Shard]) -> Result<()> {
        let statement = of_descriptions(shards, query!(shard.model_branch));
        let found = prepared::rows(&statement, &[], counted_shard)?;
        self.of_each(shards, found).map(drop)
    }

    /// What was counted in each shard, if all are there and have the pipeline's model.
    fn of_each(&self, shards: &[&Shard], found: Vec<CountedShard>) -> Result<Vec<Vec<f64>>> {
        let mut found: HashMap<i32, CountedShard> =
            found.into_iter().map(|it| (it.number, it)).collect();
        let own = shards.iter().map(|shard| match found.remove(&shard.number) {
            None => Err(gone(shard, self.pipeline())),
            Some(it) if it.model != self.pipeline().model => {
                Err(other_model(shard, &it.model, self.pipeline()))
            }
            Some(it) => Ok(it.counted),
        });
        own.collect()
    }

    /// Has those of `lexical` a similarity that are not among the nearest. Vectors do not travel with all texts that a
    /// shard puts forward, since most of them are not kept.
    pub(super) fn add_similarities(
        &self,
        statements: &Statements<'_>,
        vector: &Vector,
        dense: &[FusedCandidate],
        lexical: &mut [FusedCandidate],
    ) -> Result<()> {
        let known: HashSet<i64> = dense.iter().map(|one| one.chunk_id).collect();
        let others = lexical.iter().map(|one| one.chunk_id).filter(|id| !known.contains(id));
        let others: Vec<i64> = others.collect();
        if others.is_empty() {
            return Ok(());
        }
        let arguments = [vector.clone().into(), others.into()];
        let found = prepared::rows(&statements.similarities(), &arguments, |row| {
            Ok((required(row.get::<i64>(1)?)?, row.get::<f64>(2)?))
        })?;
        let found: HashMap<i64, Option<f64>> = found.into_iter().collect();
        for one in lexical {
            one.similarity = one.similarity.or(found.get(&one.chunk_id).copied().flatten());
        }
        Ok(())
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

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::*;

    #[pg_extern]
    fn a_shard_is_asked_for_its_share_and_more() {
        assert_eq!([1, 2, 4].map(|shards| share_of(100, shards)), [100, 93, 55]);
        assert_eq!((share_of(8, 3), share_of(1, 256), share_of(100_000, 4)), (8, 1, 25_949));
    }

    #[pg_extern]
    fn a_shard_that_has_more_than_its_share_is_asked_again() {
        let found = |of_first: i64, of_second: i64| -> Vec<FusedCandidate> {
            let of = |number, count| (0..count).map(move |id| shard::offset(number) + id);
            let ids = of(1, of_first).chain(of(2, of_second));
            let found =
                ids.map(|chunk_id| FusedCandidate { chunk_id, similarity: None, lexical: None });
            found.collect()
        };
        assert!(!is_cut(&found(10, 9), 11, 20));
        assert!(is_cut(&found(11, 9), 11, 20));
        assert!(!is_cut(&found(20, 0), 20, 20));
        assert!(!is_cut(&[], 1, 20));
    }
}
