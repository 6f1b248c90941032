//! What a role may do is what it may do with the table.

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{SETUP, assert_fails, count};

const TENANTS: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE ROLE owner LOGIN;
    CREATE ROLE writer LOGIN;
    CREATE ROLE alpha LOGIN;
    CREATE ROLE beta LOGIN;
    CREATE ROLE stranger LOGIN;
    GRANT CREATE ON SCHEMA public TO owner;";

const SOURCE: &str = "
    CREATE TABLE notes (id integer PRIMARY KEY, tenant text NOT NULL, body text);
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON notes USING (tenant = current_user OR current_user = 'writer');
    INSERT INTO notes VALUES
        (1, 'alpha', 'The secret colour of team alpha is turquoise.'),
        (2, 'beta', 'The secret colour of team beta is vermilion.'),
        (3, 'beta', 'Team beta meets on Tuesdays in the red room.');
    GRANT SELECT ON notes TO alpha, beta;
    GRANT INSERT ON notes TO writer;
    SELECT rag_create_pipeline('notes', 'body', refresh => 'sync');";

fn tenants() -> Option<Cluster> {
    let cluster = Cluster::start(&[])?;
    cluster.connect().batch_execute(TENANTS).unwrap();
    cluster.connect_as("owner").batch_execute(SOURCE).unwrap();
    Some(cluster)
}

#[test]
fn a_role_that_may_only_insert_inserts() {
    let Some(cluster) = tenants() else { return };
    let mut writer = cluster.connect_as("writer");
    writer
        .batch_execute("INSERT INTO notes VALUES (4, 'alpha', 'The spare key is under the mat.')")
        .expect("to insert");
    for relation in ["notes", "notes_rag", "notes_rag_chunks", "notes_rag_content"] {
        assert_fails(&mut writer, &format!("SELECT * FROM {relation}"), &["42501"]);
    }
    assert_fails(&mut writer, "SELECT * FROM rag_retrieve('key', 'notes')", &["notes"]);
    let mut owner = cluster.connect_as("owner");
    assert_eq!(count(&mut owner, "SELECT count(*) FROM notes_rag_chunks WHERE source_id = 4"), 1);
}

#[test]
fn a_tenant_sees_its_own_rows_only() {
    let Some(cluster) = tenants() else { return };
    for (role, own, colour, other) in
        [("alpha", 1, "turquoise", "vermilion"), ("beta", 2, "vermilion", "turquoise")]
    {
        let mut tenant = cluster.connect_as(role);
        for relation in ["notes", "notes_rag", "notes_rag_chunks"] {
            let rows = count(&mut tenant, &format!("SELECT count(*) FROM {relation}"));
            assert_eq!(rows, own, "{role} in {relation}");
        }
        for mode in ["dense", "lexical", "hybrid"] {
            let found = contents(&mut tenant, mode);
            assert_eq!(found.len() as i64, own, "{role}, {mode}: {found:?}");
            assert!(!found.iter().any(|content| content.contains(other)), "{found:?}");
        }
        let question = "What is the secret colour?";
        let row = tenant
            .query_one(
                "SELECT answer, context::text, citations::text FROM rag_answer_details($1)",
                &[&question],
            )
            .unwrap();
        let whole: String = (0..3).map(|column| row.get::<_, String>(column)).collect();
        assert!(whole.contains(colour) && !whole.contains(other), "{role}: {whole}");
        // With the other's row named by all means there are.
        for sneaky in [
            format!("SELECT count(*) FROM notes_rag WHERE content LIKE '%{other}%'"),
            format!("SELECT count(*) FROM notes_rag_chunks WHERE content LIKE '%{other}%'"),
            format!(
                "SELECT count(*) FROM rag_retrieve('{other}', k => 100)
                     WHERE content LIKE '%{other}%'"
            ),
        ] {
            assert_eq!(count(&mut tenant, &sneaky), 0, "{sneaky}");
        }
        assert_fails(&mut tenant, "SELECT * FROM notes_rag_content", &["42501"]);
        assert_fails(&mut tenant, "DELETE FROM notes_rag_chunks", &["42501"]);
        assert_fails(&mut tenant, "SELECT rag_drop_pipeline('notes')", &["42501"]);
    }
}

