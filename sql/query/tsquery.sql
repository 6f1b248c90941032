-- $1: text search configuration, $2: a question. A tsquery of its words joined by OR, as
-- text; NULL where it has none. A word that the question has twice stands there twice, and
-- counts so. Made of lexemes, since plainto_tsquery joins by AND and warns of stop words.
SELECT pg_catalog.string_agg(
    '''' || pg_catalog.replace(pg_catalog.replace(w.lexeme, '\', '\\'), '''', '''''') || '''',
    ' | ' ORDER BY w.lexeme)
FROM pg_catalog.unnest(pg_catalog.to_tsvector($1::text::regconfig, $2)) AS w,
     pg_catalog.generate_series(1, pg_catalog.cardinality(w.positions))
