//! What is made of the texts of chunks: of each text once, and kept by its hash with the template in which a language model
//! was asked, as long as a chunk has it. So a chunk that moves costs nothing.

use super::{DerivationItem, DerivedText, counted};
use crate::error::Result;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::sql::{self, query, render};

/// A pipeline, and the table beside its chunks in which something is kept by the hashes of texts.
type DerivedBeside<'a> = (&'a Pipeline, &'a str);

fn tables((pipeline, relation): DerivedBeside<'_>) -> [(&'static str, &str); 2] {
    [("chunk_table", pipeline.chunk_table.sql.as_str()), ("derived", relation)]
}

/// At most `most` texts of which nothing has been made in this template, in the order of their hashes, which come behind
/// `after`.
pub fn missing(
    beside: DerivedBeside<'_>,
    template: &str,
    after: &[u8],
    most: i32,
) -> Result<Vec<DerivationItem>> {
    let statement = render(query!(derivation.missing_texts), &tables(beside));
    let source = beside.0.source.oid;
    let arguments = [template.into(), after.into(), most.into(), source.into()];
    sql::rows(&statement, &arguments, |row| {
        let (key, content) = (sql::required(row.get(1)?)?, sql::required(row.get(2)?)?);
        let heading = row.get(3)?;
        Ok(DerivationItem { key, heading, content, ..DerivationItem::default() })
    })
}

/// How many such texts there are, as far as `most`.
pub fn count_missing(beside: DerivedBeside<'_>, template: &str, most: i64) -> Result<i64> {
    let statement = render(query!(derivation.count_missing_texts), &tables(beside));
    counted(&statement, &[template.into(), most.into()])
}

/// Forgets what was made of these texts before.
pub fn forget(relation: &str, made: &[(DerivationItem, Vec<DerivedText>)]) -> Result<()> {
    let hashes: Vec<&[u8]> = made.iter().map(|(item, _)| item.key.as_slice()).collect();
    let forget = render(query!(derivation.forget_texts), &[("derived", relation)]);
    sql::execute(&forget, &[hashes.into()]).map(drop)
}

/// Forgets what was made of texts that no chunk has any more.
pub fn forget_gone(beside: DerivedBeside<'_>) -> Result<()> {
    let gone = render(query!(derivation.forget_gone_texts), &tables(beside));
    sql::execute(&gone, &[]).map(drop)
}
