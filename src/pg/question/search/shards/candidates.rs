//! What all shards put forward for a question, as one list.

use std::collections::HashSet;

use super::{ShardAnswer, computed_there, of_all};
use crate::error::{Error, ErrorKind, Result};
use crate::exact;
use crate::pg::catalog::shard::{self, Shard};
use crate::pg::question::search::lookup::LookupTerms;
use crate::pg::question::search::statement::Statements;
use crate::pg::question::search::text::TsVector;
use crate::pg::question::search::{Search, shards};
use crate::pg::ragd::trace;
use crate::pg::server::prepared;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::{self, query, render, required};
use crate::retrieve::fusion::{Candidate, fuse};
use crate::retrieve::options::MOST_CANDIDATES;
use crate::retrieve::proximity::{PlacedWords, RemoteTexts};
use crate::retrieve::shard_search::{ShardCandidates, ShardRequest};

impl Search {
    /// What all shards find, as one list, best first.
    pub(in crate::pg::question::search) fn found_by_shards(
        &self,
        statements: &Statements<'_>,
        asked: &LookupTerms,
    ) -> Result<Vec<Candidate>> {
        let found = trace::step("shards", String::new, || {
            let found = self.put_forward_by_shards(statements, asked)?;
            let both = found.dense.iter().chain(&found.lexical);
            trace::rows(both.map(|one| one.chunk_id).collect::<HashSet<i64>>().len());
            Ok(found)
        })?;
        trace::found("fuse", String::new, || self.fused(statements, asked, found))
    }

    /// The best of what shards put forward.
    fn put_forward_by_shards(
        &self,
        statements: &Statements<'_>,
        asked: &LookupTerms,
    ) -> Result<ShardCandidates> {
        let LookupTerms { vector, words, question } = asked;
        let most = u32::try_from(self.candidates()).unwrap_or(MOST_CANDIDATES);
        let request = ShardRequest {
            vector: vector.as_ref().map(|vector| vector.0.clone()),
            words: words.clone(),
            statistics: self.statistics(&statements.shards, words.as_deref())?,
            terms: self.looks_closer().then(|| question.clone()),
            filters: statements.filter.written.iter().map(exact::written).collect(),
            settings: LocalSettings::reading(),
            most,
        };
        let all = self.ask_shards(&statements.shards, &request)?;
        Ok(ShardCandidates::merged(all, most as usize))
    }

    /// What each shard puts forward, under the keys that its chunks have here.
    fn ask_shards(
        &self,
        shards: &[&Shard],
        request: &ShardRequest,
    ) -> Result<Vec<ShardCandidates>> {
        let statement = of_all(shards, query!(shard.candidates_branch));
        let settings = computed_there();
        let found = prepared::rows(&statement, &[request.encode()?.into()], |row| {
            let (number, model) = (required(row.get(1)?)?, required(row.get(2)?)?);
            Ok(ShardAnswer { number, model, said: required(row.get::<Vec<u8>>(3)?)? })
        })?;
        drop(settings);
        let found = self.of_each(shards, found)?;
        let read = shards.iter().zip(found).map(|(shard, sent)| {
            let found = ShardCandidates::decode(&sent, request.most);
            let found = found.and_then(|found| found.with_keys(|own| key(shard, own)));
            found.map_err(|why| unreadable(shard, &why))
        });
        read.collect()
    }

    /// One list of the candidates of both sides. Shards have said how words stand in their texts, but only the best text
    /// itself tells whether it names others.
    fn fused(
        &self,
        statements: &Statements<'_>,
        asked: &LookupTerms,
        found: ShardCandidates,
    ) -> Result<Vec<Candidate>> {
        let ShardCandidates { dense, lexical, texts: of, best: mut words } = found;
        let mut texts = RemoteTexts { question: asked.question.clone(), of, best: None };
        let options = self.fitted_options();
        let fused = fuse(&dense, &lexical, &texts, &options);
        let best = fused.first().map(|one| one.chunk_id).filter(|_| !texts.of.is_empty());
        let Some(best) = best else { return Ok(fused) };
        let words = match words.remove(&best) {
            Some(words) => Some(words),
            None => self.words_of(statements, best)?,
        };
        texts.best = Some(best).zip(words);
        Ok(fuse(&dense, &lexical, &texts, &options))
    }

    /// The words of a chunk; `None` where it is not there any more.
    fn words_of(&self, statements: &Statements<'_>, chunk_id: i64) -> Result<Option<PlacedWords>> {
        let number = shard::number_of(chunk_id);
        let own = statements.shards.iter().filter(|shard| shard.number == number);
        let own: Vec<&Shard> = own.copied().collect();
        let view = shards::chunks(&own, "c.tsv", "$1");
        let statement = render(query!(shard.words), &[("view", &view)]);
        let arguments = [vec![chunk_id].into()];
        let found = sql::rows(&statement, &arguments, |row| row.get::<TsVector>(1))?;
        Ok(found.into_iter().flatten().next().map(|words| PlacedWords::new(&words)))
    }
}

/// The key that a chunk of a shard has here. Fails with the reason where that would be one of another shard.
fn key(shard: &Shard, own: i64) -> Result<i64, String> {
    let key = own.checked_add(shard.offset()).filter(|key| *key < shard.end());
    key.filter(|_| own >= 0).ok_or_else(|| format!("no chunk can have the number {own}"))
}

fn unreadable(shard: &Shard, why: &str) -> Error {
    let message = format!("cannot read what shard \"{}\" answers: {why}", shard.name());
    Error::new(ErrorKind::NotInState, message).hint("All servers need the same version of pg_rag.")
}
