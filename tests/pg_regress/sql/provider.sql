-- Foreign servers of the wrapper rag_llm; none of them is called here.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- What a server can be told.
CREATE SERVER good FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'openai', base_url 'http://127.0.0.1:9/v1', model 'm', connect_timeout '0.5', timeout '1', max_retries '0');
CREATE SERVER bare FOREIGN DATA WRAPPER rag_llm;
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (url 'http://x')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'telepathy')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'file:///etc/passwd')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'host:80')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'https://me:sk-secret@host/v1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'https://host/v1?key=x')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'https:///v1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:99999')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'https://host:0/v1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://[::1]:65536/v1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'https://host name/v1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (proxy 'http://host:99999')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (timeout 'long')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (timeout '0')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (timeout 'NaN')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (connect_timeout '-1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (max_retries '1.5')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (max_retries '-1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (api_key 'sk-secret')$$);
SELECT fails($$ALTER SERVER good OPTIONS (SET base_url 'gopher://x')$$);
SELECT fails($$ALTER SERVER good OPTIONS (ADD colour 'red')$$);
SELECT fails($$ALTER FOREIGN DATA WRAPPER rag_llm OPTIONS (ADD base_url 'http://x')$$);
ALTER SERVER good OPTIONS (SET timeout '2');
SELECT srvname, srvoptions FROM pg_foreign_server ORDER BY 1;

-- What a user mapping can be told.
CREATE USER MAPPING FOR PUBLIC SERVER good OPTIONS (api_key 'sk-secret');
CREATE USER MAPPING FOR regress_reader SERVER good OPTIONS (api_key_env 'PROVIDER_KEY');
CREATE USER MAPPING FOR regress_owner SERVER good OPTIONS (api_key_file '/run/secrets/key');
CREATE USER MAPPING FOR regress_writer SERVER good;
SELECT fails($$CREATE USER MAPPING FOR regress_stranger SERVER good OPTIONS (password 'sk-secret')$$);
SELECT fails($$CREATE USER MAPPING FOR regress_stranger SERVER good OPTIONS (api_key 'sk-secret', api_key_env 'KEY')$$);

-- A server without what it needs.
SELECT fails($$SELECT rag_generate('Hello', 'bare')$$);
ALTER SERVER bare OPTIONS (ADD base_url 'http://127.0.0.1:9/v1');
SELECT fails($$SELECT rag_generate('Hello', 'bare')$$);
SELECT fails($$SELECT rag_generate('Hello', 'nowhere')$$);
SELECT fails($$SELECT rag_generate('Hello', 'bad"name')$$);
CREATE FOREIGN DATA WRAPPER other;
CREATE SERVER foreigner FOREIGN DATA WRAPPER other;
SELECT fails($$SELECT rag_generate('Hello', 'foreigner')$$);

-- Nobody listens on port 9: the error names the server, and no key.
SELECT line ~ 'good', line ~ 'secret' FROM fails($$SELECT rag_generate('Hello', 'good')$$) AS line WHERE line !~ '^(HINT|DETAIL)';
SELECT count(*) FROM fails($$SELECT rag_generate('Hello', 'good')$$) AS line WHERE line ~ 'sk-';

-- The built-in answerer is no writer.
SELECT fails($$SELECT rag_generate('Hello')$$);
SELECT fails($$SELECT rag_generate('Hello', 'extractive')$$);
SELECT rag_generate(NULL) IS NULL;
SELECT fails($$SELECT rag_generate('Hello', 'good', options => '{"mirostat": 1}')$$);

-- Rights: who says where servers are, who may call one, who may read the server's files.
SET ROLE regress_stranger;
SELECT fails($$CREATE SERVER mine FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://evil')$$);
SELECT fails($$ALTER SERVER good OPTIONS (SET base_url 'http://evil')$$);
SELECT fails($$SELECT rag_generate('Hello', 'good')$$);
SELECT fails($$CREATE USER MAPPING FOR regress_stranger SERVER good OPTIONS (api_key 'x')$$);
RESET ROLE;
GRANT USAGE ON FOREIGN DATA WRAPPER rag_llm TO regress_writer;
GRANT USAGE ON FOREIGN SERVER good TO regress_stranger;
SET ROLE regress_writer;
CREATE SERVER own FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', model 'm');
CREATE USER MAPPING FOR regress_writer SERVER own OPTIONS (api_key 'x');
SELECT fails($$ALTER USER MAPPING FOR regress_writer SERVER own OPTIONS (DROP api_key, ADD api_key_file '/etc/passwd')$$);
SELECT fails($$ALTER USER MAPPING FOR regress_writer SERVER own OPTIONS (DROP api_key, ADD api_key_env 'PATH')$$);
SELECT umoptions IS NULL FROM pg_user_mappings WHERE srvname = 'good' AND usename = 'public';
RESET ROLE;
SET ROLE regress_stranger;
CREATE USER MAPPING FOR regress_stranger SERVER good OPTIONS (api_key 'their-own');
SELECT umoptions IS NULL FROM pg_user_mappings WHERE srvname = 'good' AND usename = 'public';
SELECT count(*) FROM fails($$SELECT rag_generate('Hello', 'good')$$) AS line WHERE line ~ 'permission denied';
RESET ROLE;
DROP OWNED BY regress_writer, regress_stranger, regress_reader, regress_owner;
