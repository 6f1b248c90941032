-- How the built-in answerer puts what Markdown and HTML say.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE guide (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO guide VALUES
    (1, E'# Plans\n\n| Plan | Users | Price |\n|---|---|---|\n| Free | 3 | 0 EUR |\n| **Team** | 50 | 20 EUR |\n'),
    (2, E'# Client\n\nConnect the client like this:\n\n```python\n# argv[1] is the host\nimport shop\n\nc = shop.Client(argv[1])\nif c.ok:\n    print("ready")\n```\n'),
    (3, E'# Returns\n\nTo return an item:\n\n1. Open *My orders*.\n2. Print the [label](https://example.org/label).\n3. Bring it to `shop[7]`.\n'),
    (4, E'<p>The <b>museum</b> opens at&nbsp;10&nbsp;am.</p>'),
    (5, E'Charger hot\nThe USB-C charger becomes hot when it is covered.');
SELECT rag_create_pipeline('guide', 'body', chunking => '{"by": "markdown"}');

-- Plain text: a row says what its columns are, code keeps its lines, a numbered list comes whole.
SELECT rag_answer('How much does the Team plan cost?');
SELECT rag_answer('How do I connect the client?');
SELECT rag_answer('How do I print the label of an item?');
SELECT rag_answer('When does the museum open?');
SELECT rag_answer('Why does the charger become hot?');

-- Markdown, for one call or for a pipeline; what is quoted is the same.
SELECT rag_answer('How do I connect the client?', options => '{"cite": {"format": "markdown"}}');
SELECT p.citations->0->>'quote' = m.citations->0->>'quote', p.citations->0->>'quote'
FROM rag_answer_details('How do I print the label of an item?') AS p,
     rag_answer_details('How do I print the label of an item?', options => '{"cite": {"format": "markdown"}}') AS m;
SELECT rag_alter_pipeline('guide', defaults => '{"cite": {"format": "markdown", "style": "numeric"}}');
SELECT rag_answer('How do I connect the client?');
SELECT rag_answer('How do I connect the client?', options => '{"cite": {"format": "plain"}}');
SELECT string_agg(piece, '') = rag_answer('How do I connect the client?')
FROM rag_answer_stream('How do I connect the client?') WITH ORDINALITY AS s (piece, place) WHERE NOT starts_with(piece, '{"');
\set ON_ERROR_STOP 0
SELECT rag_answer('How do I connect the client?', options => '{"cite": {"format": "html"}}');
\set ON_ERROR_STOP 1

-- A table or a list that is cut: what its columns are and what the list is about stands in another chunk.
CREATE TABLE parts (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO parts VALUES
    (1, E'# Spare parts\n\n| Part | Weight | Price |\n|---|---|---|\n| Lamp | 120 g | 4 EUR |\n| Mirror | 310 g | 9 EUR |\n| Saddle | 870 g | 35 EUR |\n| Pedal | 290 g | 12 EUR |\n'),
    (2, E'# Puncture\n\nTo mend a tube:\n\n1. Take the wheel off its fork.\n2. Find the hole under water.\n3. Rub the rubber with sandpaper.\n4. Press the patch on for a minute.\n');
SELECT rag_create_pipeline('parts', 'body', chunking => '{"by": "markdown", "max_tokens": 40}');
SELECT source_id, chunk_no, content FROM parts_rag WHERE chunk_no > 0 ORDER BY source_id, chunk_no LIMIT 2;
SELECT answer, citations->0->>'quote' FROM rag_answer_details('What does the Pedal weigh?', 'parts');
SELECT rag_answer('How long is the patch pressed on?', 'parts');

-- What something is stands below the heading or the title that names it, whatever else speaks of it.
CREATE TABLE manual (id integer PRIMARY KEY, title text, body text);
INSERT INTO manual VALUES
    (1, 'Directives', E'## shrink\n\nSyntax:\n\n```\nshrink [level]\n```\n\nMakes responses smaller on their way.\n\n## push\n\nSends files early. The push directive comes behind the shrink directive.\n'),
    (2, 'mirror (Directive)', 'Sends a copy of each request elsewhere. The mirror directive may stand once in a site.'),
    (3, 'empty (Directive)', ''),
    (4, NULL, NULL);
SELECT rag_create_pipeline('manual', 'body', chunking => '{"by": "markdown"}', refresh => 'sync', options => '{"title": "title"}');
SELECT question, rag_answer(question, 'manual', options => '{"answer": {"max_sentences": 1}}')
FROM (VALUES ('What does the shrink directive do?'), ('Wozu dient die Direktive shrink?'), ('À quoi sert la directive mirror ?'),
             ('¿Qué hace la directiva mirror?'), ('Что делает директива shrink?'), ('mirror 指令有什么用？')) AS asked (question);

-- In what two things differ is said by a text that puts one against the other, else by what each of them is.
SELECT question, rag_answer(question, 'manual')
FROM (VALUES ('What is the difference between the shrink directive and the mirror directive?'), ('shrink vs mirror'),
             ('Was ist der Unterschied zwischen mirror und shrink?'), ('mirror 和 shrink 有什么区别？')) AS asked (question);
SELECT rag_answer('What is the difference between shrink and mirror?', 'manual', options => '{"cite": {"format": "markdown"}}');
INSERT INTO manual VALUES (5, 'Which one?', 'Unlike the mirror directive, which sends requests elsewhere, the shrink directive changes responses.');
SELECT rag_answer('What is the difference between shrink and mirror?', 'manual', options => '{"answer": {"max_sentences": 2}}');

-- What only leads to the next sentence answers nothing.
INSERT INTO manual VALUES
    (6, 'Pumps', E'Let''s look at how a pump is primed. The pump is filled with water until the lamp goes out.'),
    (7, 'Boote', E'In diesem Abschnitt wird erklärt, wie man ein Boot anmeldet. Ein Boot wird mit dem gelben Vordruck angemeldet.');
SELECT question, rag_answer(question, 'manual', options => '{"answer": {"max_sentences": 1}}')
FROM (VALUES ('How is a pump primed?'), ('Wie meldet man ein Boot an?')) AS asked (question);

-- What is not so is not told by what is.
INSERT INTO manual VALUES (8, 'Salt', 'Monks were exempt from the tax on salt. Sailors paid it in spring.');
SELECT a.confidence < b.confidence - 0.05
FROM rag_answer_details('Who was not exempt from the tax on salt?', 'manual') AS a, rag_answer_details('Who was exempt from the tax on salt?', 'manual') AS b;
