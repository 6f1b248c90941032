-- The vectors of texts, in their order. $1: texts, $2: model, $3: kind.
SELECT v.embedding::pg_catalog.float4[]
FROM pg_catalog.unnest(rag_embed_batch($1, $2, $3)) WITH ORDINALITY AS v (embedding, place)
ORDER BY v.place
