-- Replies of language models that are kept, and deleted with the chunks that they speak of.

-- name: find
-- $1: pipeline, $2: digest of what is asked, $3: that of who is to reply, or NULL for anybody. The latest reply.
SELECT k.reply
FROM rag.kept_reply AS k
WHERE k.pipeline = $1 AND k.prompt = $2 AND ($3 IS NULL OR k.writer = $3) AND k.written_at > pg_catalog.now() - interval '30 days'
ORDER BY k.id DESC
LIMIT 1

-- name: insert
-- $1: pipeline, $2: digest of what was asked, $3: that of who has replied, $4: chunks, $5: the transaction from which on none
-- is seen in them, $6: the reply. Of a pipeline that is being dropped nothing is kept; one that is about to be dropped waits
-- for the end of the transaction, and what was kept until then goes with it.
INSERT INTO rag.kept_reply (pipeline, prompt, writer, chunks, seen_until, reply)
SELECT p.id, $2, $3, $4, $5, $6 FROM rag.pipeline AS p WHERE p.id = $1 FOR KEY SHARE SKIP LOCKED

-- name: forget_expired
-- $1: pipelines, or NULL for all. Deletes some of those that are old, without waiting for who is deleting them as well.
DELETE FROM rag.kept_reply AS k
WHERE k.ctid = ANY (ARRAY(SELECT o.ctid FROM rag.kept_reply AS o
                          WHERE o.written_at <= pg_catalog.now() - interval '30 days' AND ($1::integer[] IS NULL OR o.pipeline = ANY ($1))
                          ORDER BY o.written_at
                          LIMIT 1000 FOR UPDATE SKIP LOCKED))

-- name: forget_most
-- $1: pipeline, $2: how many replies are kept, $3: how many bytes. Deletes some of those that are more than that, the first
-- written first, without waiting for who is deleting them as well.
DELETE FROM rag.kept_reply AS k
WHERE k.ctid = ANY (ARRAY(SELECT o.ctid FROM rag.kept_reply AS o
                          WHERE o.pipeline = $1
                            AND o.id <= (SELECT pg_catalog.max(n.id)
                                         FROM (SELECT m.id, pg_catalog.row_number() OVER newer AS place,
                                                      pg_catalog.sum(pg_catalog.pg_column_size(m.reply) + pg_catalog.pg_column_size(m.chunks)) OVER newer AS bytes
                                               FROM rag.kept_reply AS m
                                               WHERE m.pipeline = $1
                                               WINDOW newer AS (ORDER BY m.id DESC ROWS UNBOUNDED PRECEDING)) AS n
                                         WHERE n.place > $2 OR n.bytes > $3)
                          ORDER BY o.id
                          LIMIT 1000 FOR UPDATE SKIP LOCKED))

-- name: some
-- $1: pipeline, $2: the last one looked at, $3: how many. Replies with the chunks that they speak of, in order.
SELECT k.id, k.chunks, k.seen_until
FROM rag.kept_reply AS k
WHERE k.pipeline = $1 AND k.id > $2
ORDER BY k.id
LIMIT $3

-- name: written_by
-- $1: chunks. Those of them that are there, each with the transaction that has written it as it is.
SELECT c.chunk_id, c.xmin::pg_catalog.text::bigint
FROM {chunk_table} AS c
JOIN (SELECT DISTINCT u.chunk_id FROM pg_catalog.unnest($1::bigint[]) AS u (chunk_id)) AS u ON u.chunk_id = c.chunk_id

-- name: forget_these
-- $1: pipeline, $2: replies. Without waiting for who is deleting them as well.
DELETE FROM rag.kept_reply AS k
WHERE k.ctid = ANY (ARRAY(SELECT o.ctid FROM rag.kept_reply AS o
                          WHERE o.pipeline = $1 AND o.id = ANY ($2)
                          FOR UPDATE SKIP LOCKED))

-- name: forget
-- $1: pipeline.
DELETE FROM rag.kept_reply WHERE pipeline = $1
