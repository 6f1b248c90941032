// pg_rag from Drizzle.

import assert from "node:assert/strict";
import { pages } from "./pages.mjs";

// region schema
import { asc, cosineDistance, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { bigint, integer, pgTable, pgView, text, vector } from "drizzle-orm/pg-core";
import pg from "pg";

const page = pgTable("page", {
  id: integer("id").primaryKey(),
  title: text("title").notNull(),
  body: text("body").notNull(),
  lang: text("lang").notNull(),
});

// The view that the pipeline makes; `existing` leaves it out of migrations.
const pageChunk = pgView("page_rag", {
  chunkId: bigint("chunk_id", { mode: "number" }),
  pageId: integer("source_id"),
  content: text("content"),
  lang: text("lang"),
  embedding: vector("embedding", { dimensions: 384 }),
}).existing();

const pool = new pg.Pool();
const db = drizzle(pool);
// endregion

// region pipeline
// In a migration of your own (drizzle-kit generate --custom), behind the one that creates the table:
await db.execute(sql`
  CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)`);
await db.execute(sql`SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])`);

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

await pool.end();
