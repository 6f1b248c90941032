-- rag_chunk.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE manual (body text);
INSERT INTO manual VALUES ($$The press has two rollers. They must be cleaned every evening! Who cleans them? The last person to leave.

Ink is kept in the cellar. Take the oldest tin first, and write the date on it.
Paper is delivered on Mondays.

Broken parts go into the red box; Mr. Miller collects it at 5 p.m. on Fridays.$$);

-- The strategies.
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, 'fixed', 20);
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, 'sentence', 32);
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, 'recursive', 32);
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, max_tokens => 64);
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, 'sentence', 32, overlap => 12);

-- Markdown keeps headings out of the way and says where a chunk stands.
SELECT chunk_no, start_char, end_char, heading, content FROM rag_chunk($$# Press

Clean it every evening.

## Rollers

There are two.

- the upper
- the lower

# Ink

```sh
ink --list
```
$$, 'markdown', 32);

-- The defaults: a short document is one chunk.
SELECT * FROM rag_chunk('A short document.');

-- Spans count characters, not bytes: whatever the script, the chunk is the document's part.
SELECT strategy, count(*), bool_and(content = substr(document, start_char + 1, end_char - start_char)),
       bool_and(token_count <= 16)
FROM (VALUES ('Grüße aus Köln! Die Straße ist naß. Über den Fluß führt eine Brücke, die älter ist als die Stadt.'),
             ('東京は日本の首都です。人口は約千四百万人です。とても大きい都市です。'),
             (E'👩‍🚀 flew 🚀 to the 🌙.\n\nShe came back 🌍 on Tuesday. e\u0301te\u0301 and a\u0308 too.'),
             (E'שלום עולם. مرحبا بالعالم. नमस्ते दुनिया।')) AS documents (document),
     unnest(ARRAY['fixed', 'sentence', 'recursive', 'markdown']) AS strategy,
     rag_chunk(document, strategy, 16)
GROUP BY strategy ORDER BY strategy;

-- Nothing but white space is lost.
SELECT strategy, string_agg(regexp_replace(content, '\s', '', 'g'), '' ORDER BY chunk_no)
                 = (SELECT regexp_replace(body, '\s', '', 'g') FROM manual)
FROM manual, unnest(ARRAY['fixed', 'sentence', 'recursive', 'markdown']) AS strategy, rag_chunk(body, strategy, 12)
GROUP BY strategy ORDER BY strategy;

-- No text, no chunk.
SELECT count(*) FROM rag_chunk('');
SELECT count(*) FROM rag_chunk(E' \n\t ');
SELECT count(*) FROM rag_chunk(NULL);
SELECT count(*) FROM rag_chunk('text', max_tokens => NULL);

-- Text without letters.
SELECT content FROM rag_chunk('--- *** 42 !!! ???');

-- The model whose tokens are counted.
SELECT count(*) FROM rag_chunk('text', options => '{"model": "all-minilm-l6-v2-fp32"}');

-- What cannot be done.
SELECT fails($$SELECT * FROM rag_chunk('text', 'semantic')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', max_tokens => 0)$$);
SELECT fails($$SELECT * FROM rag_chunk('text', max_tokens => -5)$$);
SELECT fails($$SELECT * FROM rag_chunk('text', max_tokens => 2000000)$$);
SELECT fails($$SELECT * FROM rag_chunk('text', max_tokens => 16, overlap => 16)$$);
SELECT fails($$SELECT * FROM rag_chunk('text', overlap => -1)$$);
SELECT fails($$SELECT * FROM rag_chunk('text', options => '{"modell": "x"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', options => '{"model": "nowhere"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', options => '[1]')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', options => '{"model": 7}')$$);
