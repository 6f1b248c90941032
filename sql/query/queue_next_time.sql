-- Seconds until something can be done that can't be done now; NULL where there is nothing.
SELECT EXTRACT(epoch FROM pg_catalog.min(greatest(
           q.next_attempt, CASE WHEN rag.is_held(q.lease, q.leased_until) THEN q.leased_until END, p.not_before,
           pg_catalog.clock_timestamp()))
                          - pg_catalog.clock_timestamp())::double precision
FROM rag.queue AS q
JOIN rag.pipeline AS p ON p.id = q.pipeline
WHERE NOT p.paused AND p.mode <> 'manual'