/// A role whose one right is SELECT on the source, with which that on the pipeline's view and chunks came; functions may be
/// called by everybody. What row-level security hides from it is not given to the reader.
#[test]
fn the_reader_reads_what_the_role_may_see() {
    let Some(cluster) = Cluster::start(&["rag.embedding_model = 'multilingual-e5-small'"]) else {
        return;
    };
    cluster.connect().batch_execute(TENANTS).unwrap();
    cluster.connect_as("owner").batch_execute(SOURCE).unwrap();
    let visible = [("alpha", 1, "turquoise"), ("beta", 2, "vermilion")];
    for (role, chunks, colour) in visible {
        let mut tenant = cluster.connect_as(role);
        let question = format!("What is the secret colour of team {role}?");
        let row = tenant.query_one("SELECT rag_answer($1)", &[&question]).unwrap();
        let answer: String = row.get(0);
        assert!(answer.contains(colour), "{role}: {answer}");
        // Asked for the other's colour, it gets no more to read.
        for about in visible.map(|(other, ..)| other) {
            let read = |stage: &str| {
                format!(
                    "SELECT sum(rows)::bigint FROM rag_explain('What is the secret colour of team {about}?',
                         options => '{{\"retrieve\": {{\"rerank\": \"reader\"}}}}')
                     WHERE stage = '{stage}' AND tokens > 0"
                )
            };
            assert_eq!(count(&mut tenant, &read("rerank")), chunks, "{role}, {about}");
            // Once it is sure, the reader reads no further.
            let read = count(&mut tenant, &read("reader"));
            assert!((1..=chunks).contains(&read), "{role}, {about}: {read} read");
        }
        let ranked = "SELECT count(rerank_score) FROM rag_retrieve('secret colour', k => 9, rerank => 'reader')";
        assert_eq!(count(&mut tenant, ranked), chunks, "{role}");
    }
    let mut owner = cluster.connect_as("owner");
    let ranked =
        "SELECT count(rerank_score) FROM rag_retrieve('secret colour', k => 9, rerank => 'reader')";
    assert_eq!(count(&mut owner, ranked), 3);
}

fn contents(client: &mut Client, mode: &str) -> Vec<String> {
    let query = "SELECT content FROM rag_retrieve('secret colour of the team on Tuesdays', k => 50, mode => $1)";
    client.query(query, &[&mode]).unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn a_stranger_learns_nothing() {
    let Some(cluster) = tenants() else { return };
    let mut stranger = cluster.connect_as("stranger");
    assert_eq!(count(&mut stranger, "SELECT count(*) FROM rag.pipeline"), 0);
    assert_fails(
        &mut stranger,
        "SELECT * FROM rag_retrieve('colour', 'notes')",
        &["42704", "pipeline \"notes\" does not exist"],
    );
    assert_fails(&mut stranger, "SELECT rag_answer('colour?')", &["42704", "there is no pipeline"]);
    assert_fails(&mut stranger, "SELECT * FROM notes_rag_chunks", &["42501"]);
    assert_fails(&mut stranger, "SELECT rag_create_pipeline('notes', 'body', 'mine')", &["42501"]);
    assert_fails(&mut stranger, "SELECT rag_add_model('m', '/etc')", &["42501", "superuser"]);
    assert_fails(&mut stranger, "UPDATE rag.model SET path = '/etc'", &["42501"]);
    assert_fails(&mut stranger, "CREATE SERVER s FOREIGN DATA WRAPPER rag_llm", &["42501"]);
    assert_fails(&mut stranger, "SET rag.ragd_path = '/tmp/x'", &["rag.ragd_path"]);
    assert_eq!(
        count(&mut stranger, "SELECT vector_dims(rag_embed('anybody may embed'))::bigint"),
        384
    );
}

#[test]
fn nobody_writes_the_catalog_by_hand() {
    let Some(cluster) = tenants() else { return };
    // What is written there is done with the rights of others, such as dropping a chunk table.
    let forge =
        "INSERT INTO rag.pipeline (name, source, content_view, chunk_table, view, key_columns,
                     model, chunking, config, refresh)
                 SELECT 'forged', 'notes', content_view, chunk_table, view, 1, model, chunking,
                        config, refresh
                 FROM rag.pipeline WHERE name = 'notes'";
    for role in ["owner", "stranger"] {
        let mut client = cluster.connect_as(role);
        for attempt in [
            forge,
            "UPDATE rag.pipeline SET chunk_table = 'pg_catalog.pg_class'",
            "DELETE FROM rag.pipeline",
            "SELECT * FROM rag.pipeline FOR UPDATE",
            "SELECT nextval('rag.pipeline_id_seq')",
            "INSERT INTO rag.intake VALUES (1, 'all', '{}', now())",
            "DELETE FROM rag.queue",
        ] {
            assert_fails(&mut client, attempt, &["42501"]);
        }
    }
    let mut reader = cluster.connect_as("alpha");
    for attempt in [
        "SELECT rag_drop_pipeline('notes')",
        "SELECT rag_alter_pipeline('notes', name => 'mine')",
        "SELECT rag_alter_pipeline('notes', chunking => '{\"max_tokens\": 64}')",
        "SELECT rag_pause('notes')",
        "SELECT rag_forget_replies('notes')",
        "SELECT rag_retry('notes')",
        "CALL rag_run('notes')",
    ] {
        assert_fails(&mut reader, attempt, &["42501", "must be owner"]);
    }
}

