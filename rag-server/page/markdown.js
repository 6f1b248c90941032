// Markdown as nodes of the page, also while it is still being written.
//
// Whoever wrote it is not trusted: what is not known here stays text, no HTML is read and no picture loaded, and a link
// shows where it leads. Each search for an end is given up for good where there is none, so that the time grows with
// the length of a text and not with its square.

import {make} from './node.js';

// Lists and quotes within each other; what is deeper is text.
const MOST_DEEP = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})\s(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])( {1,4}|$)/;

const shown = new WeakMap();

// Shows a text in a place. Blocks that are as they were stay, so that a text may grow. `cite` makes the node of a number
// in brackets, or null where that is none of a source.
export function show(place, text, cite = null) {
  const blocks = split(text.replaceAll('\r\n', '\n').split('\n'), 0);
  const before = shown.get(place);
  let same = 0;
  if (before && before.cite === cite) {
    while (same < blocks.length && same < before.blocks.length && blocks[same].raw === before.blocks[same].raw) same += 1;
  }
  while (place.childNodes.length > same) place.lastChild.remove();
  place.append(...blocks.slice(same).map(block => block.node(cite)));
  shown.set(place, {blocks, cite});
}

// The blocks of lines: for each its text, and how it becomes a node.
function split(lines, depth) {
  const blocks = [];
  for (let at = 0; at < lines.length;) {
    if (!lines[at].trim()) { at += 1; continue; }
    const {until, node} = block(lines, at, depth);
    blocks.push({raw: lines.slice(at, until).join('\n'), node});
    at = until;
  }
  return blocks;
}

function block(lines, at, depth) {
  const line = lines[at];
  if (FENCE.test(line)) return code(lines, at);
  if (RULE.test(line)) return {until: at + 1, node: () => make('hr')};
  const heading = HEADING.exec(line);
  // The question is a heading of the second level.
  if (heading) return {until: at + 1, node: cite => text('h' + Math.min(6, heading[1].length + 2), heading[2].trim(), cite)};
  if (isTable(lines, at)) return table(lines, at);
  if (depth < MOST_DEEP && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < MOST_DEEP && ITEM.test(line)) return list(lines, at, depth);
  return paragraph(lines, at);
}

const text = (name, source, cite, more = {}) => make(name, inline(source, cite), {dir: 'auto', ...more});

// Whether something else than a paragraph begins. A number within a sentence may stand at the beginning of a line.
function interrupts(lines, at) {
  const item = ITEM.exec(lines[at]);
  return FENCE.test(lines[at]) || HEADING.test(lines[at]) || QUOTE.test(lines[at]) || RULE.test(lines[at])
    || (item && item[4] && (!item[3] || item[3] === '1')) || isTable(lines, at);
}

function paragraph(lines, at) {
  let until = at + 1;
  while (until < lines.length && lines[until].trim() && !interrupts(lines, until)) until += 1;
  return {until, node: cite => text('p', lines.slice(at, until).join('\n').trim(), cite)};
}

function code(lines, at) {
  const [, fence, language] = FENCE.exec(lines[at]);
  const ends = line => line.trim().startsWith(fence) && !line.trim().replaceAll(fence[0], '');
  let until = at + 1;
  while (until < lines.length && !ends(lines[until])) until += 1;
  const source = lines.slice(at + 1, until).join('\n');
  const label = (language || 'code') + ', scrolls';
  // Who uses a keyboard scrolls what has the focus.
  const scrolls = {dir: 'ltr', tabIndex: 0, attributes: {role: 'group', 'aria-label': label}};
  return {until: until + 1, node: () => make('pre', make('code', source), scrolls)};
}

// The cells of a row. A bar with a backslash before it belongs to its cell.
function cells(line) {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map(cell => cell.trim().replaceAll('\\|', '|'));
}

function isTable(lines, at) {
  const [head, below] = [lines[at], lines[at + 1]];
  if (below === undefined || !head.includes('|') || !below.includes('-')) return false;
  const rules = cells(below);
  return rules.every(rule => /^:?-+:?$/.test(rule)) && rules.length === cells(head).length;
}

