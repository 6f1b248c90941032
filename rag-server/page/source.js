// The dialog with a document in which the cited words are marked.

import {find, make} from './node.js';
import {call, sentence} from './server.js';

let marks = [], at = 0;

// What a source is called: its title, where it has one, or else the key of its row.
export function nameOf(citation, context) {
  if (citation.relation) return citation.relation + (citation.key ? ' ' + citation.key : '');
  const read = context.find(chunk => chunk.number === citation.marker) || {};
  const title = read.metadata && typeof read.metadata.title === 'string' && read.metadata.title;
  return [citation.pipeline, read.heading || title || citation.source_key].filter(Boolean).join(' · ');
}

// Shows the document of citations that have one marker.
export async function open(cited, context) {
  const text = find('source-text');
  find('source-name').textContent = nameOf(cited[0], context);
  text.replaceChildren('Loading …');
  showPlace([]);
  find('source').showModal();
  try {
    text.replaceChildren(...await content(cited, context));
  } catch (error) {
    text.replaceChildren(make('p', sentence(error), {className: 'problem'}));
  }
  showPlace([...text.querySelectorAll('mark')]);
}

async function content(cited, context) {
  const {pipeline, source_key, marker} = cited[0];
  // Rows of a query and results of functions are no documents: what was read of them is all there is.
  if (!source_key) {
    const read = context.find(chunk => chunk.number === marker);
    return [make('p', read ? read.content : cited[0].quote || '', {dir: 'auto'})];
  }
  // The server sends ten megabytes at most, so that of a longer document only what is around the citation is asked for.
  const start_char = Math.max(0, Math.min(...cited.map(citation => citation.start_char)) - 1000000);
  const {parts, truncated} = await (await call('source', {pipeline, source_key, start_char})).json();
  const begins = start_char && parts.length && parts[0].start ? ['…'] : [];
  return [...begins, ...parts.flatMap(part => shown(part, cited)), truncated ? '…' : ''];
}

function shown(part, cited) {
  const heading = part.heading ? [make('p', part.heading, {className: 'heading', dir: 'auto'})] : [];
  return [...heading, make('p', marked(part, cited), {dir: 'auto'})];
}

// The text of a part with the cited spans marked. Places count characters, which in JavaScript may be two units.
function marked(part, cited) {
  const spans = cited.map(citation => [Math.max(citation.start_char, part.start), Math.min(citation.end_char, part.end)])
    .filter(([start, end]) => start < end).sort((a, b) => a[0] - b[0]);
  if (!spans.length) return [part.text];
  const letters = Array.from(part.text);
  const between = (from, until) => letters.slice(from - part.start, until - part.start).join('');
  const nodes = [];
  let at = part.start;
  for (const [start, end] of spans) {
    if (end <= at) continue;
    nodes.push(between(at, Math.max(start, at)), make('mark', between(Math.max(start, at), end)));
    at = end;
  }
  return [...nodes, between(at, part.end)];
}

function showPlace(found) {
  marks = found;
  find('source-before').hidden = find('source-next').hidden = marks.length < 2;
  find('source-place').textContent = '';
  if (marks.length) goTo(0);
}

function goTo(place) {
  at = (place + marks.length) % marks.length;
  marks.forEach((mark, number) => mark.toggleAttribute('data-at', number === at));
  marks[at].scrollIntoView({block: 'center'});
  if (marks.length > 1) find('source-place').textContent = at + 1 + ' of ' + marks.length;
}

find('source-before').onclick = () => goTo(at - 1);
find('source-next').onclick = () => goTo(at + 1);
find('source-close').onclick = () => find('source').close();
// A click beside it closes it: there the dialog itself is hit, and nothing in it.
find('source').onclick = event => { if (event.target === find('source')) find('source').close(); };
