-- Embedding models.

CREATE TABLE rag.model (
    name            text PRIMARY KEY,
    task            text NOT NULL DEFAULT 'embed' CHECK (task IN ('embed', 'rerank', 'generate', 'token_classification')),
    path            text,
    file            text,
    server          text,
    remote_model    text,
    dimension       integer CHECK (dimension > 0),
    max_tokens      integer NOT NULL CHECK (max_tokens > 0),
    pooling         text,
    normalized      boolean NOT NULL,
    query_prefix    text NOT NULL DEFAULT '',
    passage_prefix  text NOT NULL DEFAULT '',
    digest          text,
    builtin         boolean NOT NULL DEFAULT false,
    added_at        timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT model_in_files_or_behind_server CHECK (
        pg_catalog.num_nulls(path, file) = 0
            AND pg_catalog.num_nonnulls(server, remote_model) = 0 AND task <> 'generate'
        OR task = 'generate' AND pg_catalog.num_nulls(path, digest) = 0
            AND pg_catalog.num_nonnulls(server, remote_model, file) = 0
        OR pg_catalog.num_nonnulls(path, file, pooling, digest) = 0
            AND pg_catalog.num_nulls(server, remote_model) = 0 AND task <> 'generate'),
    CONSTRAINT model_has_vectors_or_none CHECK (
        task = 'embed' AND dimension IS NOT NULL AND (server IS NOT NULL OR pooling IS NOT NULL)
        OR task <> 'embed' AND dimension IS NULL AND pooling IS NULL)
);
COMMENT ON TABLE rag.model IS 'models that rag_embed, pipelines and their graphs, rag_rerank, or local language models can use';
COMMENT ON COLUMN rag.model.name IS 'name by which rag_embed, rag_rerank, pipelines, and servers of the api local take it';
COMMENT ON COLUMN rag.model.task IS 'embed: it gives vectors; rerank: it compares a passage with a question; generate: it writes, on this machine; token_classification: it finds names';
COMMENT ON COLUMN rag.model.path IS 'folder in Hugging Face layout; of a built-in model, relative to the package''s models; of a local language model, its GGUF file; NULL for a model behind a server';
COMMENT ON COLUMN rag.model.file IS 'ONNX file, or table of static embeddings, inside the folder; NULL for a local language model and for a model behind a server';
COMMENT ON COLUMN rag.model.server IS 'foreign server of the wrapper rag_llm that embeds or reranks; NULL for a model in a folder';
COMMENT ON COLUMN rag.model.remote_model IS 'what the provider calls the model; NULL for a model in a folder';
COMMENT ON COLUMN rag.model.dimension IS 'how many numbers each of its vectors has; NULL where it gives none';
COMMENT ON COLUMN rag.model.max_tokens IS 'longest input in tokens, special tokens included; of a local language model, the longest text that it was trained on; of a model behind a server, the longest chunk of a pipeline';
COMMENT ON COLUMN rag.model.pooling IS 'how one vector is made of those of the tokens: mean, cls or last; NULL for a model that gives no vectors, or is behind a server';
COMMENT ON COLUMN rag.model.normalized IS 'whether its vectors have length 1; false for a model that gives none';
COMMENT ON COLUMN rag.model.query_prefix IS 'what is put before a question that is embedded; empty if nothing is';
COMMENT ON COLUMN rag.model.passage_prefix IS 'what is put before a passage that is embedded; empty if nothing is';
COMMENT ON COLUMN rag.model.digest IS 'SHA-256 over the files that matter; ragd refuses files that differ; NULL for a built-in model and for one behind a server';
COMMENT ON COLUMN rag.model.builtin IS 'whether it comes with the package, which vouches for its files';
COMMENT ON COLUMN rag.model.added_at IS 'when it was registered; of a built-in model, when the extension was created';

INSERT INTO rag.model (name, path, file, dimension, max_tokens, pooling, normalized, query_prefix, passage_prefix,
                       builtin)
SELECT folder || variant.suffix, folder, variant.file, 384, max_tokens, 'mean', true, query_prefix, passage_prefix, true
FROM (VALUES ('multilingual-e5-small', 512, 'query: ', 'passage: '), ('all-minilm-l6-v2', 256, '', ''))
         AS model (folder, max_tokens, query_prefix, passage_prefix),
     (VALUES ('', 'onnx/model_int8.onnx'), ('-fp32', 'onnx/model.onnx')) AS variant (suffix, file);

GRANT SELECT ON rag.model TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('rag.model', 'WHERE NOT builtin');
