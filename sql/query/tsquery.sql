-- $1: text search configuration, $2: a question. A tsquery of its words joined by OR, as
-- text; NULL where it has none. A word that the question has twice stands there twice, and
-- counts so. Made of lexemes, since plainto_tsquery joins by AND and warns of stop words.
-- Then the words in the order in which they stand, and their places.
SELECT pg_catalog.string_agg(
           '''' OPERATOR(pg_catalog.||) pg_catalog.replace(pg_catalog.replace(w.lexeme, '\', '\\'), '''', '''''') OPERATOR(pg_catalog.||) '''',
           ' | ' ORDER BY w.lexeme),
       pg_catalog.array_agg(w.lexeme ORDER BY p.place, w.lexeme),
       pg_catalog.array_agg(p.place::integer ORDER BY p.place, w.lexeme)
FROM pg_catalog.unnest(pg_catalog.to_tsvector($1::pg_catalog.text::pg_catalog.regconfig, $2)) AS w,
     pg_catalog.unnest(w.positions) AS p (place)
