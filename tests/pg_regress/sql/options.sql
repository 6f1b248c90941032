-- One object of options for every function that asks a pipeline, and the defaults of a pipeline.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
\pset null NULL
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, body text, lang text, written date, url text);
INSERT INTO docs VALUES
    (1, 'To reset a password, open the settings page and choose Reset password.', 'en', '2020-01-01', 'https://h/1'),
    (2, 'Invoices are sent on the first day of each month. They can be paid by card.', 'en', '2021-01-01', 'https://h/2'),
    (3, 'Backups are made every night at two. They are kept for thirty days.', 'de', '2022-01-01', 'https://h/3');
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['lang', 'written', 'url'], refresh => 'sync');
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/options/v1', model 'm', max_retries '0');
CREATE SERVER judge FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/options/v1', model 'm', max_retries '0');
CREATE USER MAPPING FOR PUBLIC SERVER writer;
CREATE USER MAPPING FOR PUBLIC SERVER judge;

-- All functions take all groups.
SELECT '{"k": 1, "llm": "extractive",
    "retrieve": {"mode": "hybrid", "filter": {"lang": "en"}, "rewrite": "none", "rerank": "none", "threshold": -1},
    "context": {"tokens": 500, "order": "relevance"},
    "answer": {"strategy": "compact", "max_sentences": 1},
    "verify": {"by": "words"},
    "cite": {"style": "numeric"}}' AS o \gset
SELECT rank, source_key FROM rag_retrieve('When are invoices sent?', options => :'o');
SELECT number, source_key FROM rag_context('When are invoices sent?', options => :'o');
SELECT role FROM rag_prompt('When are invoices sent?', options => :'o');
SELECT rag_answer('When are invoices sent?', options => :'o');
SELECT jsonb_array_length(context), usage->>'llm' FROM rag_answer_details('When are invoices sent?', options => :'o');
SELECT rag_answer_stream('When are invoices sent?', options => :'o') LIMIT 1;
SELECT count(*) FROM rag_explain('When are invoices sent?', options => :'o') WHERE stage = 'fetch';
SELECT DISTINCT n FROM rag_eval_load('set', '[{"question": "When are invoices sent?", "relevant": ["2"]}]') AS l, rag_eval('docs', 'set', configurations => jsonb_build_object('c', :'o'::jsonb)::json);
-- What a function does not need has no effect, and is checked all the same.
SELECT source_key FROM rag_retrieve('When are invoices sent?', k => 1, options => '{"answer": {"template": "nowhere"}, "verify": {"llm": "nowhere"}, "cite": {"link_column": "nowhere"}}');
SELECT fails($$SELECT rag_retrieve('x', options => '{"cite": {"style": "link"}}')$$);
SELECT fails($$SELECT rag_retrieve('x', options => '{"answer": {"max_tokens": "many"}}')$$);
SELECT fails($$SELECT rag_context('x', options => '{"verify": {"low_confidence": "shrug"}}')$$);

-- Arguments win over the object.
SELECT rank, source_key FROM rag_retrieve('When are invoices sent?', k => 2, mode => 'lexical', filter => '{"lang": "de"}', options => :'o');
SELECT count(*) FROM rag_retrieve('When are invoices sent?', options => '{"k": 2}');
SELECT data->>'one' FROM rag_sql_run('SELECT 1 AS one', options => '{"max_plan_rows": null, "max_bytes": null, "catalogs": null}');
SELECT count(*) FROM rag_retrieve('When are invoices sent?', k => NULL, options => '{"k": null}');

-- A key that is unknown, or in the wrong place, or of another type, and a value out of its range.
SELECT fails(format('SELECT rag_answer(%L, options => %L)', 'x', options)) FROM unnest(ARRAY[
    '{"threshold": 0.3}', '{"answer": {"threshold": 0.3}}', '{"treshold": 0.3}', '{"retrieve": {"treshold": 0.3}}', '{"retreive": {}}', '{"colour": 1}',
    '{"context": {"colour": null}}', '{"verify": {"verifier": "words"}}', '{"retrieve": 1}', '{"retrieve": {"threshold": "0.3"}}', '{"retrieve": {"mode": "sparse"}}',
    '{"retrieve": {"filter": 1}}', '{"retrieve": {"filter": {"colour": 1}}}', '{"context": {"tokens": 1.5}}', '{"k": 0}', '{"k": "3"}', '{"llm": 1}', '{"llm": "nowhere"}',
    '{"answer": {"budget": {"call": 1}}}', '{"answer": {"strategy": "guess"}}', '{"answer": {"rounds": 0}}', '{"pipeline": "docs"}', '[1]', '"k"']) AS options;
