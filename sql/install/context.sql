-- What a language model gets to read.

CREATE FUNCTION rag_context(
    question text,
    pipeline text DEFAULT NULL,
    k        integer DEFAULT NULL,
    mode     text DEFAULT NULL,
    filter   jsonb DEFAULT NULL,
    llm      text DEFAULT NULL,
    options  jsonb DEFAULT '{}'
) RETURNS TABLE (
    number     integer,
    source_key text,
    chunk_id   bigint,
    chunk_no   integer,
    content    text,
    tokens     integer,
    score      double precision,
    is_excerpt boolean,
    heading    text,
    metadata   jsonb,
    pipeline   text
)
VOLATILE PARALLEL RESTRICTED COST 1000000 ROWS 6
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_context_wrapper';
COMMENT ON FUNCTION rag_context IS 'the chunks that rag_answer would put to a language model, as it would show them, with their tokens; number 0 is an overview of all';
