//! Trees: what runs of a document's chunks say, what runs of these say, and what the document says as a whole.
//!
//! Nodes are kept by the hash of what they cover, so a chunk that moves costs nothing, and a changed one as many
//! summaries as the tree has levels. They are made level by level: a summary of summaries waits for those.

mod lookup;
pub mod option;

use serde_json::Value as Json;

use self::lookup::{TreeTables, bytes, first_chunk, hash_in};
use super::mentions::look_around;
use super::table::TableForm;
use super::{
    Derivation, DerivationItem, DerivedReply, DerivedText, UnembeddedText, counted, option_name,
};
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
use crate::tree::digest::{QuotedSentence, text_of};
use crate::tree::options::{SummaryMethod, TreeOptions};
use crate::tree::written::{self, TEMPLATE};
use crate::tree::{MOST_LEAVES, MemberHash};

const KIND: DerivationKind = DerivationKind::Tree;

/// What [`DerivedText::kind`] says of a summary.
const SUMMARY: &str = "summary";

/// Documents that are looked at together.
const DOCUMENTS: i64 = 16;

const FORM: TableForm = TableForm {
    label: c"tree",
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
    /// Looks up what the stored option names.
    pub fn load(option: &Json) -> Result<DocumentTrees> {
        let wanted = TreeOptions::read(option)?.unwrap_or_default();
        if wanted.summary == SummaryMethod::Extractive {
            return Ok(DocumentTrees { writer: None });
        }
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        let llm = Llm::or_default(wanted.llm.as_deref())?;
        let provider = llm.provider_for(option_name(KIND))?;
        let writer = TreeWriter {
            template,
            server: provider.name.clone(),
            llm: format!("{}/{}", provider.name, provider.model),
        };
        Ok(DocumentTrees { writer: Some(writer) })
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
}

/// A node that is to be summed up, by the hashes of what it covers.
#[derive(Clone, Debug)]
pub struct TreeNodeText {
    level: u32,
    /// Whether it covers a whole document.
    is_root: bool,
    leaves: Vec<MemberHash>,
    children: Vec<MemberHash>,
    /// The sentences that sum it up, whose `leaf` is a place among the leaves.
    sentences: Vec<QuotedSentence>,
    /// What its children say, where a language model sums them up.
    passages: Vec<PromptSource>,
}

impl Derivation for DocumentTrees {
    /// All nodes of a document that can be made come together, so that there may be more than `most`.
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        let tables = TreeTables::of(pipeline, relation, self)?;
        let statement = tables.about_unfinished(query!(tree.unfinished), ("$4", "$5"));
        let (template, llm) = self.way();
        let (mut items, mut after) = (Vec::new(), first_chunk(after));
        while items.len() < most as usize {
            let longest = MOST_LEAVES as i64;
            let arguments =
                [after.into(), DOCUMENTS.into(), longest.into(), template.into(), llm.into()];
            let documents =
                sql::rows(&statement, &arguments, |row| sql::required(row.get::<i64>(1)?))?;
            let Some(last) = documents.last() else { break };
            after = *last;
            for document in documents {
                look_around();
                items.extend(tables.ready(document)?);
            }
        }
        Ok(items)
    }

    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64> {
        let tables = TreeTables::of(pipeline, relation, self)?;
        let statement = tables.about_unfinished(query!(tree.count_unfinished), ("$3", "$4"));
        let ((template, llm), longest) = (self.way(), MOST_LEAVES as i64);
        counted(&statement, &[most.into(), longest.into(), template.into(), llm.into()])
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
        let sentences = item.node.as_ref().map(|node| text_of(&node.sentences));
        let text = |content| DerivedText { kind: SUMMARY.to_owned(), no: 1, content };
        Ok(sentences.filter(|it| !it.is_empty()).map(text).into_iter().collect())
    }

    /// A node that the language model refuses quotes.
    fn keep(&self, relation: &str, made: &[(DerivationItem, Vec<DerivedText>)]) -> Result<()> {
        let insert = render(query!(tree.insert), &[("tree", relation)]);
        let (template, llm) = self.way();
        for (item, texts) in made {
            let DerivationItem { key, node, .. } = item;
            let Some(TreeNodeText { level, leaves, children, sentences, .. }) = node.as_deref()
            else {
                continue;
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
            ];
            sql::execute(&insert, &arguments)?;
        }
        Ok(())
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
        let keys = document_keys(pipeline)?;
        let values = [
            ("chunk_table", pipeline.chunk_table.sql.as_str()),
            ("tree", relation),
            ("keys", &keys),
        ];
        let statement = render(query!(tree.forget_gone), &values);
        sql::execute(&statement, &[(MOST_LEAVES as i64).into()]).map(drop)
    }
}
