CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL);
INSERT INTO page VALUES
    (1, 'Passwords', 'To reset a password, choose "Forgot password" on the sign-in page.', 'en'),
    (2, 'Invoices', 'Invoices are sent monthly. A refund takes five working days.', 'en');
SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang']);

-- region role
CREATE ROLE rag_bi LOGIN;
GRANT SELECT ON page, page_rag, page_rag_chunks TO rag_bi;
-- Comments of rag's views and their columns are shown as descriptions.
GRANT pg_read_all_stats TO rag_bi;
-- endregion

-- region chunks
-- Without vectors and words, which a person cannot read, and with the rights of who looks.
CREATE VIEW page_chunks WITH (security_invoker) AS
    SELECT chunk_id, source_id, chunk_no, heading, content, token_count, title, lang FROM page_rag;
COMMENT ON VIEW page_chunks IS 'The passages of the help pages that questions are answered from';
GRANT SELECT ON page_chunks TO rag_bi;
-- endregion

-- region question
-- A question as a parameter: in Metabase {{question}} in the place of the text.
SELECT found.rank, page.title, found.content
FROM rag_retrieve('When are invoices sent?', 'page', k => 5) AS found
JOIN page ON page.id = found.source_key::integer
ORDER BY found.rank;
-- endregion

-- region answers
-- Of a superuser, so that it shows what all roles have asked. Needs rag.trace.
CREATE VIEW answer_log AS
    SELECT t.created_at, t.owner AS role, t.pipeline, t.question, t.answer, t.supported, t.confidence,
           f.score, f.comment, t.ms, t.cost
    FROM rag.trace_log AS t LEFT JOIN rag.feedback AS f ON f.trace = t.id;
COMMENT ON VIEW answer_log IS 'What was asked, whether the documents held the answer, and what was thought of it';
GRANT SELECT ON answer_log TO rag_bi;
-- endregion

SET rag.trace = 'full';
SELECT rag_answer('When are invoices sent?');
SELECT rag_answer('What is the boiling point of mercury?');
SELECT rag_feedback(trace_id, 0, 'too short') FROM rag_answer_details('How long does a refund take?');

SET ROLE rag_bi;
-- region week
-- Questions of the last week, how many were refused, and how many answers were disliked.
SELECT date_trunc('day', created_at) AS day, count(*) AS questions,
       count(*) FILTER (WHERE NOT supported) AS refused,
       count(*) FILTER (WHERE score < 0.5) AS disliked
FROM answer_log
WHERE created_at > now() - interval '7 days'
GROUP BY day ORDER BY day;
-- endregion

DO $$
BEGIN
    ASSERT (SELECT count(*) FROM page_chunks) = 2, 'chunks';
    ASSERT (SELECT count(*) = 3 AND count(*) FILTER (WHERE NOT supported) = 1
                   AND count(*) FILTER (WHERE score < 0.5) = 1 FROM answer_log), 'answers';
    ASSERT (SELECT count(*) FROM rag_retrieve('invoices', 'page')) = 2, 'retrieval';
    -- What BI tools show as descriptions.
    ASSERT NOT EXISTS (
        SELECT FROM information_schema.columns AS c
        WHERE c.table_schema = 'rag' AND c.table_name IN ('pipeline_status', 'stat_pipeline', 'stat_usage', 'model_status', 'answer_log')
          AND col_description(format('rag.%I', c.table_name)::regclass, c.ordinal_position) IS NULL), 'comments';
END $$;
RESET ROLE;
DROP OWNED BY rag_bi;
DROP ROLE rag_bi;
