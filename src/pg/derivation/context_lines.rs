//! Lines of context: in which connection a chunk stands, which a language model says, and how chunks
//! come to know it.
//!
//! A chunk can be found by its own text, with title and headings, before that. A line is kept by the
//! chunk's place: its row, its context, its text and its neighbours'. So a change in a document costs
//! as many calls as chunks have changed, and two for those beside them.

use pgrx::datum::DatumWithOid;
use serde_json::json;

use super::table::{self, TableForm};
use super::tree::changes;
use super::{
    Derivation, DerivationItem, DerivedReply, DerivedText, UnembeddedText, check_refresh, counted,
    option_name, same_document, writer_named,
};
use crate::chunk::context::in_context;
use crate::contextual::{self, AROUND, BEGINNING, ContextualOptions, DocumentPart, TEMPLATE};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{Pipeline, RefreshMode};
use crate::pg::catalog::{relation, template};
use crate::pg::ragd::llm::Llm;
use crate::pg::server::error::raise;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::transaction::Transactions;
use crate::pg::server::vector::Vector;
use crate::pipeline::{LineStore, Lines, PlaceHash, content_hash};
use crate::prompt::messages::Message;
use crate::prompt::template::Template;

const KIND: DerivationKind = DerivationKind::ContextLines;

/// What [`DerivedText::kind`] says of a line.
const LINE: &str = "line";

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(context_lines.create_table),
    leaves: ("ARRAY[context_key]", "context_key"),
    comments: query!(context_lines.comment_table),
};

/// An error where `wanted` cannot be; else `wanted` with the name of the language model, so that it
/// does not depend on the role that embeds.
pub fn complete(
    wanted: &ContextualOptions,
    refresh: RefreshMode,
    late: bool,
) -> Result<ContextualOptions> {
    check_refresh(KIND, refresh)?;
    if late {
        let message = "contextual \"llm\" is not for chunks that are cut late";
        return Err(Error::new(ErrorKind::Unsupported, message)
            .hint("With late, each chunk is embedded within its document. Choose one of them."));
    }
    let template = wanted.template.as_deref().unwrap_or(TEMPLATE);
    let example = "{\"contextual\": {\"llm\": \"...\"}}";
    let llm = writer_named(KIND, template, wanted.llm.clone(), example)?;
    Ok(ContextualOptions { llm: Some(llm), template: wanted.template.clone() })
}

/// The options of a pipeline; `None` if its chunks have no lines.
pub fn of(pipeline: i32) -> Result<Option<ContextualOptions>> {
    derivation::of(pipeline, KIND)?.map(|it| derivation::options(KIND, &it.options)).transpose()
}

/// Has a new pipeline's chunks be put into their connection. What has been said for the one whose
/// place it is to take holds for it as well.
pub fn create(
    pipeline: &Pipeline,
    wanted: &ContextualOptions,
    old: Option<&Pipeline>,
) -> Result<()> {
    let table = table::create(pipeline, &FORM, &[])?;
    let name = relation::name_beside(pipeline.chunk_table.oid, Some(c"context_key"), c"idx");
    let values = [("name", name.as_str()), ("chunk_table", &pipeline.chunk_table.sql)];
    sql::execute(&render(query!(context_lines.create_index), &values), &[])?;
    derivation::set(pipeline.id, KIND, &json!(wanted), &table)?;
    let inherited = old.map(|old| derivation::of(old.id, KIND)).transpose()?.flatten();
    let Some(inherited) = inherited else { return Ok(()) };
    let values = [("lines", table.as_str()), ("old", &inherited.relation.sql)];
    let inherit = render(query!(context_lines.inherit), &values);
    as_owner(pipeline, || sql::execute(&inherit, &[])).map(drop)
}

/// What has been said of the places of a pipeline's chunks.
pub struct KnownLines<'a> {
    pipeline: &'a Pipeline,
    /// How the transaction is begun in which it is looked up; `None`: there is one, of the owner.
    transactions: Option<Transactions>,
}

impl<'a> KnownLines<'a> {
    /// The places of `pipeline`, if a language model is to say anything of them.
    pub fn of(pipeline: &'a Pipeline, transactions: Option<Transactions>) -> Option<Self> {
        pipeline.situated.then_some(KnownLines { pipeline, transactions })
    }
}

