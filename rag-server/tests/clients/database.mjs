// A database with two roles, rag-server in front of it, and a provider behind it.
//
// PGHOST and PGUSER lead to a superuser, PSQL and RAG_SERVER are the programs.

import {execFileSync, spawn} from 'node:child_process';
import {chmodSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

import {writer as startWriter} from './writer.mjs';

export const READER = 'page-reader-token-0123456789';
const DATABASES = 'page_test_';
const DATABASE = DATABASES + process.pid;

// The database, as the role that may read.
export const url = `host=${process.env.PGHOST} user=page_reader dbname=${DATABASE}`;
const folder = mkdtempSync(join(tmpdir(), 'page-test-'));
const psql = (database, ...rest) => execFileSync(process.env.PSQL,
  ['-qXAt', '-v', 'ON_ERROR_STOP=1', '-d', database, ...rest], {encoding: 'utf8'}).trim();

// What a statement of the superuser says.
export const sql = statement => psql(DATABASE, '-c', statement);

function drop(database) {
  psql('postgres', '-c', 'SET client_min_messages = error', '-c', `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
}

// Drops what runs have left behind whose process is gone.
function dropOld() {
  const old = psql('postgres', '-c', `SELECT datname FROM pg_database WHERE datname ~ '^${DATABASES}[0-9]+$'`);
  for (const database of old.split('\n').filter(Boolean)) {
    try { process.kill(Number(database.slice(DATABASES.length)), 0); } catch { drop(database); }
  }
}

// A file with the tokens of both roles.
export function tokens() {
  const file = join(folder, 'tokens.json');
  const of = (token, role) => ({token, role});
  writeFileSync(file, JSON.stringify([of(READER, 'page_reader'), of('page-stranger-token-0123456789', 'page_stranger')]));
  chmodSync(file, 0o600);
  return file;
}

// Starts rag-server: where it is, its process, and what ends it.
export async function serve(...more) {
  const options = ['--database-url', url, '--listen', '127.0.0.1:0', '--rate', '0', '--setting', 'rag.trace=full', ...more];
  const child = spawn(process.env.RAG_SERVER, options, {stdio: ['ignore', 'ignore', 'pipe']});
  for await (const line of createInterface({input: child.stderr})) {
    const address = /http:\/\/\S+/.exec(line);
    if (!address) continue;
    // Nobody reads further, and what it says is not to stop it.
    child.stderr.resume();
    return {address: address[0], end: () => child.kill('SIGKILL'), pid: child.pid};
  }
  throw new Error('rag-server did not start');
}

// Waits until something holds.
export async function until(what, holds) {
  for (const began = Date.now(); Date.now() - began < 60_000;) {
    if (await holds()) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`it never comes: ${what}`);
}

export const writer = await startWriter();
dropOld();
drop(DATABASE);
psql('postgres', '-c', `CREATE DATABASE ${DATABASE}`);
psql(DATABASE, '-v', `writer=${writer.url}`, '-f', fileURLToPath(new URL('setup.sql', import.meta.url)));

// Leaves nothing behind.
export function remove() {
  writer.close();
  drop(DATABASE);
  rmSync(folder, {recursive: true});
}
