//! Tables with vectors, and the statements that change them.

use std::io::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use postgres::Client;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::Result;
use crate::data::{Dataset, bucket};
use crate::side::Side;

/// A vector as a parameter of a statement.
#[derive(Debug)]
pub struct Vector<'a>(pub &'a [f32]);

impl ToSql for Vector<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(&binary(self.0));
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        ty.name() == "vector"
    }

    to_sql_checked!();
}

/// Creates a table with these rows of the data set, as it is after a VACUUM.
pub fn create(client: &mut Client, table: &str, data: &Dataset, ids: Range<usize>) -> Result<()> {
    client.batch_execute(&format!(
        "DROP TABLE IF EXISTS {table}; \
         CREATE TABLE {table} (id integer, bucket integer, likeness integer, embedding vector({}))",
        data.dimension
    ))?;
    let copy = format!("COPY {table} FROM STDIN (FORMAT binary)");
    let mut writer = client.copy_in(&copy)?;
    // The signature, no flags, no further header.
    writer.write_all(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0")?;
    for id in ids {
        writer.write_all(&tuple(id, data))?;
    }
    writer.write_all(&(-1_i16).to_be_bytes())?;
    writer.finish()?;
    client.batch_execute(&format!("VACUUM (FREEZE, ANALYZE) {table}"))?;
    Ok(())
}

/// Creates the table's index, in place of the one that it has; gives the time it takes.
pub fn index(client: &mut Client, side: &Side, table: &str, columns: &[&str]) -> Result<Duration> {
    client.batch_execute(&format!("DROP INDEX IF EXISTS {table}_index"))?;
    client.batch_execute("CHECKPOINT")?;
    let started = Instant::now();
    client.batch_execute(&side.create_index(table, columns))?;
    Ok(started.elapsed())
}

/// Size of the table's index in bytes.
pub fn index_size(client: &mut Client, table: &str) -> Result<i64> {
    let size = format!("SELECT pg_relation_size('{table}_index')");
    Ok(client.query_one(&size, &[])?.get(0))
}

/// Drops a table.
pub fn drop(client: &mut Client, table: &str) -> Result<()> {
    client.batch_execute(&format!("DROP TABLE IF EXISTS {table}"))?;
    Ok(())
}

/// A row in COPY's binary format: the number of fields, and each with its length.
fn tuple(id: usize, data: &Dataset) -> Vec<u8> {
    let mut bytes = 4_i16.to_be_bytes().to_vec();
    let numbers = [id as i32, bucket(id), data.likeness[id]].map(|it| it.to_be_bytes().to_vec());
    for field in numbers.into_iter().chain([binary(data.row(id))]) {
        bytes.extend((field.len() as i32).to_be_bytes());
        bytes.extend(field);
    }
    bytes
}

/// pgvector's binary format: the dimension, two bytes for later use, the values.
fn binary(vector: &[f32]) -> Vec<u8> {
    let mut bytes = (vector.len() as u16).to_be_bytes().to_vec();
    bytes.extend([0, 0]);
    bytes.extend(vector.iter().flat_map(|value| value.to_be_bytes()));
    bytes
}
