// pg_rag from Drizzle, and its relations under the eyes of drizzle-kit.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { pushSchema } from "drizzle-kit/api";
import { pages } from "./pages.mjs";
import { relations, shard } from "./relations.mjs";

/** What drizzle-kit prints. Its `push` prints errors, too, and reports success all the same. */
const kit = (...args) => execFileSync("node_modules/.bin/drizzle-kit", args, { encoding: "utf8" });

// region connect
import { asc, cosineDistance, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { page, pageChunk } from "./schema.js";

const pool = new pg.Pool();
const db = drizzle(pool);
// endregion

// A migration that drizzle-kit writes, and one of one's own. The second run finds nothing to do.
for (const folder of ["migrations", "pulled"]) rmSync(folder, { recursive: true, force: true });
kit("generate", "--name=page");
kit("generate", "--custom", "--name=pipeline");
writeFileSync("migrations/0001_pipeline.sql", readFileSync("pipeline.sql"));
kit("migrate");
const query = async (statement) => (await pool.query(statement)).rows;
for (const statement of shard) await query(statement);
const made = await relations(query);
kit("migrate");

// region insert
await db.insert(page).values(pages.map(([id, title, body, lang]) => ({ id, title, body, lang })));
await db.execute(sql`SELECT rag_wait('page')`);
// endregion

// region retrieve
const filter = JSON.stringify({ lang: "en" });
const found = sql`rag_retrieve(${"forgotten password"}, k => ${2}, filter => ${filter})`;
const { rows: chunks } = await db.execute(sql`
  SELECT found.rank, found.content, ${page.title}
  FROM ${found} AS found JOIN ${page} ON ${page.id} = found.source_key::integer
  ORDER BY found.rank`);
// endregion
assert.equal(chunks[0].title, "Passwords");

// region view
const nearest = await db
  .select({ title: page.title, content: pageChunk.content })
  .from(pageChunk)
  .innerJoin(page, eq(page.id, pageChunk.pageId))
  .where(eq(pageChunk.lang, "en"))
  .orderBy(asc(cosineDistance(pageChunk.embedding, sql`rag_embed(${"lost password"})`)))
  .limit(1);
// endregion
assert.equal(nearest[0].title, "Passwords");

// region answer
const { rows: [answer] } = await db.execute(sql`
  SELECT answer, supported, citations FROM rag_answer_details(${"How long does a refund take?"})`);
// endregion
assert.equal(answer.answer, "A refund takes five working days. [1]");
assert.equal(answer.citations[0].source_key, "2");

// region embed
// Drizzle spreads an array over placeholders; sql.param keeps it whole.
const { rows } = await db.execute(sql`
  SELECT embedding::real[] FROM unnest(rag_embed_batch(${sql.param(["happy", "sad"])})) AS embedding`);
const vectors = rows.map((row) => row.embedding);
// endregion
assert.equal(vectors.length, 2);
assert.equal(typeof vectors[0][0], "number");

// region errors
let message;
try {
  await db.execute(sql`SELECT * FROM rag_retrieve(${"refund"}, 'pages')`);
} catch ({ cause }) {
  message = `${cause.code}: ${cause.message} (${cause.hint})`;
}
// endregion
assert.equal(message, '42704: pipeline "pages" does not exist (Known pipelines: page.)');

// drizzle-kit finds no difference, neither between models and migrations nor between models and database.
assert.match(kit("generate"), /No schema changes/);
assert.match(kit("push"), /No changes detected/);
kit("pull", "--config=pulled.config.js");
const pulled = readFileSync("pulled/schema.ts", "utf8");
assert.match(pulled, /pgTable\("page"/);
assert.doesNotMatch(pulled, /rag/);

// Two columns more, one by a migration and one by push, each twice.
const models = readFileSync("schema.js", "utf8");
const withColumns = (columns) => writeFileSync("schema.js", models.replace('lang: text("lang").notNull(),', `$& ${columns}`));
withColumns('clicks: integer("clicks"),');
kit("generate", "--name=clicks");
kit("migrate");
kit("migrate");
assert.match(kit("push"), /No changes detected/);
withColumns('clicks: integer("clicks"), likes: integer("likes"),');
assert.match(kit("push"), /Changes applied/);
assert.match(kit("push"), /No changes detected/);
writeFileSync("schema.js", models);

// All that pg_rag has made is still there, and the pipeline follows the table.
assert.deepEqual(await relations(query), made);
await query("INSERT INTO page VALUES (4, 'Museum', 'The museum opens at ten.', 'en', 1, 2)");
await query("SELECT rag_wait('page')");
const opens = async () => (await query("SELECT rag_answer('When does the museum open?') AS answer"))[0].answer;
assert.equal(await opens(), "The museum opens at ten. [1]");

// In the schema of the tables push would drop the chunks, and with a filter their sequence.
await query("ALTER TABLE page DROP clicks, DROP likes");
await query("SELECT rag_drop_pipeline('page')");
await query("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])");
await query("SELECT rag_wait('page')");
const pushed = async (...filters) => (await pushSchema({ page }, db, ["public"], filters)).statementsToExecute;
assert.match((await pushed()).join(), /DROP TABLE "page_rag_chunks"/);
assert.deepEqual(await pushed("!*_rag", "!*_rag_*"), ['DROP SEQUENCE "public"."page_rag_chunks_chunk_id_seq";']);

// Once they are moved, nothing.
await query(readFileSync("move.sql", "utf8"));
assert.deepEqual(await pushed(), []);
assert.equal(await opens(), "The museum opens at ten. [1]");

await pool.end();
