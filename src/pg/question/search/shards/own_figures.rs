//! What does this database say of its words, for another one that has a pipeline of it as a shard?

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline;
use crate::pg::index::bm25;
use crate::pg::question::search::lexical_index::lexical_index;
use crate::pg::server::role::{current_user, may_select_column};

/// How frequent the words of a tsquery are in a pipeline of this database, for the one that has it as a shard.
///
/// Fails where it is called here for another database, which is when postgres_fdw has not sent the call, and where the
/// caller may not read the chunks.
///
/// # Safety
///
/// `words` is a tsquery that is not NULL.
pub unsafe fn own_statistics(
    pipeline: i32,
    database: i64,
    words: pg_sys::Datum,
) -> Result<Vec<f64>> {
    if database != database_number() {
        let message = "the words of another database cannot be counted here";
        return Err(Error::new(ErrorKind::NotInState, message).hint(
            "The foreign server sends no functions of pg_rag: ALTER SERVER ... OPTIONS (SET extensions 'vector, pg_rag').",
        ));
    }
    let found = pipeline::by_id(pipeline)?.ok_or_else(|| {
        let message = format!("there is no pipeline {pipeline}");
        Error::new(ErrorKind::UndefinedObject, message)
    })?;
    // How frequent a word is says what texts say.
    pipeline::check_readable(&found)?;
    if ![&found.view, &found.chunk_table].iter().all(|it| may_select_column(it.oid, c"tsv")) {
        let message = format!("permission denied for the words of pipeline \"{}\"", found.name);
        return Err(Error::new(ErrorKind::Forbidden, message).hint(format!(
            "GRANT SELECT ON {}, {} TO {}.",
            found.view.sql,
            found.chunk_table.sql,
            pgrx::spi::quote_identifier(current_user())
        )));
    }
    let index = lexical_index(found.view.oid, found.source.oid);
    // SAFETY: by this function's contract.
    unsafe { bm25::word_figures(index, words) }
}

/// A number that no other database has, but for copies of the server: the server's identifier with the database's OID in
/// its upper half.
pub fn database_number() -> i64 {
    // SAFETY: reads what the process knows of its server and database.
    unsafe {
        pg_sys::GetSystemIdentifier() as i64 ^ (i64::from(pg_sys::MyDatabaseId.to_u32()) << 32)
    }
}
