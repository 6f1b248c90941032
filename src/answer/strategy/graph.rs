//! What rows and texts say of the entities that a question asks about, path by path.
//!
//! A language model picks entities and predicates, of those that there are and the caller sees; the paths over them are what
//! is answered from, as the rows of a query are. Where there are none, there is no answer.

use super::compact::answer_from;
use super::local::answer_with_graph;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::Material;
use crate::error::Result;
use crate::prompt::place;

/// `graph`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "graph",
    description: "has entities and predicates of the graph picked, and answers from the paths over their relations instead of documents",
    calls: "2",
    options: &[],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let menu = desk.relation_menu()?;
    let told = menu.told();
    if told.is_empty() {
        return answer_from(desk, &[]);
    }
    let material = Material { question: desk.question, notes: &told, ..Material::default() };
    let prompt = desk.prompt(place::PICK_RELATIONS, material)?;
    let reply = desk.prepare("pick", prompt)?.unwrap_or_default();
    let (notes, sources) = desk.related(&menu.picked(&reply, desk.question))?;
    answer_with_graph(desk, &notes, &sources)
}
