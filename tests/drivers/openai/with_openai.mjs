// pg_rag from OpenAI's client for JavaScript, by way of rag-server.

import assert from "node:assert/strict";

// region connect
import OpenAI from "openai";

const client = new OpenAI(); // by OPENAI_BASE_URL and OPENAI_API_KEY, or { baseURL, apiKey }
// endregion

// region models
for await (const model of client.models.list()) console.log(model.id, model.description, model.filters);
const page = await client.models.retrieve("page");
// endregion
assert.deepEqual([page.id, page.object, page.owned_by, page.filters], ["page", "model", "pg_rag", ["title", "lang"]]);

// region answer
const completion = await client.chat.completions.create({
  model: "page",
  messages: [{ role: "user", content: "How long does a refund take?" }],
  filter: { lang: "en" },
  k: 2,
});
console.log(completion.choices[0].message.content);
if (completion.rag.supported) {
  for (const { marker, source_key, quote } of completion.citations) console.log(marker, source_key, quote);
}
// endregion
const text = completion.choices[0].message.content;
assert.equal(text, "A refund takes five working days. [1]");
assert.equal(completion.citations[0].source_key, "2");
assert.equal(completion.usage.total_tokens, 0);

// region conversation
const messages = [];
for (const question of ["When are invoices sent?", "And how long does a refund take?"]) {
  messages.push({ role: "user", content: question });
  const { choices } = await client.chat.completions.create({ model: "page", messages });
  messages.push(choices[0].message);
}
// endregion
const ask = (more) => client.chat.completions.create({ model: "page", ...more });
messages.push({ role: "user", content: "Why?" });
assert.equal((await ask({ messages })).rag.conversation, undefined);
const why = await ask({ messages, store: true });
messages.push(why.choices[0].message, { role: "user", content: "When are invoices sent?" });
assert.equal((await ask({ messages, store: true })).rag.conversation, why.rag.conversation);
assert.ok(why.rag.conversation);

// region stream
const question = [{ role: "user", content: "How long does a refund take?" }];
const stream = client.chat.completions.stream({ model: "page", messages: question });
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? "");
const { choices, citations, rag } = await stream.finalChatCompletion();
console.log(citations, rag.confidence);
// endregion
assert.equal(choices[0].message.content, text);
assert.equal(citations[0].source_key, "2");
const counted = client.chat.completions.stream({
  model: "page", messages: question, stream_options: { include_usage: true },
});
assert.equal((await counted.finalChatCompletion()).usage.total_tokens, 0);

// region embed
const { data } = await client.embeddings.create({ model: "multilingual-e5-small", input: ["happy", "sad"] });
const vectors = data.map((item) => item.embedding);

const asked = await client.embeddings.create({ model: "multilingual-e5-small", input: "Who is happy?", kind: "query" });
// endregion
assert.equal(vectors.length, 2);
assert.equal(asked.data[0].embedding.length, vectors[0].length);
// The client has asked for base64 and decoded it.
const numbers = await client.embeddings.create({
  model: "multilingual-e5-small", input: "happy", encoding_format: "float",
});
numbers.data[0].embedding.forEach((number, at) => assert.ok(Math.abs(number - vectors[0][at]) < 1e-6));

// region errors
let message;
try {
  await client.chat.completions.create({ model: "pages", messages: question });
} catch (error) {
  if (!(error instanceof OpenAI.APIError)) throw error;
  message = `${error.status} ${error.error.sqlstate}: ${error.error.message} (${error.error.hint})`;
}
// endregion
assert.equal(message, '404 42704: pipeline "pages" does not exist (Known pipelines: page.)');

async function refused(call) {
  const error = await call.then(() => null, (error) => error);
  assert.ok(error instanceof OpenAI.APIError, String(error));
  return [error.status, error.code, error.param];
}

assert.deepEqual(await refused(client.models.retrieve("pages")), [404, "model_not_found", "model"]);
assert.deepEqual(await refused(ask({ messages: question, n: 2 })), [400, "invalid_request", "n"]);
