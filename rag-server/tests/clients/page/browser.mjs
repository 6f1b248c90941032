// A browser, and servers for its pages: one that lets everybody ask, and a closed one that wants a token.
//
// CHROMIUM is the program, and what database.mjs wants is there, too.

import {chromium} from 'playwright-core';

import {remove, serve, tokens} from '../database.mjs';

// Chromium would ask hosts outside at its start.
const QUIET = ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

export const open = await serve();
export const closed = await serve('--tokens', tokens());
// Its sandbox does not work for root.
export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM, args: QUIET, chromiumSandbox: process.getuid() !== 0,
});

// A page with the chat, the only one, in a browser that knows nothing; what goes wrong in it is in `complaints`, and who
// else it asks for something in `strangers`.
export async function chat(options = {}, address = open.address) {
  for (const old of browser.contexts()) await old.close();
  const context = await browser.newContext({viewport: {width: 1000, height: 800}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.complaints = [];
  page.strangers = [];
  page.on('pageerror', error => page.complaints.push(String(error)));
  page.on('console', message => { if (message.type() === 'error') page.complaints.push(message.text()); });
  page.on('request', request => { if (!/^(http:\/\/127\.0\.0\.1:|data:)/.test(request.url())) page.strangers.push(request.url()); });
  await page.goto(address);
  return page;
}

// Types a question, and waits for its answer: the turn.
export async function ask(page, question, pipeline = 'handbook') {
  await page.selectOption('#pipeline', pipeline);
  await page.fill('#question', question);
  await page.press('#question', 'Enter');
  const turn = page.locator('article').last();
  await turn.locator('.verdict strong, .problem:not(:empty)').first().waitFor();
  return turn;
}

export async function end() {
  await browser.close();
  open.end();
  closed.end();
  remove();
}
