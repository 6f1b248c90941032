//! pg_rag from Rust, with sqlx.

use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgDatabaseError};
use sqlx::{Connection, Row};

// region retrieve
#[derive(sqlx::FromRow)]
struct Chunk {
    source_key: String,
    metadata: Value,
}

async fn retrieve(
    connection: &mut PgConnection,
    question: &str,
    k: i32,
    filter: Option<Value>,
) -> sqlx::Result<Vec<Chunk>> {
    sqlx::query_as("SELECT source_key, metadata FROM rag_retrieve($1, k => $2, filter => $3)")
        .bind(question)
        .bind(k)
        .bind(filter)
        .fetch_all(connection)
        .await
}
// endregion

// region answer
#[derive(sqlx::FromRow)]
struct Answer {
    answer: String,
    supported: bool,
    citations: Value,
}

async fn ask(connection: &mut PgConnection, question: &str) -> sqlx::Result<Answer> {
    sqlx::query_as("SELECT answer, supported, citations FROM rag_answer_details($1)")
        .bind(question)
        .fetch_one(connection)
        .await
}
// endregion

// region embed
async fn embed(connection: &mut PgConnection, texts: &[&str]) -> sqlx::Result<Vec<Vec<f32>>> {
    sqlx::query_scalar("SELECT e::real[] FROM unnest(rag_embed_batch($1)) AS e")
        .bind(texts)
        .fetch_all(connection)
        .await
}
// endregion

// region stream
/// Tells the answer piece by piece, and returns the last row: citations, confidence and the rest.
async fn stream(
    connection: &mut PgConnection,
    question: &str,
    mut told: impl FnMut(String),
) -> sqlx::Result<Option<Value>> {
    let mut transaction = connection.begin().await?;
    sqlx::query("DECLARE answer CURSOR FOR SELECT rag_answer_stream($1)")
        .bind(question)
        .execute(&mut *transaction)
        .await?;
    let mut held: Option<String> = None;
    while let Some(row) =
        sqlx::query("FETCH 1 FROM answer").fetch_optional(&mut *transaction).await?
    {
        if let Some(piece) = held.replace(row.get(0)) {
            told(piece);
        }
    }
    transaction.commit().await?;
    Ok(held.and_then(|last| serde_json::from_str(&last).ok()))
}
// endregion

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // region connect
    // By PGHOST, PGDATABASE and so on; PgConnection::connect takes a URL.
    let mut connection = PgConnection::connect_with(&PgConnectOptions::new()).await?;
    // endregion

    // region pipeline
    sqlx::raw_sql(
        "CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL);
         SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])",
    )
    .execute(&mut connection)
    .await?;
    for (id, title, body, lang) in [
        (1, "Passwords", r#"To reset a password, choose "Forgot password"."#, "en"),
        (2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"),
        (3, "Passwörter", r#"Wählen Sie "Passwort vergessen"."#, "de"),
    ] {
        sqlx::query("INSERT INTO page VALUES ($1, $2, $3, $4)")
            .bind(id)
            .bind(title)
            .bind(body)
            .bind(lang)
            .execute(&mut connection)
            .await?;
    }
    sqlx::query("SELECT rag_wait('page')").execute(&mut connection).await?;
    // endregion

    let chunks =
        retrieve(&mut connection, "forgotten password", 2, Some(json!({"lang": "en"}))).await?;
    assert_eq!(chunks[0].source_key, "1");
    assert_eq!(chunks[0].metadata["lang"], "en");
    assert_eq!(retrieve(&mut connection, "password", 3, None).await?.len(), 3);

    let answer = ask(&mut connection, "How long does a refund take?").await?;
    assert!(answer.supported);
    assert_eq!(answer.answer, "A refund takes five working days. [1]");
    assert_eq!(answer.citations[0]["source_key"], "2");

    let vectors = embed(&mut connection, &["happy", "sad"]).await?;
    assert_eq!(vectors.len(), 2);

    let mut text = String::new();
    let details =
        stream(&mut connection, "How long does a refund take?", |piece| text += &piece).await?;
    assert_eq!(text, answer.answer);
    assert_eq!(details.ok_or("no last row")?["supported"], true);

    let Err(error) = retrieve(&mut connection, "refund", 1, Some(json!({"langg": "en"}))).await
    else {
        return Err("a filter by no column is an error".into());
    };
    // region errors
    let message = match error
        .as_database_error()
        .and_then(|it| it.try_downcast_ref::<PgDatabaseError>())
    {
        Some(it) => format!("{}: {} ({})", it.code(), it.message(), it.hint().unwrap_or_default()),
        None => error.to_string(),
    };
    // endregion
    assert_eq!(
        message,
        "42704: filter names an unknown column \"langg\" (Columns that a filter can name: title, lang, id; rag_alter_pipeline(metadata => ...) sets the list.)"
    );
    Ok(())
}
