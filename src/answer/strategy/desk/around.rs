//! What a strategy looks up in the graph.

use super::{Desk, Preview};
use crate::context::step::Numbered;
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;

impl Desk<'_> {
    /// The communities of which chunks speak that the question finds, best first, each as numbered sources.
    pub fn communities(&mut self, quest: CommunityQuest) -> Result<Vec<Vec<Numbered>>> {
        if matches!(self.preview, Preview::Seen(_)) {
            return Ok(Vec::new());
        }
        let found = self.tools.communities(self.question, quest)?;
        found.into_iter().map(|sources| self.read(self.question, sources)).collect()
    }

    /// What is around the question in the graph: in words, as far as what is read says it, and as numbered sources.
    pub fn surroundings(&mut self, quest: CommunityQuest) -> Result<(Vec<String>, Vec<Numbered>)> {
        if matches!(self.preview, Preview::Seen(_)) {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut found = self.tools.surroundings(self.question, quest)?;
        let sources = self.read(self.question, std::mem::take(&mut found.sources))?;
        let reading = |one: &Numbered| self.readings.get(one.number - 1);
        let read = sources.iter().filter_map(reading).map(|it| it.source.id()).collect();
        Ok((found.told(&read), sources))
    }
}