impl LineStore for KnownLines<'_> {
    fn lines(&mut self, places: &[PlaceHash]) -> Result<Lines> {
        let pipeline = self.pipeline;
        let Some(transactions) = self.transactions else { return known(pipeline, places) };
        let look = || as_superuser(|| as_owner(pipeline, || known(pipeline, places)));
        transactions.run(look).or_else(|failure| raise(&failure))
    }
}

fn known(pipeline: &Pipeline, places: &[PlaceHash]) -> Result<Lines> {
    let Some(stored) = derivation::of(pipeline.id, KIND)? else { return Ok(Lines::new()) };
    let statement = render(query!(context_lines.known), &[("lines", &stored.relation.sql)]);
    let places: Vec<&[u8]> = places.iter().map(PlaceHash::as_slice).collect();
    let found = sql::rows(&statement, &[places.into()], |row| {
        let place: Vec<u8> = sql::required(row.get(1)?)?;
        Ok((place, sql::required(row.get::<String>(2)?)?))
    })?;
    Ok(found.into_iter().filter_map(|(place, line)| Some((place.try_into().ok()?, line))).collect())
}

/// Lines of context of a pipeline's chunks.
pub struct ContextLines {
    template: Template,
    /// Foreign server and model, as they are kept with a line.
    llm: String,
}

impl ContextLines {
    /// Looks up what `wanted` names.
    pub fn load(wanted: &ContextualOptions) -> Result<ContextLines> {
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        let llm = Llm::or_default(wanted.llm.as_deref())?;
        let provider = llm.provider_for(option_name(KIND))?;
        let llm = format!("{}/{}", provider.name, provider.model);
        Ok(ContextLines { template, llm })
    }

    /// The first arguments of the statements: in which way a line is made.
    fn way(&self) -> [DatumWithOid<'_>; 2] {
        [self.template.name.as_str().into(), self.llm.as_str().into()]
    }

    fn put(&self, relation: &str, lines: &[(&[u8], Option<&str>)]) -> Result<()> {
        let [template, llm] = self.way();
        let keys = lines.iter().map(|(key, _)| *key).collect::<Vec<_>>();
        let texts = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>();
        let put = render(query!(context_lines.put), &[("lines", relation)]);
        sql::execute(&put, &[template, llm, keys.into(), texts.into()]).map(drop)
    }
}

fn tables<'a>(pipeline: &'a Pipeline, relation: &'a str) -> [(&'static str, &'a str); 2] {
    [("chunk_table", &pipeline.chunk_table.sql), ("lines", relation)]
}