#[test]
fn an_owner_does_everything_with_its_pipeline() {
    let Some(cluster) = tenants() else { return };
    let mut owner = cluster.connect_as("owner");
    let steps = "
        CREATE TEXT SEARCH CONFIGURATION public.plain (COPY = simple);
        SELECT rag_alter_pipeline('notes', name => 'remarks', refresh => 'async');
        SELECT rag_pause('remarks');
        SELECT rag_resume('remarks');
        SELECT rag_alter_pipeline('remarks', chunking => '{\"max_tokens\": 64}', options => '{\"config\": \"plain\"}');";
    owner.batch_execute(steps).unwrap();
    assert_eq!(count(&mut owner, "SELECT rag_wait('remarks', '5 minutes')::int::bigint"), 1);
    let remade = "SELECT count(*) FROM rag.pipeline
                  WHERE name = 'remarks' AND chunking->'max_tokens' = '64' AND generation = 2 AND config = 'public.plain'";
    assert_eq!(count(&mut owner, remade), 1);
    owner.batch_execute("SELECT rag_drop_pipeline('remarks')").unwrap();
    assert_eq!(count(&mut owner, "SELECT count(*) FROM rag.pipeline"), 0);
    let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'notes%rag%'";
    assert_eq!(count(&mut owner, left), 0);
}

/// Who may write a table may lock it, and keep everybody waiting.
#[test]
fn nobody_writes_or_locks_the_tables_of_all() {
    let Some(cluster) = tenants() else { return };
    let mut stranger = cluster.connect_as("stranger");
    let tables = "SELECT c.oid::regclass::text, has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
        FROM pg_class AS c WHERE c.relnamespace = 'rag'::regnamespace AND c.relkind IN ('r', 'p', 'v')";
    let tables = stranger.query(tables, &[]).unwrap();
    assert!(tables.len() > 20, "{tables:?}");
    for row in &tables {
        let table: String = row.get(0);
        assert!(!row.get::<_, bool>(1), "every role may write {table}");
        let lock = format!("BEGIN; LOCK TABLE {table} IN ROW EXCLUSIVE MODE");
        assert_fails(&mut stranger, &lock, &["42501"]);
        stranger.batch_execute("ROLLBACK").unwrap();
    }
    let sequences = "SELECT count(*) FROM pg_class AS c WHERE c.relnamespace = 'rag'::regnamespace
        AND CASE c.relkind WHEN 'S' THEN has_sequence_privilege(c.oid, 'USAGE, UPDATE') END";
    assert_eq!(count(&mut stranger, sequences), 0);
}

/// What a role keeps: a conversation, a trace with feedback, an evaluation set with a run.
const KEEPSAKES: &str = "
    SELECT rag_conversation('hers');
    SET rag.trace = 'full';
    SELECT rag_feedback((rag_answer_details('How do I reset a password?')).trace_id, 1);
    SELECT rag_eval_load('hers', '[{\"question\": \"How do I reset a password?\", \"relevant\": [\"1\"]}]');
    SELECT rag_eval('docs', 'hers', k => '{1}');";

/// How many of each the caller sees.
const KEPT: &str = "SELECT (SELECT count(*) FROM rag.conversation) * 10000 + (SELECT count(*) FROM rag.trace_log) * 1000
    + (SELECT count(*) FROM rag.feedback) * 100 + (SELECT count(*) FROM rag.eval_set) * 10 + (SELECT count(*) FROM rag.eval_run)";

