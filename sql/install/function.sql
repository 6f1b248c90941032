-- Functions over plain values.

CREATE FUNCTION rag_parse(
    document bytea,
    mime     text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    part_no integer,
    page    integer,
    heading text,
    content text
)
STABLE PARALLEL SAFE COST 100000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_parse_wrapper';
COMMENT ON FUNCTION rag_parse IS 'the text of a PDF, DOCX, HTML, Markdown or plain text document, as Markdown; a row a page or section';

CREATE FUNCTION rag_chunk(
    document    text,
    chunking    jsonb DEFAULT '{}'
) RETURNS TABLE (
    chunk_no    integer,
    content     text,
    start_char  integer,
    end_char    integer,
    token_count integer,
    heading     text,
    parent_start integer,
    parent_end  integer
)
STABLE PARALLEL SAFE COST 1000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_chunk_wrapper';
COMMENT ON FUNCTION rag_chunk IS 'cut a document into chunks, with their character spans; chunking is {"by": method, "max_tokens": 256, ...}';

CREATE FUNCTION rag_embed(
    input text,
    model text DEFAULT NULL,
    kind  text DEFAULT 'query'
) RETURNS vector
STABLE PARALLEL SAFE COST 100000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_embed_wrapper';
COMMENT ON FUNCTION rag_embed IS 'the embedding of a text; kind is query or passage';

CREATE FUNCTION rag_embed_batch(
    input text[],
    model text DEFAULT NULL,
    kind  text DEFAULT 'passage'
) RETURNS vector[]
STABLE PARALLEL SAFE COST 1000000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_embed_batch_wrapper';
COMMENT ON FUNCTION rag_embed_batch IS 'the embeddings of texts, made in batches; kind is query or passage';

CREATE FUNCTION rag_rerank(
    question text,
    passages text[],
    model    text DEFAULT NULL
) RETURNS TABLE (
    ord   integer,
    score double precision
)
STABLE PARALLEL RESTRICTED COST 1000000 ROWS 50
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_rerank_wrapper';
COMMENT ON FUNCTION rag_rerank IS 'how well passages answer a question, best first; model is late_interaction, reader, llm or a name of rag.model';

CREATE FUNCTION rag_generate(
    prompt  text,
    llm     text DEFAULT NULL,
    system  text DEFAULT NULL,
    options jsonb DEFAULT '{}'
) RETURNS text
VOLATILE PARALLEL RESTRICTED COST 1000000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_generate_wrapper';
COMMENT ON FUNCTION rag_generate IS 'have a language model write; llm is a foreign server of the wrapper rag_llm';

CREATE FUNCTION rag_verify(
    answer  text,
    context text[]
) RETURNS TABLE (
    claim_no   integer,
    claim      text,
    verdict    text,
    score      double precision,
    context_no integer,
    start_char integer,
    end_char   integer
)
IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 5
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_verify_wrapper';
COMMENT ON FUNCTION rag_verify IS 'whether a context says what an answer says, for each of its claims: supported, contradicted or unsupported';

CREATE FUNCTION rag_faithfulness(answer text, context text[]) RETURNS double precision
IMMUTABLE STRICT PARALLEL SAFE COST 10000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_faithfulness_wrapper';
COMMENT ON FUNCTION rag_faithfulness IS 'how well a context supports an answer, from 0 to 1: as well as its weakest claim';

CREATE FUNCTION rag_redact(
    input text,
    model text DEFAULT NULL
) RETURNS text
STABLE PARALLEL SAFE COST 10000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_redact_wrapper';
COMMENT ON FUNCTION rag_redact IS 'a text with placeholders for its personal data, as a server with the option redact, and the model as redact_model, gets it to read';

CREATE FUNCTION rag_redactions(
    input text,
    model text DEFAULT NULL
) RETURNS TABLE (
    placeholder text,
    kind        text,
    start_char  integer,
    end_char    integer
)
STABLE PARALLEL SAFE COST 10000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_redactions_wrapper';
COMMENT ON FUNCTION rag_redactions IS 'what rag_redact replaces in a text, and where';

-- Functions over pipelines.

