// What a reader sees of an answer, and does with it.

import assert from 'node:assert/strict';
import test from 'node:test';

import {sql, until} from '../database.mjs';
import {ask, chat} from './browser.mjs';

const PAID = 'How can invoices be paid?';

test('a number of the answer opens the source with the cited words marked', async () => {
  const page = await chat();
  const turn = await ask(page, PAID);
  assert.match(await turn.locator('.answer').innerText(), /by card or by bank transfer/);
  assert.match(await turn.locator('.verdict').innerText(), /The documents say so\.\s*Confidence \d+ %/);
  const marker = turn.locator('.marker').first();
  assert.match(await marker.getAttribute('aria-label'), /^Source 1: handbook · Billing > Paying$/);
  await marker.click();
  const mark = page.locator('#source mark').first();
  assert.equal(await mark.innerText(), await marker.getAttribute('title'));
  assert.ok(await mark.evaluate(node => {
    const [mark, text] = [node, node.closest('#source-text')].map(it => it.getBoundingClientRect());
    return mark.top >= text.top && mark.bottom <= text.bottom;
  }), 'the marked words can be seen');
  await page.keyboard.press('Escape');
  assert.ok(await marker.evaluate(node => node === document.activeElement), 'the focus is where it was');
  assert.deepEqual(page.complaints, []);
});

test('characters of two units before a span do not move it', async () => {
  const page = await chat();
  const turn = await ask(page, 'How often are recovery codes shown?');
  const quotes = await turn.locator('.sources q').allInnerTexts();
  await turn.locator('.sources button').first().click();
  await page.locator('#source mark').first().waitFor();
  const marks = await page.locator('#source mark').allInnerTexts();
  assert.ok(marks.some(mark => mark.startsWith('Recovery codes are shown once')), marks.join('|'));
  assert.deepEqual(marks, quotes.slice(0, marks.length));
});

test('a refusal is shown as one', async () => {
  const page = await chat();
  const turn = await ask(page, 'Who painted the Mona Lisa?');
  assert.equal(await turn.getAttribute('data-verdict'), 'refused');
  assert.match(await turn.locator('.verdict').innerText(), /No answer/);
  assert.equal(await turn.locator('.marker, .sources li').count(), 0);
});

test('what somebody thinks of an answer is a row', async () => {
  const page = await chat();
  const turn = await ask(page, PAID);
  const rows = "SELECT string_agg(score || ' ' || coalesce(comment, 'none'), ',' ORDER BY created_at) FROM rag.feedback";
  await turn.locator('.good').click();
  await until('a row', () => sql(rows) === '1 none');
  assert.equal(await turn.locator('.good').getAttribute('aria-pressed'), 'true');
  await turn.locator('.bad').click();
  await turn.locator('.comment input').fill('Too short.');
  await turn.locator('.comment input').press('Enter');
  await until('the comment', () => sql(rows).endsWith('0 Too short.'));
  assert.equal(await turn.locator('.good').getAttribute('aria-pressed'), 'false');
  await until('no form', async () => !await turn.locator('.comment').isVisible());
});

test('a keyboard is enough', async () => {
  const page = await chat();
  await until('the focus', () => page.evaluate(() => document.activeElement.id === 'question'));
  await page.keyboard.type(PAID);
  await page.keyboard.press('Enter');
  await page.locator('.verdict strong').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'question');
  const is = selector => page.evaluate(it => document.activeElement.matches(it), selector);
  for (let steps = 0; steps < 12 && !await is('.marker'); steps += 1) await page.keyboard.press('Shift+Tab');
  assert.ok(await is('.marker'), 'the number is reached');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, 'solid');
  await page.keyboard.press('Enter');
  await page.locator('#source mark').waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await is('.marker'), 'and has the focus again');
});

test('colours are those of the system or those that are chosen', async () => {
  const page = await chat({colorScheme: 'dark'});
  const light = () => page.evaluate(() => Number(/\d+/.exec(getComputedStyle(document.body).backgroundColor)[0]) > 128);
  assert.equal(await light(), false);
  await page.emulateMedia({colorScheme: 'light'});
  assert.equal(await light(), true);
  await page.selectOption('#colours', 'dark');
  assert.equal(await light(), false);
  await page.reload();
  assert.equal(await light(), false);
});

