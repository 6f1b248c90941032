// A provider of OpenAI's protocol that says what a script wants.

import http from 'node:http';

const words = text => text.match(/\S+\s*/g) || [];
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return JSON.parse(Buffer.concat(pieces));
}

// Sends a text word by word, as providers do.
async function told(response, {text, pause = 0}) {
  response.writeHead(200, {'content-type': 'text/event-stream'});
  const send = event => response.write(`data: ${JSON.stringify(event)}\n\n`);
  for (const content of words(text)) {
    send({choices: [{index: 0, delta: {content}, finish_reason: null}]});
    if (pause) await sleep(pause);
  }
  send({choices: [{index: 0, delta: {}, finish_reason: 'stop'}]});
  response.end('data: [DONE]\n\n');
}

function whole(response, {text}) {
  const message = {role: 'assistant', content: text};
  const usage = {prompt_tokens: 11, completion_tokens: 7, total_tokens: 18};
  response.writeHead(200, {'content-type': 'application/json'});
  response.end(JSON.stringify({id: 'c', object: 'chat.completion', model: 'm', choices: [{index: 0, message, finish_reason: 'stop'}], usage}));
}

// A step of an agent, as a reply.
export const step = (reason, what) => ({text: JSON.stringify({reason, step: what})});

export async function writer() {
  let script = [], otherwise = null;
  const server = http.createServer(async (request, response) => {
    const asked = await body(request).catch(() => null);
    const reply = script.shift() || otherwise;
    if (!asked || !reply) return response.writeHead(500).end('{"error": {"message": "the script is over"}}');
    await (typeof reply.when === 'function' ? reply.when() : reply.when);
    return asked.stream ? told(response, reply) : whole(response, reply);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    // What is said from now on. A reply has a `text`, may come `when` a promise is kept, or one that a function makes for
    // each question, and `pause` between words, in milliseconds.
    play(...replies) { script = replies; },
    // What is said where the script is over.
    always(reply) { otherwise = reply; },
    close() { server.closeAllConnections(); server.close(); },
  };
}
