// region external
import { defineConfig, env } from "prisma/config";

export default defineConfig({
  schema: "schema.prisma",
  migrations: { path: "migrations" },
  datasource: { url: env("DATABASE_URL") },
  experimental: { externalTables: true },
  tables: { external: ["public.page_rag_chunks"] },
});
// endregion
