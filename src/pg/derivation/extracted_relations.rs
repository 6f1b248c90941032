//! Relations that texts state: a language model reads each text of a chunk and says what one named thing is to another, with
//! the words that state it. What they do not state is dropped and counted.
//!
//! They are kept by the hash of a chunk's text as long as a chunk has that text, so a chunk that moves costs nothing, nor does a
//! new generation of chunks with the texts of the old one.

use pgrx::prelude::*;
use serde_json::{Value as Json, json};

use super::run::MOST_COUNTED;
use super::table::{self, TableForm};
use super::{
    Derivation, DerivationItem, DerivedReply, DerivedText, by_text, check_refresh, counted,
    writer_named,
};
use crate::error::Result;
use crate::graph::relations::extract::{
    self, ExtractChoice, ProvenRelation, RelationExtractOptions, TEMPLATE, relations,
};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::owner::as_owner_of_all;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::template;
use crate::pg::changes::noted;
use crate::pg::server::sql::{self, query, render};
use crate::prompt::messages::{Message, PromptSource};
use crate::prompt::template::Template;

const KIND: DerivationKind = DerivationKind::ExtractedRelations;

/// What [`DerivedText::kind`] says of a relation.
const RELATION: &str = "relation";

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(extracted_relations.create_table),
    leaves: ("ARRAY[content_hash]", "content_hash"),
    comments: query!(extracted_relations.comment_table),
};

/// Has a pipeline, which has a graph, keep what `choice` says. What has been paid for is dropped only where it says so, with
/// a word about how much that was.
pub fn set(pipeline: &Pipeline, choice: &ExtractChoice) -> Result<()> {
    let current = derivation::of(pipeline.id, KIND)?;
    let wanted = match (choice, current.as_ref()) {
        (ExtractChoice::Kept, _) | (ExtractChoice::Dropped, None) => return Ok(()),
        (ExtractChoice::Dropped, Some(current)) => return drop_all(pipeline, current),
        (ExtractChoice::Wanted(wanted), _) => wanted,
    };
    let option = complete(pipeline, wanted)?;
    let is_other = current.as_ref().is_none_or(|it| it.options != option);
    let table = match current {
        Some(current) => {
            derivation::set(pipeline.id, KIND, &option, &current.relation.sql)?;
            current.relation.sql
        }
        None => create(pipeline, &option)?,
    };
    // No text is read for a successor before it takes the place of the other one.
    if is_other && pipeline.replaces.is_none() {
        announce_calls(pipeline, &option, &table)?;
    }
    noted::wake_at_commit();
    Ok(())
}

/// Says in about how many calls a language model will read the texts that there are, before it reads any. One whose reply
/// cannot be read is asked for once more.
fn announce_calls(pipeline: &Pipeline, option: &Json, relations: &str) -> Result<()> {
    let texts = TextRelations::load(derivation::options(KIND, option)?)?;
    let any_chunk = render(query!(tree.chunks), &[("chunk_table", &pipeline.chunk_table.sql)]);
    let (missing, has_chunks) = as_owner_of_all(pipeline, || -> Result<(i64, bool)> {
        let missing = texts.count_missing(pipeline, relations, MOST_COUNTED)?;
        Ok((missing, missing > 0 || counted(&any_chunk, &[1_i64.into()])? > 0))
    })?;
    let calls = match missing {
        0 if has_chunks => "0, since all texts have been read".to_owned(),
        0 => "one for each text of a chunk, of which there is none yet".to_owned(),
        MOST_COUNTED.. => format!("at least {MOST_COUNTED}, one for each text to be read"),
        _ => format!("about {missing}, one for each text to be read"),
    };
    let (name, llm) = (&pipeline.name, option["llm"].as_str().unwrap_or_default());
    notice!("calls of {llm} for the relations of pipeline \"{name}\": {calls}");
    Ok(())
}

fn drop_all(pipeline: &Pipeline, current: &StoredDerivation) -> Result<()> {
    let values = [("relations", current.relation.sql.as_str())];
    let count = render(query!(extracted_relations.count_texts), &values);
    let texts = as_owner_of_all(pipeline, || counted(&count, &[]))?;
    if texts > 0 {
        let name = &pipeline.name;
        notice!(
            "what a language model has found in {texts} texts of pipeline \"{name}\" is dropped with the table {}",
            current.relation.sql
        );
    }
    table::forget(pipeline, KIND, current.relation.clone())
}

/// An error where `wanted` asks for something that cannot be; else the option as it is kept, with the name of the language
/// model, so that it does not depend on the role that reads texts.
fn complete(pipeline: &Pipeline, wanted: &RelationExtractOptions) -> Result<Json> {
    check_refresh(KIND, pipeline.refresh)?;
    let template = wanted.template.as_deref().unwrap_or(TEMPLATE);
    let example = "{\"extract\": {\"llm\": \"...\"}}";
    let llm = writer_named(KIND, template, wanted.llm.clone(), example)?;
    let RelationExtractOptions { template, predicates, .. } = wanted;
    Ok(json!({"llm": llm, "template": template, "predicates": predicates}))
}

/// Gives a successor what the pipeline has whose place it is to take, and what has been found for that. Until it takes that
/// place no text is read for it: the old one's texts would be read twice.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    let Some(it) = derivation::of(old.id, KIND)? else { return Ok(()) };
    let table = create(successor, &it.options)?;
    let values = [("relations", table.as_str()), ("old", &it.relation.sql)];
    let inherit = render(query!(extracted_relations.inherit), &values);
    as_owner_of_all(successor, || sql::execute(&inherit, &[])).map(drop)
}

