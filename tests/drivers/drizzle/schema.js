// The models, which drizzle-kit compares with the database.

// region schema
import { bigint, integer, pgSchema, pgTable, text, vector } from "drizzle-orm/pg-core";

export const page = pgTable("page", {
  id: integer("id").primaryKey(),
  title: text("title").notNull(),
  body: text("body").notNull(),
  lang: text("lang").notNull(),
});

// The schema of what the pipeline makes, and the view of its chunks, which `existing` leaves out of migrations.
export const pageSearch = pgSchema("page_search");
export const pageChunk = pageSearch
  .view("page_rag", {
    chunkId: bigint("chunk_id", { mode: "number" }),
    pageId: integer("source_id"),
    content: text("content"),
    lang: text("lang"),
    embedding: vector("embedding", { dimensions: 384 }),
  })
  .existing();
// endregion
