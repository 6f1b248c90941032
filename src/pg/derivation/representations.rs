//! Summaries of chunks and questions that they answer, which a language model writes, and by which the
//! chunks are found, too.
//!
//! They are kept by the hash of a chunk's text, so a chunk that moves, or comes back, costs
//! nothing. A chunk can be found by its own text before it has any.

use pgrx::datum::DatumWithOid;
use serde_json::{Value as Json, json};

use super::table::{self, TableForm};
use super::{
    Derivation, DerivationItem, DerivedReply, DerivedText, UnembeddedText, by_text, check_refresh,
    writer_named,
};
use crate::error::Result;
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::template;
use crate::pg::changes::noted;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::vector::Vector;
use crate::prompt::messages::{Message, PromptSource};
use crate::prompt::template::Template;
use crate::representation::{self, RepresentOptions, RepresentingText, TEMPLATE};

const KIND: DerivationKind = DerivationKind::Representations;

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(representations.create_table),
    leaves: ("ARRAY[content_hash]", "content_hash"),
    comments: query!(representations.comment_table),
};

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for nothing.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let wanted = match option {
        Json::Null | Json::Bool(false) => None,
        option => Some(complete(pipeline, option)?),
    };
    table::alter(pipeline, KIND, wanted.as_ref(), create)
}

/// An error where `option` asks for something that cannot be; else the option with the name of the
/// language model, so that it does not depend on the role that embeds.
fn complete(pipeline: &Pipeline, option: &Json) -> Result<Json> {
    let wanted = RepresentOptions::read(option)?;
    check_refresh(KIND, pipeline.refresh)?;
    let template = wanted.template.as_deref().unwrap_or(TEMPLATE);
    let example = "{\"summary\": true, \"llm\": \"...\"}";
    let llm = writer_named(KIND, template, wanted.llm, example)?;
    let mut option = option.clone();
    option["llm"] = json!(llm);
    Ok(option)
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    match derivation::of(old.id, KIND)? {
        Some(it) => create(successor, &it.options),
        None => Ok(()),
    }
}

fn create(pipeline: &Pipeline, option: &Json) -> Result<()> {
    table::create_embedded(pipeline, &FORM, option)?;
    noted::wake_at_commit();
    Ok(())
}

/// Summaries and questions of a pipeline's chunks.
pub struct Representations {
    wanted: RepresentOptions,
    template: Template,
}

impl Representations {
    /// Looks up what `wanted` names.
    pub fn load(wanted: RepresentOptions) -> Result<Representations> {
        let template = template::find(wanted.template.as_deref().unwrap_or(TEMPLATE))?;
        Ok(Representations { wanted, template })
    }
}

/// Hash, kind, number and text.
type RepresentationRow<'a> = (&'a [u8], &'a str, i32, Option<&'a str>);

impl Derivation for Representations {
    fn missing(
        &self,
        pipeline: &Pipeline,
        relation: &str,
        after: &[u8],
        most: i32,
    ) -> Result<Vec<DerivationItem>> {
        by_text::missing((pipeline, relation), &self.template.name, after, most)
    }

    fn count_missing(&self, pipeline: &Pipeline, relation: &str, most: i64) -> Result<i64> {
        by_text::count_missing((pipeline, relation), &self.template.name, most)
    }

    fn messages(&self, item: &DerivationItem, nonce: &str) -> Result<Vec<Message>> {
        let (heading, content) = (item.heading.clone(), item.content.clone());
        let chunk = PromptSource { heading, content, ..PromptSource::default() };
        representation::messages(&self.template, &chunk, &self.wanted, nonce)
    }

    fn read(&self, _: &DerivationItem, reply: &str) -> DerivedReply {
        let derived = |RepresentingText { kind, no, content }: RepresentingText| DerivedText {
            kind: kind.to_owned(),
            no,
            content,
        };
        let texts = representation::texts(reply, &self.wanted).unwrap_or_default();
        texts.into_iter().map(derived).collect::<Vec<_>>().into()
    }

    fn keep(
        &self,
        _: &Pipeline,
        relation: &str,
        made: &[(DerivationItem, Vec<DerivedText>)],
    ) -> Result<()> {
        let values = [("representations", relation)];
        by_text::forget(relation, made)?;
        let mut rows: Vec<RepresentationRow<'_>> = Vec::new();
        for (DerivationItem { key, .. }, texts) in made {
            match texts.as_slice() {
                [] => rows.push((key, "none", 1, None)),
                texts => rows.extend(texts.iter().map(|DerivedText { kind, no, content }| {
                    (key.as_slice(), kind.as_str(), *no, Some(content.as_str()))
                })),
            }
        }
        let insert = render(query!(representations.insert), &values);
        let arguments = [
            self.template.name.as_str().into(),
            rows.iter().map(|row| row.0).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.1).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.2).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.3).collect::<Vec<_>>().into(),
        ];
        sql::execute(&insert, &arguments).map(drop)
    }

    fn whole(&self, _: &DerivationItem, text: &DerivedText) -> Option<String> {
        Some(text.content.clone())
    }

    fn unembedded(&self, _: &Pipeline, relation: &str, most: i32) -> Result<Vec<UnembeddedText>> {
        let statement = query!(representations.unembedded);
        let statement = render(statement, &[("representations", relation)]);
        sql::rows(&statement, &[most.into()], |row| {
            let (key, kind) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
            let (no, content) =
                (sql::required(row.get(3)?)?, sql::required(row.get::<String>(4)?)?);
            let whole = content.clone();
            Ok(UnembeddedText { key, text: DerivedText { kind, no, content }, whole })
        })
    }

    fn put_vectors(
        &self,
        _: &Pipeline,
        relation: &str,
        embedded: &[(UnembeddedText, Option<Vec<f32>>)],
    ) -> Result<()> {
        let (embedded, refused): (Vec<_>, Vec<_>) =
            embedded.iter().partition(|(_, vector)| vector.is_some());
        let values = [("representations", relation), ("vector", &sql::vector_schema()?)];
        let embed = render(query!(representations.embed), &values);
        let [hashes, kinds, numbers] = keys(&embedded);
        let contents = embedded.iter().map(|(it, _)| it.text.content.as_str()).collect::<Vec<_>>();
        let vectors = embedded.iter().map(|(_, it)| it.clone().map(Vector)).collect::<Vec<_>>();
        sql::execute(&embed, &[hashes, kinds, numbers, contents.into(), vectors.into()])?;
        let give_up = query!(representations.give_up);
        sql::execute(&render(give_up, &values[..1]), &keys(&refused)).map(drop)
    }

    fn forget_gone(&self, pipeline: &Pipeline, relation: &str) -> Result<()> {
        by_text::forget_gone((pipeline, relation))
    }
}

/// Hashes, kinds and numbers.
fn keys<'a, V>(texts: &[&'a (UnembeddedText, V)]) -> [DatumWithOid<'a>; 3] {
    [
        texts.iter().map(|(it, _)| it.key.as_slice()).collect::<Vec<_>>().into(),
        texts.iter().map(|(it, _)| it.text.kind.as_str()).collect::<Vec<_>>().into(),
        texts.iter().map(|(it, _)| it.text.no).collect::<Vec<_>>().into(),
    ]
}
