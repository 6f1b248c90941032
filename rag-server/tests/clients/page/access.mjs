// Whether axe finds something on the page that somebody could not see, reach or be told.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import test from 'node:test';

import {writer} from '../database.mjs';
import {ask, chat} from './browser.mjs';
import {begin, SCRIPT} from './mill.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MARKDOWN = 'The mill **grinds** corn [1], see `mill` and [it](https://a.example).\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n```\nx\n```\n\n- a\n';

async function check(page, what) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await window.axe.run()).violations.map(({id, nodes}) => [id, nodes.map(node => node.html)]));
  assert.deepEqual(found, [], what);
}

for (const colorScheme of ['light', 'dark']) {
  test(`everybody can use the page in ${colorScheme} colours`, async () => {
    const page = await chat({colorScheme});
    await check(page, 'nothing was asked');
    writer.play({text: MARKDOWN});
    await ask(page, 'What does the mill of Ghent grind?', 'notes');
    await page.locator('#more summary').click();
    await ask(page, 'Who painted the Mona Lisa?');
    const turn = await ask(page, 'How can invoices be paid?');
    await turn.locator('.bad').click();
    await turn.locator('.walk summary').click();
    await turn.locator('.explain').click();
    await turn.locator('.stage').first().waitFor();
    await page.selectOption('#column', 'year');
    await page.fill('#value', '2025');
    await page.press('#value', 'Enter');
    await check(page, 'a walk, a filter and a refusal');
    await page.fill('#filter', '');
    await page.locator('#more summary').click();
    writer.play(...SCRIPT);
    await begin(page);
    const steps = page.locator('article').last();
    await steps.locator('.verdict strong').waitFor();
    await steps.locator('.steps summary').click();
    await check(page, 'steps');
    await page.locator('.marker').first().click();
    await page.locator('#source mark').first().waitFor();
    await check(page, 'a source');
  });
}
