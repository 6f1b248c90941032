-- What belongs together in the extension's own tables. Foreign keys would be there before the rows of a
-- dump, which pg_restore -j loads in any order; a restore deletes and renames nothing.

CREATE FUNCTION rag.cascade() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_cascade_wrapper';
COMMENT ON FUNCTION rag.cascade IS 'what belongs to a row goes with it; arguments: its key, then tables and their columns that refer to it';
REVOKE EXECUTE ON FUNCTION rag.cascade FROM PUBLIC;

CREATE TRIGGER cascade AFTER DELETE ON rag.pipeline FOR EACH ROW
EXECUTE FUNCTION rag.cascade('id', 'queue', 'pipeline', 'dead_letter', 'pipeline', 'activity', 'pipeline', 'derivation', 'pipeline',
                             'tree_change', 'pipeline', 'tree_root', 'pipeline', 'tree_place', 'pipeline', 'tree_candidate', 'pipeline',
                             'kept_reply', 'pipeline', 'shard', 'pipeline', 'pipeline', 'replaces');
CREATE TRIGGER cascade AFTER DELETE OR UPDATE OF name ON rag.eval_set FOR EACH ROW
EXECUTE FUNCTION rag.cascade('name', 'eval_case', 'eval_set', 'eval_run', 'eval_set', 'eval_floor', 'eval_set');
CREATE TRIGGER cascade AFTER DELETE ON rag.eval_case FOR EACH ROW
EXECUTE FUNCTION rag.cascade('id', 'eval_result', 'case_id');
CREATE TRIGGER cascade AFTER DELETE ON rag.eval_run FOR EACH ROW
EXECUTE FUNCTION rag.cascade('id', 'eval_metric', 'run', 'eval_result', 'run');
CREATE TRIGGER cascade AFTER DELETE ON rag.trace_log FOR EACH ROW
EXECUTE FUNCTION rag.cascade('id', 'feedback', 'trace');
CREATE TRIGGER cascade AFTER DELETE ON rag.conversation FOR EACH ROW
EXECUTE FUNCTION rag.cascade('id', 'conversation_turn', 'conversation');

-- The rows of this table may be the user's own; all others are written by functions that hold what
-- they belong to.
CREATE FUNCTION rag.case_has_set() RETURNS trigger
LANGUAGE c AS 'MODULE_PATHNAME', 'rag_case_has_set_wrapper';
COMMENT ON FUNCTION rag.case_has_set IS 'an evaluation case is one of a set that is there';
REVOKE EXECUTE ON FUNCTION rag.case_has_set FROM PUBLIC;

CREATE TRIGGER case_has_set AFTER INSERT OR UPDATE OF eval_set ON rag.eval_case FOR EACH ROW
WHEN (NOT rag.is_being_restored())
EXECUTE FUNCTION rag.case_has_set();