SELECT fails($$SELECT * FROM rag_retrieve('x', mode => 'sparse')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', rewrite => 'hide')$$);
SELECT fails($$SELECT * FROM rag_retrieve('x', k => 0)$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'set', configurations => '{"a": {"mode": "dense"}}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'set', configurations => '{"a": {"pipelin": "docs"}}')$$);
SELECT fails($$SELECT * FROM rag_eval('docs', 'set', configurations => '{"a": {"retrieve": {"mod": "dense"}}}')$$);

-- The defaults of a pipeline hold at once, for every function.
SELECT rag_alter_pipeline('docs', defaults => '{"k": 2, "retrieve": {"filter": {"lang": "en"}, "neighbours": 1}, "answer": {"max_sentences": 1, "strategy": "compact"}, "cite": {"style": "numeric"}}');
SELECT defaults FROM rag.pipeline;
SELECT rag_answer('When are invoices sent?');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('When are backups made?', 'docs');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_context('When are backups made?');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('When are backups made?', 'auto');
-- A call wins, key by key; null is what is built in; an argument that is NULL says nothing.
SELECT count(*) FROM rag_retrieve('When are backups made?', k => 1);
SELECT count(*) FROM rag_retrieve('When are backups made?', k => NULL, options => '{"k": 1, "retrieve": {"mode": "dense"}}');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('When are backups made?', options => '{"k": null, "retrieve": {"filter": null}}');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('When are backups made?', options => '{"retrieve": {"filter": {"lang": "de"}}}');
SELECT array_agg(source_key ORDER BY source_key) FROM rag_retrieve('When are backups made?', filter => '{}', options => '{"k": 9, "retrieve": null}');
-- What the pipeline says for another strategy is no error, and what does not go with the call says where it comes from.
SELECT rag_alter_pipeline('docs', defaults => '{"retrieve": {"neighbours": 1}, "answer": {"strategy": "refine", "group_size": 3}}');
SELECT rag_answer('When are invoices sent?', strategy => 'compact', options => '{"answer": {"max_sentences": 1}}') ~ 'first day';
SELECT fails($$SELECT rag_answer('x', strategy => 'compact', options => '{"answer": {"group_size": 3}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?')$$);
SELECT fails($$SELECT rag_retrieve('x', options => '{"retrieve": {"expand": "section"}}')$$);
SELECT count(*) > 0 FROM rag_retrieve('When are invoices sent?', options => '{"retrieve": {"expand": "section", "neighbours": null}}');
-- They are under the configurations of an evaluation, too, but k is its own.
SELECT rag_alter_pipeline('docs', defaults => '{"k": 1, "retrieve": {"mode": "lexical", "filter": {"lang": "de"}}}');
SELECT configuration, value FROM rag_eval('docs', 'set', k => '{3}', configurations => '{"of the pipeline": {}, "all": {"retrieve": {"filter": null}}, "vectors": {"retrieve": {"filter": {"lang": "en"}, "mode": "dense"}}}') WHERE metric = 'recall';
SELECT metric, value FROM rag_eval('docs', 'set', k => '{3}', configurations => '{"all": {"retrieve": {"filter": {"lang": "en"}}}}', options => '{"answers": true}') WHERE metric IN ('abstention', 'context_precision');
-- NULL leaves them, and an empty object takes them away.
SELECT rag_alter_pipeline('docs', defaults => NULL);
SELECT defaults FROM rag.pipeline;
SELECT rag_alter_pipeline('docs', name => 'handbook', defaults => '{}');
SELECT name, defaults FROM rag.pipeline;
SELECT rag_alter_pipeline('handbook', name => 'docs');

-- Where values come from that are not built in.
SELECT detail FROM rag_explain('When are invoices sent?') WHERE stage = 'options';
SELECT rag_alter_pipeline('docs', defaults => '{"k": 2, "llm": "extractive", "retrieve": {"filter": {"lang": "en"}, "rerank": "late_interaction"}, "verify": {"by": "none"}}');
SET rag.llm = 'writer';
SET rag.min_confidence = 0.25;
SET rag.cache = 'exact';
SELECT detail FROM rag_explain('When are invoices sent?', mode => 'dense', options => '{"k": 3, "retrieve": {"rerank": null}, "answer": {"cache": "off"}}') WHERE stage = 'options';
SELECT rag_alter_pipeline('docs', defaults => '{}');
SELECT detail FROM rag_explain('When are invoices sent?', llm => 'extractive') WHERE stage = 'options';
-- No word of a filter is kept where only figures are.
SET rag.trace = 'summary';
SELECT trace_id AS id FROM rag_answer_details('When are invoices sent?', llm => 'extractive', filter => '{"lang": "secret"}') \gset
SELECT s->>'detail', s->>'text' FROM rag.trace_log, jsonb_array_elements(steps) AS s WHERE id = :'id' AND s->>'stage' = 'options';
RESET rag.trace;
RESET rag.llm;
RESET rag.min_confidence;
RESET rag.cache;

-- What cannot be a default.
SELECT fails(format('SELECT rag_alter_pipeline(%L, defaults => %L)', 'docs', defaults)) FROM unnest(ARRAY[
    '[]', '1', '{"threshold": 0.3}', '{"retrieve": {"treshold": 0.3}}', '{"retrieve": {"threshold": 2}}', '{"context": {"order": "chronological"}}',
    '{"answer": {"conversation": "00000000-0000-4000-8000-000000000000"}}', '{"answer": {"history": []}}', '{"retrieve": {"route": "llm"}}', '{"llm": "nowhere"}', '{"verify": {"llm": "nowhere"}}',
    '{"retrieve": {"rerank": "nowhere"}}', '{"retrieve": {"rewrite": {"by": "hyde", "llm": "nowhere"}}}', '{"retrieve": {"rewrite": {"template": "nowhere"}}}',
    '{"answer": {"template": "nowhere"}}', '{"verify": {"by": "eyes"}}', '{"context": {"tokenizer": "nowhere"}}',
    '{"retrieve": {"filter": {"colour": 1}}}', '{"retrieve": {"recency": {"column": "lang", "half_life": 3}}}', '{"retrieve": {"recency": {"column": "colour", "half_life": 3}}}', '{"retrieve": {"expand": "parent"}}',
    '{"context": {"headers": ["colour"]}}', '{"context": {"order": "chronological", "order_by": "lang"}}', '{"cite": {"style": "link", "link_column": "colour"}}',
    '{"cite": {"style": "link", "link_template": "https://x/{nope}"}}', '{"answer": {"sql": {"x": 1}}}', '{"answer": {"sql": {"template": "standard"}}}', '{"answer": {"schema": {"type": "nope"}}}',
    '{"answer": {"template": "summarize_passages"}}', '{"answer": {"own_knowledge": true, "template": "defensive"}}', '{"retrieve": {"rewrite": {"by": "hyde", "template": "standard"}}}']) AS defaults;
-- What another strategy reads is there for calls with that.
SELECT rag_alter_pipeline('docs', defaults => '{"answer": {"rounds": 2, "group_size": 2, "strategy": "compact", "tools": []}}');
SELECT rag_answer('When are invoices sent?', 'docs', llm => 'extractive') IS NOT NULL;
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'docs', llm => 'extractive', options => '{"answer": {"rounds": 2}}')$$);
-- What was good once is named with the pipeline.
UPDATE rag.pipeline SET defaults = '{"cite": {"style": "link", "link_template": "https://x/{nope}"}}' WHERE name = 'docs';
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'docs', llm => 'extractive')$$);
SELECT rag_alter_pipeline('docs', defaults => '{}');
SELECT fails(format('SELECT rag_alter_pipeline(%L, defaults => %L)', 'docs', jsonb_build_object('cite', jsonb_build_object('link_template', repeat('x', 70000)))));
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', 'other', defaults => '{"llm": "nowhere"}')$$);
SELECT fails($$SELECT rag_create_pipeline('docs', 'body', 'other', defaults => '{"colour": 1}')$$);
SELECT name, defaults FROM rag.pipeline;

