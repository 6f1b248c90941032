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
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, '{"by": "fixed", "max_tokens": 20}');
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, '{"by": "sentence", "max_tokens": 32}');
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, '{"by": "recursive", "max_tokens": 32}');
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, '{"max_tokens": 64}');
SELECT chunk_no, start_char, end_char, token_count, content FROM manual, rag_chunk(body, '{"by": "sentence", "max_tokens": 32, "overlap": 12}');

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
$$, '{"by": "markdown", "max_tokens": 32}');

-- HTML: what a reader of the page reads. Spans are places in that text.
SELECT chunk_no, heading, c.content,
       c.content = substr(readable, start_char + 1, end_char - start_char) AS is_exact
FROM (VALUES ($$<!DOCTYPE html><title>Shop</title><nav><a href="/">Home</a></nav>
<h1>Paper</h1><p>White &amp; grey,<br>in sheets.<script>track()</script>
<h2>Prices</h2><ul><li>A4: 5<li>A3: 9</ul>$$)) AS pages (page),
     LATERAL (SELECT string_agg(content, E'\n\n' ORDER BY part_no)
              FROM rag_parse(convert_to(page, 'UTF8'), 'text/html')) AS r (readable),
     rag_chunk(page, '{"by": "html", "max_tokens": 32}') c;
SELECT fails(format('SELECT * FROM rag_chunk(%L, ''{"by": "html"}'')', repeat('<div>', 1000)));

-- Pages end at form feeds, and no chunk goes on to the next.
SELECT chunk_no, heading, start_char, end_char, content
FROM rag_chunk(E'The first page. It has two sentences.\fThe second\n\nhas paragraphs.\f\fThe last.', '{"by": "page", "max_tokens": 12}');

-- Source code: the names of what a chunk is in, or has.
CREATE TABLE code (name text PRIMARY KEY, language text, source text);
INSERT INTO code VALUES ('python', 'python', $$import os

# Moves paper.
@final
class Roller(Part):
    def turn(self, by):
        for step in range(by):
            self.angle += step
        return self.angle

    def stop(self):
        self.angle = 0

def main():
    Roller().turn(3)
$$), ('rust', 'rust', $$use std::fmt;

/// Moves paper.
#[derive(Debug)]
pub struct Roller {
    angle: u32,
}

impl fmt::Display for Roller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.angle)
    }
}
$$), ('sql', NULL, $$CREATE TABLE roller (
    angle integer
);

INSERT INTO roller VALUES (1);
$$);
SELECT name, chunk_no, heading, token_count, content
FROM code, rag_chunk(source, jsonb_build_object('by', 'code', 'max_tokens', 48, 'language', language))
ORDER BY name, chunk_no;
-- The language is found out.
SELECT name, count(*), count(heading) FROM code, rag_chunk(source, '{"by": "code", "max_tokens": 48}') GROUP BY name ORDER BY name;
-- Code that no parser likes is cut at its lines, and soon.
SELECT count(*) > 100 AS is_cut, bool_or(heading IS NOT NULL) AS has_names
FROM rag_chunk(repeat(E'case 1:\n', 20000), '{"by": "code", "language": "typescript"}');

-- Sentences that speak of the same stay together.
SELECT chunk_no, content
FROM rag_chunk($$The cat sleeps on the sofa. The kitten plays with its mother. Cats purr when they are stroked.
Interest rates rose again in March. The central bank expects inflation to fall. Banks lend less money.$$, '{"by": "semantic", "percentile": 80, "min_tokens": 8, "model": "all-minilm-l6-v2"}');

-- Small chunks and the parents they are parts of.
SELECT chunk_no, content, start_char, end_char, parent_start, parent_end
FROM manual, rag_chunk(body, '{"by": "hierarchical", "max_tokens": 64, "child_tokens": 24}');
SELECT count(*), bool_and(parent_start <= start_char AND end_char <= parent_end), count(DISTINCT parent_start)
FROM manual, rag_chunk(body, '{"by": "hierarchical", "max_tokens": 32, "overlap": 4, "base": "sentence", "child_tokens": 16}');

-- The defaults: a short document is one chunk.
SELECT * FROM rag_chunk('A short document.');

-- Spans count characters, not bytes: whatever the script, the chunk is the document's part. Where
-- meaning drops most is up to the last digit of a vector, so those chunks are not counted.
SELECT method, count(*) FILTER (WHERE method <> 'semantic'), bool_and(content = substr(document, start_char + 1, end_char - start_char)),
       bool_and(token_count <= 16)
FROM (VALUES ('Grüße aus Köln! Die Straße ist naß. Über den Fluß führt eine Brücke, die älter ist als die Stadt.'),
             ('東京は日本の首都です。人口は約千四百万人です。とても大きい都市です。'),
             (E'👩‍🚀 flew 🚀 to the 🌙.\n\nShe came back 🌍 on Tuesday. e\u0301te\u0301 and a\u0308 too.'),
             (E'שלום עולם. مرحبا بالعالم. नमस्ते दुनिया।')) AS documents (document),
     unnest(ARRAY['fixed', 'sentence', 'recursive', 'markdown', 'page', 'code', 'semantic', 'hierarchical']) AS method,
     rag_chunk(document, jsonb_build_object('by', method, 'max_tokens', 16))
GROUP BY method ORDER BY method;

-- Nothing but white space is lost.
SELECT method, string_agg(regexp_replace(content, '\s', '', 'g'), '' ORDER BY chunk_no)
                 = (SELECT regexp_replace(body, '\s', '', 'g') FROM manual)
FROM manual, unnest(ARRAY['fixed', 'sentence', 'recursive', 'markdown', 'page', 'code', 'semantic', 'hierarchical']) AS method,
     rag_chunk(body, jsonb_build_object('by', method, 'max_tokens', 12))
GROUP BY method ORDER BY method;

-- No text, no chunk.
SELECT count(*) FROM rag_chunk('');
SELECT count(*) FROM rag_chunk(E' \n\t ');
SELECT count(*) FROM rag_chunk(NULL);
-- NULL is the default.
SELECT count(*) FROM rag_chunk('text', NULL);
SELECT count(*) FROM rag_chunk('text', '{"max_tokens": null}');

-- Text without letters.
SELECT content FROM rag_chunk('--- *** 42 !!! ???');

-- The model whose tokens are counted.
SELECT count(*) FROM rag_chunk('text', '{"model": "all-minilm-l6-v2-fp32"}');

-- What cannot be done.
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "semantik"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"max_tokens": 0}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"max_tokens": -5}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"max_tokens": 2000000}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"max_tokens": 16, "overlap": 16}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"overlap": -1}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"late": true}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"modell": "x"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"model": "nowhere"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '[1]')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"model": 7}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"language": "python"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "code", "language": "cobol"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "semantic", "percentile": 0}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "hierarchical", "child_tokens": 300}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "hierarchical", "base": "html"}')$$);
SELECT fails($$SELECT * FROM rag_chunk('text', '{"by": "hierarchical", "max_tokens": 64, "overlap": 40}')$$);
