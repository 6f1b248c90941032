//! What a search looks up: words and vectors, and what each of them finds.

use std::collections::{HashMap, HashSet};

use pgrx::datum::DatumWithOid;
use pgrx::pg_sys;

use super::statement::{self, Statements};
use super::text::TsVector;
use super::{Search, SoughtQuestion};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::trace;
use crate::pg::server::guc::{self, IterativeScan};
use crate::pg::server::role::LocalSettings;
use crate::pg::server::row_security::{RankingByIndex, hides_rows};
use crate::pg::server::sql::query;
use crate::pg::server::vector::Vector;
use crate::pg::server::{prepared, sql};
use crate::pg::text_search::{any_of, question_words, quoted};
use crate::retrieve::SearchMode;
use crate::retrieve::fusion::{
    self, Candidate, FusedCandidate, fuse, nearest_of_both, with_direction,
};
use crate::retrieve::merge::merged;
use crate::retrieve::proximity::{ClosenessTexts, MOST_TEXTS, QuestionTerms};
use crate::rewrite::feedback::{self, FeedbackChunk};
use crate::rewrite::{Lookup, RewriteMethod, Rewriting};
use crate::vector::has_direction;

/// Something to look up as the two sides want it.
pub struct LookupTerms {
    /// The vector to which chunks are to be near; `None`: words alone are looked up, as for a vector without direction,
    /// to which nothing is near.
    pub vector: Option<Vector>,
    /// The words as a tsquery; `None` where there are none.
    pub words: Option<String>,
    /// The words with their places.
    pub question: QuestionTerms,
}

/// What the two sides put forward.
pub struct Sides {
    /// The nearest vectors, best first.
    pub dense: Vec<FusedCandidate>,
    /// The texts that match best, best first.
    pub lexical: Vec<FusedCandidate>,
    /// The words of both, if it matters how they stand in a text.
    pub texts: ClosenessTexts<TsVector>,
}

impl Search {
    /// What `rewriting` is looked up by, and the vector of the question itself, if it has a direction. All that is
    /// embedded in the same way is embedded together; a vector of the caller's stands for all of it.
    pub(super) fn ask(
        &self,
        question: &SoughtQuestion<'_>,
        rewriting: &Rewriting,
    ) -> Result<(Option<Vector>, Vec<LookupTerms>)> {
        let lookups = &rewriting.lookups;
        let words = |lookup: &Lookup| match self.mode {
            SearchMode::Dense => Ok((None, QuestionTerms::default())),
            SearchMode::Lexical | SearchMode::Hybrid => self.words(&lookup.text),
        };
        let words = lookups.iter().map(words).collect::<Result<Vec<_>>>()?;
        if self.mode == SearchMode::Lexical {
            let asked = words.into_iter();
            let asked =
                asked.map(|(words, question)| LookupTerms { vector: None, words, question });
            return Ok((None, asked.collect()));
        }
        let (own, vectors) = match question.vector_for(self.pipeline())? {
            Some(Vector(given)) => (given.clone(), vec![given.clone(); lookups.len()]),
            None => self.embed(question, lookups)?,
        };
        let asked = words.into_iter().zip(vectors).map(|((words, question), vector)| LookupTerms {
            vector: directed(vector),
            words,
            question,
        });
        Ok((directed(own), asked.collect()))
    }

