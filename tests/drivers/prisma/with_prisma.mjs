// pg_rag from Prisma, by its adapter for node-postgres.

import assert from "node:assert/strict";
import { pages } from "./pages.mjs";

// region connect
import { PrismaPg } from "@prisma/adapter-pg";
import { Prisma, PrismaClient } from "./generated/index.js";

const prisma = new PrismaClient({ adapter: new PrismaPg({}) }); // by PGHOST, or { connectionString }
// endregion

// region pipeline
// In a migration (prisma migrate dev --create-only), behind the one that creates the table:
await prisma.$executeRaw`
  CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)`;
await prisma.$queryRaw`SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])`;

await prisma.page.createMany({ data: pages.map(([id, title, body, lang]) => ({ id, title, body, lang })) });
await prisma.$queryRaw`SELECT rag_wait('page')`;
// endregion

// region retrieve
const filter = JSON.stringify({ lang: "en" });
const chunks = await prisma.$queryRaw`
  SELECT page.title, found.rank, found.content, found.metadata
  FROM rag_retrieve(${"forgotten password"}, k => ${2}, filter => ${filter}::jsonb) AS found
  JOIN page ON page.id = found.source_key::integer
  ORDER BY found.rank`;
// endregion
assert.equal(chunks[0].title, "Passwords");
assert.equal(chunks[0].metadata.lang, "en");

// region view
const page = await prisma.page.findUnique({ where: { id: 2 }, include: { chunks: true } });
// endregion
assert.equal(page.chunks[0].content, pages[1][2]);

// region answer
const [answer] = await prisma.$queryRaw`
  SELECT answer, supported, citations FROM rag_answer_details(${"How long does a refund take?"})`;
// endregion
assert.equal(answer.answer, "A refund takes five working days. [1]");
assert.equal(answer.citations[0].source_key, "2");

// region embed
const rows = await prisma.$queryRaw`
  SELECT e::real[] AS embedding FROM unnest(rag_embed_batch(${["happy", "sad"]}::text[])) AS e`;
const vectors = rows.map((row) => row.embedding);
// endregion
assert.equal(vectors.length, 2);
assert.equal(typeof vectors[0][0], "number");

// region vectors
// Prisma has no type for vectors: choose other columns, or cast them.
const [{ embedding }] = await prisma.$queryRaw`SELECT embedding::text FROM page_rag LIMIT 1`;
// endregion
assert.equal(JSON.parse(embedding).length, 384);

// region errors
let message;
try {
  await prisma.$queryRaw`SELECT * FROM rag_retrieve(${"refund"}, 'pages')`;
} catch (error) {
  assert(error instanceof Prisma.PrismaClientKnownRequestError);
  message = `${error.code}: ${error.message}`;
}
// endregion
assert.match(message, /42704/);
assert.match(message, /pipeline "pages" does not exist/);

// What the functions of pg_rag return can be read as it is, and so can the views for monitoring.
await prisma.$queryRaw`SELECT * FROM rag.pipeline_status`;
await prisma.$queryRaw`SELECT * FROM rag_retrieve('refund')`;
await prisma.$queryRaw`SELECT rag_alter_pipeline('page', refresh => 'sync')`;
await prisma.$queryRaw`SELECT rag_drop_pipeline('page')`;

await prisma.$disconnect();