function table(lines, at) {
  let until = at + 2;
  while (until < lines.length && lines[until].includes('|')) until += 1;
  const ends = cells(lines[at + 1]).map(rule => rule.endsWith(':'));
  const row = (name, cite) => line => make('tr', cells(line).slice(0, ends.length).map(
    (cell, place) => text(name, cell, cite, {className: ends[place] ? 'number' : ''})));
  const node = cite => {
    const head = make('thead', row('th', cite)(lines[at]));
    const body = make('tbody', lines.slice(at + 2, until).map(row('td', cite)));
    const scrolls = {className: 'scrolls', tabIndex: 0, attributes: {role: 'group', 'aria-label': 'table, scrolls'}};
    return make('div', make('table', [head, body]), scrolls);
  };
  return {until, node};
}

function quote(lines, at, depth) {
  let until = at + 1;
  while (until < lines.length && QUOTE.test(lines[until])) until += 1;
  const inner = split(lines.slice(at, until).map(line => line.replace(QUOTE, '')), depth + 1);
  return {until, node: cite => make('blockquote', inner.map(block => block.node(cite)))};
}

function list(lines, at, depth) {
  const [, , marker, number] = ITEM.exec(lines[at]);
  const isNext = line => { const item = ITEM.exec(line); return item && item[2].at(-1) === marker.at(-1) ? item : null; };
  const items = [];
  let width = 0, until = at;
  for (; until < lines.length; until += 1) {
    const line = lines[until], next = isNext(line), isBlank = !line.trim();
    const indent = line.length - line.trimStart().length;
    if (next && (!items.length || indent < width)) {
      width = next[0].length;
      items.push([line.slice(width)]);
    } else if (isBlank || indent >= width || lines[until - 1].trim() && !interrupts(lines, until)) {
      items.at(-1).push(isBlank ? '' : line.slice(Math.min(indent, width)));
    } else break;
  }
  const blocks = items.map(item => split(item, depth + 1));
  const item = (blocks, source, cite) => {
    const nodes = blocks.map(block => block.node(cite));
    // The words of an item stand in it without a paragraph of their own.
    if (nodes[0] && nodes[0].localName === 'p') nodes.splice(0, 1, ...nodes[0].childNodes);
    return make('li', nodes, {dir: 'auto'});
  };
  const name = number ? 'ol' : 'ul';
  const more = number ? {start: Number(number)} : {};
  return {until, node: cite => make(name, blocks.map((its, place) => item(its, items[place], cite)), more)};
}

