// pg_rag from knex.

import assert from "node:assert/strict";
import { pages } from "./pages.mjs";
import { relations } from "./relations.mjs";

// region connect
import Knex from "knex";

const knex = Knex({ client: "pg", connection: {} }); // by PGHOST, PGDATABASE and so on
// endregion

// region migration
const migration = {
  async up(knex) {
    await knex.schema.createTable("page", (table) => {
      table.integer("id").primary();
      table.text("title").notNullable();
      table.text("body").notNullable();
      table.text("lang").notNullable();
    });
    await knex.raw("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])");
  },
  async down(knex) {
    await knex.raw("SELECT rag_drop_pipeline('page', if_exists => true)");
    await knex.schema.dropTable("page");
  },
};
// endregion
const source = {
  getMigrations: async () => ["0001_page"],
  getMigrationName: (name) => name,
  getMigration: async () => migration,
};
await knex.migrate.latest({ migrationSource: source });

// region insert
await knex("page").insert(pages.map(([id, title, body, lang]) => ({ id, title, body, lang })));
await knex.raw("SELECT rag_wait('page')");
// endregion

// region retrieve
const chunks = await knex
  .select("page.title", "found.content")
  .from(knex.raw("rag_retrieve(?, k => ?, filter => ?) AS found", ["forgotten password", 2, { lang: "en" }]))
  .join("page", "page.id", knex.raw("found.source_key::integer"))
  .orderBy("found.rank");
// endregion
assert.equal(chunks[0].title, "Passwords");

// region answer
const answer = await knex
  .select("answer", "supported", "citations")
  .from(knex.raw("rag_answer_details(?)", ["How long does a refund take?"]))
  .first();
// endregion
assert.equal(answer.answer, "A refund takes five working days. [1]");
assert.equal(answer.citations[0].source_key, "2");

// region embed
// knex spreads an array over placeholders, so it stands in an array of its own.
const { rows } = await knex.raw("SELECT embedding::real[] FROM unnest(rag_embed_batch(?)) AS embedding", [
  ["happy", "sad"],
]);
const vectors = rows.map((row) => row.embedding);
// endregion
assert.equal(vectors.length, 2);
assert.equal(typeof vectors[0][0], "number");

// region stream
// Needs the package pg-query-stream. One row at a time, so that a piece is shown when it comes.
const rowsOfAnswer = knex.raw("SELECT rag_answer_stream(?) AS piece", ["How long does a refund take?"]);
const pieces = [];
for await (const row of rowsOfAnswer.stream({ highWaterMark: 1 })) pieces.push(row.piece);
const details = JSON.parse(pieces.pop());
// endregion
assert.equal(pieces.join(""), answer.answer);
assert.equal(details.supported, true);

// region errors
let message;
try {
  await knex.raw("SELECT * FROM rag_retrieve(?, 'pages')", ["refund"]);
} catch (error) {
  message = `${error.code}: ${error.hint}`;
}
// endregion
assert.equal(message, "42704: Known pipelines: page.");

// A second run of the migrations finds nothing to do, and a later one leaves all that pg_rag has made as it is.
const query = async (statement) => (await knex.raw(statement)).rows;
const made = await relations(query);
const clicks = {
  up: (knex) => knex.schema.alterTable("page", (table) => table.integer("clicks")),
  down: (knex) => knex.schema.alterTable("page", (table) => table.dropColumn("clicks")),
};
const again = {
  ...source,
  getMigrations: async () => ["0001_page", "0002_clicks"],
  getMigration: async (name) => (name === "0001_page" ? migration : clicks),
};
assert.deepEqual((await knex.migrate.latest({ migrationSource: source }))[1], []);
assert.deepEqual((await knex.migrate.latest({ migrationSource: again }))[1], ["0002_clicks"]);
assert.deepEqual((await knex.migrate.latest({ migrationSource: again }))[1], []);
assert.deepEqual(await relations(query), made);
assert.equal((await query("SELECT rag_answer('How long does a refund take?') AS answer"))[0].answer, answer.answer);

await knex.migrate.rollback({ migrationSource: again }, true);
assert.equal((await knex.raw("SELECT count(*)::int AS n FROM rag.pipeline")).rows[0].n, 0);
await knex.destroy();
