-- region questions
-- Wait until the subscription has applied what was committed, then until it can be found.
SELECT rag_wait('page');
SELECT rag_answer('How long does a refund take?', 'page');
-- endregion
SELECT rag_answer('When does the museum open?', 'page');
SELECT string_agg(source_id::text, ' ' ORDER BY source_id) FROM page_rag;
