//! What `make install MODEL=...` adds to the installation script: the embedding model of databases in which the extension is
//! created.

use std::fs;

use postgres::{Client, NoTls};

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::offered::{InstalledScripts, offer_scripts};

/// The model that the installation chooses.
const CHOSEN: &str = "all-minilm-l6-v2";

/// The one that databases have where nobody chooses.
const DEFAULT: &str = "multilingual-e5-small";

const CREATE: &str = "CREATE EXTENSION pg_rag CASCADE";

/// What ALTER DATABASE has set for the database of the session.
const SETTINGS: &str = "SELECT coalesce(string_agg(s, ' '), '')
    FROM pg_db_role_setting AS r JOIN pg_database AS d ON d.oid = r.setdatabase, unnest(r.setconfig) AS s
    WHERE d.datname = current_database() AND r.setrole = 0";

/// A server whose configuration says nothing of a model, and whose installation script chooses [`CHOSEN`].
fn start() -> Option<Cluster> {
    let mut cluster = Cluster::start(&[])?;
    cluster.stop("INT");
    let path = cluster.folder().join("data/postgresql.conf");
    let configured = fs::read_to_string(&path).expect("a configuration");
    let kept = configured.lines().filter(|line| !line.starts_with("rag.embedding_model"));
    fs::write(&path, kept.flat_map(|line| [line, "\n"]).collect::<String>()).expect("to write it");
    cluster.boot();
    let installed = InstalledScripts::of(&cluster);
    let addition = include_str!("../../sql/default_model.sql").replace("@MODEL@", CHOSEN);
    let script = format!("{}\n{addition}", installed.script());
    let name = format!("pg_rag--{}.sql", installed.version);
    offer_scripts(&cluster, &[(name, script)]).then_some(cluster)
}

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).expect("a row").get(0)
}

/// The model of a superuser's session, which need not have used the extension yet.
fn model(client: &mut Client) -> String {
    client.batch_execute("LOAD 'pg_rag'").expect("the library");
    text(client, "SELECT current_setting('rag.embedding_model')")
}

/// Asserts that a call that names no model takes [`CHOSEN`].
fn assert_embeds_with_chosen(client: &mut Client) {
    let is_same = format!(
        "SELECT count(*) FROM (SELECT rag_embed('Ink') <=> rag_embed('Ink', '{CHOSEN}') AS apart) AS e WHERE apart < 0.001"
    );
    assert_eq!(count(client, &is_same), 1);
}

#[test]
fn sessions_of_a_new_database_have_the_chosen_model_and_keep_it_when_the_extension_is_made_anew() {
    let Some(cluster) = start() else { return };
    let set = format!("rag.embedding_model={CHOSEN}");
    let mut creating = cluster.connect();
    creating.batch_execute(CREATE).unwrap();
    assert_eq!(model(&mut creating), CHOSEN);
    assert_embeds_with_chosen(&mut creating);
    let mut later = cluster.connect();
    assert_eq!(model(&mut later), CHOSEN);
    assert_embeds_with_chosen(&mut later);
    assert_eq!(text(&mut later, SETTINGS), set);
    // In the session that has made it, in one of later, and in one that has not had the library yet.
    for client in [&mut creating, &mut later, &mut cluster.connect()] {
        client.batch_execute("DROP EXTENSION pg_rag CASCADE").unwrap();
        assert_eq!(text(client, SETTINGS), set);
        client.batch_execute(CREATE).unwrap();
        assert_eq!(model(client), CHOSEN);
        assert_eq!(text(client, SETTINGS), set);
    }
    cluster.connect().batch_execute("CREATE DATABASE other").unwrap();
    assert_eq!(model(&mut cluster.connect_to("other")), DEFAULT, "it has no extension");
}

#[test]
fn a_model_that_somebody_has_set_stays_and_a_rollback_leaves_none() {
    let Some(cluster) = start() else { return };
    let other = format!("{DEFAULT}-fp32");
    let prepare = format!(
        "CREATE DATABASE kept;
         ALTER DATABASE kept SET rag.embedding_model = '{other}';
         CREATE DATABASE undone"
    );
    for statement in prepare.split(';') {
        cluster.connect().batch_execute(statement).unwrap();
    }
    let mut kept = cluster.connect_to("kept");
    kept.batch_execute(CREATE).unwrap();
    for client in [&mut kept, &mut cluster.connect_to("kept")] {
        assert_eq!(model(client), other);
        assert_eq!(text(client, SETTINGS), format!("rag.embedding_model={other}"));
    }

    let mut undone = cluster.connect_to("undone");
    undone.batch_execute(&format!("BEGIN; {CREATE}")).unwrap();
    assert_eq!(model(&mut undone), CHOSEN);
    undone.batch_execute("ROLLBACK").unwrap();
    for client in [&mut undone, &mut cluster.connect_to("undone")] {
        assert_eq!(model(client), DEFAULT);
        assert_eq!(text(client, SETTINGS), "");
    }

    // A session may have chosen for itself, too; then it is nobody's choice for the database.
    let mut choosing = cluster.connect_to("undone");
    choosing.batch_execute(&format!("SET rag.embedding_model = '{other}'; {CREATE}")).unwrap();
    assert_eq!(model(&mut choosing), other);
    assert_eq!(text(&mut choosing, SETTINGS), "");
}

#[test]
fn the_owner_of_a_database_has_the_model_once_a_superuser_has_made_the_extension() {
    let Some(cluster) = start() else { return };
    let mut superuser = cluster.connect();
    superuser.batch_execute("CREATE ROLE keeper LOGIN").unwrap();
    superuser.batch_execute("CREATE DATABASE owned OWNER keeper").unwrap();
    let connect = || cluster.config("owned").user("keeper").connect(NoTls).expect("a session");
    let mut owner = connect();
    // The extension is not a trusted one.
    assert_fails(&mut owner, CREATE, &["42501"]);
    assert_eq!(text(&mut owner, SETTINGS), "");
    cluster.connect_to("owned").batch_execute(CREATE).unwrap();
    let mut owner = connect();
    assert_eq!(text(&mut owner, "SELECT current_setting('rag.embedding_model')"), CHOSEN);
    assert_embeds_with_chosen(&mut owner);
}