test('nothing is wider than a narrow screen', async () => {
  const page = await chat({viewport: {width: 320, height: 640}});
  const fits = () => page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth);
  const turn = await ask(page, 'What is the longest word of the register?');
  assert.match(await turn.locator('.answer').innerText(), /Rindfleisch/);
  assert.ok(await fits());
  await page.locator('#more summary').click();
  assert.ok(await fits());
  await turn.locator('.walk summary').click();
  await turn.locator('.explain').click();
  await turn.locator('.stage').first().waitFor();
  assert.ok(await fits());
});

test('Arabic is written from right to left', async () => {
  const page = await chat();
  const turn = await ask(page, 'متى يفتح مكتب خدمة العملاء؟');
  const direction = selector => turn.locator(selector).first().evaluate(node => getComputedStyle(node).direction);
  assert.equal(await direction('h2'), 'rtl');
  assert.equal(await direction('.answer p'), 'rtl');
  await turn.locator('.marker').first().click();
  await page.locator('#source mark').waitFor();
  assert.equal(await page.locator('#source p').last().evaluate(node => getComputedStyle(node).direction), 'rtl');
});

test('a conversation is kept until a new one begins', async () => {
  const page = await chat();
  await ask(page, PAID);
  const asked = async () => {
    const request = page.waitForRequest(/\/ask$/);
    await ask(page, 'And when are they sent?');
    return (await request).postDataJSON();
  };
  await page.reload();
  await page.locator('article h2').waitFor();
  assert.deepEqual(await page.locator('article h2').allInnerTexts(), [PAID]);
  assert.equal(await page.locator('article .marker').count() > 0, true);
  assert.match((await asked()).conversation, /^[0-9a-f-]{36}$/);
  await page.locator('#anew').click();
  assert.equal(await page.locator('article').count(), 0);
  assert.equal((await asked()).converse, true);
});

test('conditions become a filter', async () => {
  const page = await chat();
  await page.locator('#more summary').click();
  await page.selectOption('#column', 'year');
  await page.selectOption('#operator', 'lte');
  await page.fill('#value', '2024');
  await page.press('#value', 'Enter');
  await page.selectOption('#column', 'lang');
  await page.selectOption('#operator', 'in');
  await page.fill('#value', 'en, de');
  await page.press('#value', 'Enter');
  assert.deepEqual(JSON.parse(await page.inputValue('#filter')), {year: {lte: '2024'}, lang: ['en', 'de']});
  assert.equal(await page.locator('#chosen').innerText(), '(2 conditions)');
  const refused = await ask(page, 'How can invoices be paid by card?');
  assert.doesNotMatch(await refused.locator('.answer').innerText(), /bank transfer/);
  await page.locator('#conditions button').first().click();
  assert.deepEqual(JSON.parse(await page.inputValue('#filter')), {lang: ['en', 'de']});
  await page.fill('#filter', '{"year": "soon"}');
  const wrong = await ask(page, PAID);
  assert.match(await wrong.locator('.problem').innerText(), /year.*soon/s);
  await page.fill('#filter', 'year');
  await page.fill('#question', PAID);
  await page.press('#question', 'Enter');
  assert.match(await page.locator('#filter-problem').innerText(), /not a JSON object/);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
  assert.equal(await page.inputValue('#question'), PAID);
});

test('how an answer came about is walked through', async () => {
  const page = await chat();
  const turn = await ask(page, PAID);
  await turn.locator('.walk summary').click();
  await turn.locator('.explain').click();
  await turn.locator('.stage').first().waitFor();
  const names = await turn.locator('.stage h3').evaluateAll(nodes => nodes.map(node => node.firstChild.textContent));
  assert.deepEqual(names, ['Chunk', 'Embed', 'Retrieve', 'Read', 'Answer']);
  const said = await turn.locator('.stages').innerText();
  assert.match(said, /billing has 545 characters[^]*dense[^]*\[1\] handbook · Billing > Paying[^]*, cited[^]*confidence 0\.9/);
  assert.match(said, /extract[^]*threshold/);
  assert.ok(await turn.locator('.cut span').count() >= 1);
  assert.deepEqual(page.complaints, []);
});

test('an answer is copied as it was written', async () => {
  const page = await chat({permissions: ['clipboard-read', 'clipboard-write']});
  const turn = await ask(page, PAID);
  await turn.locator('.copy').click();
  await until('a word about it', async () => await turn.locator('.said').innerText() === 'Copied.');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^Invoices can be paid.*\[1\]$/);
});
