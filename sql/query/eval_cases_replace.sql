-- $1: name of an evaluation set, $2: cases as JSON objects, whose labels are all different.
INSERT INTO rag.eval_case (eval_set, label, question, answers, relevant, filter)
SELECT $1, r.label, r.question, r.answers, r.relevant, r.filter
FROM pg_catalog.jsonb_to_recordset($2)
     AS r (label text, question text, answers text[], relevant jsonb, filter jsonb)
ON CONFLICT (eval_set, label) DO UPDATE
SET question = excluded.question, answers = excluded.answers,
    relevant = excluded.relevant, filter = excluded.filter