impl Derivation for ContextLines {
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        let statement = render(query!(context_lines.missing), &tables(pipeline, relation));
        let [template, llm] = self.way();
        let arguments = [template, llm, after.into(), most.into()];
        let found = sql::rows(&statement, &arguments, |row| {
            let (key, chunk) = (sql::required(row.get(1)?)?, sql::required(row.get::<i64>(2)?)?);
            let (heading, content) = (row.get(3)?, sql::required(row.get(4)?)?);
            Ok((chunk, DerivationItem { key, heading, content, ..DerivationItem::default() }))
        })?;
        let within = |(chunk, item): (i64, DerivationItem)| {
            Ok(DerivationItem { document: Some(around(pipeline, chunk)?), ..item })
        };
        found.into_iter().map(within).collect()
    }

    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64> {
        let statement = render(query!(context_lines.count_missing), &tables(pipeline, relation));
        let [template, llm] = self.way();
        counted(&statement, &[template, llm, most.into()])
    }

    fn messages(&self, item: &DerivationItem, nonce: &str) -> Result<Vec<Message>> {
        let DerivationItem { heading, content, document, .. } = item;
        let document = document.as_deref().unwrap_or(content);
        contextual::messages(&self.template, heading.as_deref(), document, content, nonce)
    }

    fn read(&self, _: &DerivationItem, reply: &str) -> DerivedReply {
        let line = contextual::line(reply);
        let text = line.map(|content| DerivedText { kind: LINE.to_owned(), no: 1, content });
        text.into_iter().collect::<Vec<_>>().into()
    }

    fn keep(
        &self,
        _: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()> {
        let line = |texts: &'_ [DerivedText]| texts.first().map(|it| it.content.clone());
        let lines: Vec<_> = made.iter().map(|(item, texts)| (item, line(texts))).collect();
        let lines: Vec<_> =
            lines.iter().map(|(item, line)| (item.key.as_slice(), line.as_deref())).collect();
        self.put(relation, &lines)
    }

    fn whole(&self, item: &DerivationItem, text: &DerivedText) -> Option<String> {
        Some(in_context(item.heading.as_deref(), Some(&text.content), &item.content))
    }

    fn unembedded(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        most: i32,
    ) -> Result<Vec<UnembeddedText>> {
        let statement = render(query!(context_lines.unused), &tables(pipeline, relation));
        sql::rows(&statement, &[most.into()], |row| {
            let (key, heading) = (sql::required(row.get(1)?)?, row.get::<String>(2)?);
            let content: String = sql::required(row.get(3)?)?;
            let line: Option<String> = row.get(4)?;
            let whole = in_context(heading.as_deref(), line.as_deref(), &content);
            // A chunk may have a line of which nothing is left.
            let text =
                DerivedText { kind: LINE.to_owned(), no: 1, content: line.unwrap_or_default() };
            Ok(UnembeddedText { key, text, whole })
        })
    }

    /// Puts lines before the chunks of their places.
    fn put_vectors(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        embedded: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        let (embedded, refused): (Vec<_>, Vec<_>) =
            embedded.iter().partition(|(_, vector)| vector.is_some());
        if !refused.is_empty() {
            let nothing: Vec<_> = refused.iter().map(|(it, _)| (it.key.as_slice(), None)).collect();
            self.put(relation, &nothing)?;
        }
        if embedded.is_empty() {
            return Ok(());
        }
        let line = |text: &'_ UnembeddedText| {
            Some(text.text.content.clone()).filter(|line| !line.is_empty())
        };
        let hashes: Vec<_> = embedded.iter().map(|(it, _)| content_hash(&it.whole)).collect();
        let arguments = [
            embedded.iter().map(|(it, _)| it.key.as_slice()).collect::<Vec<_>>().into(),
            embedded.iter().map(|(it, _)| line(it)).collect::<Vec<_>>().into(),
            hashes.iter().map(|hash| hash.as_slice()).collect::<Vec<_>>().into(),
            embedded.iter().map(|(_, it)| it.clone().map(Vector)).collect::<Vec<_>>().into(),
        ];
        let vector = sql::vector_schema()?;
        let values = [("chunk_table", pipeline.chunk_table.sql.as_str()), ("vector", &vector)];
        let statement = render(query!(context_lines.use), &values);
        let changed =
            sql::changed_rows(&statement, &arguments, |row| sql::required(row.get::<i64>(1)?))?;
        changes::mark_documents_of(pipeline, &changed)
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        let gone = render(query!(context_lines.forget_gone), &tables(pipeline, relation));
        sql::execute(&gone, &[]).map(drop)
    }
}

/// What is read of the document around a chunk.
fn around(pipeline: &Pipeline, chunk: i64) -> Result<String> {
    let values = [
        ("chunk_table", pipeline.chunk_table.sql.as_str()),
        ("same_document", &same_document(pipeline)?),
    ];
    let statement = render(query!(context_lines.around), &values);
    let arguments = [chunk.into(), (BEGINNING as i32).into(), (AROUND as i32).into()];
    let found = sql::rows(&statement, &arguments, |row| {
        let (start, end): (i32, i32) = (sql::required(row.get(2)?)?, sql::required(row.get(3)?)?);
        let span = start as u32..end as u32;
        let part = DocumentPart { span, content: sql::required(row.get(4)?)? };
        Ok((sql::required(row.get::<bool>(1)?)?, part))
    })?;
    let own = found.iter().find(|(is_own, _)| *is_own).map(|(_, part)| part.span.clone());
    let parts: Vec<DocumentPart> = found.into_iter().map(|(_, part)| part).collect();
    Ok(contextual::excerpt(&parts, &own.unwrap_or_default()))
}
