SELECT name FROM rag.eval_set ORDER BY name
