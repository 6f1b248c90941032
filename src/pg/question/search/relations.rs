//! What rows and texts say of the entities of a question, by chunks that the caller sees and that the filter lets pass.

use super::Search;
use crate::error::Result;
use crate::graph::paths::EntityPath;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::pg::question::entity_graph::EntityGraph;
use crate::pg::question::relation_graph::RelationGraph;

impl Search {
    /// What relations there are that `question` may ask for, for which these chunks were found.
    ///
    /// Fails where the pipeline has none, or the caller may not read them.
    pub fn relation_menu(&self, question: &str, chunks: &[i64]) -> Result<RelationMenu> {
        let menu = self.as_it_is(|statements| {
            let graph = EntityGraph::required(self.pipeline())?;
            let relations = RelationGraph::required(self.pipeline(), &graph, statements.filter)?;
            relations.menu(question, chunks)
        });
        match menu? {
            Some(menu) => Ok(menu),
            // Other chunks have taken the place of those that were found.
            None => self.renewed()?.relation_menu(question, &[]),
        }
    }

    /// What relations there are; `None` where there are none that the caller may read.
    pub fn all_relations(&self) -> Result<Option<RelationMenu>> {
        let pipeline = self.pipeline();
        let is_there =
            EntityGraph::readable(pipeline)?.is_some() && RelationGraph::is_readable(pipeline)?;
        is_there.then(|| self.relation_menu("", &[])).transpose()
    }

    /// The paths over what was picked, by rows that the filter lets pass.
    pub fn related(&self, picked: &PickedRelations) -> Result<Vec<EntityPath>> {
        let paths = self.as_it_is(|statements| {
            let graph = EntityGraph::required(self.pipeline())?;
            let relations = RelationGraph::required(self.pipeline(), &graph, statements.filter)?;
            relations.picked(picked.clone())
        });
        match paths? {
            Some(paths) => Ok(paths),
            None => self.renewed()?.related(picked),
        }
    }
}