CREATE FUNCTION rag_create_pipeline(
    source     regclass DEFAULT NULL,
    content    text DEFAULT NULL,
    name       text DEFAULT NULL,
    key        text[] DEFAULT NULL,
    metadata   text[] DEFAULT '{}',
    chunking   jsonb DEFAULT '{}',
    model      text DEFAULT NULL,
    refresh    text DEFAULT 'async',
    defaults   jsonb DEFAULT NULL,
    options    jsonb DEFAULT '{}',
    if_not_exists boolean DEFAULT false,
    shards     text[] DEFAULT NULL
) RETURNS text
VOLATILE PARALLEL UNSAFE COST 1000000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_create_pipeline_wrapper';
COMMENT ON FUNCTION rag_create_pipeline IS 'chunk and embed a table''s rows, now and whenever they change, or search pipelines of other databases as one; the name of the pipeline';

CREATE FUNCTION rag_alter_pipeline(
    pipeline   text,
    name       text DEFAULT NULL,
    content    text DEFAULT NULL,
    metadata   text[] DEFAULT NULL,
    chunking   jsonb DEFAULT NULL,
    model      text DEFAULT NULL,
    refresh    text DEFAULT NULL,
    defaults   jsonb DEFAULT NULL,
    options    jsonb DEFAULT '{}',
    shards     text[] DEFAULT NULL
) RETURNS text
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_alter_pipeline_wrapper';
COMMENT ON FUNCTION rag_alter_pipeline IS 'change a pipeline; new chunks are made in the background while the old ones stay searchable. Returns its name';

CREATE FUNCTION rag_wait(
    pipeline text DEFAULT NULL,
    timeout  interval DEFAULT '1 minute'
) RETURNS boolean
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_wait_wrapper';
COMMENT ON FUNCTION rag_wait IS 'wait until all committed changes can be found, in one pipeline or in all; false after the timeout';

CREATE FUNCTION rag_pause(pipeline text DEFAULT NULL) RETURNS text
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_pause_wrapper';
COMMENT ON FUNCTION rag_pause IS 'stop background work on a pipeline; changes wait in its queue. Returns its name';

CREATE FUNCTION rag_resume(pipeline text DEFAULT NULL) RETURNS text
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_resume_wrapper';
COMMENT ON FUNCTION rag_resume IS 'resume background work on a pipeline after rag_pause. Returns its name';

CREATE FUNCTION rag_retry(
    pipeline text DEFAULT NULL,
    key      text DEFAULT NULL
) RETURNS bigint
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_retry_wrapper';
COMMENT ON FUNCTION rag_retry IS 'queue failed rows again, those of rag.dead_letter and those that wait for another attempt; how many';

CREATE PROCEDURE rag_run(pipeline text DEFAULT NULL)
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_run_wrapper';
COMMENT ON PROCEDURE rag_run IS 'embed what has changed, committing batch by batch';

CREATE FUNCTION rag_drop_pipeline(
    pipeline  text,
    if_exists boolean DEFAULT false
) RETURNS text
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_drop_pipeline_wrapper';
COMMENT ON FUNCTION rag_drop_pipeline IS 'drop a pipeline with its chunks; the source table stays as it is. Returns its name';

CREATE FUNCTION rag_forget_replies(pipeline text DEFAULT NULL) RETURNS bigint
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_forget_replies_wrapper';
COMMENT ON FUNCTION rag_forget_replies IS 'delete the replies of language models about communities that are kept for a pipeline of yours; how many there were';

CREATE FUNCTION rag_retrieve(
    question text,
    pipeline text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    rewrite  text DEFAULT NULL,
    rerank   text DEFAULT NULL,
    options  jsonb DEFAULT '{}',
    query_vector vector DEFAULT NULL
) RETURNS TABLE (
    rank         integer,
    score        double precision,
    source_key   text,
    chunk_id     bigint,
    chunk_no     integer,
    content      text,
    start_char   integer,
    end_char     integer,
    heading      text,
    metadata     jsonb,
    dense_rank   integer,
    lexical_rank integer,
    rerank_score double precision,
    pipeline     text,
    via          text[]
)
STABLE PARALLEL RESTRICTED COST 100000 ROWS 5
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_retrieve_wrapper';
COMMENT ON FUNCTION rag_retrieve IS 'the chunks most relevant to a question, or nearest to query_vector, best first; mode is dense, lexical or hybrid';

