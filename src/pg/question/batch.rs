//! Many questions at once.
//!
//! ```text
//! questions → searches, one for all questions of the same pipelines → vectors of many questions a request → rows
//! ```
//!
//! A question is searched for when its first row is asked for, so the rows of thousands of questions are never in memory
//! together.

use std::collections::{HashMap, VecDeque};

use super::federation::FederatedSearch;
use super::options::CallOptions;
use super::request::{QuestionRequest, required_question};
use super::route::ChosenPipeline;
use super::search::{ModelVector, SoughtQuestion};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, Result};
use crate::pg::ragd::embed::Embedding;
use crate::pg::server::role::CallerRole;
use crate::retrieve::Passage;

/// Questions whose vectors are made together and wait in memory.
const EMBEDDED: usize = 256;

/// The rows of many questions, question by question, each with the number of its question.
pub struct QuestionBatch {
    searches: Vec<FederatedSearch>,
    /// Questions that are not embedded yet.
    waiting: std::vec::IntoIter<BatchedQuestion>,
    embedded: VecDeque<(BatchedQuestion, Vec<ModelVector>)>,
    /// Number of the question whose rows are given, and what is left of them.
    number: i32,
    found: std::vec::IntoIter<Passage>,
    caller: CallerRole,
}

/// A question with its place in the array, from 1.
struct BatchedQuestion {
    number: i32,
    text: String,
    /// Which of the searches looks it up.
    search: usize,
}

/// Where the questions of a batch go.
struct BatchPlan<'a, 'b> {
    request: &'a QuestionRequest<'b>,
    call: &'a CallOptions,
    searches: Vec<FederatedSearch>,
    known: HashMap<Vec<ChosenPipeline>, usize>,
    /// The search for all questions, where the question makes no difference.
    common: Option<usize>,
}

impl BatchPlan<'_, '_> {
    fn place(&mut self, number: i32, text: String) -> Result<BatchedQuestion> {
        pgrx::check_for_interrupts!();
        required_question(Some(&text))?;
        let search = match self.common {
            Some(search) => search,
            None => self.search_for(&text)?,
        };
        Ok(BatchedQuestion { number, text, search })
    }

    fn search_for(&mut self, text: &str) -> Result<usize> {
        let chosen = self.request.chosen(self.call, text)?;
        let depends = self.request.depends_on_question(self.call, &chosen);
        let search = match self.known.get(&chosen) {
            Some(search) => *search,
            None => {
                self.searches.push(self.request.search(self.call, &chosen)?);
                let search = self.searches.len() - 1;
                self.known.insert(chosen, search);
                search
            }
        };
        self.common = (!depends).then_some(search);
        Ok(search)
    }
}

impl QuestionBatch {
    /// What `request` asks of each of `questions`; of those that are NULL, nothing.
    ///
    /// Fails for a question that is empty, with its number.
    pub(super) fn new(
        request: &QuestionRequest<'_>,
        call: &CallOptions,
        questions: Vec<Option<String>>,
    ) -> Result<QuestionBatch> {
        let (searches, known) = (Vec::new(), HashMap::new());
        let mut plan = BatchPlan { request, call, searches, known, common: None };
        let numbered = (1..).zip(questions).filter_map(|(number, text)| Some((number, text?)));
        let waiting = numbered
            .map(|(number, text)| plan.place(number, text).map_err(|error| about(number, error)))
            .collect::<Result<Vec<_>>>()?;
        Ok(QuestionBatch {
            searches: plan.searches,
            waiting: waiting.into_iter(),
            embedded: VecDeque::new(),
            number: 0,
            found: Vec::new().into_iter(),
            caller: CallerRole::current(),
        })
    }

    /// Searches for the next question; whether there is one.
    fn search_next(&mut self) -> Result<bool> {
        pgrx::check_for_interrupts!();
        self.caller.check("the questions were asked")?;
        if self.embedded.is_empty() {
            self.embed()?;
        }
        let Some((question, vectors)) = self.embedded.pop_front() else { return Ok(false) };
        let BatchedQuestion { number, text, search } = question;
        let sought = SoughtQuestion { embedded: &vectors, ..SoughtQuestion::asked(&text) };
        let found = self.searches[search].find(&sought).map_err(|error| about(number, error))?;
        (self.number, self.found) = (number, found.into_iter());
        Ok(true)
    }

    /// Has the next questions embedded, those of the same search and model together.
    fn embed(&mut self) -> Result<()> {
        let questions: Vec<BatchedQuestion> = self.waiting.by_ref().take(EMBEDDED).collect();
        let mut vectors: Vec<Vec<ModelVector>> = questions.iter().map(|_| Vec::new()).collect();
        for (at, search) in self.searches.iter().enumerate() {
            let own = || questions.iter().enumerate().filter(|(_, it)| it.search == at);
            let texts: Vec<String> = own().map(|(_, it)| it.text.clone()).collect();
            if texts.is_empty() {
                continue;
            }
            for (model, context) in search.embedding_models() {
                let mut embedding = Embedding::with_model(Some(model), context)?;
                let made = embedding.embed(&texts, EmbeddingKind::Query)?;
                for ((place, _), vector) in own().zip(made) {
                    vectors[place].push((model.to_owned(), vector));
                }
            }
        }
        self.embedded = questions.into_iter().zip(vectors).collect();
        Ok(())
    }
}

impl Iterator for QuestionBatch {
    type Item = Result<(i32, Passage)>;

    fn next(&mut self) -> Option<Result<(i32, Passage)>> {
        loop {
            if let Some(passage) = self.found.next() {
                return Some(Ok((self.number, passage)));
            }
            match self.search_next() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// An error of one of the questions.
fn about(number: i32, error: Error) -> Error {
    error.fact(format!("It is about question {number} of the array."))
}
