// How an answer came about: from the chunks of documents to its words, with the figures of rag_explain.

import {make} from './node.js';
import {call} from './server.js';

// What is done, in the order in which it is told here, and the stages of rag_explain that belong to it. Those of a newer
// database that are not named belong to the answer.
const WALK = [
  ['Ask', 'It is settled what is asked, of which pipeline and how.', 'options route condense rewrite recall fallback'],
  ['Chunk', 'Documents were cut into chunks when they were written.', ''],
  ['Embed', 'The question becomes a vector, as each chunk did.', 'embed'],
  ['Retrieve', 'Chunks are looked for by meaning and by words, and become one list.',
    'dense lexical represented fuse graph communities tree whole fetch shards rerank expand search federate open tool'],
  ['Read', 'The best chunks are read.', 'read reader'],
  ['Answer', 'The answer is written and compared with what was read.',
    'answer extract choose agent tables link write sql generate verify'],
];

// Asks once more and shows each stage in `place`.
export async function walk(place, body, details) {
  const [{steps}, source] = await Promise.all([explained(body), firstSource(details)]);
  const known = new Set(WALK.flatMap(([, , stages]) => stages.split(' ')));
  const whole = steps.reduce((sum, step) => sum + (step.ms || 0), 0);
  const stages = WALK.map(([name, about, of], number) => {
    const isLast = number === WALK.length - 1;
    const own = steps.filter(step => of.split(' ').includes(step.stage) || isLast && !known.has(step.stage));
    const more = {Chunk: () => cut(source, details), Read: () => read(details), Answer: () => judged(details)}[name];
    return own.length || more ? stage(name, about, own, whole, more ? more() : []) : null;
  });
  place.replaceChildren(...stages.filter(Boolean));
}

// A turn of the conversation is added by each answer in it, so this one is in none.
async function explained(body) {
  return (await call('explain', {...body, conversation: null, converse: false})).json();
}

const rounded = number => Math.round(10 * number) / 10;

function stage(name, about, steps, whole, more) {
  const ms = steps.reduce((sum, step) => sum + (step.ms || 0), 0);
  const share = whole ? Math.round(100 * ms / whole) : 0;
  const figures = steps.length ? [rounded(ms) + ' ms', make('span', ' · ' + share + ' %')] : [];
  const bar = make('meter', [], {value: share, max: 100, attributes: {'aria-hidden': true}});
  const head = make('h3', [name, make('span', figures, {className: 'figures'})]);
  return make('li', [head, make('p', about), ...(steps.length ? [bar] : []), ...more, ...(steps.length ? [table(steps)] : [])],
    {className: 'stage'});
}

function table(steps) {
  const names = ['Step', 'What', 'With', 'Rows', 'ms', 'Tokens', 'Cost'];
  const columns = names.map((name, place) => make('th', name, {scope: 'col', className: place > 2 ? 'number' : ''}));
  const rows = steps.map(step => {
    const figures = [step.rows, step.ms === null ? null : rounded(step.ms), step.tokens, step.cost];
    const words = [String(step.step), step.stage, step.detail || ''].map(word => make('td', word, {dir: 'auto'}));
    return make('tr', [...words, ...figures.map(figure => make('td', String(figure ?? ''), {className: 'number'}))]);
  });
  const whole = make('table', [make('thead', make('tr', columns)), make('tbody', rows)]);
  return make('div', whole, {className: 'scrolls', tabIndex: 0, attributes: {role: 'group', 'aria-label': 'steps, scrolls'}});
}

// The document of the best chunk that was read, with its length; null where there is none that can be opened.
async function firstSource(details) {
  const best = (details.context || []).find(chunk => chunk.source_key);
  if (!best) return null;
  const {pipeline, source_key} = best;
  const opened = await call('source', {pipeline, source_key}).then(response => response.json()).catch(() => null);
  if (!opened || !opened.parts.length) return null;
  return {pipeline, source_key, length: opened.parts.at(-1).end, truncated: opened.truncated};
}

// A document as a bar, with the chunks that were read.
function cut(source, details) {
  if (!source) return [];
  const chunks = details.context.filter(chunk => chunk.pipeline === source.pipeline && chunk.source_key === source.source_key)
    .filter(chunk => chunk.start_char < source.length).sort((a, b) => a.start_char - b.start_char);
  const spans = chunks.map(chunk => {
    const span = make('span', '', {title: chunk.heading || ''});
    const percent = characters => 100 * characters / source.length + '%';
    span.style.insetInlineStart = percent(chunk.start_char);
    span.style.inlineSize = percent(Math.min(chunk.end_char, source.length) - chunk.start_char);
    return span;
  });
  const places = chunks.map(chunk => chunk.start_char + '–' + chunk.end_char).join(', ');
  const words = `${source.source_key} has ${source.truncated ? 'more than ' : ''}${source.length} characters. `
    + `Read of it: ${chunks.length === 1 ? 'chunk' : 'chunks'} at ${places}.`;
  return [make('p', words, {dir: 'auto'}), make('div', spans, {className: 'cut', attributes: {'aria-hidden': true}})];
}

function read(details) {
  const cited = new Set((details.citations || []).map(citation => citation.marker));
  const items = (details.context || []).map(chunk => {
    const name = chunk.relation || [chunk.pipeline, chunk.heading || chunk.source_key].filter(Boolean).join(' · ');
    const similarity = typeof chunk.similarity === 'number' ? ` similarity ${chunk.similarity.toFixed(2)}` : '';
    const figures = make('small', similarity + (cited.has(chunk.number) ? ', cited' : ''));
    return make('li', [`[${chunk.number}] ${name}`, figures], {dir: 'auto'});
  });
  return items.length ? [make('ol', items, {className: 'plain'})] : [];
}

function judged(details) {
  const {confidence, faithfulness} = details;
  const figures = [['confidence', confidence], ['faithfulness', faithfulness]].filter(([, value]) => typeof value === 'number');
  const llm = details.usage && details.usage.llm;
  const words = [llm && 'written by ' + llm, ...figures.map(([name, value]) => `${name} ${value.toFixed(2)}`)].filter(Boolean);
  return words.length ? [make('p', words.join(', '))] : [];
}