CREATE FUNCTION rag_retrieve_batch(
    questions text[],
    pipeline text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    rewrite  text DEFAULT NULL,
    rerank   text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    question_no  integer,
    rank         integer,
    score        double precision,
    source_key   text,
    chunk_id     bigint,
    chunk_no     integer,
    content      text,
    start_char   integer,
    end_char     integer,
    heading      text,
    metadata     jsonb,
    dense_rank   integer,
    lexical_rank integer,
    rerank_score double precision,
    pipeline     text,
    via          text[]
)
STABLE PARALLEL RESTRICTED COST 1000000 ROWS 500
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_retrieve_batch_wrapper';
COMMENT ON FUNCTION rag_retrieve_batch IS 'the chunks most relevant to each of several questions, which are embedded in batches; question by question, best first';

CREATE FUNCTION rag_graph(
    question  text,
    pipeline  text DEFAULT NULL,
    hops      integer DEFAULT NULL,
    k         integer DEFAULT NULL,
    predicate text[] DEFAULT NULL
) RETURNS TABLE (
    rank     integer,
    score    double precision,
    entities text[],
    edges    jsonb
)
STABLE PARALLEL RESTRICTED COST 10000 ROWS 10
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_graph_wrapper';
COMMENT ON FUNCTION rag_graph IS 'how the entities that a question names are connected with others: paths from chunk to chunk, or over relations of certain predicates, with the places that prove each edge';

CREATE FUNCTION rag_summary(
    source_key text,
    pipeline   text DEFAULT NULL
) RETURNS TABLE (
    no         integer,
    content    text,
    chunk_id   bigint,
    chunk_no   integer,
    start_char integer,
    end_char   integer
)
STABLE PARALLEL RESTRICTED COST 1000 ROWS 5
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_summary_wrapper';
COMMENT ON FUNCTION rag_summary IS 'the sentences that sum up a row, in order, with where each of them stands in its text; before them, with the number 0, what a language model has written of it';

