// pg_rag from node-postgres.

import assert from "node:assert/strict";
import { pages } from "./pages.mjs";

// region connect
import pg from "pg";
import Cursor from "pg-cursor";

const client = new pg.Client(); // by PGHOST, PGDATABASE and so on, or { connectionString }
await client.connect();
// endregion

// region pipeline
await client.query(`
  CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)`);
await client.query("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])");
for (const page of pages) {
  await client.query("INSERT INTO page VALUES ($1, $2, $3, $4)", page);
}
await client.query("SELECT rag_wait('page')");
// endregion

// region retrieve
const { rows: chunks } = await client.query(
  "SELECT rank, source_key, content, metadata FROM rag_retrieve($1, k => $2, filter => $3)",
  ["forgotten password", 2, { lang: "en" }],
);
// endregion
assert.equal(chunks[0].source_key, "1");
assert.equal(chunks[0].metadata.lang, "en");

// region answer
const { rows: [answer] } = await client.query(
  "SELECT answer, supported, citations FROM rag_answer_details($1, filter => $2)",
  ["How long does a refund take?", { lang: "en" }],
);
for (const { marker, source_key, quote } of answer.citations) {
  console.log(marker, source_key, quote);
}
// endregion
assert.equal(answer.answer, "A refund takes five working days. [1]");
assert.equal(answer.supported, true);

// region embed
const { rows } = await client.query(
  "SELECT embedding::real[] FROM unnest(rag_embed_batch($1)) AS embedding",
  [["happy", "sad"]],
);
const vectors = rows.map((row) => row.embedding);
// endregion
assert.equal(vectors.length, 2);
assert.equal(typeof vectors[0][0], "number");

// region stream
async function* stream(question) {
  const cursor = client.query(new Cursor("SELECT rag_answer_stream($1) AS piece", [question]));
  try {
    for (let [row] = await cursor.read(1); row; [row] = await cursor.read(1)) yield row.piece;
  } finally {
    await cursor.close();
  }
}

const pieces = [];
for await (const piece of stream("How long does a refund take?")) pieces.push(piece);
const details = JSON.parse(pieces.pop());
// endregion
assert.equal(pieces.join(""), answer.answer);
assert.equal(details.citations[0].source_key, "2");

// region errors
let message;
try {
  await client.query("SELECT * FROM rag_retrieve($1, 'pages')", ["refund"]);
} catch (error) {
  message = `${error.code}: ${error.message} (${error.hint})`;
}
// endregion
assert.equal(message, '42704: pipeline "pages" does not exist (Known pipelines: page.)');

// region types
// An array becomes an array of PostgreSQL, also where jsonb is wanted, so that one is written as JSON.
await client.query("SELECT * FROM rag_retrieve($1, filter => $2)", [
  "refund",
  { or: [{ lang: "en" }, { lang: "de" }] },
]);
await client.query("SELECT $1::jsonb", [JSON.stringify(["en", "de"])]);

// rag_embed embeds a single text: an array becomes the text '{"happy","sad"}'.
const { rows: [one] } = await client.query(
  `SELECT rag_embed($1) = rag_embed('{"happy","sad"}') AS is_one_text`,
  [["happy", "sad"]],
);
// endregion
assert.equal(one.is_one_text, true);

await client.end();
