-- In the order in which a question locks them.
LOCK TABLE {view}, {chunk_table}, {source} IN ACCESS EXCLUSIVE MODE
