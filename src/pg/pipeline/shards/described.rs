//! What the server of a shard says of it, and whether shards fit together.

use pgrx::spi::{quote_identifier, quote_literal};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{model, shard};
use crate::pg::server::json::Jsonb;
use crate::pg::server::sql::{self, query, render};

/// Columns of the view of chunks that every pipeline has, besides its key and metadata.
const FIXED: [&str; 12] = [
    "chunk_id",
    "chunk_no",
    "content",
    "start_char",
    "end_char",
    "heading",
    "context",
    "parent_start",
    "parent_end",
    "token_count",
    "embedding",
    "tsv",
];

/// A pipeline of another database, as users name it.
pub struct ShardName {
    /// The foreign server's name.
    pub server: String,
    /// The pipeline's name there.
    pub remote: String,
}

/// A column of chunks: its name, bare, and its type, in SQL.
pub type ChunkColumn = (String, String);

/// A shard with what its server says of it.
pub struct DescribedShard {
    /// What users call it.
    pub name: ShardName,
    /// The foreign table of that, in SQL.
    pub description: String,
    /// Schema of the view of chunks there.
    pub schema: String,
    /// Name of that view.
    pub view: String,
    model: String,
    dimension: i32,
    digest: Option<String>,
    /// Qualified name of the text search configuration.
    pub config: String,
    keys: Vec<ChunkColumn>,
    metadata: Vec<ChunkColumn>,
}

/// The columns that the chunks of all shards have.
pub struct ChunkColumns {
    /// The key, in its order.
    pub keys: Vec<ChunkColumn>,
    /// What is copied beside each chunk.
    pub metadata: Vec<ChunkColumn>,
}

impl ShardName {
    /// Reads "server.pipeline", two identifiers as in SQL.
    pub fn read(text: &str) -> Result<ShardName> {
        let found = sql::rows(query!(shard.parts_of_name), &[text.into()], |row| {
            sql::required(row.get::<Vec<String>>(1)?)
        })?;
        match found.into_iter().next().as_deref() {
            Some([server, remote]) => {
                Ok(ShardName { server: server.clone(), remote: remote.clone() })
            }
            _ => Err(Error::invalid(format!("not a shard: \"{text}\"")).hint(
                "Name the foreign server and the pipeline there: 'server1.docs', with quotes as in SQL where one has capitals.",
            )),
        }
    }

    /// As users write it.
    pub fn told(&self) -> String {
        shard::name(&self.server, &self.remote)
    }

    /// An error where the server cannot be searched.
    pub fn check_server(&self) -> Result<()> {
        let server = &self.server;
        let found = sql::rows(query!(shard.server), &[server.as_str().into()], |row| {
            Ok((sql::required(row.get::<String>(1)?)?, sql::required(row.get::<bool>(2)?)?))
        })?;
        match found.first() {
            None => Err(Error::new(
                ErrorKind::UndefinedObject,
                format!("foreign server \"{server}\" of shard \"{}\" does not exist", self.told()),
            )
            .hint("CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw OPTIONS (..., extensions 'vector, pg_rag').")),
            Some((wrapper, _)) if wrapper != "postgres_fdw" => Err(Error::new(
                ErrorKind::WrongObjectType,
                format!("foreign server \"{server}\" is one of {wrapper}, not of postgres_fdw"),
            )
            .hint("A shard is reached by a server of postgres_fdw: CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.")),
            Some((_, false)) => Err(Error::invalid(format!(
                "foreign server \"{server}\" is sent no functions and operators of vector and pg_rag"
            ))
            .hint(format!(
                "ALTER SERVER {} OPTIONS (ADD extensions 'vector, pg_rag').",
                quote_identifier(server)
            ))),
            Some((_, true)) => Ok(()),
        }
    }

    /// Makes the foreign table `table` of what is said of the pipeline there, and reads it.
    ///
    /// Fails where the server does not answer, or says of no such pipeline.
    pub fn described(self, table: String, pipeline: &str) -> Result<DescribedShard> {
        let text = format!("what shard \"{}\" of pipeline \"{pipeline}\" is", self.told());
        let values = [
            ("table", table.as_str()),
            ("server", &quote_identifier(&self.server)),
            ("comment", &quote_literal(text)),
        ];
        sql::execute(&render(query!(shard.description_table), &values), &[])?;
        let statement = render(query!(shard.described), &[("table", &table)]);
        let remote = self.remote.clone();
        let found = sql::rows(&statement, &[remote.as_str().into()], |row| {
            let text = |column: usize| sql::required(row.get::<String>(column)?);
            let columns = sql::required(row.get::<Jsonb>(8)?)?.0;
            let keys: i32 = sql::required(row.get(7)?)?;
            let versions = [text(10)?, text(11)?];
            let extensions = (text(9)?, versions);
            let model = (text(3)?, row.get::<i32>(4)?.unwrap_or_default(), row.get(5)?);
            Ok((text(1)?, text(2)?, model, text(6)?, (keys, columns), extensions))
        })?;
        let Some((schema, view, (model, dimension, digest), config, (keys, columns), extensions)) =
            found.into_iter().next()
        else {
            return Err(self.missing());
        };
        self.check_extensions(&extensions.0, &extensions.1)?;
        let (keys, metadata) = self.sorted(keys, &columns)?;
        Ok(DescribedShard {
            description: table,
            name: self,
            schema,
            view,
            model,
            dimension,
            digest,
            config,
            keys,
            metadata,
        })
    }

