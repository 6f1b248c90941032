//! Workers see all rows; everybody else sees what the table lets them see.

use super::super::documents::assert_fails;
use super::*;

const ROLES: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE ROLE owner LOGIN; CREATE ROLE writer LOGIN; CREATE ROLE alpha LOGIN; CREATE ROLE beta LOGIN;
    GRANT CREATE ON SCHEMA public TO owner;";

/// The policies hold for the owner too, who is neither tenant.
const SOURCE: &str = "
    CREATE TABLE notes (id integer PRIMARY KEY, tenant text NOT NULL, body text);
    GRANT SELECT ON notes TO alpha, beta;
    GRANT INSERT ON notes TO writer;
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    ALTER TABLE notes FORCE ROW LEVEL SECURITY;
    CREATE POLICY own ON notes FOR SELECT USING (tenant = current_user);
    CREATE POLICY written ON notes FOR INSERT WITH CHECK (current_user = 'writer');
    SELECT rag_create_pipeline('notes', 'body', metadata => '{tenant}');";

#[test]
fn each_tenant_finds_its_own_rows() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    let mut owner = cluster.connect_as("owner");
    run(&mut owner, SOURCE);
    let mut writer = cluster.connect_as("writer");
    run(
        &mut writer,
        "INSERT INTO notes VALUES (1, 'alpha', 'The secret colour of team alpha is turquoise.');
         INSERT INTO notes VALUES (2, 'beta', 'The secret colour of team beta is vermilion.'),
                                  (3, 'beta', 'Team beta meets on Tuesdays in the red room.');",
    );
    wait(&mut admin, "notes");
    assert_eq!(
        count(&mut admin, "SELECT count(*) FROM notes_rag_chunks"),
        3,
        "all rows are embedded"
    );
    for relation in ["notes", "notes_rag", "notes_rag_chunks", "notes_rag_content"] {
        assert_fails(&mut writer, &format!("SELECT * FROM {relation}"), &["42501"]);
    }
    for (role, own, colour, other) in
        [("alpha", 1, "turquoise", "vermilion"), ("beta", 2, "vermilion", "turquoise")]
    {
        let mut tenant = cluster.connect_as(role);
        for relation in
            ["notes_rag", "notes_rag_chunks", "rag_retrieve('secret colour', 'notes', 100)"]
        {
            let rows = tenant.query(&format!("SELECT content FROM {relation}"), &[]).unwrap();
            assert_eq!(rows.len(), own, "{role} in {relation}");
            assert!(rows.iter().all(|row| !row.get::<_, &str>(0).contains(other)), "{role}");
        }
        let answer = "SELECT answer || context::text || citations::text
                      FROM rag_answer_details('What is the secret colour?', 'notes')";
        let answer: String = tenant.query_one(answer, &[]).unwrap().get(0);
        assert!(answer.contains(colour) && !answer.contains(other), "{role}: {answer}");
        let tables = ["rag.queue", "rag.intake", "rag.dead_letter", "rag.activity"];
        for table in tables {
            assert_eq!(count(&mut tenant, &format!("SELECT count(*) FROM {table}")), 0, "{table}");
        }
        assert_eq!(count(&mut tenant, "SELECT count(*) FROM rag.pipeline_status"), 1, "figures");
        for call in [
            "SELECT rag_pause('notes')",
            "SELECT rag_resume('notes')",
            "SELECT rag_retry('notes')",
            "CALL rag_run('notes')",
            "SELECT rag_drop_pipeline('notes')",
            "SELECT rag_alter_pipeline('notes', chunking => '{\"max_tokens\": 32}')",
            "SELECT rag_alter_pipeline('notes', refresh => 'manual')",
        ] {
            assert_fails(&mut tenant, call, &["42501"]);
        }
        assert!(tenant.query_one("SELECT rag_wait('notes')", &[]).unwrap().get::<_, bool>(0));
    }
    // The policies hold for the owner's own reading, not for what is made for the tenants.
    assert_eq!(count(&mut owner, "SELECT count(*) FROM notes_rag"), 0);
    run(&mut owner, "SELECT rag_alter_pipeline('notes', chunking => '{\"max_tokens\": 32}')");
    time_until(
        &mut admin,
        "SELECT count(*) FROM rag.pipeline WHERE chunking->'max_tokens' = '32' AND name = 'notes'",
        1,
    );
    assert_eq!(
        count(&mut admin, "SELECT count(*) FROM notes_rag_chunks"),
        3,
        "in the new generation"
    );
    let mut alpha = cluster.connect_as("alpha");
    assert_eq!(count(&mut alpha, "SELECT count(*) FROM notes_rag"), 1);
    assert_eq!(count(&mut alpha, "SELECT count(*) FROM notes_rag_chunks"), 1);
}

