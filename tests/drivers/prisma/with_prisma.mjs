// pg_rag from Prisma, by its adapter for node-postgres, and its relations under the eyes of Prisma Migrate.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { pages } from "./pages.mjs";
import { relations, shard } from "./relations.mjs";

/** What a command of Prisma prints. One that fails is an error with that. */
function command(...args) {
  const { status, stdout, stderr } = spawnSync("node_modules/.bin/prisma", args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

// region connect
import { PrismaPg } from "@prisma/adapter-pg";
import { Prisma, PrismaClient } from "./generated/index.js";

const prisma = new PrismaClient({ adapter: new PrismaPg({}) }); // by PGHOST, or { connectionString }
// endregion

// A migration that Prisma writes, and one of one's own. The second run finds nothing to do.
rmSync("migrations", { recursive: true, force: true });
command("migrate", "dev", "--name=page");
command("migrate", "dev", "--create-only", "--name=pipeline");
const folder = readdirSync("migrations").find((name) => name.endsWith("_pipeline"));
writeFileSync(`migrations/${folder}/migration.sql`, readFileSync("pipeline.sql"));
command("migrate", "dev");
const query = (statement) => prisma.$queryRawUnsafe(statement);
for (const statement of shard) await prisma.$executeRawUnsafe(statement);
const made = await relations(query);
assert.match(command("migrate", "dev"), /Already in sync/);
assert.match(command("migrate", "deploy"), /No pending migrations/);

// region insert
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
const [{ embedding }] = await prisma.$queryRaw`SELECT embedding::text FROM page_chunk LIMIT 1`;
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

// What functions and views of pg_rag return can be read as it is.
await prisma.$queryRaw`SELECT * FROM rag.pipeline_status`;
await prisma.$queryRaw`SELECT * FROM rag_retrieve('refund')`;

// Prisma finds no difference between models and database, and nothing of pg_rag to make models of.
const difference = ["migrate", "diff", "--from-config-datasource", "--to-schema=schema.prisma", "--script"];
assert.match(command(...difference), /empty migration/);
assert.match(command("db", "push"), /already in sync/);
const pulled = command("db", "pull", "--print");
assert.match(pulled, /model Page /);
assert.doesNotMatch(pulled, /_rag|_search/);

// A column more, by a migration that is applied twice.
const models = readFileSync("schema.prisma", "utf8");
writeFileSync("schema.prisma", models.replace("chunks PageChunk[]", "clicks Int?\n  $&"));
command("migrate", "dev", "--name=clicks");
assert.match(command("migrate", "dev"), /Already in sync/);
assert.match(command("migrate", "deploy"), /No pending migrations/);

// All that pg_rag has made is still there, and the pipeline follows the table.
assert.deepEqual(await relations(query), made);
await prisma.$executeRaw`INSERT INTO page VALUES (4, 'Museum', 'The museum opens at ten.', 'en', 1)`;
await prisma.$queryRaw`SELECT rag_wait('page')`;
const opens = async () => (await query("SELECT rag_answer('When does the museum open?') AS answer"))[0].answer;
assert.equal(await opens(), "The museum opens at ten. [1]");

// In the schema of the models it wants to drop the chunks, unless their table is external. The views are in the way.
await prisma.$executeRaw`DROP VIEW page_chunk`;
await prisma.$queryRaw`SELECT rag_drop_pipeline('page')`;
await prisma.$queryRaw`SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])`;
assert.match(command(...difference), /DROP TABLE "page_rag_chunks"/);
await assert.rejects(prisma.$executeRaw`DROP TABLE page_rag_chunks`, /2BP01/);
const tables = await query(readFileSync("tables.sql", "utf8"));
assert.deepEqual(tables, [{ name: "public.page_rag_chunks" }]);
assert.match(command(...difference, "--config=external.config.ts"), /empty migration/);
assert.match(command("db", "push", "--config=external.config.ts"), /already in sync/);
await prisma.$queryRaw`SELECT rag_wait('page')`;
assert.equal(await opens(), "The museum opens at ten. [1]");
await prisma.$queryRaw`SELECT rag_alter_pipeline('page', refresh => 'sync')`;

// As `prisma migrate reset` does: it drops the schema of the models, with the extension, and runs all migrations again.
for (const _ of ["with the pipeline in the schema of the models", "with it in a schema of its own"]) {
  for (const statement of ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"]) await prisma.$executeRawUnsafe(statement);
  command("migrate", "deploy");
  await prisma.$executeRaw`INSERT INTO page VALUES (4, 'Museum', 'The museum opens at ten.', 'en', 1)`;
  await prisma.$queryRaw`SELECT rag_wait('page')`;
  assert.equal(await opens(), "The museum opens at ten. [1]");
}

await prisma.$disconnect();
