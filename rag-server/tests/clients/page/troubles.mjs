// What is said when something goes wrong, and that the page goes on.

import assert from 'node:assert/strict';
import test from 'node:test';

import {READER, serve, sql, until, writer} from '../database.mjs';
import {ask, chat, closed} from './browser.mjs';

const GHENT = 'What does the mill of Ghent grind?';
const REPLY = 'The mill of Ghent grinds corn for the bakery of Eve. [1] '.repeat(40);
const BUSY = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'rag-server' AND state <> 'idle'";
const RUNNING = `SELECT count(*) ${BUSY}`;

test('a token is asked for, and a wrong one refused', async () => {
  const page = await chat({}, closed.address);
  await page.fill('#token', 'a-wrong-token-0123456789');
  await page.press('#token', 'Enter');
  await until('a word about it', async () => /token/.test(await page.locator('#refused').innerText()));
  await page.fill('#token', READER);
  await page.press('#token', 'Enter');
  const turn = await ask(page, 'How can invoices be paid?');
  assert.equal(await turn.getAttribute('data-verdict'), 'supported');
  await page.locator('#leave').click();
  await page.locator('#token').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});

async function begin(page) {
  writer.play({text: REPLY, pause: 100});
  await page.selectOption('#pipeline', 'notes');
  await page.fill('#question', GHENT);
  await page.press('#question', 'Enter');
  await until('the first words', async () => /corn/.test(await page.locator('.answer').last().innerText()));
}

test('an answer that is stopped keeps its words, and its statement ends', async () => {
  const page = await chat();
  await begin(page);
  assert.equal(await page.locator('.answer').getAttribute('aria-busy'), 'true');
  await page.locator('#stop').click();
  assert.equal(await page.locator('.problem').last().innerText(), 'Stopped.');
  assert.match(await page.locator('.answer').innerText(), /corn/);
  await until('the end of the statement', () => sql(RUNNING) === '0');
  await page.keyboard.press('Tab');
  await begin(page);
  await page.keyboard.press('Escape');
  await until('the second end', () => sql(RUNNING) === '0');
  writer.play({text: 'Corn. [1]'});
  await page.locator('article .again').last().click();
  await page.locator('.verdict strong').waitFor();
  assert.equal(await page.locator('article').count(), 2);
});

test('a session that is killed is an error, and the question can be asked again', async () => {
  const page = await chat();
  await begin(page);
  sql(`SELECT pg_terminate_backend(pid) ${BUSY}`);
  await until('a word about it', async () => /erminating connection.*\(57P01\)/s.test(await page.locator('article .problem').innerText()));
  writer.play({text: 'Corn. [1]'}, {text: 'Corn. [1]'});
  await page.locator('.again').click();
  await page.locator('.verdict strong').waitFor();
  assert.equal(await page.locator('article').count(), 1);
});

test('a question that is too large is refused, and takes no room', async () => {
  const page = await chat();
  const turn = await ask(page, 'Why? '.repeat(300_000));
  assert.match(await turn.locator('.problem').innerText(), /^The request is larger than 1024 KB\. Ask in fewer words/);
  assert.ok((await turn.boundingBox()).height < 600);
  assert.equal(await (await ask(page, 'How can invoices be paid?')).getAttribute('data-verdict'), 'supported');
});

test('a provider that fails is named', async () => {
  const page = await chat();
  writer.play();
  const turn = await ask(page, GHENT, 'notes');
  assert.match(await turn.locator('.problem').innerText(), /[Pp]rovider "writer"/);
});

test('a server that is gone is one that cannot be reached', async () => {
  const server = await serve();
  const page = await chat({}, server.address);
  await ask(page, 'How can invoices be paid?');
  server.end();
  const turn = await ask(page, 'When are invoices sent?');
  assert.equal(await turn.locator('.problem').innerText(), 'The server cannot be reached.');
  assert.equal(await turn.locator('.again').isVisible(), true);
});
