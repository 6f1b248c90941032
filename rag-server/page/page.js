// The chat page: who asks, what is asked, and the turns of the conversation.

import * as filters from './filter.js';
import * as kept from './kept.js';
import {button, find, make} from './node.js';
import {call, events, onRefusal, sentence} from './server.js';
import {Turn} from './turn.js';

// As the view rag.strategy lists them.
const STRATEGIES = ['auto', 'compact', 'refine', 'tree_summarize', 'simple_summarize', 'map_rerank', 'decompose_sequential',
  'decompose_parallel', 'ircot', 'self_rag', 'corrective', 'sql', 'combined', 'agent', 'global', 'local', 'graph'];
let pipelines = [], turns = [], running = null;

onRefusal(why => {
  find('entry').hidden = false;
  find('asking').hidden = true;
  find('refused').textContent = why;
  find('token').focus();
});

async function begin() {
  let models;
  try {
    models = (await (await call('v1/models')).json()).data;
  } catch (error) {
    if (find('entry').hidden) find('turns').replaceChildren(problem(sentence(error)), button('Try again', begin));
    return;
  }
  find('entry').hidden = true;
  find('asking').hidden = false;
  find('leave').hidden = !kept.get('token');
  pipelines = models;
  const choices = pipelines.map(({id, description}) => make('option', id, {value: id, title: description || ''}));
  if (pipelines.length > 1) choices.push(make('option', 'all', {value: '*'}), make('option', 'whichever fits', {value: 'auto'}));
  find('pipeline').replaceChildren(...choices);
  const chosen = kept.get('pipeline');
  if (choices.some(choice => choice.value === chosen)) find('pipeline').value = chosen;
  find('turns').replaceChildren();
  turns = kept.turns().map(turn => new Turn(turn.body, turn));
  if (!pipelines.length) find('turns').append(problem('Your role sees no pipeline.'));
  offerColumns();
  find('question').focus();
}

const problem = words => make('p', words, {className: 'problem', attributes: {role: 'alert'}});

// The columns to filter by; of all pipelines where more than one may be asked.
function offerColumns() {
  const chosen = pipelines.filter(pipeline => pipeline.id === find('pipeline').value);
  const columns = (chosen.length ? chosen : pipelines).flatMap(pipeline => pipeline.filters);
  filters.offer([...new Set(columns)]);
}

// What is asked, with what the page says beside it.
function wanted(question) {
  const body = {question, pipeline: find('pipeline').value || null};
  const filter = filters.filter();
  if (filter) body.filter = filter;
  if (find('strategy').value) body.strategy = find('strategy').value;
  if (find('k').value) body.k = find('k').valueAsNumber;
  const conversation = kept.get('conversation');
  return conversation ? {...body, conversation} : {...body, converse: true};
}

async function submit(event) {
  event.preventDefault();
  const question = find('question').value.trim();
  if (!question || running) return;
  let body;
  try {
    body = wanted(question);
  } catch {
    // What is wrong with the filter stands below it.
    find('more').open = true;
    find('filter').focus();
    return;
  }
  find('question').value = '';
  await ask(body);
}

async function ask(body) {
  const turn = new Turn(body);
  turns.push(turn);
  turn.node.scrollIntoView({block: 'start'});
  document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight;
  run(new AbortController());
  turn.wait();
  try {
    await read(await call('ask', body, running.signal), turn);
  } catch (error) {
    const isStopped = error && error.name === 'AbortError';
    turn.fail(isStopped ? 'Stopped.' : sentence(error), () => again(turn));
  }
  run(null);
  kept.setTurns(turns.filter(it => it.details).map(it => it.kept()));
}

// Whether something runs decides which of the buttons is there; the focus is not lost with the other.
function run(controller) {
  running = controller;
  const hadFocus = [find('send'), find('stop'), document.body].includes(document.activeElement);
  find('send').hidden = Boolean(running);
  find('stop').hidden = !running;
  if (hadFocus) find('question').focus({preventScroll: true});
}

function again(turn) {
  if (running) return;
  turns.splice(turns.indexOf(turn), 1);
  turn.node.remove();
  const conversation = kept.get('conversation');
  ask({...turn.body, converse: !conversation, ...(conversation ? {conversation} : {})});
}

async function read(response, turn) {
  for await (const {name, said} of events(response)) {
    if (name === 'step') turn.step(said);
    if (name === 'piece') turn.piece(said.text);
    if (name === 'error') throw said.error;
    if (name === 'details') {
      kept.set('conversation', said.conversation || '');
      turn.finish(said);
    }
  }
  if (!turn.details) throw {message: 'the answer was broken off'};
}

const stop = () => running && running.abort();

function setColours(value) {
  document.documentElement.dataset.colours = value;
  find('colours').value = value;
}

find('asking').addEventListener('submit', submit);
find('question').addEventListener('keydown', event => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
});
addEventListener('keydown', event => {
  if (event.key === 'Escape' && !find('source').open && !event.isComposing) stop();
});
find('stop').onclick = stop;
find('pipeline').onchange = () => { kept.set('pipeline', find('pipeline').value); offerColumns(); };
find('colours').onchange = () => { kept.setColours(find('colours').value); setColours(find('colours').value); };
find('anew').onclick = () => {
  stop();
  kept.forgetConversation();
  turns = [];
  find('turns').replaceChildren();
  find('question').focus();
};
find('leave').onclick = () => {
  kept.forgetAll();
  location.reload();
};
find('entry').addEventListener('submit', event => {
  event.preventDefault();
  kept.forgetConversation();
  kept.set('token', find('token').value.trim());
  find('token').value = '';
  begin();
});
find('strategy').append(make('option', 'as it is set', {value: ''}), ...STRATEGIES.map(name => make('option', name)));
setColours(kept.colours());
filters.show();
begin();
