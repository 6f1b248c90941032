-- A new conversation, and none where nothing can be written. $1: its title. clients/python has a copy of this.
SELECT CASE WHEN NOT pg_catalog.pg_is_in_recovery()
                  AND NOT pg_catalog.current_setting('transaction_read_only')::pg_catalog.bool
            THEN rag_conversation($1::pg_catalog.text) END
