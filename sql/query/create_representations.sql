CREATE TABLE {table} (
    content_hash bytea NOT NULL,
    kind         text NOT NULL CHECK (kind OPERATOR(pg_catalog.=) ANY (ARRAY['summary', 'question', 'none']::pg_catalog.text[])),
    no           integer NOT NULL,
    template     text NOT NULL,
    content      text,
    embedding    {vector}.vector({dimension}),
    PRIMARY KEY (content_hash, kind, no),
    CHECK ((kind OPERATOR(pg_catalog.=) 'none') OPERATOR(pg_catalog.=) (content IS NULL)
           AND (content IS NULL) OPERATOR(pg_catalog.=) (embedding IS NULL))
)