    /// The vector of the question, and one for each lookup.
    fn embed(
        &self,
        question: &SoughtQuestion<'_>,
        lookups: &[Lookup],
    ) -> Result<(Vec<f32>, Vec<Vec<f32>>)> {
        let model = self.pipeline().model.as_str();
        let mut embedding = Embedding::with_model(Some(model), self.context)?;
        let (question, known) = (question.text, question.known(model));
        let mut texts: Vec<String> =
            known.is_none().then(|| question.to_owned()).into_iter().collect();
        texts.extend(lookups.iter().map(|it| it.text.clone()).filter(|text| text != question));
        let mut others = match texts.is_empty() {
            true => Vec::new(),
            false => embedding.embed(&texts, EmbeddingKind::Query)?,
        }
        .into_iter();
        let passages: Vec<String> = lookups.iter().flat_map(|it| it.passages.clone()).collect();
        let mut passages = match passages.is_empty() {
            true => Vec::new(),
            false => embedding.embed(&passages, EmbeddingKind::Passage)?,
        };
        let own = known.map(<[f32]>::to_vec).or_else(|| others.next()).unwrap_or_default();
        let vector = |lookup: &Lookup| {
            let is_other = lookup.text != question;
            let text = if is_other { others.next() } else { None }.unwrap_or_else(|| own.clone());
            let rest = passages.split_off(lookup.passages.len());
            let mut all = std::mem::replace(&mut passages, rest);
            if all.is_empty() {
                return text;
            }
            all.push(text);
            feedback::mean(&all)
        };
        let vectors = lookups.iter().map(vector).collect();
        Ok((own, vectors))
    }

    /// The words as a tsquery, `None` where there are none, and with their places.
    fn words(&self, text: &str) -> Result<(Option<String>, QuestionTerms)> {
        let words = question_words(self.config()?, text)?;
        let places = words.iter().flat_map(|word| {
            word.places.iter().map(|place| (*place, word.lexeme.as_bytes().to_vec()))
        });
        Ok((any_of(&words), QuestionTerms::new(places.collect())))
    }