/// Gives a successor that takes the place of a pipeline now what has been found for that since.
pub fn inherit_rest(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    let (new, old) = (derivation::of(successor.id, KIND)?, derivation::of(old.id, KIND)?);
    let Some((new, old)) = new.zip(old) else { return Ok(()) };
    let values = [("relations", new.relation.sql.as_str()), ("old", &old.relation.sql)];
    as_owner_of_all(successor, || {
        sql::execute(&render(query!(extracted_relations.forget_older), &values), &[])?;
        sql::execute(&render(query!(extracted_relations.inherit), &values), &[]).map(drop)
    })
}

/// Has the texts of a pipeline asked about again about which no reply could be read; how many.
pub fn ask_again(pipeline: &Pipeline) -> Result<i64> {
    let mut most = 0;
    for one in table::generations(pipeline)? {
        let Some(current) = derivation::of(one.id, KIND)? else { continue };
        let values = [("relations", current.relation.sql.as_str())];
        let forget = render(query!(extracted_relations.forget_unreadable), &values);
        let count = as_owner_of_all(&one, || sql::execute(&forget, &[]))?;
        derivation::ask_again(one.id, KIND, count)?;
        most = count.max(most);
    }
    Ok(most as i64)
}

/// The name of the table, in SQL.
fn create(pipeline: &Pipeline, option: &Json) -> Result<String> {
    let table = table::create(pipeline, &FORM, &[])?;
    let values = [("table", table.as_str())];
    sql::execute(&render(query!(extracted_relations.create_indexes), &values), &[])?;
    table::index_hashes(&pipeline.chunk_table)?;
    derivation::set(pipeline.id, KIND, option, &table)?;
    Ok(table)
}

/// Relations that the texts of a pipeline's chunks state.
pub struct TextRelations {
    wanted: RelationExtractOptions,
    template: Template,
    /// What is asked, by which it is known whether it is to be asked again.
    request: String,
}

impl TextRelations {
    /// Looks up what `wanted` names.
    pub fn load(wanted: RelationExtractOptions) -> Result<TextRelations> {
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        let request = wanted.request(&template);
        Ok(TextRelations { wanted, template, request })
    }
}

/// A row that keeps what was found in a text.
struct ExtractedRow<'a> {
    hash: &'a [u8],
    no: i32,
    /// None for a text that states none.
    relation: Option<ProvenRelation>,
    /// Whether that is because no reply could be read.
    is_unreadable: bool,
}

/// The rows that keep what was found in texts.
fn rows(made: &[(DerivationItem, Vec<DerivedText>)]) -> Vec<ExtractedRow<'_>> {
    let mut rows: Vec<ExtractedRow<'_>> = Vec::new();
    for (item, texts) in made {
        let hash = item.key.as_slice();
        if texts.is_empty() {
            let is_unreadable = item.is_unreadable();
            rows.push(ExtractedRow { hash, no: 0, relation: None, is_unreadable });
        }
        rows.extend(texts.iter().map(|DerivedText { no, content, .. }| {
            let relation = serde_json::from_str(content).ok();
            ExtractedRow { hash, no: *no, relation, is_unreadable: false }
        }));
    }
    rows
}

impl Derivation for TextRelations {
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        by_text::missing((pipeline, relation), &self.request, after, most)
    }

    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64> {
        by_text::count_missing((pipeline, relation), &self.request, most)
    }

    fn messages(&self, item: &DerivationItem, nonce: &str) -> Result<Vec<Message>> {
        let (heading, content) = (item.heading.clone(), item.content.clone());
        let chunk = PromptSource { heading, content, ..PromptSource::default() };
        extract::messages(&self.template, &chunk, &self.wanted, nonce)
    }

    fn read(&self, item: &DerivationItem, reply: &str) -> DerivedReply {
        let found = relations(reply, &item.content, &self.wanted);
        let text = |(no, it): (i32, &ProvenRelation)| DerivedText {
            kind: RELATION.to_owned(),
            no,
            content: json!(it).to_string(),
        };
        let texts = (1..).zip(&found.proven).map(text).collect();
        DerivedReply { texts, dropped: found.dropped, is_unreadable: found.is_unreadable }
    }

    fn keep(
        &self,
        _: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()> {
        by_text::forget(relation, made)?;
        let rows = rows(made);
        let text = |of: fn(&ProvenRelation) -> &str| -> Vec<Option<&str>> {
            rows.iter().map(|row| row.relation.as_ref().map(of)).collect()
        };
        let place = |of: fn(&ProvenRelation) -> u32| -> Vec<Option<i32>> {
            rows.iter().map(|row| row.relation.as_ref().map(|it| of(it) as i32)).collect()
        };
        let arguments = [
            self.request.as_str().into(),
            rows.iter().map(|row| row.hash).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.no).collect::<Vec<_>>().into(),
            text(|it| &it.subject).into(),
            text(|it| &it.predicate).into(),
            text(|it| &it.object).into(),
            place(|it| it.subject_at.start).into(),
            place(|it| it.subject_at.end).into(),
            place(|it| it.object_at.start).into(),
            place(|it| it.object_at.end).into(),
            place(|it| it.stated_at.start).into(),
            place(|it| it.stated_at.end).into(),
            rows.iter().map(|row| row.is_unreadable).collect::<Vec<_>>().into(),
        ];
        let insert = render(query!(extracted_relations.insert), &[("relations", relation)]);
        sql::execute(&insert, &arguments).map(drop)
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        by_text::forget_gone((pipeline, relation))
    }
}
