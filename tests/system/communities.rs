//! Communities of entities: made anew by workers where mentions change, under row-level security, and gone with their option.

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};

/// Two circles of people of six each, of whom each is met with two others, in rows of two tenants by turns.
const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE story (id integer PRIMARY KEY, body text, tenant integer);
    CREATE FUNCTION person(circle text, no integer) RETURNS text LANGUAGE sql
    RETURN format('%s %s', (ARRAY['Anna', 'Bruno', 'Clara', 'Diego', 'Elena', 'Felix'])[no % 6 + 1], circle);
    INSERT INTO story
    SELECT row_number() OVER (), format('It is told that %s walked with %s and spoke with %s.', person(c, n), person(c, n + 1), person(c, n + 2)), n % 2
    FROM unnest(ARRAY['Peeters', 'Hillage']) AS c, generate_series(0, 5) AS n;";

const CREATE: &str = "SELECT rag_create_pipeline('story', 'body', options => '{\"graph\": {\"entities\": \"rules\"}, \"communities\": {}}')";

/// Pairs of the circles that are of one community.
const MIXED: &str = "
    SELECT count(*) FROM story_rag_chunks_communities AS a JOIN story_rag_chunks_communities AS b USING (level, community)
    WHERE a.norm LIKE '%peeters' AND b.norm LIKE '%hillage'";

/// The number of the community of a person.
fn community_of(client: &mut Client, norm: &str) -> Option<i64> {
    let query = format!(
        "SELECT community FROM story_rag_chunks_communities WHERE norm = '{norm}' AND level = 0"
    );
    client.query_opt(&query, &[]).unwrap().map(|row| row.get(0))
}

/// Waits until communities are as `check` wants them. A worker may be at it beside what is done here.
fn wait_until(client: &mut Client, check: impl Fn(&mut Client) -> bool) {
    let is_so = wait_for(|| {
        let done = client.query_one("SELECT rag_wait('story', '5 minutes')", &[]).unwrap();
        assert!(done.get::<_, bool>(0), "the rows wait");
        client.batch_execute("CALL rag_run('story')").unwrap();
        check(client)
    });
    assert!(is_so, "the communities are not those that are waited for");
}

#[test]
fn an_edit_makes_its_community_anew_and_no_other() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(CREATE).unwrap();
    wait_until(&mut client, |client| {
        count(client, "SELECT count(*) FROM story_rag_chunks_communities WHERE level = 0") == 12
    });
    assert_eq!(count(&mut client, MIXED), 0);
    let peeters = community_of(&mut client, "anna peeters");
    let hillage = community_of(&mut client, "anna hillage");
    assert!(peeters.is_some() && hillage.is_some() && peeters != hillage);
    // Somebody new, in two rows.
    client
        .batch_execute(
            "INSERT INTO story SELECT n, 'It is told that Gustav Peeters walked with Anna Peeters and spoke with Bruno Peeters.', 0 FROM generate_series(101, 102) AS n",
        )
        .unwrap();
    wait_until(&mut client, |client| community_of(client, "gustav peeters").is_some());
    let anew = community_of(&mut client, "anna peeters");
    assert!(anew.is_some() && anew != peeters);
    assert_eq!(community_of(&mut client, "gustav peeters"), anew);
    assert_eq!(community_of(&mut client, "anna hillage"), hillage);
    assert_eq!(count(&mut client, MIXED), 0);
    // A change that rolls back makes nothing anew, and one that only moves chunks neither.
    let made = "SELECT done FROM rag.derivation_status WHERE kind = 'communities'";
    let before = count(&mut client, made);
    assert!(before >= 2, "made {before} times");
    client
        .batch_execute("BEGIN; DELETE FROM story; ROLLBACK; UPDATE story SET tenant = tenant")
        .unwrap();
    wait_until(&mut client, |_| true);
    assert_eq!(count(&mut client, made), before);
    assert_eq!(community_of(&mut client, "anna peeters"), anew);
    client.batch_execute("DELETE FROM story WHERE body LIKE '%Gustav%'").unwrap();
    wait_until(&mut client, |client| community_of(client, "gustav peeters").is_none());
    client.batch_execute("TRUNCATE story").unwrap();
    wait_until(&mut client, |client| {
        count(client, "SELECT count(*) FROM story_rag_chunks_communities") == 0
    });
}

/// Rows of the tenant 1 that an answer of the whole stands on.
const OF_OTHER: &str = "
    SELECT count(*) FROM unnest(ARRAY['global', 'local']) AS strategy,
                         rag_answer_details('What is told of Anna Peeters and the others?', 'story', strategy => strategy) AS a,
                         jsonb_array_elements(a.context) AS c
    WHERE (c ->> 'source_key')::int IN (SELECT id FROM all_of WHERE tenant = 1)";

