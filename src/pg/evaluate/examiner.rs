//! A question under a configuration, with all that is to be measured of it.

use super::answer::AnswerJudge;
use super::candidate::{CandidateConfiguration, Searched};
use super::context::{Judge, JudgedContexts};
use super::options::EvalOptions;
use crate::error::Result;
use crate::pg::catalog::evaluation::{Case, in_case};

/// Asks questions, and scores what comes of it as the options say.
pub struct Examiner<'a> {
    options: &'a EvalOptions,
    judge: Judge,
    answers: AnswerJudge,
}

impl<'a> Examiner<'a> {
    /// Fails where a language model is to judge and there is none.
    pub fn new(options: &'a EvalOptions) -> Result<Examiner<'a>> {
        let (judge, answers) = (Judge::new(options)?, AnswerJudge::new(options)?);
        Ok(Examiner { options, judge, answers })
    }

    /// What configurations find for one question, of which what they have in common is measured once.
    pub fn contexts<'b>(&'b self, case: &'b Case) -> JudgedContexts<'b> {
        self.judge.context(case)
    }

    /// Asks the question of a case under a configuration, and has it answered where answers are measured.
    pub fn ask(
        &self,
        contender: &mut CandidateConfiguration<'_>,
        case: &Case,
        contexts: &mut JudgedContexts<'_>,
    ) -> Result<Searched> {
        let mut searched = contender.search(case).map_err(|error| in_case(error, case))?;
        searched.scores.extend(contexts.scores(&searched.passages)?);
        if self.options.answers {
            contender
                .answer(case, &self.answers, &mut searched)
                .map_err(|error| in_case(error, case))?;
        }
        Ok(searched)
    }

    /// Warnings if replies of language models could not be read.
    pub fn warn(&self) {
        self.judge.warn();
        self.answers.warn();
    }
}