-- A new pipeline has them from the beginning, and a new generation has those of the old one.
SELECT rag_create_pipeline('docs', 'body', 'other', metadata => ARRAY['url'], refresh => 'manual', defaults => '{"cite": {"style": "link", "link_column": "url"}, "llm": "writer"}', options => '{"config": null, "backfill": null, "graph": null}');
SELECT rag_alter_pipeline('other', chunking => '{"max_tokens": 64}');
SELECT name, generation, defaults FROM rag.pipeline WHERE name = 'other' OR replaces IS NOT NULL ORDER BY id;
SELECT rag_alter_pipeline('other', defaults => '{"k": 1, "llm": "writer", "verify": {"by": "llm", "llm": "judge"}}');
SELECT name, generation, defaults FROM rag.pipeline WHERE name = 'other' OR replaces IS NOT NULL ORDER BY id;

-- The owner chooses, and who asks needs the right to the server.
GRANT SELECT ON docs, other_rag, other_rag_chunks TO regress_reader;
SET ROLE regress_reader;
SELECT defaults FROM rag.pipeline WHERE name = 'other';
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'other')$$);
SELECT count(*) FROM rag_retrieve('When are invoices sent?', 'other');
SELECT rag_answer('When are invoices sent?', 'other', llm => 'extractive', options => '{"verify": null}') IS NOT NULL;
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'other', llm => 'extractive')$$);
SELECT fails($$SELECT rag_alter_pipeline('other', defaults => '{}')$$);
SELECT fails($$UPDATE rag.pipeline SET defaults = NULL$$);
RESET ROLE;
-- A server that is dropped later is named with the pipeline that wants it.
DROP SERVER writer CASCADE;
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'other')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'other', llm => 'writer')$$);
DROP SERVER judge CASCADE;
SELECT fails($$SELECT rag_answer('When are invoices sent?', 'other', llm => 'extractive')$$);
DROP OWNED BY regress_reader;
