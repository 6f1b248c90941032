//! What row-level security hides stays hidden: a role that sees some of the rows asks every function
//! and relation of the extension, and gets what it gets where the other rows were never written.

use std::sync::{Arc, Mutex};

use postgres::{Client, NoTls, SimpleQueryMessage};
use regex::Regex;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};

/// Stands in hidden rows only: in their texts, keys and metadata.
const MARKER: &str = "zanzibar";

const ROLES: &str = "CREATE ROLE owner LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE stranger LOGIN;
    CREATE DATABASE twin;";

/// What the reader sees.
const VISIBLE: &str = "
    CREATE TABLE notes (id text PRIMARY KEY, tenant text NOT NULL, topic text, body text);
    INSERT INTO notes VALUES
        ('v1', 'reader', 'launch', 'The launch code is kept in the blue folder.'),
        ('v2', 'reader', 'canteen', 'Lunch is served at noon.'),
        ('v3', 'reader', 'launch', 'The code of the door is changed before each launch.');
    CREATE TABLE plain (id integer PRIMARY KEY, tenant text NOT NULL, tsv tsvector, v vector(3));
    INSERT INTO plain SELECT i, 'reader', 'launch:1 code:2', ARRAY[i, 1, 2]::vector FROM generate_series(1, 5) AS i;
    CREATE INDEX plain_tsv ON plain USING rag_bm25 (tsv);
    CREATE INDEX plain_v ON plain USING rag_hnsw (v vector_cosine_ops);
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE plain ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON notes USING (tenant = current_user);
    CREATE POLICY own ON plain USING (tenant = current_user);
    GRANT SELECT ON notes, plain TO reader;
    SELECT rag_create_pipeline('notes', 'body', metadata => '{topic}', refresh => 'sync');
    SELECT rag_create_pipeline('notes', 'body', 'later', refresh => 'manual');";

/// What it does not see.
const HIDDEN: &str = "
    INSERT INTO notes SELECT 'zanzibar' || i, 'other', 'zanzibar', 'Zanzibar launch code ' || i FROM generate_series(1, 20) AS i;
    INSERT INTO plain SELECT 100 + i, 'other', 'zanzibar:1 launch:2 code:3', ARRAY[1, i, 1]::vector FROM generate_series(1, 20) AS i;
    SELECT rag_eval_load('zanzibar', '[{\"question\": \"Where is Zanzibar?\", \"relevant\": [\"zanzibar1\"]}]');
    SELECT rag_eval_floors('zanzibar', '{\"recall\": 1}');
    SELECT rag_conversation('zanzibar');
    SET rag.trace = 'full';
    SELECT rag_answer('Where is Zanzibar?', 'notes');";