CREATE FUNCTION rag_answer(
    question text,
    pipeline text DEFAULT NULL,
    strategy text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    llm      text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS text
VOLATILE PARALLEL UNSAFE COST 1000000
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_answer_wrapper';
COMMENT ON FUNCTION rag_answer IS 'answer a question from a pipeline''s documents, with citations [n]';

CREATE FUNCTION rag_answer_details(
    question text,
    pipeline text DEFAULT NULL,
    strategy text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    llm      text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    answer       text,
    supported    boolean,
    confidence   real,
    citations    jsonb,
    context      jsonb,
    usage        jsonb,
    trace_id     uuid,
    claims       jsonb,
    faithfulness real,
    needs_review boolean,
    pipeline     text
)
VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_answer_details_wrapper';
COMMENT ON FUNCTION rag_answer_details IS 'rag_answer with its citations, the chunks it read, confidence and cost';

CREATE FUNCTION rag_answer_stream(
    question text,
    pipeline text DEFAULT NULL,
    strategy text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    llm      text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS SETOF text
VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_answer_stream_wrapper';
COMMENT ON FUNCTION rag_answer_stream IS 'rag_answer in pieces, each as soon as it is written; the last row is JSON with the citations';

CREATE FUNCTION rag_prompt(
    question text,
    pipeline text DEFAULT NULL,
    strategy text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    llm      text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    role    text,
    content text
)
VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 2
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_prompt_wrapper';
COMMENT ON FUNCTION rag_prompt IS 'the messages with which rag_answer would ask a language model';

-- Administration.

CREATE FUNCTION rag_add_model(
    name       text,
    path       text DEFAULT NULL,
    file       text DEFAULT NULL,
    server     text DEFAULT NULL,
    model      text DEFAULT NULL,
    dimension  integer DEFAULT NULL,
    max_tokens integer DEFAULT NULL,
    task       text DEFAULT NULL,
    if_not_exists boolean DEFAULT false
) RETURNS TABLE (
    dimension  integer,
    max_tokens integer,
    pooling    text,
    normalized boolean,
    digest     text
)
VOLATILE PARALLEL UNSAFE ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_add_model_wrapper';
COMMENT ON FUNCTION rag_add_model IS 'register an embedding model or a reranker, in a folder on the server or behind a provider, a token classifier in a folder, or a language model in a GGUF file; superusers only';

CREATE FUNCTION rag_drop_model(
    name      text,
    if_exists boolean DEFAULT false
) RETURNS text
VOLATILE PARALLEL UNSAFE
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_drop_model_wrapper';
COMMENT ON FUNCTION rag_drop_model IS 'forget a model that no pipeline uses; its files stay';

CREATE FUNCTION rag.daemon_status() RETURNS TABLE (
    pid     integer,
    version text,
    models  text[],
    waiting bigint,
    remembered bigint,
    cache_hits bigint
)
VOLATILE PARALLEL RESTRICTED ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_daemon_status_wrapper';
COMMENT ON FUNCTION rag.daemon_status IS 'ragd''s process ID, models in memory, texts waiting, and what it remembers; starts ragd';

-- Guarded SQL: off unless granted.

CREATE FUNCTION rag_sql_check(
    sql     text,
    options jsonb DEFAULT '{}'
) RETURNS TABLE (
    ok         boolean,
    problem    text,
    node       text,
    detail     text,
    hint       text,
    "position" integer,
    sqlstate   text
)
VOLATILE PARALLEL UNSAFE COST 1000 ROWS 1
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_sql_check_wrapper';
COMMENT ON FUNCTION rag_sql_check IS 'why a statement is no query that rag_sql_run would run, a row a reason; it runs nothing';
REVOKE ALL ON FUNCTION rag_sql_check FROM PUBLIC;

CREATE FUNCTION rag_sql_run(
    sql      text,
    max_rows integer DEFAULT 200,
    timeout  interval DEFAULT '5 seconds',
    max_cost double precision DEFAULT 1e6,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    row_no    integer,
    data      jsonb,
    truncated boolean
)
VOLATILE PARALLEL UNSAFE COST 100000 ROWS 200
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_sql_run_wrapper';
COMMENT ON FUNCTION rag_sql_run IS 'the rows of a query that a model or a stranger has written: read-only, within limits, and only if rag_sql_check finds nothing wrong';
REVOKE ALL ON FUNCTION rag_sql_run FROM PUBLIC;

-- Called by PostgreSQL.

CREATE FUNCTION rag.capture() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_capture_wrapper';
COMMENT ON FUNCTION rag.capture IS 'trigger of a pipeline''s source table';

CREATE FUNCTION rag.prepare_source() RETURNS event_trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_prepare_source_wrapper';
COMMENT ON FUNCTION rag.prepare_source IS 'takes what reads a column away before the column is dropped or gets another type, and notes who can read a source before that right is revoked';

CREATE EVENT TRIGGER rag_prepare_source ON ddl_command_start WHEN TAG IN ('ALTER TABLE', 'REVOKE')
    EXECUTE FUNCTION rag.prepare_source();
COMMENT ON EVENT TRIGGER rag_prepare_source IS 'pg_rag: a pipeline lets go of columns of its source, and knows who could read it';

CREATE FUNCTION rag.forget_dropped() RETURNS event_trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_forget_dropped_wrapper';
COMMENT ON FUNCTION rag.forget_dropped IS 'drops the rest of a pipeline whose source, content or chunks were dropped';

CREATE EVENT TRIGGER rag_forget_dropped ON sql_drop EXECUTE FUNCTION rag.forget_dropped();
COMMENT ON EVENT TRIGGER rag_forget_dropped IS 'pg_rag: a pipeline goes with its source';

CREATE FUNCTION rag.follow_source() RETURNS event_trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_follow_source_wrapper';
COMMENT ON FUNCTION rag.follow_source IS 'gives a pipeline to the new owner of its source, has it look at partitions that came or went, and its foreign tables be readable as its view is; takes what is made of a source from those who have lost it';

CREATE EVENT TRIGGER rag_follow_source ON ddl_command_end WHEN TAG IN ('ALTER TABLE', 'ALTER FOREIGN TABLE', 'ALTER VIEW', 'CREATE TABLE', 'CREATE FOREIGN TABLE', 'CREATE SCHEMA', 'GRANT', 'REVOKE')
    EXECUTE FUNCTION rag.follow_source();
COMMENT ON EVENT TRIGGER rag_follow_source IS 'pg_rag: a pipeline follows its source';

CREATE FUNCTION rag.llm_validator(options text[], catalog oid) RETURNS void
STRICT LANGUAGE c AS 'MODULE_PATHNAME', 'rag_llm_validator_wrapper';
COMMENT ON FUNCTION rag.llm_validator IS 'checks the options of foreign servers and user mappings of the wrapper rag_llm';