    /// The text search configuration. An SQL error where it is there no more.
    fn config(&self) -> Result<pg_sys::Oid> {
        let name = self.pipeline().config.as_str();
        let found = prepared::rows(query!(retrieve.config), &[name.into()], |row| {
            sql::required(row.get(1)?)
        })?;
        found.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Internal, "no configuration"))
    }

    /// What all of `asked` find, as one list.
    pub(super) fn find(
        &self,
        statements: &Statements<'_>,
        asked: &[LookupTerms],
        rewriting: &Rewriting,
    ) -> Result<Vec<Candidate>> {
        let find = |one: &LookupTerms| -> Result<Vec<Candidate>> {
            pgrx::check_for_interrupts!();
            if self.pipeline().has_shards {
                return self.found_by_shards(statements, one);
            }
            let Sides { dense, lexical, texts } = self.sides(statements, one, self.candidates())?;
            trace::found("fuse", String::new, || {
                let mut fused = fuse(&dense, &lexical, &texts, &self.fitted_options());
                if dense.is_empty() && hides_rows(self.pipeline().chunk_table.oid)? {
                    fusion::score_by_place(&mut fused);
                }
                Ok(fused)
            })
        };
        let mut lists = asked.iter().map(find).collect::<Result<Vec<_>>>()?;
        let has_feedback = self.rewriter.as_ref().is_some_and(|it| it.way == RewriteMethod::Prf);
        if let (true, [asked], [found]) = (has_feedback, asked, lists.as_slice())
            && let Some(again) = self.ask_again(statements, asked, found)?
        {
            lists.push(find(&again)?);
        }
        Ok(merged(lists, rewriting.merge))
    }

    /// What each side puts forward, `most` chunks each. Without a single word to look for, the vectors do alone.
    pub(super) fn sides(
        &self,
        statements: &Statements<'_>,
        asked: &LookupTerms,
        most: i64,
    ) -> Result<Sides> {
        let arguments = || -> Vec<DatumWithOid<'_>> {
            let mut arguments = vec![
                asked.vector.clone().into(),
                asked.words.clone().into(),
                statements.filter.values.clone().into(),
                most.into(),
                statements.lexical_index.into(),
            ];
            arguments.extend(statements.statistics.map(|it| it.to_vec().into()));
            arguments
        };
        let index = statements.lexical_index.filter(|_| statements.statistics.is_none());
        let _ranking = RankingByIndex::by(index, self.pipeline().chunk_table.oid);
        let _order = without_strict_order();
        let mut texts = ClosenessTexts { question: asked.question.clone(), of: HashMap::new() };
        let mut side = |statement: &str| {
            let mut read = 0;
            prepared::rows_planned_for_values(statement, &arguments(), |row| {
                let chunk_id = sql::required(row.get(1)?)?;
                read += 1;
                if read <= MOST_TEXTS
                    && let Some(words) = row.get::<TsVector>(4)?
                {
                    texts.of.insert(chunk_id, words);
                }
                Ok(FusedCandidate { chunk_id, similarity: row.get(2)?, lexical: row.get(3)? })
            })
        };
        let is_dense = asked.vector.is_some();
        let mut traced = |stage, is_asked: bool, statement: &str| match is_asked {
            true => trace::found(stage, String::new, || side(statement)),
            false => Ok(Vec::new()),
        };
        let mut dense = with_direction(traced("dense", is_dense, &statements.dense())?);
        // Who may read the chunks of a shard need not be allowed to read what represents them.
        let represented = statements.represented().filter(|_| statements.statistics.is_none());
        if let (Some(statement), true) = (represented, is_dense) {
            let represented = with_direction(traced("represented", true, &statement)?);
            dense = nearest_of_both(dense, represented, most as usize);
        }
        let lexical = traced("lexical", asked.words.is_some(), &statements.lexical())?;
        Ok(Sides { dense, lexical, texts })
    }

    /// The question with what the first of `found` say; `None` where nothing was found.
    fn ask_again(
        &self,
        statements: &Statements<'_>,
        asked: &LookupTerms,
        found: &[Candidate],
    ) -> Result<Option<LookupTerms>> {
        let options = &self.options.rewrite;
        let chunks = options.chunks.unwrap_or(feedback::CHUNKS) as usize;
        let first: Vec<i64> = found.iter().take(chunks).map(|one| one.chunk_id).collect();
        if first.is_empty() {
            return Ok(None);
        }
        let mut seen = sql::rows(
            &statements.feedback(asked.vector.is_some()),
            &[first.clone().into()],
            statement::seen,
        )?;
        seen.sort_by_key(|(chunk_id, _)| first.iter().position(|id| id == chunk_id));
        let seen: Vec<FeedbackChunk> = seen.into_iter().map(|(_, seen)| seen).collect();
        let weight = options.weight.unwrap_or(feedback::WEIGHT);
        let vector = asked.vector.as_ref();
        let vector = vector.map(|Vector(own)| Vector(feedback::moved(own, &seen, weight)));
        let terms = options.terms.unwrap_or(feedback::TERMS) as usize;
        let repeat = options.repeat.unwrap_or(feedback::REPEAT) as usize;
        let words =
            asked.words.as_deref().map(|words| with_likely_words(words, repeat, &seen, terms));
        Ok(Some(LookupTerms { vector, words, question: asked.question.clone() }))
    }
}

/// The vector of something to look up, where it has a direction.
fn directed(vector: Vec<f32>) -> Option<Vector> {
    has_direction(&vector).then_some(Vector(vector))
}

/// A tsquery of words, each as often as `repeat` says, with the likeliest words of chunks added once.
fn with_likely_words(words: &str, repeat: usize, seen: &[FeedbackChunk], most: usize) -> String {
    let known: HashSet<String> = seen
        .iter()
        .flat_map(|chunk| &chunk.words)
        .map(|(word, _)| word)
        .filter(|word| words.contains(&quoted(word)))
        .cloned()
        .collect();
    let likely = feedback::likely_words(seen, &known, most);
    let mut all = vec![words.to_owned(); repeat];
    all.extend(likely.iter().map(|word| quoted(word)));
    all.join(" | ")
}

/// While it lives, a scan of the vectors gives rows that it finds late out of order, and leaves none out:
/// the statements bring them into order, and a filter may keep few.
pub(super) fn without_strict_order() -> Option<LocalSettings> {
    let is_strict = guc::hnsw_iterative_scan() == IterativeScan::StrictOrder;
    is_strict.then(|| {
        let mut settings = LocalSettings::new();
        settings.set(c"rag_hnsw.iterative_scan", c"relaxed_order");
        settings
    })
}
