-- Providers are foreign servers of this wrapper; keys are in user mappings.

CREATE FOREIGN DATA WRAPPER rag_llm VALIDATOR rag.llm_validator;
COMMENT ON FOREIGN DATA WRAPPER rag_llm IS 'language model providers; roles with USAGE may define servers';
