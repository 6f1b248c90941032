-- Answers :question as one line of JSON: the answer, where each citation is from, and the time.

SELECT clock_timestamp() AS started \gset

SELECT answer, supported, citations
FROM rag_answer_details(:'question', 'manual') \gset

SELECT json_build_object(
    'question', :'question',
    'answer', :'answer',
    'supported', :'supported',
    'milliseconds', round(1000 * extract(epoch FROM clock_timestamp() - :'started'), 1),
    'citations', (
        SELECT json_agg(json_build_object('marker', marker, 'file', file, 'title', title) ORDER BY marker)
        FROM (
            SELECT DISTINCT (citation ->> 'marker')::integer AS marker, manual.file, manual.title
            FROM jsonb_array_elements(:'citations') AS citation
            JOIN manual ON manual.id::text = citation ->> 'source_key'
        ) AS cited
    )
);