const SPECIAL = /[`*[!\\<]|https?:\/\//g;
const MARKER = /\[\^?(\d{1,6}(?:\s*,\s*\d{1,6})*)\]/y;
const LINK = /!?\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s"[^"]*")?\)/y;
// What no address has: space, quotation marks, and the punctuation of scripts that put no space behind it.
const NEVER = '\\s<>"\'`\u201c\u201d\u3001\u3002\u3008-\u3011\u3014-\u301b\u301d-\u301f'
  + '\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b\uff5d\uff5f-\uff64';
const STOP = new RegExp(`[${NEVER}]`);
// An address up to its host, which is short: whether there is one is known by it, and not by all that follows.
const ORIGIN = new RegExp(`https?://[^${NEVER}/?#\\\\]{1,300}(?=[${NEVER}/?#\\\\]|$)`, 'y');
// What ends a sentence is no part of the address in it.
const LAST = '.,;:!?*\u060c\u061b\u061f\u0964';
const BRACKETS = {'(': ')', '[': ']', '{': '}'};
// What changes the order of characters or is not seen.
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;
const BREAK = /<br *\/?>/iy;

function match(pattern, source, at) {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

// The nodes of a line, or of several.
function inline(source, cite) {
  const nodes = [], missing = new Set();
  let plain = '', at = 0;
  while (at < source.length) {
    SPECIAL.lastIndex = at;
    const found = SPECIAL.exec(source);
    const from = found ? found.index : source.length;
    plain += source.slice(at, from);
    if (!found) break;
    const special = marked(source, from, missing, cite);
    if (special && special.nodes) {
      nodes.push(plain, ...special.nodes);
      plain = '';
    } else {
      plain += special ? special.text : found[0];
    }
    at = special ? special.until : from + found[0].length;
  }
  nodes.push(plain);
  return nodes.filter(node => node !== '');
}

// What begins at a place: its nodes or its text, and where it ends; null where nothing does.
function marked(source, at, missing, cite) {
  switch (source[at]) {
    case '`': return ticks(source, at, missing);
    case '*': return stars(source, at, missing, cite);
    case '[':
    case '!': return link(source, at, cite) || citation(source, at, cite);
    case '<': {
      const found = match(BREAK, source, at);
      return found && {nodes: [make('br')], until: at + found[0].length};
    }
    case 'h': {
      const address = addressAt(source, at);
      return leads(address) && {nodes: [bare(address)], until: at + address.length};
    }
    default: {
      const isEscape = /[!-/:-@[-`{-~]/.test(source[at + 1] || '');
      return isEscape ? {text: source[at + 1], until: at + 2} : null;
    }
  }
}

// Where a mark stands next that ends what `from` is in; remembers where there is none.
function end(source, mark, from, missing) {
  if (missing.has(mark)) return -1;
  const at = source.indexOf(mark, from);
  if (at < 0) missing.add(mark);
  return at;
}

function ticks(source, at, missing) {
  let length = 1;
  while (source[at + length] === '`') length += 1;
  const mark = '`'.repeat(length);
  let until = end(source, mark, at + length, missing);
  while (until >= 0 && source[until + length] === '`') {
    while (source[until + length] === '`') until += 1;
    until = end(source, mark, until + length, missing);
  }
  if (until < 0) return {text: mark, until: at + length};
  const words = source.slice(at + length, until);
  const isPadded = words.startsWith(' ') && words.endsWith(' ') && words.trim();
  return {nodes: [make('code', isPadded ? words.slice(1, -1) : words)], until: until + length};
}

function stars(source, at, missing, cite) {
  const mark = source[at + 1] === '*' ? '**' : '*';
  const from = at + mark.length;
  const begins = /\S/.test(source[from] || '') && source[from] !== '*' && !/[\p{L}\p{N}]/u.test(mark === '*' && source[at - 1] || '');
  const until = begins ? end(source, mark, from, missing) : -1;
  if (until < 0 || /\s/.test(source[until - 1]) || (mark === '*' && source[until + 1] === '*')) return {text: mark, until: from};
  return {nodes: [make(mark === '*' ? 'em' : 'strong', inline(source.slice(from, until), cite))], until: until + mark.length};
}

// The address that begins at a place; empty where none does.
function addressAt(source, at) {
  const origin = match(ORIGIN, source, at);
  return origin && URL.canParse(upToItsEnd(origin[0], 0)) ? upToItsEnd(source, at) : '';
}

// An address without what follows: a bracket that was opened before it, the number of a source, the end of a sentence.
function upToItsEnd(source, at) {
  const open = [];
  let until = at;
  for (; until < source.length && !STOP.test(source[until]); until += 1) {
    const sign = source[until];
    if (sign === '[' && match(MARKER, source, until)) break;
    if (BRACKETS[sign]) open.push(BRACKETS[sign]);
    else if (')]}'.includes(sign) && open.pop() !== sign) break;
  }
  while (LAST.includes(source[until - 1])) until -= 1;
  return source.slice(at, until);
}

// The address that a link may have, or null.
function leads(address) {
  const url = URL.canParse(address) ? new URL(address) : null;
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : null;
}

function anchor(children, address, saysWhere, more = {}) {
  const url = leads(address);
  // Words before it do not turn it round.
  const where = saysWhere ? [make('small', ' (' + (url.host || url.pathname) + ')', {dir: 'ltr'})] : [];
  const leading = {href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow', title: url.href};
  return make('a', [...children, ...where], {...leading, ...more});
}

// An address that stands in a text. It says where it leads where it does not begin with just that: the host may hide behind
// the name of somebody, or between characters that look like slashes.
function bare(address) {
  const shown = address.replace(HIDDEN, encodeURIComponent);
  return anchor([shown], address, !shown.startsWith(leads(address).origin), {dir: 'ltr'});
}

function link(source, at, cite) {
  const found = match(LINK, source, at);
  if (!found || !leads(found[2])) return null;
  const until = at + found[0].length;
  const marker = match(MARKER, found[1], 0);
  const cited = marker && marker[0] === found[1] && citation(found[1], 0, cite);
  if (cited) return {nodes: cited.nodes, until};
  return {nodes: [anchor([found[1] || found[2]], found[2], true)], until};
}

function citation(source, at, cite) {
  const found = cite && match(MARKER, source, at);
  if (!found) return null;
  const nodes = found[1].split(',').map(number => cite(Number(number)) || '[' + number.trim() + ']');
  return {nodes, until: at + found[0].length};
}
