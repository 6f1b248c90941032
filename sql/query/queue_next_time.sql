-- Seconds until something can be done, 0 where that is now; NULL where there is nothing.
SELECT EXTRACT(epoch FROM pg_catalog.min(w.from_when) - pg_catalog.clock_timestamp())::double precision
FROM (
    -- Of a pipeline that is left alone for a while, rows may be many.
    SELECT greatest(p.not_before, pg_catalog.clock_timestamp()) AS from_when
    FROM rag.pipeline AS p
    WHERE NOT p.paused AND p.mode <> 'manual'
      AND (EXISTS (SELECT FROM rag.intake AS i WHERE i.pipeline = p.id)
           OR p.not_before > pg_catalog.now() AND EXISTS (SELECT FROM rag.queue AS q WHERE q.pipeline = p.id))
    UNION ALL
    -- Without a lease nobody needs to be looked for.
    SELECT greatest(q.next_attempt, pg_catalog.clock_timestamp(),
                    CASE WHEN q.lease IS NOT NULL AND rag.is_held(q.lease, q.leased_until) THEN q.leased_until END)
    FROM rag.queue AS q
    JOIN rag.pipeline AS p ON p.id = q.pipeline
    WHERE NOT p.paused AND p.mode <> 'manual' AND (p.not_before IS NULL OR p.not_before <= pg_catalog.now())
    UNION ALL
    -- Its index is to be built, or it is to take another's place: as soon as others let it.
    SELECT greatest(p.not_before, pg_catalog.clock_timestamp() + interval '1 second')
    FROM rag.pipeline AS p
    WHERE NOT p.paused AND p.mode <> 'manual' AND (p.stage = 'filling' OR p.replaces IS NOT NULL)
) AS w
