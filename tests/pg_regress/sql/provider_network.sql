-- How a provider may be reached and how much it may be asked; none is called here.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;

-- Limits.
CREATE SERVER limited FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', model 'm', max_retries '0', first_token_timeout '2.5', max_concurrency '4', requests_per_minute '100');
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (first_token_timeout '0')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (max_concurrency '0')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (max_concurrency '-1')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (requests_per_minute '100001')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (requests_per_minute 'many')$$);

-- Ways.
ALTER SERVER limited OPTIONS (ADD proxy 'http://proxy:3128', ADD ca_file '/etc/ssl/own.pem');
SELECT srvoptions FROM pg_foreign_server WHERE srvname = 'limited';
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (proxy 'socks5://proxy:1080')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (proxy 'http://me:secret@proxy:3128')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (proxy 'http://proxy/path')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (proxy 'http://')$$);
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (ca_file 'own.pem')$$);
GRANT USAGE ON FOREIGN DATA WRAPPER rag_llm TO regress_writer;
SET ROLE regress_writer;
SELECT fails($$CREATE SERVER bad FOREIGN DATA WRAPPER rag_llm OPTIONS (ca_file '/etc/shadow')$$);
CREATE SERVER own FOREIGN DATA WRAPPER rag_llm OPTIONS (base_url 'http://127.0.0.1:9/v1', model 'm', max_concurrency '1');
SELECT fails($$ALTER SERVER own OPTIONS (ADD ca_file '/etc/shadow')$$);

-- The rules for hosts are a superuser's.
SELECT fails($$SET rag.allow_private_hosts = 'all'$$);
SELECT fails($$SET rag.allowed_hosts = ''$$);
SHOW rag.allow_private_hosts;
RESET ROLE;
DROP SERVER own;
SET rag.allow_private_hosts = 'some';
SELECT fails($$SELECT rag_generate('x', 'limited')$$);
ALTER SERVER limited OPTIONS (DROP ca_file, DROP proxy);
SET rag.allow_private_hosts = 'none';
SELECT fails($$SELECT rag_generate('x', 'limited')$$);
SET rag.allow_private_hosts = 'loopback';
ALTER SERVER limited OPTIONS (SET base_url 'http://169.254.169.254/latest');
SELECT fails($$SELECT rag_generate('x', 'limited')$$);
ALTER SERVER limited OPTIONS (SET base_url 'http://10.1.2.3/v1');
SELECT fails($$SELECT rag_generate('x', 'limited')$$);
SET rag.allowed_hosts = 'api.example.com, *.example.org';
ALTER SERVER limited OPTIONS (SET base_url 'http://127.0.0.1:9/v1');
SELECT fails($$SELECT rag_generate('x', 'limited')$$);
RESET rag.allowed_hosts;

-- Who is down is left alone after five calls. A key of its own makes it another provider than in the last run.
SELECT md5(random()::text) AS key \gset
CREATE USER MAPPING FOR CURRENT_USER SERVER limited OPTIONS (api_key :'key');
SELECT count(*) FROM generate_series(1, 5) AS n, fails(format($$SELECT rag_generate('%s', 'limited')$$, n)) AS line WHERE line ~ 'cannot be reached';
SELECT regexp_replace(line, '[0-9]+ ms', 'N ms') FROM fails($$SELECT rag_generate('x', 'limited')$$) AS line;
RESET rag.allow_private_hosts;
DROP OWNED BY regress_writer;
