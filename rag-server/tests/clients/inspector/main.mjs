// The inspector of the Model Context Protocol in front of rag-server, over standard input and over HTTP: `node main.mjs`,
// with what database.mjs wants; INSPECTOR is its program.

import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {after} from 'node:test';
import {promisify} from 'node:util';

import {READER, remove, serve, sql, tokens, url} from '../database.mjs';

sql('GRANT EXECUTE ON FUNCTION rag_sql_run TO page_reader; GRANT EXECUTE ON FUNCTION rag_sql_check TO page_reader');
const server = await serve('--tokens', tokens(), '--sql');
// It keeps a list of servers in the home folder, which is to be nobody's.
const home = mkdtempSync(join(tmpdir(), 'inspector-'));
const run = promisify(execFile);

after(() => {
  server.end();
  remove();
  rmSync(home, {recursive: true});
});

const WAYS = {
  'standard input': [process.env.RAG_SERVER, 'mcp', '--database-url', url, '--sql'],
  HTTP: [server.address + '/mcp', '--transport', 'http', '--header', `Authorization: Bearer ${READER}`],
};

// What a call of each tool returns, in part.
const CALLS = [
  ['list_sources', [], /handbook\thandbook\ttitle, lang, year\thow the shop works/],
  ['search', ['query=How can invoices be paid?', 'pipeline=handbook', 'k=1'], /rag:\/\/handbook\/billing\t.*by card or by bank transfer/s],
  ['search', ['query=invoices', 'pipeline=handbook', 'filter={"lang": "ar"}'], /^(?!.*billing)/s],
  ['open', ['uri=rag://handbook/billing', 'max_tokens=50'], /Invoices are sent.*truncated: true/s],
  ['ask', ['question=How can invoices be paid?', 'pipeline=handbook'], /by card or by bank transfer.*supported: true/s],
  ['schema', ['tables=["notes"]'], /notes -- who works for whom\n {2}id integer/],
  ['sql', ['query=SELECT count(*) AS notes FROM notes'], /notes\n3\ntruncated: false/],
];

for (const [way, target] of Object.entries(WAYS)) {
  const ask = async (method, ...more) => {
    const asked = [process.env.INSPECTOR, '--cli', ...target, '--method', method, ...more];
    const {stdout} = await run(process.execPath, asked, {env: {...process.env, HOME: home}, timeout: 120_000});
    return JSON.parse(stdout);
  };

  test(`tools over ${way} are listed, and their schemas are portable`, async () => {
    const {tools} = await ask('tools/list', '--strict');
    assert.deepEqual(tools.map(tool => tool.name), ['list_sources', 'search', 'open', 'ask', 'schema', 'sql']);
  });

  for (const [tool, given, expected] of CALLS) {
    test(`${tool} over ${way}: ${given.join(', ')}`, async () => {
      const {content, isError} = await ask('tools/call', '--tool-name', tool, ...given.flatMap(pair => ['--tool-arg', pair]));
      assert.ok(!isError, JSON.stringify(content));
      assert.match(content[0].text, expected);
    });
  }

  test(`a wrong call over ${way} is an error that says why`, async () => {
    const call = ask('tools/call', '--tool-name', 'search', '--tool-arg', 'query=a', '--tool-arg', 'pipeline=none');
    const said = await call.then(({content, isError}) => isError && content[0].text, error => error.stdout + error.stderr);
    assert.match(said, /42704/);
  });

  test(`resources over ${way} are listed and read`, async () => {
    const {resources} = await ask('resources/list');
    assert.deepEqual(resources.map(resource => resource.uri), ['rag://handbook', 'rag://notes']);
    const {resourceTemplates} = await ask('resources/templates/list');
    assert.match(resourceTemplates[0].uriTemplate, /^rag:\/\/\{/);
    const {contents} = await ask('resources/read', '--uri', 'rag://notes/2');
    assert.match(contents[0].text, /^The bakery of Eve opens at six, and on Sundays at eight\.\ntruncated: false$/);
  });
}
