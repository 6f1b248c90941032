//! What a strategy looks up in the graph.

use super::{Desk, Preview};
use crate::answer::strategy::Surroundings;
use crate::context::step::Numbered;
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};

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
        let found = self.tools.surroundings(self.question, quest)?;
        self.read_around(found)
    }

    /// What relations there are that the question may ask for.
    pub fn relation_menu(&mut self) -> Result<RelationMenu> {
        self.tools.relation_menu(self.question)
    }

    /// What is said on the paths over these relations: in words, as far as what is read says it, and as numbered sources.
    pub fn related(&mut self, picked: &PickedRelations) -> Result<(Vec<String>, Vec<Numbered>)> {
        if matches!(self.preview, Preview::Seen(_)) {
            return Ok((Vec::new(), Vec::new()));
        }
        let found = self.tools.related(picked)?;
        self.read_around(found)
    }

    fn read_around(&mut self, mut found: Surroundings) -> Result<(Vec<String>, Vec<Numbered>)> {
        let sources = self.read(self.question, std::mem::take(&mut found.sources))?;
        let reading = |one: &Numbered| self.contents.readings.get(one.number - 1);
        let read = sources.iter().filter_map(reading).map(|it| it.source.id()).collect();
        Ok((found.told(&read), sources))
    }
}
