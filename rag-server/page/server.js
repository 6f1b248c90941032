// Requests to rag-server, and what it says in return.

import * as kept from './kept.js';

let refused = () => {};

// Has `listener` called with a sentence, or nothing, when the server wants another token.
export function onRefusal(listener) { refused = listener; }

// Sends a request and returns its response; throws the error of one that failed.
export async function call(path, body, signal) {
  const token = kept.get('token');
  const headers = {};
  if (token) headers.authorization = 'Bearer ' + token;
  if (body) headers['content-type'] = 'application/json';
  const options = {method: body ? 'POST' : 'GET', headers, signal};
  if (body) options.body = JSON.stringify(body);
  const response = await reached(fetch(path, options), 'the server cannot be reached');
  if (response.ok) return response;
  const said = await response.json().catch(() => null);
  // What stands between may answer in a form of its own.
  const error = said && said.error && said.error.message ? said.error : {message: response.statusText || 'Status ' + response.status};
  if (response.status === 401) refused(token ? sentence(error) : '');
  throw error;
}

// What browsers say when nobody answers, or no longer, is `words` here; who stops a request knows why it failed.
function reached(promise, words) {
  return promise.catch(error => { throw error.name === 'AbortError' ? error : {message: words}; });
}

const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

// An error in whole sentences.
export function sentence(error) {
  if (!error || !error.message) return 'Something went wrong.';
  const said = [error.message, error.detail, error.hint].filter(Boolean);
  const sentences = said.map(text => capital(text) + (/[.!?]$/.test(text) ? '' : '.'));
  return sentences.join(' ') + (error.sqlstate ? ' (' + error.sqlstate + ')' : '');
}

// Yields the events of a response, each with its name and what it says.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {done, value} = await reached(reader.read(), 'the connection to the server was lost');
    if (done) return;
    // A frame ends with an empty line, and may come in several pieces.
    const frames = (rest + value).split('\n\n');
    rest = frames.pop();
    for (const frame of frames) {
      const lines = frame.split('\n');
      const field = name => lines.filter(line => line.startsWith(name)).map(line => line.slice(name.length)).join('\n');
      const data = field('data: ');
      if (data) yield {name: field('event: '), said: JSON.parse(data)};
    }
  }
}
