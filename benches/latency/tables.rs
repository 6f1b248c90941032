//! The same chunks twice: as a pipeline has them, and as somebody would keep them by hand.

use postgres::Client;

use crate::Result;

/// Fills a pipeline over a table `doc`. The first `embedded` passages go through the model, a row
/// each; the vector of each other one lies between those of two of these, two parts to one.
pub fn fill(client: &mut Client, passages: &[String], embedded: usize) -> Result<()> {
    client.batch_execute("CREATE TABLE doc (id integer PRIMARY KEY, body text NOT NULL)")?;
    let (first, rest) = passages.split_at(embedded.min(passages.len()));
    insert(client, 1, first)?;
    client.batch_execute(
        "SELECT rag_create_pipeline('doc', 'body', refresh => 'manual', options => '{\"backfill\": \"background\"}')",
    )?;
    client.batch_execute("CALL rag_run('doc')")?;
    insert(client, 1 + first.len(), rest)?;
    let indexes = drop_indexes(client)?;
    client.execute(
        "INSERT INTO doc_rag_chunks (source_id, chunk_no, content, start_char, end_char, token_count,
                                     content_hash, model, embedding)
         SELECT d.id, 0, d.body, 0, length(d.body), a.token_count,
                sha256(convert_to(d.body, 'UTF8')), a.model,
                l2_normalize(a.embedding + a.embedding + b.embedding)
         FROM doc AS d
         JOIN doc_rag_chunks AS a ON a.source_id = 1 + d.id % $1::integer AND a.chunk_no = 0
         JOIN doc_rag_chunks AS b ON b.chunk_no = 0
          AND b.source_id = 1 + (d.id::bigint * 104729 + d.id / $1 * 31) % $1
         WHERE d.id > $1",
        &[&i32::try_from(embedded)?],
    )?;
    for definition in indexes {
        client.batch_execute(&definition)?;
    }
    client.batch_execute("VACUUM (ANALYZE) doc")?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks")?;
    Ok(())
}

/// Copies the chunks into a table of their own, with the indexes of pgvector and PostgreSQL.
pub fn copy_by_hand(client: &mut Client) -> Result<()> {
    client.batch_execute(
        "CREATE TABLE by_hand AS
             SELECT chunk_id AS id, content, embedding, to_tsvector('english', content) AS tsv
             FROM doc_rag_chunks ORDER BY chunk_id;
         ALTER TABLE by_hand ADD PRIMARY KEY (id);
         SET maintenance_work_mem = '512MB';
         CREATE INDEX ON by_hand USING hnsw (embedding vector_cosine_ops);
         CREATE INDEX ON by_hand USING gin (tsv)",
    )?;
    client.batch_execute("VACUUM (ANALYZE) by_hand")?;
    Ok(())
}

fn insert(client: &mut Client, first: usize, passages: &[String]) -> Result<()> {
    let mut id = i32::try_from(first)?;
    for part in passages.chunks(1000) {
        let statement = "INSERT INTO doc SELECT $1::integer + u.place - 1, u.body
                         FROM unnest($2::text[]) WITH ORDINALITY AS u (body, place)";
        client.execute(statement, &[&id, &part])?;
        id += 1000;
    }
    Ok(())
}

/// Drops the indexes of vectors and words, which are built faster than they grow; how they are made.
pub fn drop_indexes(client: &mut Client) -> Result<Vec<String>> {
    let rows = client.query(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
         FROM pg_index AS i
         JOIN pg_class AS c ON c.oid = i.indexrelid
         JOIN pg_am AS a ON a.oid = c.relam
         WHERE i.indrelid = 'doc_rag_chunks'::regclass AND a.amname IN ('rag_hnsw', 'rag_bm25')",
        &[],
    )?;
    for row in &rows {
        client.batch_execute(&format!("DROP INDEX {}", row.get::<_, &str>(0)))?;
    }
    match rows.len() {
        2 => Ok(rows.iter().map(|row| row.get(1)).collect()),
        count => Err(format!("the chunks have {count} indexes of ours and not 2").into()),
    }
}
