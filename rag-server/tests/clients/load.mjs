// What rag-server adds to a statement, and what many readers at once cost it: `node load.mjs [READERS [SESSIONS]]`, with
// what database.mjs wants, and a server that takes some more connections than SESSIONS.
//
// Statements and requests take turns, so that whatever else the machine does is the same for both. The pipeline has the
// model without a reader, and the question is one that was asked before: the less the database does, the plainer is what
// the server adds. The readers ask a language model that tells its answer slowly, in SESSIONS sessions, of which there are
// a hundred if nothing else is said; who finds none free waits in line. The model says nothing before as many ask as can
// be answered at once, so that all of these answers are under way together.

import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import {createInterface} from 'node:readline';

import {remove, serve, sql, writer} from './database.mjs';

const READERS = Number(process.argv[2] || 1000);
const SESSIONS = Number(process.argv[3] || 100);
// Seconds: a busy machine may take a while to begin a thousand sessions, and the first answers wait for the last.
const PATIENCE = 600;
const [WARM, ROUNDS] = [20, 300];
const QUESTION = 'When does the bakery of Eve open?';
const ANSWER = 'The bakery of Eve opens at six, and on Sundays at eight. [1] '.repeat(4);

const FAST = `
  CREATE TABLE opening (id integer PRIMARY KEY, body text NOT NULL);
  INSERT INTO opening SELECT id, body FROM notes;
  GRANT SELECT ON opening TO page_reader;
  SELECT rag_create_pipeline('opening', 'body', model => 'all-minilm-l6-v2', refresh => 'sync');
  ALTER SERVER writer OPTIONS (SET timeout '${PATIENCE}');`;

// A session of psql that times its statements.
function session() {
  const host = ['-h', process.env.PGHOST, '-U', 'page_reader', '-d', sql('SELECT current_database()')];
  const child = spawn(process.env.PSQL, ['-qXAt', '-v', 'ON_ERROR_STOP=1', ...host], {stdio: ['pipe', 'pipe', 'inherit']});
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  child.stdin.write('\\timing on\n');
  return {
    // Milliseconds of one, as psql measures them.
    async time(statement) {
      child.stdin.write(statement + ';\n');
      for (;;) {
        const {done, value} = await lines.next();
        if (done) throw new Error('psql has ended');
        const found = /^Time: ([\d.]+) ms/.exec(value);
        if (found) return Number(found[1]);
      }
    },
    end: () => child.stdin.end(),
  };
}

// Sends a request and reads its response to the end.
function post(address, agent, path, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(address + path, {agent, method: 'POST', headers: {'content-type': 'application/json'}}, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', piece => { text += piece; });
      response.on('end', () => resolve({status: response.statusCode, text}));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

function percentile(times, share) {
  return times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(share * times.length))];
}

async function compare(server) {
  const psql = session();
  const agent = new http.Agent({keepAlive: true});
  const asked = async (path, body) => {
    const began = performance.now();
    const {status, text} = await post(server.address, agent, path, body);
    if (status !== 200 || !text.includes('at six')) throw new Error(`${path}: ${status} ${text}`);
    return performance.now() - began;
  };
  const statement = name => `SELECT ${name}('${QUESTION}', 'opening')`;
  const ways = {
    'rag_answer_stream': () => psql.time(statement('rag_answer_stream')),
    'POST /ask': () => asked('/ask', {question: QUESTION, pipeline: 'opening'}),
    'rag_answer_details': () => psql.time(statement('rag_answer_details')),
    // Without a conversation, which no statement beside it has.
    'POST /v1/chat/completions': () => asked('/v1/chat/completions', {model: 'opening', messages: [{role: 'user', content: QUESTION}]}),
  };
  const times = Object.fromEntries(Object.keys(ways).map(name => [name, []]));
  for (let round = -WARM; round < ROUNDS; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const took = await way();
      if (round >= 0) times[name].push(took);
    }
  }
  psql.end();
  agent.destroy();
  console.log(`${ROUNDS} times each, in turns`.padEnd(28) + 'p50 ms'.padStart(10) + 'p95 ms'.padStart(10));
  for (const [name, all] of Object.entries(times)) {
    const figures = [0.5, 0.95].map(share => percentile(all, share).toFixed(2).padStart(10));
    console.log(name.padEnd(28) + figures.join(''));
  }
  const p50 = name => percentile(times[name], 0.5);
  console.log(`The server adds ${(p50('POST /ask') - p50('rag_answer_stream')).toFixed(2)} ms to an answer in pieces, `
    + `${(p50('POST /v1/chat/completions') - p50('rag_answer_details')).toFixed(2)} ms to one at once.\n`);
}

// The most memory that a process had, in MB.
function peak(pid) {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

// What waits until so many have come: `arrive` is one of them, and `all` is kept when they are there.
function gathering(number) {
  let come = 0, open;
  const all = new Promise(resolve => { open = resolve; });
  return {
    all,
    arrive() {
      come += 1;
      if (come === number) open();
      return all;
    },
  };
}

async function crowd(server) {
  const idle = peak(server.pid);
  const together = Math.min(READERS, SESSIONS);
  const {all, arrive} = gathering(together);
  writer.always({text: ANSWER, pause: 20, when: arrive});
  const counted = all.then(() => sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'page_reader' AND state = 'active'"));
  const agent = new http.Agent({maxSockets: Infinity});
  const began = performance.now();
  const ask = (_, number) => post(server.address, agent, '/ask', {question: `${QUESTION} ${number}`, pipeline: 'notes'});
  const readers = Array.from({length: READERS}, ask);
  const answers = await Promise.all(readers);
  const whole = answers.filter(({status, text}) => status === 200 && text.includes('event: details'));
  const seconds = (performance.now() - began) / 1000;
  if (whole.length === READERS) console.log(`${await counted} sessions answered at the same time`);
  console.log(`${READERS} readers at once, ${SESSIONS} sessions: ${whole.length} answers in ${seconds.toFixed(1)} s, `
    + `at most ${peak(server.pid).toFixed(0)} MB in memory (${idle.toFixed(0)} MB before)`);
  if (whole.length !== READERS) {
    console.log(answers.find(answer => !whole.includes(answer)));
    process.exitCode = 1;
  }
}

sql(FAST);
const server = await serve('--connections', String(SESSIONS), '--timeout', String(PATIENCE), '--no-conversations', '--setting', 'rag.trace=off');
try {
  await compare(server);
  await crowd(server);
} finally {
  server.end();
  remove();
}
