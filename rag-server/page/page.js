'use strict';
// Everything that comes from the server goes into the page as text, never as HTML.
const find = id => document.getElementById(id);
const make = (name, text, more = {}) => Object.assign(document.createElement(name), {textContent: text, ...more});
const stored = name => sessionStorage.getItem(name) || '';
let pipelines = [], conversation = null, running = null;

async function call(path, body, signal) {
  const headers = {};
  if (stored('token')) headers.authorization = 'Bearer ' + stored('token');
  if (body) headers['content-type'] = 'application/json';
  const options = {method: body ? 'POST' : 'GET', headers, signal};
  if (body) options.body = JSON.stringify(body);
  const response = await fetch(path, options);
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  // What stands between may answer in a form of its own.
  const error = said && said.error && said.error.message ? said.error : {message: response.statusText || 'Status ' + response.status};
  if (response.status === 401) showEntry(stored('token') ? error.message : '');
  throw error;
}

function sentence(error) {
  if (!error) return 'Something went wrong.';
  return [error.message, error.detail, error.hint].filter(Boolean).join('. ') + (error.sqlstate ? ' (' + error.sqlstate + ')' : '');
}

function showEntry(why) {
  find('entry').hidden = false;
  find('asking').hidden = true;
  find('refused').textContent = why;
  find('token').focus();
}

async function begin() {
  let models;
  try {
    models = (await (await call('v1/models')).json()).data;
  } catch (error) {
    if (find('entry').hidden) find('turns').replaceChildren(make('p', sentence(error), {className: 'problem'}));
    return;
  }
  find('entry').hidden = true;
  find('asking').hidden = false;
  find('leave').hidden = !stored('token');
  pipelines = models;
  const choices = pipelines.map(p => make('option', p.id, {value: p.id, title: p.description || ''}));
  if (pipelines.length > 1) choices.push(make('option', 'all', {value: '*'}), make('option', 'whichever fits', {value: 'auto'}));
  find('pipeline').replaceChildren(...choices);
  find('turns').replaceChildren();
  if (!pipelines.length) find('turns').append(make('p', 'Your role sees no pipeline.', {className: 'problem'}));
  showFilters();
  find('question').focus();
}

function showFilters() {
  const chosen = pipelines.find(p => p.id === find('pipeline').value);
  find('filters').textContent = chosen && chosen.filters.length ? 'by ' + chosen.filters.join(', ') : '';
}

function wanted(question) {
  const body = {question, pipeline: find('pipeline').value || null};
  const filter = find('filter').value.trim();
  try {
    if (filter) body.filter = JSON.parse(filter);
  } catch {
    throw {message: 'The filter is not JSON.'};
  }
  if (conversation) body.conversation = conversation;
  else body.converse = true;
  return body;
}

async function ask(event) {
  event.preventDefault();
  const question = find('question').value.trim();
  if (!question || running) return;
  const turn = find('turn').content.cloneNode(true).firstElementChild;
  turn.querySelector('h2').textContent = question;
  find('turns').append(turn);
  turn.scrollIntoView({block: 'nearest'});
  running = new AbortController();
  find('send').hidden = true;
  find('stop').hidden = false;
  let body;
  try {
    body = wanted(question);
    find('question').value = '';
    await read(await call('ask', body, running.signal), turn);
    turn.querySelector('.explain').onclick = () => explain(turn, body);
  } catch (error) {
    turn.querySelector('.problem').textContent = error && error.name === 'AbortError' ? 'Stopped.' : sentence(error);
  } finally {
    turn.querySelector('.answer').removeAttribute('aria-busy');
    running = null;
    find('send').hidden = false;
    find('stop').hidden = true;
    find('question').focus();
  }
}

// Reads events; a frame ends with an empty line and may come in several pieces. The last one has the details.
async function read(response, turn) {
  const decoder = new TextDecoder();
  let rest = '', isWhole = false;
  for (const reader = response.body.getReader(); ;) {
    const {done, value} = await reader.read();
    if (done) break;
    rest += decoder.decode(value, {stream: true});
    const frames = rest.split('\n\n');
    rest = frames.pop();
    for (const frame of frames) isWhole = take(frame, turn) || isWhole;
  }
  if (!isWhole) throw {message: 'The answer was broken off.'};
}

// Shows what a frame says, and returns whether it has the details.
function take(frame, turn) {
  const lines = frame.split('\n');
  const name = (lines.find(line => line.startsWith('event: ')) || '').slice(7);
  const data = lines.filter(line => line.startsWith('data: ')).map(line => line.slice(6)).join('\n');
  if (!data) return false;
  const said = JSON.parse(data);
  if (name === 'piece') turn.querySelector('.answer').append(said.text);
  if (name === 'error') throw said.error;
  if (name === 'details') finish(turn, said);
  return name === 'details';
}