#[test]
fn a_role_made_anew_inherits_nothing() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    admin.batch_execute(SETUP).unwrap();
    admin
        .batch_execute(
            "CREATE ROLE ann LOGIN; GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO ann",
        )
        .unwrap();
    cluster.connect_as("ann").batch_execute(KEEPSAKES).unwrap();

    // Renamed, she is the same; who is called so now is somebody else.
    admin.batch_execute("ALTER ROLE ann RENAME TO anna; CREATE ROLE ann LOGIN").unwrap();
    let mut other = cluster.connect_as("ann");
    assert_eq!(count(&mut cluster.connect_as("anna"), KEPT), 11111);
    assert_eq!(count(&mut other, KEPT), 0);
    let delete = "SELECT count(*) FROM rag.conversation WHERE rag_conversation_delete(id)";
    assert_eq!(count(&mut other, "SELECT rag_trace_purge('0')"), 0);
    assert_eq!(count(&mut other, "SELECT rag_eval_purge('0')"), 0);
    assert_fails(&mut other, "SELECT rag_eval_delete('hers')", &["42704"]);

    // A dump names her as she is called when that is said.
    let hand = "UPDATE rag.conversation SET owner = 'anna' WHERE owner = 'ann';
        UPDATE rag.trace_log SET owner = 'anna'; UPDATE rag.eval_set SET owner = 'anna';
        UPDATE rag.eval_run SET owner = 'anna'; CREATE DATABASE restored";
    hand.split(';').for_each(|statement| admin.batch_execute(statement).unwrap());
    assert_eq!(count(&mut cluster.connect_as("anna"), KEPT), 11111);
    let dump = cluster.run("pg_dump", &["-h", &cluster.socket(), "-U", "postgres", "postgres"]);

    // Gone, nobody but the superuser sees what was hers, nor a second one of that name.
    admin.batch_execute("DROP OWNED BY anna; DROP ROLE anna; CREATE ROLE anna LOGIN").unwrap();
    let mut second = cluster.connect_as("anna");
    assert_eq!((count(&mut second, KEPT), count(&mut admin, KEPT)), (0, 11111));
    assert_eq!(count(&mut admin, delete), 1);

    // Where a dump is restored OIDs are others, and names count.
    cluster.psql("restored", &dump);
    let mut there = cluster.config("restored").user("anna").connect(postgres::NoTls).unwrap();
    assert_eq!(count(&mut there, KEPT), 11111);
    assert_eq!(count(&mut there, delete), 1);
    assert_eq!(count(&mut there, "SELECT rag_trace_purge('0')"), 1);
    assert_eq!(count(&mut there, "SELECT rag_eval_purge('0', 'hers')"), 1);
    assert_eq!(count(&mut there, "SELECT rag_eval_delete('hers')"), 1);
    assert_eq!(count(&mut there, KEPT), 0);
}

/// Versions of a template are counted under a lock that nobody can take or keep who may not add one.
#[test]
fn who_may_add_no_template_keeps_nobody_from_it() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let may_add = "GRANT SELECT, INSERT ON rag.template TO owner, writer";
    cluster.connect().batch_execute(&format!("{TENANTS} {may_add}")).unwrap();
    let set = |words: &str| {
        format!("SELECT rag_template_set('mine', '{words} {{{{ question }}}}')::bigint")
    };
    let own = |what: &str| {
        format!("SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND {what}")
    };
    let table = own("relation = 'rag.template'::regclass AND mode <> 'AccessShareLock'");

    let mut stranger = cluster.connect_as("stranger");
    stranger
        .batch_execute("BEGIN; LOCK TABLE rag.template IN ACCESS SHARE MODE; SAVEPOINT before")
        .unwrap();
    for statement in [&*set("Mine:"), "LOCK TABLE rag.template IN ROW EXCLUSIVE MODE"] {
        assert_fails(&mut stranger, statement, &["42501"]);
        stranger.batch_execute("ROLLBACK TO before").unwrap();
        assert_eq!(count(&mut stranger, &table), 0, "{statement}");
    }

    let mut writer = cluster.connect_as("writer");
    let lock = "LOCK TABLE rag.template IN SHARE ROW EXCLUSIVE MODE";
    assert_fails(&mut writer, &format!("BEGIN; {lock}"), &["42501"]);
    writer.batch_execute("ROLLBACK; SET lock_timeout = '30s'; BEGIN").unwrap();
    assert_eq!(count(&mut writer, &set("Ours:")), 1);
    // Any role can take any of those.
    assert_eq!(count(&mut writer, &own("locktype = 'advisory'")), 0);
    assert!(count(&mut writer, &table) > 0);

    let mut owner = cluster.connect_as("owner");
    owner.batch_execute("SET lock_timeout = '200ms'").unwrap();
    assert_fails(&mut owner, &set("Theirs:"), &["55P03"]);
    writer.batch_execute("COMMIT").unwrap();
    assert_eq!(count(&mut owner, &set("Theirs:")), 2);
}
