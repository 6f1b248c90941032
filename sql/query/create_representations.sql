CREATE TABLE {table} (
    content_hash bytea NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('summary', 'question', 'none')),
    no           integer NOT NULL,
    template     text NOT NULL,
    content      text,
    embedding    {vector}.vector({dimension}),
    PRIMARY KEY (content_hash, kind, no),
    CHECK ((kind = 'none') = (content IS NULL) AND (content IS NOT NULL OR embedding IS NULL))
)
