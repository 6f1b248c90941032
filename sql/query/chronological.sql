-- The place of each of some values in their order, NULL of NULL. $1: the values as text.
SELECT CASE WHEN u.value IS NOT NULL
            THEN pg_catalog.dense_rank() OVER (ORDER BY u.value::{type}) END
FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (value, place)
ORDER BY u.place
