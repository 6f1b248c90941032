// What drizzle-kit looks at.

// region config
import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: "./schema.js",
  out: "./migrations",
  schemaFilter: ["public"], // not the schemas of pg_rag
  dbCredentials: { url: process.env.DATABASE_URL },
});
// endregion
