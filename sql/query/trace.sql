-- Traces of answers, and feedback.

-- name: insert
-- $1: ID, $2: role, $3: pipeline, $4: strategy, $5: who wrote, $6: question, $7: answer, $8: whether it
-- is supported, $9: confidence, $10: citations, $11: steps, $12: tokens embedded, $13: calls of language
-- models, $14: their tokens, $15: what was remembered, $16: cost, $17: milliseconds,
-- $18: tokens of language models that providers had cached.
INSERT INTO rag.trace_log (id, owner, pipeline, strategy, llm, question, answer, supported, confidence, citations,
                           steps, embedding_tokens, llm_calls, llm_tokens, cache_hits, cost, ms, cached_tokens)
VALUES ($1, $2::name, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::numeric, $17, $18)

-- name: liked
-- Questions with answers that were rated above the middle and what these cite, the best rated and then the newest first, as
-- the caller sees them. $1: the caller, which trusts the roles that were answered, $2: names of pipelines, of which some or
-- all were asked, $3: how many.
SELECT l.question, l.answer, t.citations
FROM rag.answer_log AS l
JOIN rag.trace_log AS t ON t.id OPERATOR(pg_catalog.=) l.trace_id
WHERE (l.pipeline OPERATOR(pg_catalog.=) ANY ($2)
       OR pg_catalog.string_to_array(l.pipeline, ', ') OPERATOR(pg_catalog.<@) $2)
  AND t.citations IS NOT NULL AND l.rating OPERATOR(pg_catalog.>) 0.5::pg_catalog.float4
  AND NOT l.refused AND l.question IS NOT NULL AND l.answer OPERATOR(pg_catalog.<>) ''::pg_catalog.text
  AND rag.trusts($1, t.owner_id)
ORDER BY l.rating DESC, l.answered_at DESC, l.trace_id
LIMIT $3

-- name: is_seen
SELECT EXISTS (SELECT FROM rag.trace_log WHERE id OPERATOR(pg_catalog.=) $1)

-- name: purge
-- $1: the caller, $2: how old. Each role deletes what is its own, or of a role that it is a member of.
WITH gone AS (
    DELETE FROM rag.trace_log
    WHERE pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')
      AND created_at OPERATOR(pg_catalog.<) (pg_catalog.now() OPERATOR(pg_catalog.-) $2::interval)
    RETURNING 1)
SELECT pg_catalog.count(*) FROM gone

-- name: delete
-- $1: the caller, $2: ID.
DELETE FROM rag.trace_log
WHERE id OPERATOR(pg_catalog.=) $2 AND pg_catalog.pg_has_role($1::pg_catalog.oid, owner_id, 'USAGE')

-- name: insert_feedback
-- $1: trace, $2: role, $3: score, $4: comment.
INSERT INTO rag.feedback (trace, owner, score, comment)
SELECT t.id, $2::name, $3, $4 FROM rag.trace_log AS t WHERE t.id OPERATOR(pg_catalog.=) $1 FOR KEY SHARE