#[test]
fn a_role_that_may_only_insert_learns_nothing_of_the_queue() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    run(&mut cluster.connect_as("owner"), SOURCE);
    let mut writer = cluster.connect_as("writer");
    run(&mut writer, "SET search_path = ''; SET row_security = on");
    run(&mut writer, "BEGIN; INSERT INTO public.notes VALUES (1, 'alpha', 'One.'); COMMIT");
    assert_fails(&mut writer, "INSERT INTO rag.intake VALUES (1, 'all', '{}', now())", &["42501"]);
    assert_fails(&mut writer, "UPDATE rag.queue SET attempts = 0", &["42501"]);
    assert_fails(&mut writer, "DELETE FROM rag.dead_letter", &["42501"]);
    assert_fails(&mut writer, "SELECT public.rag_wait('notes')", &["42704"]);
    wait(&mut admin, "notes");
    assert_eq!(count(&mut admin, "SELECT count(*) FROM notes_rag_chunks"), 1);
}

#[test]
fn a_database_without_row_security_has_pipelines_all_the_same() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    run(&mut admin, "ALTER DATABASE postgres SET row_security = off");
    let mut owner = cluster.connect_as("owner");
    run(&mut owner, SOURCE);
    run(&mut admin, "INSERT INTO notes VALUES (1, 'alpha', 'One.'), (2, 'beta', 'Two.')");
    wait(&mut owner, "notes");
    assert_eq!(count(&mut admin, "SELECT count(*) FROM notes_rag_chunks"), 2);
    let state = "SELECT count(*) FROM rag.pipeline_status WHERE state = 'live'";
    assert_eq!(count(&mut owner, state), 1);
    // Rows of a user's table are not left out in silence.
    let mut alpha = cluster.connect_as("alpha");
    assert_fails(&mut alpha, "SELECT * FROM rag_retrieve('one', 'notes')", &["42501"]);
    run(&mut alpha, "SET row_security = on");
    assert_eq!(count(&mut alpha, "SELECT count(*) FROM rag_retrieve('one', 'notes')"), 1);
}

/// Code of the table's owner that a worker comes across.
#[test]
fn a_worker_runs_an_owners_code_as_the_owner() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut admin = cluster.connect();
    run(&mut admin, ROLES);
    let mut owner = cluster.connect_as("owner");
    run(
        &mut owner,
        "CREATE FUNCTION who(text) RETURNS text LANGUAGE plpgsql STABLE AS $$
         BEGIN RETURN $1 || ' by ' || current_user || ' ' || current_setting('is_superuser'); END $$;
         CREATE TABLE notes (id integer PRIMARY KEY, body text);
         SELECT rag_create_pipeline('notes', 'public.who(body)');
         INSERT INTO notes VALUES (1, 'Written');",
    );
    wait(&mut admin, "notes");
    let content: String =
        admin.query_one("SELECT content FROM notes_rag_chunks", &[]).unwrap().get(0);
    assert!(content.starts_with("Written by owner "), "{content}");
    // It can't be anything else, whatever it tries.
    run(
        &mut owner,
        "CREATE OR REPLACE FUNCTION who(text) RETURNS text LANGUAGE plpgsql STABLE AS $$
         BEGIN PERFORM set_config('role', 'postgres', false); RETURN $1 || ' by ' || current_user; END $$",
    );
    run(&mut owner, "INSERT INTO notes VALUES (2, 'Sneaky')");
    time_until(
        &mut admin,
        "SELECT count(*) FROM rag.queue WHERE attempts > 0 AND sqlstate = '42501'",
        1,
    );
    assert_eq!(count(&mut admin, "SELECT count(*) FROM notes_rag_chunks WHERE source_id = 2"), 0);
}

#[test]
fn a_role_without_rights_drops_what_is_its_own() {
    let Some((cluster, mut admin)) = start(&[]) else { return };
    run(&mut admin, "CREATE ROLE nobody LOGIN; GRANT CREATE ON SCHEMA public TO nobody");
    let mut nobody = cluster.connect_as("nobody");
    run(
        &mut nobody,
        "CREATE TEMP TABLE brief (id integer); DROP TABLE brief;
         CREATE TABLE mine (id integer PRIMARY KEY, body text); ALTER TABLE mine RENAME TO own;
         SELECT rag_create_pipeline('own', 'body'); INSERT INTO own VALUES (1, 'One.');",
    );
    wait(&mut nobody, "own");
    run(&mut nobody, "DROP TABLE own CASCADE");
    run(&mut admin, "INSERT INTO docs VALUES (1, 't', 'One.', 'en')");
    wait(&mut admin, "docs");
}
