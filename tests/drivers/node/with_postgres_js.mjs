// pg_rag from postgres.js.

import assert from "node:assert/strict";
import { pages } from "./pages.mjs";

// region connect
import postgres from "postgres";

const sql = postgres(); // by PGHOST, PGDATABASE and so on, or postgres("postgres://...")
// endregion

// region pipeline
await sql`
  CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)`;
await sql`SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])`;
for (const [id, title, body, lang] of pages) {
  await sql`INSERT INTO page ${sql({ id, title, body, lang })}`;
}
await sql`SELECT rag_wait('page')`;
// endregion

// region retrieve
const chunks = await sql`
  SELECT rank, source_key, content, metadata
  FROM rag_retrieve(${"forgotten password"}, k => ${2}, filter => ${sql.json({ lang: "en" })})`;
// endregion
assert.equal(chunks[0].source_key, "1");

// region answer
const [answer] = await sql`
  SELECT answer, supported, citations
  FROM rag_answer_details(${"How long does a refund take?"}, filter => ${sql.json({ lang: "en" })})`;
// endregion
assert.equal(answer.answer, "A refund takes five working days. [1]");
assert.equal(answer.citations[0].source_key, "2");

// region embed
const rows = await sql`
  SELECT embedding::real[] FROM unnest(rag_embed_batch(${["happy", "sad"]})) AS embedding`;
const vectors = rows.map((row) => row.embedding);
// endregion
assert.equal(vectors.length, 2);
assert.equal(typeof vectors[0][0], "number");

// region stream
const pieces = [];
for await (const [row] of sql`SELECT rag_answer_stream(${"How long does a refund take?"}) AS piece`.cursor(1)) {
  pieces.push(row.piece);
}
const details = JSON.parse(pieces.pop());
// endregion
assert.equal(pieces.join(""), answer.answer);
assert.equal(details.supported, true);

// region errors
let message;
try {
  await sql`SELECT * FROM rag_retrieve(${"refund"}, 'pages')`;
} catch (error) {
  message = `${error.code}: ${error.message} (${error.hint})`;
}
// endregion
assert.equal(message, '42704: pipeline "pages" does not exist (Known pipelines: page.)');

await sql.end();
