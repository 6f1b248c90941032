-- An answer in pieces, then one row of JSON. Parameters as in `answer`. It stands in the list of SELECT, where rows
-- come one at a time.
SELECT rag_answer_stream($1, pipeline => $2, strategy => $3, k => $4, mode => $5, filter => $6, llm => $7, options => $8)
