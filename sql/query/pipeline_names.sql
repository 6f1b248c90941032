SELECT name FROM rag.pipeline WHERE name IS NOT NULL ORDER BY name
