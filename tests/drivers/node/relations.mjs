// What pg_rag makes in a database, and tools that compare a database with models must leave alone.

/** Statements that make a foreign table as pipelines over shards have, in the schema of the tables. */
export const shard = [
  "CREATE FOREIGN DATA WRAPPER elsewhere",
  "CREATE SERVER east FOREIGN DATA WRAPPER elsewhere",
  "CREATE FOREIGN TABLE everything_rag_shard_1 (chunk_id bigint, content text) SERVER east",
];

/**
 * The OIDs of pg_rag's tables, views, sequences and indexes, of foreign tables, and of the triggers of sources, in order.
 * `query` runs a statement and returns its rows.
 */
export async function relations(query) {
  const rows = await query(`
    SELECT c.oid::int8::text AS oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'rag' OR c.relname LIKE '%\\_rag%'
    UNION SELECT oid::int8::text FROM pg_trigger WHERE tgname LIKE 'rag\\_%' ORDER BY 1`);
  return rows.map((row) => row.oid);
}
