-- Functions as tools of agents, and the strategy agent where nobody has to be asked. What models decide is the subject of tests/system.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

CREATE TABLE mills (id integer PRIMARY KEY, body text, year integer);
INSERT INTO mills VALUES (1, 'The mill of Ghent grinds corn.', 1780);
SELECT rag_create_pipeline('mills', 'body', metadata => ARRAY['year']);
CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/agent/v1', model 'm', max_retries '0', tools 'json');
CREATE USER MAPPING FOR PUBLIC SERVER writer;
GRANT USAGE ON FOREIGN SERVER writer TO PUBLIC;

CREATE FUNCTION sacks(mill text, months integer DEFAULT 1) RETURNS integer STABLE LANGUAGE sql AS 'SELECT 40 * $2';
CREATE FUNCTION of_day("Day" date, marks text[], wet boolean, share numeric) RETURNS TABLE (a integer, b text) STABLE LANGUAGE sql AS 'SELECT 1, ''x''';
CREATE FUNCTION unnamed(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION variable(VARIADIC n integer[]) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION anything(a anyelement) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION nothing(n integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION some_row(n integer) RETURNS record LANGUAGE sql AS 'SELECT 1, 2';
CREATE FUNCTION out_row(n integer, OUT a integer, OUT b integer) LANGUAGE sql AS 'SELECT 1, 2';
CREATE PROCEDURE proceed(n integer) LANGUAGE sql AS '';
CREATE FUNCTION secret(n integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
REVOKE EXECUTE ON FUNCTION secret FROM PUBLIC;

-- What can be a tool.
SELECT rag_add_tool('sacks', 'sacks(text, integer)', E' how many\nsacks there are ');
SELECT rag_add_tool('of_day', 'of_day(date, text[], boolean, numeric)', 'what happened on a day');
SELECT rag_add_tool('out_row', 'out_row(integer)', 'two numbers');
SELECT rag_add_tool('encoding', 'pg_client_encoding()', 'the encoding');
SELECT name, function, description, owner FROM rag.tool;
SELECT name, function, description FROM rag.tool_definition ORDER BY id;
SELECT rag_add_tool('encoding', 'sacks(text, integer)', 'now this one');
SELECT name, function, description FROM rag.tool WHERE name = 'encoding';
SELECT rag_drop_tool('encoding'), rag_drop_tool('encoding'), rag_drop_tool('nosuch');
SELECT name FROM rag.tool;

-- What cannot.
SELECT fails($$SELECT rag_add_tool(NULL, 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', NULL, 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'sacks(text, integer)', NULL)$$);
SELECT fails($$SELECT rag_drop_tool(NULL)$$);
SELECT fails($$SELECT rag_add_tool('', 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('Sacks', 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x y', 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool(repeat('x', 64), 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'sacks(text, integer)', E' \n')$$);
SELECT fails($$SELECT rag_add_tool('x', 'sacks(text, integer)', repeat('x', 2001))$$);
SELECT fails($$SELECT rag_add_tool('x', 1::oid::regprocedure, 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'unnamed(integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'variable(integer[])', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'anything(anyelement)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'nothing(integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'some_row(integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'proceed(integer)', 'x')$$);
SELECT fails($$SELECT rag_add_tool('x', 'pg_catalog.sum(integer)', 'x')$$);

-- Nobody may add tools until that is granted, and nobody's are everybody's.
SET ROLE regress_reader;
SELECT name, function FROM rag.tool;
SELECT count(*) FROM rag.tool_definition;
SELECT fails($$SELECT rag_add_tool('x', 'sacks(text, integer)', 'x')$$);
SELECT fails($$SELECT rag_drop_tool('sacks')$$);
RESET ROLE;
GRANT EXECUTE ON FUNCTION rag_add_tool, rag_drop_tool TO regress_reader;
SET ROLE regress_reader;
SELECT fails($$SELECT rag_add_tool('secret', 'secret(integer)', 'x')$$);
SELECT rag_add_tool('sacks', 'sacks(text, integer)', 'my own words');
SELECT name, description, owner FROM rag.tool;
SELECT fails($$INSERT INTO rag.tool_definition (name, owner, function, description) VALUES ('x', 'regress_reader', 'sacks(text, integer)', 'x')$$);
SELECT fails($$LOCK TABLE rag.tool_definition$$);
RESET ROLE;
-- Of two that are trusted, the own one.
SELECT name, description FROM rag.tool WHERE name = 'sacks';
SET ROLE regress_reader;
SELECT rag_drop_tool('sacks'), rag_drop_tool('of_day');
SELECT name, description FROM rag.tool;
RESET ROLE;
REVOKE EXECUTE ON FUNCTION sacks FROM PUBLIC;
SET ROLE regress_reader;
SELECT name FROM rag.tool;
RESET ROLE;
GRANT EXECUTE ON FUNCTION sacks TO PUBLIC;

-- One in a schema that a role may not use is none of its tools, and does no harm to the others.
CREATE SCHEMA staff;
CREATE DOMAIN staff.code AS text;
CREATE FUNCTION staff.wage(code staff.code) RETURNS integer STABLE LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION shift(code staff.code) RETURNS integer STABLE LANGUAGE sql AS 'SELECT 1';
SELECT rag_add_tool('wage', 'staff.wage(staff.code)', 'wages'), rag_add_tool('shift', 'shift(staff.code)', 'shifts');
SELECT name FROM rag.tool;
SET ROLE regress_reader;
SELECT name FROM rag.tool;
RESET ROLE;
DROP SCHEMA staff CASCADE;
SELECT rag_drop_tool('wage'), rag_drop_tool('shift');

-- A function that is renamed or gone is no tool; its row stays.
ALTER FUNCTION sacks RENAME TO bags;
SELECT name FROM rag.tool;
ALTER FUNCTION bags RENAME TO sacks;
DROP FUNCTION out_row;
SELECT name FROM rag.tool;
SELECT count(*) FROM rag.tool_definition;

-- The first step: nobody is asked.
SELECT role, regexp_replace(content, '[0-9a-f]{16}', 'MARK', 'g')
FROM rag_prompt('What does the mill of Ghent do?', 'mills', strategy => 'agent', llm => 'writer');
SELECT content ~ 'call' FROM rag_prompt('What does the mill of Ghent do?', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"tools": []}}') WHERE role = 'system';
SELECT role, content ~ 'Steps left' FROM rag_prompt('What does the mill of Ghent do?', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"max_steps": 1}}');

-- The first step where steps are tools of the provider's protocol.
ALTER SERVER writer OPTIONS (SET tools 'native');
SELECT role, content ~ 'calling a tool', content ~ 'JSON|"do"' FROM rag_prompt('What does the mill of Ghent do?', 'mills', strategy => 'agent', llm => 'writer');
SELECT fails($$ALTER SERVER writer OPTIONS (SET tools 'both')$$);

-- Options.
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'compact', llm => 'writer', options => '{"answer": {"evaluate": true}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"evaluate": "yes"}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"max_steps": 0}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"max_steps": 101}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'compact', llm => 'writer', options => '{"answer": {"max_steps": 3}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"tools": ["out_row"]}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"tools": "sacks"}}')$$);
SELECT fails($$SELECT rag_answer('x', 'mills', strategy => 'agent', llm => 'writer', options => '{"answer": {"own_knowledge": true}}')$$);
SELECT fails($$SELECT rag_template_set('agent', E'[[system]]\n{{ notes }}')$$);
