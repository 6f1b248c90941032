//! Trees: what runs of a document's chunks say, what runs of these say, and what the document says as a whole.
//!
//! A tree over the corpus is made in the same way: the corpus is known as a document whose chunks are the roots of the others.
//!
//! Nodes are kept by the hash of what they cover, so a chunk that moves costs nothing, and a changed one as many
//! summaries as the tree has levels. They are made level by level: a summary of summaries waits for those.

pub mod changes;
mod corpus;
mod ground;
mod lookup;
pub mod option;

use serde_json::Value as Json;

use self::lookup::{TreeTables, bytes, first_chunk, hash_in, member};
use super::mentions::look_around;
use super::table::TableForm;
use super::{Derivation, DerivationItem, DerivedReply, DerivedText, UnembeddedText, option_name};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::template;
use crate::pg::catalog::view::content_columns;
use crate::pg::ragd::llm::Llm;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::vector::Vector;
use crate::prompt::messages::{Message, PromptSource};
use crate::prompt::template::Template;
use crate::tree::MemberHash;
use crate::tree::digest::{QuotedSentence, text_of};
use crate::tree::options::{SummaryMethod, TreeOptions, TreeScope};
use crate::tree::written::{self, TEMPLATE};

const KIND: DerivationKind = DerivationKind::Tree;

/// What [`DerivedText::kind`] says of a summary.
const SUMMARY: &str = "summary";

/// Documents that are looked at together.
const DOCUMENTS: i64 = 16;

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(tree.create_table),
    leaves: ("leaves", "content_hash"),
    comments: query!(tree.comment_table),
};

/// The key columns by which the chunks `c` are of one document.
fn document_keys(pipeline: &Pipeline) -> Result<String> {
    let keys = content_columns(pipeline)?.keys;
    let keys: Vec<String> = keys.iter().map(|key| format!("c.{}", key.name)).collect();
    Ok(keys.join(", "))
}

/// The trees of a pipeline's documents.
pub struct DocumentTrees {
    /// Who writes the summaries; `None` where they quote.
    writer: Option<TreeWriter>,
    /// Whether there is one over all documents.
    is_over_corpus: bool,
    /// In which way all documents have been summed up, or are to be; `None` where none is known yet.
    state: Option<Json>,
}

/// A language model that sums up.
struct TreeWriter {
    template: Template,
    /// The foreign server, as users name it.
    server: String,
    /// Server and model, as they are kept with a summary.
    llm: String,
}

impl DocumentTrees {
    /// Looks up what the stored option names; `state` is what is remembered of what was made.
    pub fn load(option: &Json, state: Option<Json>) -> Result<DocumentTrees> {
        let wanted = TreeOptions::read(option)?.unwrap_or_default();
        let is_over_corpus = wanted.over == TreeScope::Corpus;
        if wanted.summary == SummaryMethod::Extractive {
            return Ok(DocumentTrees { writer: None, is_over_corpus, state });
        }
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        let llm = Llm::or_default(wanted.llm.as_deref())?;
        let provider = llm.provider_for(option_name(KIND))?;
        let writer = TreeWriter {
            template,
            server: provider.name.clone(),
            llm: format!("{}/{}", provider.name, provider.model),
        };
        Ok(DocumentTrees { writer: Some(writer), is_over_corpus, state })
    }

    /// The foreign server that writes the summaries, if one does.
    pub fn llm(&self) -> Option<&str> {
        self.writer.as_ref().map(|it| it.server.as_str())
    }

    /// Template and language model, as they are kept with a summary; neither where it quotes.
    fn way(&self) -> (Option<&str>, Option<&str>) {
        let writer = self.writer.as_ref();
        writer.map(|it| (it.template.name.as_str(), it.llm.as_str())).unzip()
    }

    /// Has nodes that are to be kept, and what those were made of that they replace, be looked at: either may be of no tree.
    fn note_candidates(&self, pipeline: &Pipeline, relation: &str, nodes: &[&[u8]]) -> Result<()> {
        let statement = render(query!(tree.children_of), &[("tree", relation)]);
        let below = sql::rows(&statement, &[nodes.to_vec().into()], |row| {
            sql::required(row.get::<Vec<u8>>(1)?)
        })?;
        let candidates = nodes.iter().map(|it| it.to_vec()).chain(below);
        let candidates = candidates.map(member).collect::<Result<Vec<_>>>()?;
        changes::add_candidates(pipeline.id, &candidates)
    }

    fn put_node(&self, relation: &str, item: &DerivationItem, texts: &[DerivedText]) -> Result<()> {
        let insert = render(query!(tree.insert), &[("tree", relation)]);
        let (template, llm) = self.way();
        let DerivationItem { key, node, .. } = item;
        let Some(TreeNodeText { level, is_root, documents, leaves, children, sentences, .. }) =
            node.as_deref()
        else {
            return Ok(());
        };
        let is_written = self.writer.is_some() && self.needs_model(item) && !texts.is_empty();
        // A reply may come for a tree that is to quote by now.
        let text = match texts.first().filter(|_| is_written) {
            Some(written) => written.content.clone(),
            None => text_of(sentences),
        };
        let text = Some(text).filter(|it| !it.is_empty());
        let numbers = |of: fn(&QuotedSentence) -> u32| -> Vec<i32> {
            sentences.iter().map(|it| of(it) as i32).collect()
        };
        let arguments = [
            hash_in(key).into(),
            (*level as i32).into(),
            bytes(leaves).into(),
            bytes(children).into(),
            text.as_deref().into(),
            numbers(|it| it.leaf as u32 + 1).into(),
            numbers(|it| it.chars.start).into(),
            numbers(|it| it.chars.end).into(),
            (text.is_some() && leaves.len() > 1).into(),
            template.into(),
            llm.into(),
            is_written.into(),
            (*is_root).into(),
            (*documents as i32).into(),
        ];
        sql::execute(&insert, &arguments).map(drop)
    }
}

