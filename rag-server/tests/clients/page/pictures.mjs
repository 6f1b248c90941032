// The pictures in the documentation: `node pictures.mjs FOLDER`, with what browser.mjs wants.

import {writeFileSync} from 'node:fs';
import {join} from 'node:path';

import {writer} from '../database.mjs';
import {ask, chat, end} from './browser.mjs';
import {begin, SCRIPT} from './mill.mjs';

const SHARP = {deviceScaleFactor: 2, reducedMotion: 'reduce'};
const PAID = 'How can invoices be paid?';

// WebP is not among the formats of Playwright, but Chromium writes it.
async function keep(page, name, of = null) {
  const session = await page.context().newCDPSession(page);
  const box = of && await of.boundingBox();
  const clip = box ? {clip: {...box, scale: 1}} : {};
  const {data} = await session.send('Page.captureScreenshot', {format: 'webp', quality: 82, ...clip});
  const picture = Buffer.from(data, 'base64');
  writeFileSync(join(process.argv[2], `chat-${name}.webp`), picture);
  console.log(`chat-${name}.webp  ${Math.round(picture.length / 1000)} kB`);
}

async function source(colorScheme) {
  const page = await chat({...SHARP, colorScheme, viewport: {width: 900, height: 620}});
  const turn = await ask(page, PAID);
  await turn.locator('.marker').first().click();
  await page.locator('#source mark').waitFor();
  await keep(page, colorScheme === 'dark' ? 'source-dark' : 'source');
}

async function answer() {
  const page = await chat({...SHARP, viewport: {width: 900, height: 700}});
  await ask(page, PAID);
  await ask(page, 'Who painted the Mona Lisa?');
  await page.evaluate(() => scrollTo(0, 0));
  await keep(page, 'answer');
}

async function steps() {
  const page = await chat({...SHARP, viewport: {width: 900, height: 740}});
  writer.play(...SCRIPT);
  await begin(page);
  await page.locator('.verdict strong').waitFor();
  await page.locator('.steps summary').click();
  await page.evaluate(() => scrollTo(0, 0));
  await keep(page, 'steps');
}

async function walk() {
  const page = await chat({...SHARP, viewport: {width: 900, height: 1700}});
  const turn = await ask(page, PAID);
  await turn.locator('.walk summary').click();
  await turn.locator('.explain').click();
  await turn.locator('.stage').first().waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await keep(page, 'walk', turn);
}

await source('light');
await source('dark');
await answer();
await steps();
await walk();
await end();
