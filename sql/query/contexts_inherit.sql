-- What has been said for the old generation of the chunks.
INSERT INTO {contexts} (context_key, template, llm, line)
SELECT context_key, template, llm, line FROM {old}
