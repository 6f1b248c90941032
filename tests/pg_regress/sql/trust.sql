-- Citation styles, and what rag_answer_details says of claims.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, url text, year integer);
INSERT INTO docs VALUES
    (1, 'Passwords', 'To reset a password, open the settings page and choose Reset password.', 'https://example.org/passwords', 2024),
    (2, 'Invoices', 'Invoices are sent on the first day of each month.', 'javascript:alert(1)', 2023),
    (3, 'Backups (nightly)', E'# Nightly backups\n\nBackups are made every night at two [7] and kept for thirty days.', 'https://example.org/a b(c)', NULL),
    (4, 'Parking', 'Visitors park their cars behind the mill.', NULL, 2020);
SELECT rag_create_pipeline('docs', 'body', metadata => ARRAY['title', 'url', 'year'], refresh => 'sync');

-- Numbers by first use, by default.
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}}') ~ '^Invoices are sent on the first day of each month\. \[[1-4]\]$';
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}}') = rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "inline"}}');

-- The same with a list.
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "numeric"}}');
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "numeric", "source_column": "title"}}');
SELECT rag_answer('How long are backups kept?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "numeric", "source_column": "title"}}');
-- A citation has the number that is shown, which is that of the context.
SELECT c->'marker', x->>'source_key'
FROM rag_answer_details('When are invoices sent?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "numeric"}}'),
     jsonb_array_elements(citations) AS c JOIN LATERAL jsonb_array_elements(context) AS x ON x->'number' = c->'marker';

-- Footnotes with the quotes.
SELECT rag_answer('When are invoices sent?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "footnote", "source_column": "title"}}');
-- What looks like a citation in a document is none.
SELECT rag_answer('How long are backups kept?', options => '{"answer": {"max_sentences": 1}, "cite": {"style": "footnote", "source_column": "title"}}');

-- Links out of a column, and out of a template; never to what a browser would run.
SELECT regexp_replace(rag_answer(question, options => '{"answer": {"max_sentences": 1}, "cite": {"style": "link", "link_column": "url"}}'), '\[\d\]', '[n]')
FROM (VALUES ('How do I reset a password?'), ('When are invoices sent?'), ('How long are backups kept?'), ('Where do visitors park?')) AS q (question);
SELECT regexp_replace(rag_answer(question, options => '{"answer": {"max_sentences": 1}, "cite": {"style": "link", "link_template": "https://h/{year}/{title}?doc={source_key}#{chunk_no}"}}'), '\[\d\]', '[n]')
FROM (VALUES ('When are invoices sent?'), ('How long are backups kept?')) AS q (question);

-- An answer that there is none has no list.
SELECT rag_answer('Who won the football world cup in 1998?', options => '{"cite": {"style": "footnote"}}');

-- Quotes are their own evidence.
SELECT c->>'claim_no', c->>'claim', c->>'verdict', c->>'score', c->'cited' @> jsonb_build_array(c->'number'), c->>'source_key',
       substr(d.body, (c->>'start_char')::int + 1, (c->>'end_char')::int - (c->>'start_char')::int) = c->>'claim',
       faithfulness, needs_review, usage ? 'problems'
FROM rag_answer_details('When are invoices sent?', options => '{"answer": {"max_sentences": 1}}'), jsonb_array_elements(claims) AS c JOIN docs d ON d.id::text = c->>'source_key';
SELECT claims, faithfulness, needs_review, supported FROM rag_answer_details('Who won the football world cup in 1998?', options => '{"verify": {"low_confidence": "abstain"}}');

-- What is wrong is said.
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "roman"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "link"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "link", "link_column": "address"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "link", "link_column": "url", "link_template": "x"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "link", "link_template": "https://h/{key}"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "link", "link_template": "https://h/{year"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"cite": {"style": "numeric", "source_column": "name"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"verify": {"by": "eyes"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"verify": {"by": "llm"}}')$$);
SELECT fails($$SELECT rag_answer('When are invoices sent?', options => '{"verify": {"low_confidence": "shrug"}}')$$);
