//! Which pipelines there are.

use crate::database::Lease;
use crate::failure::Failure;

/// A pipeline that the role sees.
pub struct Pipeline {
    /// By which questions name it.
    pub name: String,
    /// The table that it is over.
    pub source: String,
    /// What is in it, where somebody has said that.
    pub description: Option<String>,
    /// Its embedding model.
    pub model: String,
    /// When its chunks were made first, in seconds since 1970.
    pub created: i64,
    /// The metadata columns, over which there can be conditions.
    pub filters: Vec<String>,
}

/// All of them, by name.
pub async fn list(lease: &mut Lease) -> Result<Vec<Pipeline>, Failure> {
    let rows = lease.rows(include_str!("../sql/pipelines.sql"), &[]).await?;
    let pipeline = |row: tokio_postgres::Row| Pipeline {
        name: row.get(0),
        source: row.get(1),
        description: row.get(2),
        model: row.get(3),
        created: row.get(4),
        filters: row.get(5),
    };
    Ok(rows.into_iter().map(pipeline).collect())
}
