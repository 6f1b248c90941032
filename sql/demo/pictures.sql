-- Makes the pipeline of which the pictures are drawn: with a graph, its communities, and trees.

SELECT NOT EXISTS (SELECT FROM rag.pipeline WHERE name = 'manual') AS missing \gset
\if :missing
    SELECT rag_create_pipeline('manual', 'body', refresh => 'manual',
        chunking => '{"by": "markdown", "max_tokens": 200, "overlap": 0}',
        options => '{"graph": {"entities": "rules"}, "communities": {}, "tree": {}}') \gset
\endif
CALL rag_run('manual');