const CASES: &str = "
    SELECT rag_eval_load('own', '[{\"question\": \"When is lunch served?\", \"relevant\": [\"v2\"]}]');
    SELECT rag_eval_load('both', '[{\"question\": \"When is lunch served?\", \"relevant\": [\"v2\"]},
        {\"question\": \"Where is the launch code?\", \"relevant\": [\"v1\"]}]');";

/// A database with hidden rows, and one without.
fn twins() -> Option<(Cluster, [&'static str; 2])> {
    let cluster = Cluster::start(&["autovacuum = off"])?;
    for statement in ROLES.split_inclusive(';') {
        cluster.connect().batch_execute(statement).unwrap();
    }
    for database in ["postgres", "twin"] {
        cluster
            .connect_to(database)
            .batch_execute(
                "CREATE EXTENSION pg_rag CASCADE; GRANT CREATE ON SCHEMA public TO owner;",
            )
            .unwrap();
        let mut owner = cluster.config(database).user("owner").connect(NoTls).unwrap();
        owner.batch_execute(VISIBLE).unwrap();
        let mut reader = cluster.config(database).user("reader").connect(NoTls).unwrap();
        reader.batch_execute(CASES).unwrap();
        if database == "postgres" {
            owner.batch_execute(HIDDEN).unwrap();
        }
    }
    Some((cluster, ["postgres", "twin"]))
}

/// A session that remembers what it is told beside the rows.
struct Session {
    client: Client,
    told: Arc<Mutex<Vec<String>>>,
}

impl Session {
    fn new(cluster: &Cluster, database: &str, role: &str) -> Session {
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        let mut config = cluster.config(database);
        let callback = move |notice: postgres::error::DbError| {
            kept.lock().unwrap().push(format!("{}: {}", notice.severity(), words(&notice)));
        };
        let client = config.user(role).notice_callback(callback).connect(NoTls).unwrap();
        Session { client, told }
    }

    /// All that a statement says: rows, sorted, and errors and notices. It is undone.
    fn say(&mut self, statement: &str) -> Vec<String> {
        self.client.batch_execute("BEGIN").unwrap();
        let mut said = match self.client.simple_query(statement) {
            Ok(messages) => messages.iter().filter_map(row).collect(),
            Err(error) => {
                let error = error.as_db_error().unwrap_or_else(|| panic!("{statement}: {error}"));
                vec![format!("{} {}", error.code().code(), words(error))]
            }
        };
        self.client.batch_execute("ROLLBACK").unwrap();
        said.append(&mut self.told.lock().unwrap());
        said.sort_unstable();
        said
    }
}

fn words(error: &postgres::error::DbError) -> String {
    let parts = [Some(error.message()), error.detail(), error.hint(), error.where_()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

fn row(message: &SimpleQueryMessage) -> Option<String> {
    let SimpleQueryMessage::Row(row) = message else { return None };
    let column = |at| row.get(at).unwrap_or("NULL").to_owned();
    Some((0..row.len()).map(column).collect::<Vec<_>>().join(" | "))
}

/// What is another each time: times, random numbers.
fn masked(text: &str) -> String {
    let patterns = [
        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:[\d.]+([+-][\d:]+)?", "TIME"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "UUID"),
        (r#""(ms|latency_ms)": ?[\d.e-]+"#, "MS"),
    ];
    patterns.iter().fold(text.to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

/// A function of the extension, with names and types of its arguments, and how many may be left out.
struct Function {
    name: String,
    is_procedure: bool,
    arguments: Vec<(String, String)>,
    optional: usize,
}

fn functions(client: &mut Client) -> Vec<Function> {
    let query = "
        SELECT p.oid::regproc::text, p.prokind = 'p', coalesce(p.proargnames[1:p.pronargs], '{}'),
               ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes::oid[]) AS t), p.pronargdefaults::int
        FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
        JOIN pg_extension AS e ON d.refobjid = e.oid AND e.extname = 'pg_rag'
        WHERE d.deptype = 'e' AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
          AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
        ORDER BY p.proname, p.oid";
    let rows = client.query(query, &[]).unwrap();
    let function = |row: &postgres::Row| {
        let names: Vec<String> = row.get(2);
        let kinds: Vec<String> = row.get(3);
        let name = |at: usize| names.get(at).cloned().unwrap_or_default();
        Function {
            name: row.get(0),
            is_procedure: row.get(1),
            arguments: kinds.into_iter().enumerate().map(|(at, kind)| (name(at), kind)).collect(),
            optional: row.get::<_, i32>(4) as usize,
        }
    };
    rows.iter().map(function).collect()
}

/// What is tried for an argument; nothing for one that is better left out where it may be.
fn values(name: &str, kind: &str) -> &'static [&'static str] {
    match (name, kind) {
        ("pipeline", "text") => &["'notes'"],
        ("question" | "query", "text") => &["'What is the code of the launch?'"],
        ("questions", "text[]") => &["ARRAY['What is the code of the launch?', 'zanzibar']"],
        ("eval_set", "text") => &["'own'", "'zanz'"],
        ("index", "regclass") => &[
            "'plain_tsv'",
            "'plain_v'",
            "'notes_rag_chunks_tsv_idx'",
            "'notes_rag_chunks_embedding_idx'",
        ],
        ("relation", "oid") => &["'notes'::regclass", "'notes_rag_chunks'::regclass"],
        ("id", "integer") => &["1", "2"],
        _ => &[],
    }
}

/// A value of a type.
fn value(kind: &str) -> &'static str {
    match kind {
        "text" | "name" => "'owner'",
        "regclass" => "'notes'",
        "regprocedure" => "'pg_client_encoding()'",
        "regconfig" => "'simple'",
        "integer" | "bigint" | "oid" | "real" | "double precision" => "1",
        "interval" => "'1 second'",
        "jsonb" | "json" => "'[]'",
        "text[]" => "'{body}'",
        "uuid" => "'00000000-0000-4000-8000-000000000000'",
        "bytea" => "'word'",
        "tsvector" => "'zanzi:1 launch:2'",
        "tsquery" => "'z:* | launch'",
        "rag_bm25_query" => "ROW('notes_rag_chunks_tsv_idx', 'z:* | launch')",
        "rag.bm25_weighted_query" => "ROW(NULL, 'z:* | launch', '{1,0.5,9,99,1,1}')",
        "timestamp with time zone" => "now()",
        "boolean" => "true",
        "vector" => "'[1,2,3]'",
        other => panic!("the test knows no value of type {other}"),
    }
}

/// The calls of a function: with each value of the first argument that has several.
fn calls(function: &Function) -> Vec<String> {
    let required = function.arguments.len() - function.optional;
    let mut lists = vec![Vec::new()];
    for (at, (name, kind)) in function.arguments.iter().enumerate() {
        let mut tried = values(name, kind).to_vec();
        if tried.is_empty() && at >= required {
            continue;
        }
        if tried.is_empty() {
            tried.push(value(kind));
        }
        let argument = |value: &&str| match name.as_str() {
            "" => format!("{value}::{kind}"),
            name => format!("\"{name}\" => {value}::{kind}"),
        };
        let with = |list: Vec<String>| {
            tried.iter().map(move |value| [list.clone(), vec![argument(value)]].concat())
        };
        lists = lists.into_iter().flat_map(with).collect();
    }
    let call = |list: Vec<String>| {
        let call = format!("{}({})", function.name, list.join(", "));
        match function.is_procedure {
            true => format!("CALL {call}"),
            false => format!("SELECT {} FROM {call} AS it", shown(&function.name)),
        }
    };
    lists.into_iter().map(call).collect()
}

/// What of a function's result is the same each time and in all databases.
fn shown(function: &str) -> &'static str {
    match function {
        // The score of two sides is normalised over visible chunks, and moves with the words' rarity.
        "rag_retrieve" => {
            "rank, source_key, chunk_id, content, heading, metadata, dense_rank, lexical_rank"
        }
        "rag_retrieve_batch" => "question_no, rank, source_key, chunk_id, content, metadata",
        "rag_context" => "number, source_key, chunk_id, content, tokens, is_excerpt, metadata",
        "rag_answer_details" => "answer, supported, claims",
        // The score of each chunk is that of rag_retrieve, and who asks second uses fewer tokens.
        "rag_answer_stream" => {
            r#"regexp_replace(it, '"(score|confidence)":[0-9.e-]+|"usage":{[^}]*}', '', 'g')"#
        }
        // What stands between texts is made by chance.
        "rag_prompt" => "role, regexp_replace(content, '[0-9a-f]{12,}', '', 'g')",
        "rag_explain" => "step, stage, detail, rows",
        "rag_eval" => "configuration, metric, k, CASE WHEN metric !~ 'latency' THEN value END, n",
        // How many pages an index has, pg_relation_size tells everybody.
        "rag_hnsw_prewarm" => "it > 0",
        "rag.daemon_status" => "version, models",
        // Databases have different numbers.
        "rag.database_number" => "it IS NOT NULL",
        _ => "*",
    }
}

/// Statements beside those that are made of the catalog.
const MORE: &[&str] = &[
    "SELECT * FROM rag_retrieve('code of the launch', 'notes', mode => 'lexical')",
    "SELECT * FROM rag_retrieve('code of the launch', 'notes', mode => 'dense')",
    "SELECT source_key, content FROM rag_retrieve('code of the launch', 'notes', rewrite => 'prf', k => 100)",
    "SELECT source_key, content FROM rag_retrieve('code of the launch', 'later', k => 100)",
    "SELECT source_key, content FROM rag_retrieve('zanz', 'notes', k => 100)",
    "SELECT * FROM rag_retrieve('code', 'zanz')",
    "SELECT * FROM rag_retrieve('code', 'notes', filter => '{\"zanz\": 1}')",
    "SELECT * FROM notes",
    "SELECT * FROM notes_rag",
    "SELECT * FROM notes_rag_chunks",
    "SELECT * FROM later_rag",
    "SELECT * FROM later_rag_chunks",
    "SELECT * FROM notes_rag_content",
    "SELECT w, w::tsvector <@> rag_bm25_query('plain_tsv', (w || ':*')::tsquery) FROM unnest('{z,za,zan,launch,code,xy}'::text[]) AS w",
    "SELECT id, tsv <@> rag_bm25_query('plain_tsv', 'launch | z:*') FROM plain",
    "SELECT chunk_no, tsv <@> rag_bm25_query('notes_rag_chunks_tsv_idx', 'launch | z:*') FROM notes_rag",
    "SELECT configuration, is_chosen, training, held_out FROM rag_optimize('notes', 'both', search_space => '{\"k\": [1, 2]}')",
    "SELECT rag_optimize('notes', 'zanz', search_space => '{\"k\": [1, 2]}')",
    "SELECT rag_eval_floors('zanz', '{}')",
    "INSERT INTO rag.eval_set (name) VALUES ('zanz')",
    "SELECT rag_eval_load('zanz', '[]')",
];

#[test]
fn nothing_tells_of_hidden_rows() {
    let Some((cluster, databases)) = twins() else { return };
    let relations = "
        SELECT CASE c.oid::regclass::text WHEN 'rag.pipeline_status' THEN 'SELECT to_jsonb(it) - ''workers'' FROM '
                    WHEN 'rag.derivation' THEN 'SELECT pipeline, kind, options, relation, done, empty, unreadable, dropped, missing, last_done_at FROM '
                    WHEN 'rag.pipeline_as_shard' THEN 'SELECT to_jsonb(it) - ''database'' FROM '
                    WHEN 'rag.pipeline' THEN 'SELECT to_jsonb(it) - ''fill_from'' FROM '
                    ELSE 'SELECT * FROM ' END || c.oid::regclass || ' AS it'
        FROM pg_class AS c JOIN pg_depend AS d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
        JOIN pg_extension AS e ON d.refobjid = e.oid AND e.extname = 'pg_rag'
        WHERE d.deptype = 'e' AND c.relkind IN ('r', 'v', 'm') ORDER BY c.relname";
    let mut admin = cluster.connect();
    let mut statements: Vec<String> = functions(&mut admin).iter().flat_map(calls).collect();
    let rows = admin.query(relations, &[]).unwrap();
    statements.extend(rows.iter().map(|row| row.get::<_, String>(0)));
    statements.extend(MORE.iter().map(|it| (*it).to_owned()));
    assert!(statements.len() > 90, "{statements:?}");

    let mut sessions = databases.map(|database| Session::new(&cluster, database, "reader"));
    let mut breaches = Vec::new();
    for statement in &statements {
        let said = sessions.each_mut().map(|session| session.say(statement));
        let told = said[0].iter().any(|line| line.to_lowercase().contains(MARKER));
        let [here, twin] = said.map(|lines| masked(&lines.join("\n")));
        if told || here != twin {
            breaches
                .push(format!("{statement}\n--- with hidden rows\n{here}\n--- without\n{twin}"));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n\n"));
    // The reader is asked something at all.
    let found = sessions[0].say(MORE[0]);
    assert_eq!(found.len(), 2, "{found:?}");
}

/// EXPLAIN says the same of a word of hidden rows and of one that nobody wrote, and the dictionary
/// can't be read by beginnings of words. Retrieval ranks by what all rows say nevertheless.
#[test]
fn nothing_tells_words_of_hidden_rows() {
    let Some((cluster, _)) = twins() else { return };
    let mut reader = Session::new(&cluster, "postgres", "reader");
    let plans = [
        "SELECT id FROM plain ORDER BY tsv <@> rag_bm25_query('plain_tsv', '{word}:*') LIMIT 3",
        "SELECT id FROM plain ORDER BY tsv <@> rag_bm25_query('plain_tsv', '{word}') LIMIT 30",
        "SELECT id FROM plain WHERE tsv @@ '{word}'",
        "SELECT chunk_id FROM notes_rag_chunks ORDER BY tsv <@> rag_bm25_query('notes_rag_chunks_tsv_idx', '{word}')",
    ];
    for settings in ["RESET ALL", "SET enable_seqscan = off; SET enable_sort = off"] {
        reader.client.batch_execute(settings).unwrap();
        for plan in plans {
            let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) {plan}");
            let said = ["zanzibar", "xylophon"].map(|word| {
                let said = reader.say(&explain.replace("{word}", word)).join("\n");
                let lines =
                    said.replace(word, "word").lines().map(str::to_owned).collect::<Vec<_>>();
                let is_figure =
                    |line: &String| !line.contains("Buffers") && !line.contains("Memory");
                lines.into_iter().filter(is_figure).collect::<Vec<_>>().join("\n")
            });
            assert_eq!(said[0], said[1], "{settings}: {plan}");
        }
        let ordered = "SELECT id FROM plain ORDER BY tsv <@> rag_bm25_query('plain_tsv', 'launch | code'), id";
        assert_eq!(reader.say(ordered), ["1", "2", "3", "4", "5"], "{settings}");
    }
    reader.client.batch_execute("RESET ALL").unwrap();
    // To the owner "noon" is rare and what all hidden rows say is not; so it is for the reader's search.
    let first = "SELECT source_key FROM rag_retrieve('launch code noon', 'notes', k => 1, mode => 'lexical')";
    assert_eq!(reader.say(first), ["v2"]);
    let scores = "SELECT score FROM rag_retrieve('launch code noon', 'notes', mode => 'lexical')";
    assert_eq!(reader.say(scores), ["0.3333333333333333", "0.5", "1"]);

    // A pipeline of the reader's own does not help, whatever its view says.
    let mut admin = cluster.connect();
    admin.batch_execute("GRANT CREATE ON SCHEMA public TO reader").unwrap();
    let own = "CREATE TABLE bait (id integer PRIMARY KEY, body text); INSERT INTO bait VALUES (1, 'launch');
        SELECT rag_create_pipeline('bait', 'body', refresh => 'sync');
        CREATE FUNCTION spy(t tsvector) RETURNS tsvector LANGUAGE plpgsql AS $$BEGIN
            RAISE NOTICE 'SPY %', 'x:1'::tsvector <@> rag_bm25_query('notes_rag_chunks_tsv_idx', 'x:*')
                = 'z:1'::tsvector <@> rag_bm25_query('notes_rag_chunks_tsv_idx', 'z:*'); RETURN t; END$$;
        CREATE OR REPLACE VIEW bait_rag WITH (security_invoker = true) AS
            SELECT n.chunk_id, n.chunk_id::integer AS source_id, n.chunk_no, n.content, n.start_char, n.end_char, n.heading, n.context,
                   n.parent_start, n.parent_end, n.token_count, n.embedding, spy(n.tsv) AS tsv
            FROM notes_rag_chunks AS n;
        SELECT count(*) FROM rag_retrieve('launch', 'bait')";
    let said = reader.say(own);
    let spied: Vec<&String> = said.iter().filter(|line| line.contains("SPY")).collect();
    assert!(!spied.is_empty() && spied.iter().all(|line| line.contains("SPY t")), "{said:?}");
}

/// Who sees all rows is told all that there is to tell.
#[test]
fn figures_are_for_who_sees_all_rows() {
    let Some((cluster, _)) = twins() else { return };
    let calls = [
        "SELECT * FROM rag_bm25_stats('notes_rag_chunks_tsv_idx')",
        "SELECT * FROM rag_bm25_check('plain_tsv')",
        "SELECT * FROM rag_hnsw_stats('plain_v')",
        "SELECT * FROM rag_hnsw_check('notes_rag_chunks_embedding_idx')",
        "SELECT rag_hnsw_recall('plain_v', 3, 3)",
    ];
    let mut reader = cluster.connect_as("reader");
    let mut owner = cluster.connect_as("owner");
    for call in calls {
        assert_fails(&mut reader, call, &["42501", "row-level security hides rows"]);
        owner.batch_execute(call).unwrap_or_else(|error| panic!("{call}: {error}"));
    }
    let figures = "SELECT count(*) FROM rag.pipeline_status WHERE pipeline = 'notes'
        AND rows_done IS NOT NULL AND source_rows IS NOT NULL AND coverage IS NOT NULL";
    assert_eq!((count(&mut owner, figures), count(&mut reader, figures)), (1, 0));
    // So is who may know statistics.
    let mut admin = cluster.connect();
    admin.batch_execute("GRANT pg_read_all_stats TO reader").unwrap();
    reader.batch_execute(calls[0]).unwrap();
    assert_eq!(count(&mut reader, figures), 1);
    admin.batch_execute("REVOKE pg_read_all_stats FROM reader").unwrap();
    // Without policies a reader is told as well.
    owner.batch_execute("ALTER TABLE notes DISABLE ROW LEVEL SECURITY").unwrap();
    reader.batch_execute(calls[0]).unwrap();
    assert_eq!(count(&mut reader, figures), 1);
    let rare = "SELECT count(*) FROM unnest('{z,x}'::text[]) AS w
        WHERE (w || 'y')::tsvector <@> rag_bm25_query('notes_rag_chunks_tsv_idx', (w || ':*')::tsquery) < -1";
    assert_eq!(count(&mut reader, rare), 1, "frequent words score less than others");

    // A stranger's condition is asked of nothing that the views leave out.
    let mut stranger = Session::new(&cluster, "postgres", "stranger");
    cluster.connect().batch_execute("GRANT CREATE ON SCHEMA public TO stranger").unwrap();
    stranger
        .client
        .batch_execute(
            "CREATE FUNCTION spy(anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
             $$BEGIN RAISE NOTICE 'SPY %', $1; RETURN true; END$$",
        )
        .unwrap();
    for view in ["pipeline_status", "stat_pipeline"] {
        let said = stranger.say(&format!("SELECT pipeline FROM rag.{view} WHERE spy(pipeline)"));
        assert!(said.is_empty(), "{view}: {said:?}");
    }
    let models = "SELECT sum(pipelines)::bigint FROM rag.model_status";
    assert_eq!(count(&mut stranger.client, models), 0);
    assert_eq!(count(&mut owner, models), 2);
}
