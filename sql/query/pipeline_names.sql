SELECT name FROM rag.pipeline ORDER BY name
