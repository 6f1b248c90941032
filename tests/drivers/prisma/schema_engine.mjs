#!/usr/bin/env node
// The engine for migrations, for the command line of Prisma. Prisma downloads it as a program from a host of its own.
// This program answers the same messages, JSON-RPC with one message a line, by a neighbouring build of the engine that is
// compiled to WebAssembly, which is a package.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from "@prisma/driver-adapter-utils";
import * as wasm from "@prisma/schema-engine-wasm/schema_engine_bg";

// The type "char" of PostgreSQL's catalogs, which the adapter does not know, and the type text, by their OIDs.
const CHAR = 18;
const TEXT = 25;

/** Runs a statement, with columns of "char" under the name that the engine has for them. */
async function queryRaw(adapter, statement) {
  const chars = [];
  const performIO = async (input) => {
    const output = await adapter.performIO(input);
    for (const [place, field] of output.fields.entries()) {
      if (field.dataTypeID !== CHAR) continue;
      field.dataTypeID = TEXT;
      chars.push(place);
    }
    return output;
  };
  const reader = Object.assign(Object.create(adapter), { performIO });
  const result = await Object.getPrototypeOf(adapter).queryRaw.call(reader, statement);
  for (const place of chars) result.columnTypes[place] = ColumnTypeEnum.Character;
  return result;
}

/** Connects as the engine as a program does: whole scripts at once, and a shadow database that is dropped by force. */
class Databases extends PrismaPg {
  constructor(url) {
    super({ connectionString: url });
    this.url = url;
  }

  async connect() {
    const adapter = await super.connect();
    adapter.queryRaw = (statement) => queryRaw(adapter, statement);
    adapter.executeScript = async (script) => {
      try {
        await adapter.underlyingDriver().query(script);
      } catch (error) {
        adapter.onError(error);
      }
    };
    return adapter;
  }

  async connectToShadowDb() {
    const name = `prisma_migrate_shadow_db_${crypto.randomUUID()}`;
    const url = new URL(this.url);
    url.pathname = `/${name}`;
    const main = await this.connect();
    await main.executeScript(`CREATE DATABASE "${name}"`);
    const shadow = await new Databases(url.href).connect();
    const close = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await close();
      await main.executeScript(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
      await main.dispose();
    };
    return shadow;
  }
}

async function engine(url, datamodels) {
  const file = new URL("schema_engine_bg.wasm", import.meta.resolve("@prisma/schema-engine-wasm/schema_engine_bg"));
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { "./schema_engine_bg.js": wasm });
  globalThis.PRISMA_WASM_PANIC_REGISTRY = { set_message: (message) => console.error(message) };
  wasm.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  const databases = bindMigrationAwareSqlAdapterFactory(new Databases(url));
  return wasm.SchemaEngine.new({ datamodels }, () => {}, databases);
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

/** Answers one message. Differences are printed by the command line, when it is asked to. */
async function answer(schemas, { id, method, params }) {
  try {
    // Only the diagnosis connects to a shadow database here; the other two look at what it has found there.
    if (["createMigration", "evaluateDataLoss"].includes(method)) await schemas.devDiagnostic(params);
    const result = await schemas[method === "getDatabaseVersion" ? "version" : method](params);
    if (method === "diff" && result.stdout) send({ id: "difference", method: "print", params: { content: result.stdout } });
    send({ id, result: result ?? null });
  } catch ({ message, code, meta }) {
    send({ id, error: { code: 4466, message, data: { is_panic: false, message, error_code: code, meta } } });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { datasource: { type: "string" }, datamodels: { type: "string", multiple: true } },
});
// Otherwise it is only asked whether the database is there, which it is.
if (positionals[0] !== "cli") {
  const datamodels = values.datamodels?.map((file) => [file, readFileSync(file, "utf8")]);
  const schemas = await engine(JSON.parse(values.datasource).url, datamodels);
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.method) await answer(schemas, message);
  }
  process.exit();
}
