CREATE TABLE {table} (
    context_key bytea PRIMARY KEY,
    template    text NOT NULL,
    llm         text NOT NULL,
    line        text
)
