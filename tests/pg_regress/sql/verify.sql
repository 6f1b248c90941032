-- rag_verify and rag_faithfulness: does the context say what the answer says?
SELECT claim_no, claim, verdict, score > 0.5 AS likely, context_no, start_char, end_char
FROM rag_verify('The tower stands in Paris. It was built in 1925. Seven cats live on its second floor.',
                ARRAY['The tower was built in 1889.', 'It was designed by Eiffel. The tower stands in Paris.']);
-- A citation counts, wherever the words may stand.
SELECT claim, verdict FROM rag_verify('The tower stands in Paris [1]. The tower stands in Paris [2].',
                                      ARRAY['The tower was built in 1889.', 'The tower stands in Paris.']);
-- A context that is NULL keeps its number.
SELECT verdict, context_no FROM rag_verify('The tower stands in Paris [2].', ARRAY[NULL, 'The tower stands in Paris.']);
SELECT rag_faithfulness('The tower stands in Paris.', ARRAY['The tower stands in Paris.']) > 0.9 AS faithful,
       rag_faithfulness('The tower stands in Rome.', ARRAY['The tower stands in Paris.']) < 0.5 AS is_not;
-- Nothing to check, and nothing to check it against.
SELECT count(*), rag_faithfulness('', '{}') FROM rag_verify('', '{}');
SELECT verdict, score < 0.5 AS unlikely, context_no, start_char, end_char FROM rag_verify('It is late today.', '{}');
SELECT rag_faithfulness(NULL, ARRAY['x']), rag_faithfulness('x', NULL);
SELECT count(*) FROM rag_verify(NULL, ARRAY['x']);