/// A node that is to be summed up, by the hashes of what it covers.
#[derive(Clone, Debug)]
pub struct TreeNodeText {
    level: u32,
    /// Whether it covers a whole document, or all of them.
    is_root: bool,
    /// How many documents it covers.
    documents: usize,
    leaves: Vec<MemberHash>,
    children: Vec<MemberHash>,
    /// The sentences that sum it up, whose `leaf` is a place among the leaves.
    sentences: Vec<QuotedSentence>,
    /// What its children say, where a language model sums them up.
    passages: Vec<PromptSource>,
}

impl Derivation for DocumentTrees {
    fn prepare(&self, pipeline: &Pipeline, relation: &str) -> Result<Option<Json>> {
        changes::prepare(self, pipeline, relation)
    }

    /// All nodes of a document that can be made come together, so that there may be more than `most`.
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        let tables = TreeTables::of(pipeline, relation, self)?;
        let (mut items, mut after) = (Vec::new(), first_chunk(after));
        while items.len() < most as usize {
            let documents = changes::changed(pipeline.id, after, DOCUMENTS)?;
            let Some(last) = documents.last() else { break };
            after = last.first_chunk;
            for document in documents {
                look_around();
                items.extend(tables.items(document)?);
            }
        }
        Ok(items)
    }

    fn count_missing(&self, pipeline: &Pipeline, _: &str, most: i64) -> Result<i64> {
        changes::count(pipeline.id, most)
    }

    /// Documents that begin alike, or are alike, share nodes.
    fn identity<'a>(&self, item: &'a DerivationItem) -> &'a [u8] {
        hash_in(&item.key)
    }

    /// A chunk alone says itself what it is about.
    fn needs_model(&self, item: &DerivationItem) -> bool {
        item.node.as_ref().is_some_and(|node| node.leaves.len() > 1 && !node.passages.is_empty())
    }

    fn messages(&self, item: &DerivationItem, nonce: &str) -> Result<Vec<Message>> {
        let Some(writer) = &self.writer else {
            return Err(Error::new(ErrorKind::Internal, "no language model is asked about a tree"));
        };
        match &item.node {
            Some(node) => written::messages(&writer.template, &node.passages, nonce),
            None => {
                let passage = written::passage(None, &item.content);
                written::messages(&writer.template, &[passage], nonce)
            }
        }
    }

    fn read(&self, _: &DerivationItem, reply: &str) -> DerivedReply {
        let text = |content| DerivedText { kind: SUMMARY.to_owned(), no: 1, content };
        written::summary(reply).map(text).into_iter().collect::<Vec<_>>().into()
    }

    fn composed(&self, item: &mut DerivationItem, _: &mut dyn FnMut()) -> Result<Vec<DerivedText>> {
        let text = |content| DerivedText { kind: SUMMARY.to_owned(), no: 1, content };
        if item.settled.is_some() {
            return Ok(vec![text(String::new())]);
        }
        let sentences = item.node.as_ref().map(|node| text_of(&node.sentences));
        Ok(sentences.filter(|it| !it.is_empty()).map(text).into_iter().collect())
    }

    /// A node that the language model refuses quotes.
    fn keep(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()> {
        let new = made.iter().filter(|(item, _)| item.node.is_some());
        let new: Vec<&[u8]> = new.map(|(item, _)| hash_in(&item.key)).collect();
        self.note_candidates(pipeline, relation, &new)?;
        for (item, texts) in made {
            self.put_node(relation, item, texts)?;
        }
        let settled: Vec<_> = made.iter().filter_map(|(item, _)| item.settled.as_ref()).collect();
        changes::settle(pipeline.id, relation, &settled, self.is_over_corpus)
    }

    /// Documents are counted, by their roots.
    fn finished(&self, made: &[(DerivationItem, Vec<DerivedText>)]) -> usize {
        let is_root = |item: &DerivationItem| item.node.as_ref().is_some_and(|node| node.is_root);
        made.iter().filter(|(item, _)| is_root(item)).count()
    }

    /// A summary of one chunk is found by the chunk.
    fn whole(&self, item: &DerivationItem, text: &DerivedText) -> Option<String> {
        let covered = item.node.as_ref().map_or(0, |node| node.leaves.len());
        (covered > 1).then(|| text.content.clone())
    }

    fn unembedded(&self, _: &Pipeline, relation: &str, most: i32) -> Result<Vec<UnembeddedText>> {
        let statement = render(query!(tree.unembedded), &[("tree", relation)]);
        sql::rows(&statement, &[most.into()], |row| {
            let (key, content) =
                (sql::required(row.get(1)?)?, sql::required(row.get::<String>(2)?)?);
            let whole = content.clone();
            Ok(UnembeddedText {
                key,
                text: DerivedText { kind: SUMMARY.to_owned(), no: 1, content },
                whole,
            })
        })
    }

    fn put_vectors(
        &self,
        _: &Pipeline,
        relation: &str,
        embedded: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        let values = [("tree", relation), ("vector", &sql::vector_schema()?)];
        let arguments = [
            embedded.iter().map(|(it, _)| hash_in(&it.key)).collect::<Vec<_>>().into(),
            embedded.iter().map(|(it, _)| it.text.content.as_str()).collect::<Vec<_>>().into(),
            embedded.iter().map(|(_, it)| it.clone().map(Vector)).collect::<Vec<_>>().into(),
        ];
        sql::execute(&render(query!(tree.embed), &values), &arguments).map(drop)
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        changes::sweep(pipeline.id, relation)
    }
}
