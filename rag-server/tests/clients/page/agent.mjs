// The steps of an agent, as they come.

import assert from 'node:assert/strict';
import test from 'node:test';

import {until, writer} from '../database.mjs';
import {chat} from './browser.mjs';
import {begin, SCRIPT} from './mill.mjs';

// Lets the answer wait until what is returned is called.
function hold() {
  let release;
  const when = new Promise(resolve => { release = resolve; });
  writer.play(...SCRIPT.slice(0, -1), {...SCRIPT.at(-1), when});
  return release;
}

test('steps are told while they are taken, and put away when the answer is there', async () => {
  const page = await chat();
  const answer = hold();
  await begin(page);
  const steps = page.locator('.steps li');
  await until('all steps before the answer', async () => await steps.count() === 3);
  assert.equal(await page.locator('.steps').evaluate(node => node.open), true);
  assert.equal(await page.locator('.steps ol').getAttribute('aria-live'), 'polite');
  assert.equal(await page.locator('.answer').innerText(), '');
  answer();
  await page.locator('.verdict strong').waitFor();
  assert.equal(await page.locator('.steps').evaluate(node => node.open), false);
  assert.equal(await page.locator('.steps summary').innerText(), '3 steps');
  await page.locator('.steps summary').focus();
  await page.keyboard.press('Enter');
  const texts = await steps.allInnerTexts();
  assert.match(texts[0], /^search "When does the bakery open that the mill[^]*found sources 1/);
  assert.match(texts[1], /^search "opening hours of the bakery of Eve[^]*hours are missing[^]*found sources 2/);
  assert.match(texts[2], /^calculate 8 - 6[^]*2$/);
  await page.locator('.marker').last().click();
  await page.locator('#source mark').waitFor();
  assert.match(await page.locator('#source-text').innerText(), /opens at six, and on Sundays at eight/);
  assert.deepEqual(page.complaints, []);
});

test('who reads a step goes on reading it', async () => {
  const page = await chat();
  const answer = hold();
  await begin(page);
  await page.locator('.steps li').first().waitFor();
  await page.locator('.steps summary').focus();
  answer();
  await page.locator('.verdict strong').waitFor();
  assert.equal(await page.locator('.steps').evaluate(node => node.open), true);
  assert.equal(await page.evaluate(() => document.activeElement.localName), 'summary');
});