function finish(turn, details) {
  conversation = details.conversation || null;
  const answer = turn.querySelector('.answer');
  const text = details.answer || answer.textContent;
  const citations = (details.citations || []).filter(c => !c.unresolved);
  answer.replaceChildren();
  // [1] becomes a button where there is such a citation.
  for (const part of text.split(/(\[\d+\])/)) {
    const cited = citations.filter(c => '[' + c.marker + ']' === part);
    if (!cited.length) { answer.append(part); continue; }
    const button = make('button', part, {type: 'button', title: cited[0].quote || ''});
    button.setAttribute('aria-label', 'Source ' + cited[0].marker);
    button.onclick = () => openSource(cited[0], cited);
    answer.append(button);
  }
  showVerdict(turn.querySelector('.verdict'), details);
  for (const citation of citations) {
    const button = make('button', `[${citation.marker}] ${citation.pipeline} ${citation.source_key}: ${citation.quote || ''}`, {type: 'button'});
    button.onclick = () => openSource(citation, [citation]);
    const item = make('li', '');
    item.append(button);
    turn.querySelector('.sources').append(item);
  }
  turn.querySelector('.tools').hidden = false;
  if (details.trace_id) rate(turn, details.trace_id);
}

function showVerdict(place, details) {
  const percent = Math.round(100 * (details.confidence || 0)) + ' %';
  const kind = details.supported === false ? 'refused' : details.needs_review ? 'doubtful' : 'supported';
  place.classList.add(kind);
  place.textContent = {
    refused: 'The documents do not hold an answer.',
    doubtful: 'Doubtful; check the sources.',
    supported: 'The documents say so.',
  }[kind] + ' Confidence ' + percent + '.';
}

function rate(turn, trace) {
  turn.querySelector('.rating').hidden = false;
  const give = (button, other, score) => async () => {
    try {
      await call('feedback', {trace_id: trace, score});
      button.setAttribute('aria-pressed', 'true');
      other.setAttribute('aria-pressed', 'false');
    } catch (error) {
      turn.querySelector('.problem').textContent = sentence(error);
    }
  };
  const [good, bad] = [turn.querySelector('.good'), turn.querySelector('.bad')];
  good.onclick = give(good, bad, 1);
  bad.onclick = give(bad, good, 0);
}

async function openSource(citation, cited) {
  const text = find('source-text');
  find('source-name').textContent = citation.pipeline + ' ' + citation.source_key;
  text.textContent = 'Loading …';
  find('source').showModal();
  try {
    const {pipeline, source_key} = citation;
    // The server sends ten megabytes at most, so that of a longer document only what is around the citation is asked for.
    const start_char = Math.max(0, Math.min(...cited.map(c => c.start_char)) - 1000000);
    const {parts, truncated} = await (await call('source', {pipeline, source_key, start_char})).json();
    text.replaceChildren(...parts.flatMap(part => marked(part, cited)), truncated ? '…' : '');
    const first = text.querySelector('mark');
    if (first) first.scrollIntoView({block: 'center'});
  } catch (error) {
    text.textContent = sentence(error);
  }
}

// A part of a document with the cited spans marked. Places count characters, which in JavaScript may be two units.
function marked(part, cited) {
  const letters = Array.from(part.text);
  const spans = cited.map(c => [Math.max(c.start_char, part.start), Math.min(c.end_char, part.end)])
    .filter(([start, end]) => start < end).sort((a, b) => a[0] - b[0]);
  const nodes = part.heading ? [make('strong', part.heading + '\n')] : [];
  let at = part.start;
  for (const [start, end] of spans) {
    if (end <= at) continue;
    nodes.push(letters.slice(at - part.start, Math.max(start, at) - part.start).join(''));
    nodes.push(make('mark', letters.slice(Math.max(start, at) - part.start, end - part.start).join('')));
    at = end;
  }
  nodes.push(letters.slice(at - part.start).join('') + '\n');
  return nodes;
}

async function explain(turn, body) {
  const table = turn.querySelector('table');
  const button = turn.querySelector('.explain');
  button.disabled = true;
  try {
    const {steps} = await (await call('explain', {...body, conversation: null, converse: false})).json();
    const row = step => {
      const line = make('tr', '');
      const numbers = [step.rows, step.ms === null ? null : Math.round(10 * step.ms) / 10, step.tokens, step.cost];
      line.append(make('td', step.step), make('td', step.stage), make('td', step.detail || ''),
        ...numbers.map(n => make('td', n ?? '', {className: 'number'})));
      return line;
    };
    table.querySelector('tbody').replaceChildren(...steps.map(row));
    table.hidden = false;
  } catch (error) {
    turn.querySelector('.problem').textContent = sentence(error);
  }
  button.disabled = false;
}

find('asking').addEventListener('submit', ask);
find('question').addEventListener('keydown', event => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) ask(event);
});
find('stop').onclick = () => running && running.abort();
find('pipeline').onchange = showFilters;
find('anew').onclick = () => { conversation = null; find('turns').replaceChildren(); find('question').focus(); };
find('leave').onclick = () => { sessionStorage.removeItem('token'); location.reload(); };
find('entry').addEventListener('submit', event => {
  event.preventDefault();
  sessionStorage.setItem('token', find('token').value.trim());
  begin();
});
begin();