#[test]
fn a_hidden_row_hides_its_words_and_its_entities() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client
        .batch_execute(
            "INSERT INTO story SELECT n, 'It is told that Xaver Peeters walked with Anna Peeters and spoke with Bruno Peeters.', 1 FROM generate_series(101, 102) AS n;
             CREATE TABLE all_of AS SELECT id, tenant FROM story;
             CREATE ROLE guest; GRANT SELECT ON story, all_of TO guest;
             ALTER TABLE story ENABLE ROW LEVEL SECURITY;
             CREATE POLICY seen ON story USING (tenant = current_setting('story.tenant')::int)",
        )
        .unwrap();
    client.batch_execute(CREATE).unwrap();
    wait_until(&mut client, |client| community_of(client, "xaver peeters").is_some());
    assert!(count(&mut client, OF_OTHER) > 0);
    client.batch_execute("SET story.tenant = 0; SET ROLE guest").unwrap();
    assert_eq!(count(&mut client, OF_OTHER), 0);
    assert_eq!(community_of(&mut client, "xaver peeters"), None);
    assert!(community_of(&mut client, "anna peeters").is_some());
    assert_eq!(count(&mut client, "SELECT count(*) FROM rag.derivation"), 2);
    assert_fails(&mut client, "SELECT state FROM rag.derivation", &["42501"]);
    let answered = "SELECT count(*) FROM rag_answer_details('What is told of Anna Peeters and the others?', 'story', strategy => 'global') AS a
                    WHERE a.supported AND a.answer NOT LIKE '%Xaver%'";
    assert_eq!(count(&mut client, answered), 1);
    // Without a name, too: nothing of the table's owner runs.
    client
        .batch_execute(
            "RESET ROLE; CREATE ROLE author; ALTER TABLE story OWNER TO author; SET ROLE guest",
        )
        .unwrap();
    let unnamed = "SELECT count(*) FROM rag_answer_details('What is told of Anna Peeters?', strategy => 'global') AS a WHERE a.supported";
    assert_eq!(count(&mut client, unnamed), 1);
    // Who sees no row is told nothing.
    client.batch_execute("SET story.tenant = 7").unwrap();
    assert_eq!(count(&mut client, "SELECT count(*) FROM story_rag_chunks_communities"), 0);
    let answered = "SELECT count(*) FROM rag_answer_details('What is told of Anna Peeters?', 'story', strategy => 'global') AS a WHERE a.supported";
    assert_eq!(count(&mut client, answered), 0);
    client.batch_execute("RESET ROLE; CREATE ROLE later; GRANT SELECT ON story, story_rag, story_rag_chunks TO later; SET ROLE later").unwrap();
    assert_fails(
        &mut client,
        "SELECT rag_answer('What is told?', 'story', strategy => 'global')",
        &["42501", "permission denied for the communities", "GRANT SELECT ON"],
    );
}

#[test]
fn communities_go_with_their_option_and_their_pipeline() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    client.batch_execute(CREATE).unwrap();
    let tables = "SELECT count(*) FROM pg_class WHERE relname LIKE 'story%\\_communities' OR relname LIKE 'story%\\_mentions'";
    assert_eq!(count(&mut client, tables), 2);
    assert_fails(
        &mut client,
        "SELECT rag_alter_pipeline('story', options => '{\"graph\": false}')",
        &["55000", "has communities, which are made of its graph", "Take both away"],
    );
    let off = "SELECT rag_alter_pipeline('story', options => '{\"graph\": false, \"communities\": false}')";
    client.batch_execute(off).unwrap();
    assert_eq!(count(&mut client, tables), 0);
    let on = "SELECT rag_alter_pipeline('story', options => '{\"graph\": {\"entities\": \"rules\"}, \"communities\": {}}')";
    client.batch_execute(on).unwrap();
    // A new generation has its own, and takes the place of the first with all that is made of it.
    client
        .batch_execute("SELECT rag_alter_pipeline('story', chunking => '{\"max_tokens\": 60}')")
        .unwrap();
    let made = "SELECT count(*) FROM rag.derivation AS d JOIN rag.pipeline AS p ON p.id = d.pipeline
                WHERE p.generation = 2 AND p.stage = 'live' AND d.kind = 'communities' AND d.done > 0";
    wait_until(&mut client, |client| count(client, made) == 1);
    assert_eq!(count(&mut client, tables), 2);
    client.batch_execute("SELECT rag_drop_pipeline('story')").unwrap();
    assert_eq!(count(&mut client, tables), 0);
    client.batch_execute(CREATE).unwrap();
    client.batch_execute("DROP TABLE story CASCADE").unwrap();
    assert_eq!(count(&mut client, tables), 0);
}
