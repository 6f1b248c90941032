-- Makes the manual answerable, unless it is already, and waits for sections that have changed.

SELECT NOT EXISTS (SELECT FROM rag.pipeline WHERE name = 'manual') AS missing \gset
\if :missing
    SELECT count(*) AS sections FROM manual \gset
    \echo » building a pipeline over :sections sections
    SELECT rag_create_pipeline('manual', 'body', metadata => '{file,title}',
        options => '{"contextual": true, "title": "title"}') \gset
\endif
SELECT rag_wait('manual', timeout => '10 minutes') \gset
