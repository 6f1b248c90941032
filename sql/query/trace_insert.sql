-- $1: ID, $2: role, $3: pipeline, $4: strategy, $5: who wrote, $6: question, $7: answer, $8: whether it
-- is supported, $9: confidence, $10: citations, $11: steps, $12: tokens embedded, $13: calls of language
-- models, $14: their tokens, $15: what was remembered, $16: cost, $17: milliseconds.
INSERT INTO rag.trace_log (id, owner, pipeline, strategy, llm, question, answer, supported, confidence, citations,
                           steps, embedding_tokens, llm_calls, llm_tokens, cache_hits, cost, ms)
VALUES ($1, $2::name, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::numeric, $17)