    /// An error where statements would not mean the same there: they name types and operators with their schemas.
    fn check_extensions(&self, vector: &str, [there, here]: &[String; 2]) -> Result<()> {
        let shard = self.told();
        if there != here {
            let message =
                format!("shard \"{shard}\" has pg_rag {there}, and here is pg_rag {here}");
            return Err(Error::new(ErrorKind::NotInState, message)
                .hint("ALTER EXTENSION pg_rag UPDATE where the older one is."));
        }
        let (there, here) = (quote_identifier(vector), sql::vector_schema()?);
        if there == here {
            return Ok(());
        }
        let message = format!(
            "the extension vector is in schema {there} on shard \"{shard}\", and in {here} here"
        );
        Err(Error::new(ErrorKind::NotInState, message)
            .hint(format!("ALTER EXTENSION vector SET SCHEMA {here} there, or {there} here.")))
    }

    fn missing(&self) -> Error {
        let (server, remote) = (&self.server, &self.remote);
        let message = format!("pipeline \"{remote}\" does not exist on server \"{server}\"");
        Error::new(ErrorKind::UndefinedObject, message).hint(
            "It is there if the role of the user mapping finds it in rag.pipeline_as_shard; a pipeline over shards is no shard itself.",
        )
    }

    /// Key and metadata among the columns of the view there.
    fn sorted(
        &self,
        keys: i32,
        columns: &serde_json::Value,
    ) -> Result<(Vec<ChunkColumn>, Vec<ChunkColumn>)> {
        let read: Option<Vec<ChunkColumn>> = serde_json::from_value(columns.clone()).ok();
        let others = read.unwrap_or_default().into_iter();
        let mut others: Vec<_> =
            others.filter(|(name, _)| !FIXED.contains(&name.as_str())).collect();
        for (name, sql_type) in &mut others {
            *sql_type = self.type_here(name, sql_type)?;
        }
        let keys = usize::try_from(keys).unwrap_or_default();
        if keys == 0 || keys > others.len() {
            let message = format!("shard \"{}\" does not say what its key is", self.told());
            return Err(Error::new(ErrorKind::DataCorrupted, message));
        }
        let metadata = others.split_off(keys);
        Ok((others, metadata))
    }

    /// The name that a type has here.
    fn type_here(&self, column: &str, sql_type: &str) -> Result<String> {
        // Up to PostgreSQL 16 what is no type at all is a syntax error of the lookup.
        let is_type =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '"' | '.' | '[' | ']');
        let found = match sql_type.chars().all(is_type) {
            true => {
                sql::rows(query!(shard.type_name), &[sql_type.into()], |row| row.get::<String>(1))?
            }
            false => Vec::new(),
        };
        found.into_iter().next().flatten().ok_or_else(|| {
            let shard = self.told();
            let message =
                format!("column \"{column}\" of shard \"{shard}\" has the type {sql_type}, which is not known here");
            Error::new(ErrorKind::UndefinedObject, message)
                .hint("Create the type or its extension here, in a schema of the same name.")
        })
    }
}

/// The model of all shards, which must be known here; an error names two that differ.
pub fn common_model(shards: &[DescribedShard]) -> Result<model::RegisteredModel> {
    let first = &shards[0];
    if let Some(other) = shards.iter().find(|it| it.embedding() != first.embedding()) {
        return Err(other_model(&first.name.told(), &first.told_model(), other));
    }
    let own = model::find(Some(&first.model))?;
    let differs = own.dimension != first.dimension
        || own.reference.digest.is_some() && own.reference.digest != first.digest;
    if differs {
        let message = format!(
            "model \"{}\" of {} numbers is another one on shard \"{}\", where it has {}",
            first.model,
            own.dimension,
            first.name.told(),
            first.dimension
        );
        return Err(Error::new(ErrorKind::DimensionMismatch, message)
            .hint("Questions and chunks are compared only if the same model has embedded them."));
    }
    Ok(own)
}

/// The error for a shard that has another model than something else.
pub fn other_model(one: &str, model: &str, other: &DescribedShard) -> Error {
    let message = format!(
        "shards of a pipeline have one model: {one} has {model}, and {} has {}",
        other.name.told(),
        other.told_model()
    );
    Error::new(ErrorKind::DimensionMismatch, message)
        .hint("Have one of them embedded anew: SELECT rag_alter_pipeline('docs', model => '...').")
}

impl DescribedShard {
    /// What decides whether vectors can be compared, and words.
    fn embedding(&self) -> (&str, i32, Option<&str>, &str) {
        (&self.model, self.dimension, self.digest.as_deref(), &self.config)
    }

    fn told_model(&self) -> String {
        format!("\"{}\" of {} numbers with {}", self.model, self.dimension, self.config)
    }

    /// An error where a column is missing that the chunks of the pipeline have.
    pub fn check_columns(&self, columns: &ChunkColumns) -> Result<()> {
        let lacks_key = (self.keys != columns.keys).then(|| columns.keys.first()).flatten();
        let missing = columns.metadata.iter().find(|it| !self.metadata.contains(it));
        match lacks_key.or(missing) {
            None => Ok(()),
            Some((name, sql_type)) => {
                let shard = self.name.told();
                let message =
                    format!("shard \"{shard}\" has no column \"{name}\" of type {sql_type}");
                Err(Error::invalid(message).hint("Shards have keys of the same names and types."))
            }
        }
    }
}

/// The key of all shards and the metadata that all have.
pub fn common_columns(shards: &[DescribedShard]) -> Result<ChunkColumns> {
    let first = &shards[0];
    let is_common = |column: &&ChunkColumn| shards.iter().all(|it| it.metadata.contains(column));
    let metadata = first.metadata.iter().filter(is_common).cloned().collect();
    let columns = ChunkColumns { keys: first.keys.clone(), metadata };
    shards.iter().try_for_each(|shard| shard.check_columns(&columns))?;
    Ok(columns)
}
