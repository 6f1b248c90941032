//! Corrective RAG (CRAG; Yan et al., 2024, arXiv 2401.15884): what was found is graded before it
//! is answered from. Where nothing is relevant, another query is looked up; where that finds
//! nothing either, there is no answer.
//!
//! The paper's three cases: a source from the least grade on makes the search *correct*, and only
//! such sources are answered from; below half of it all are thrown away (*incorrect*); what lies
//! between is *ambiguous*, and is kept beside what the next search finds. The paper trains a
//! grader and searches the web. Here a language model grades, and the same documents are searched
//! again in other words.

use super::compact::answer_from;
use super::desk::note;
use super::grade::grades;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::{list, place};

/// Grade from which a source is relevant.
const RELEVANT: f32 = 6.0;

/// Searches after the first one.
const ROUNDS: u32 = 1;

/// `corrective`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "corrective",
    description: "grades what was found and answers from the relevant sources; if there are none, \
        searches again in other words or abstains",
    calls: "2 if something relevant was found; 2 more for each of up to rounds (1) further searches",
    options: &["min_grade", "rounds"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let found = desk.found()?;
    let mut kept = KeptSources::default();
    let mut queries: Vec<String> = Vec::new();
    kept.sort(desk, found)?;
    let rounds = desk.options.rounds.unwrap_or(ROUNDS) as usize;
    while kept.relevant.is_empty() && !kept.is_blind && queries.len() < rounds {
        let Some(query) = other_query(desk, &queries)? else { break };
        let mut new = desk.look_up(&query)?;
        new.retain(|one| !kept.seen.contains(&one.number));
        kept.sort(desk, new)?;
        queries.push(query);
    }
    let mut sources = kept.relevant;
    if !queries.is_empty() || sources.is_empty() {
        sources.extend(kept.doubtful);
    }
    let shown = best(desk, sources)?;
    answer_from(desk, &shown)
}

/// As many of the graded sources as a call can show, the best of them, in the order of their numbers.
fn best(desk: &mut Desk<'_>, mut sources: Vec<(f32, Numbered)>) -> Result<Vec<Numbered>> {
    sources.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let sources: Vec<Numbered> = sources.into_iter().map(|(_, one)| one).collect();
    let mut sources = desk.groups(&sources, usize::MAX)?.into_iter().next().unwrap_or_default();
    sources.sort_by_key(|one| one.number);
    Ok(sources)
}

/// What the grades have made of the sources.
#[derive(Default)]
struct KeptSources {
    relevant: Vec<(f32, Numbered)>,
    doubtful: Vec<(f32, Numbered)>,
    seen: Vec<usize>,
    /// Whether there were sources and no grades.
    is_blind: bool,
}

impl KeptSources {
    /// Grades `sources` and throws away what has nothing to do with the question. What could not
    /// be graded is doubtful.
    fn sort(&mut self, desk: &mut Desk<'_>, sources: Vec<Numbered>) -> Result<()> {
        if sources.is_empty() {
            return Ok(());
        }
        let least = desk.options.min_grade.unwrap_or(RELEVANT);
        let grades = grades(desk, &sources)?;
        self.is_blind |= grades.is_empty();
        for one in sources {
            self.seen.push(one.number);
            match grades.get(&one.number) {
                Some(grade) if *grade >= least => self.relevant.push((*grade, one)),
                Some(grade) if *grade < least / 2.0 => {}
                // As good as the worst of those that are kept.
                grade => self.doubtful.push((grade.copied().unwrap_or(least / 2.0), one)),
            }
        }
        Ok(())
    }
}

/// Another query; `None` where the model has none, or the budget.
fn other_query(desk: &mut Desk<'_>, queries: &[String]) -> Result<Option<String>> {
    let mut tried = vec![note(desk.question)];
    tried.extend(queries.iter().cloned());
    let material = Material { question: desk.question, notes: &tried, ..Material::default() };
    let prompt = desk.prompt(place::SEARCH_AGAIN, material)?;
    let reply = desk.prepare("rewrite", prompt)?.unwrap_or_default();
    let new = list::questions(&reply, desk.question, queries.len() + 1);
    Ok(new.into_iter().find(|query| !queries.contains(query)))
}
