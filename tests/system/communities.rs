//! Communities of entities: made anew by workers where mentions change, under row-level security, and gone with their option.

use postgres::Client;
use serde_json::Value;

use super::cluster::{Cluster, wait_for};
use super::documents::{assert_fails, count};
use super::http_server::{Reply, Request, Server};
use super::provider::server;

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
pub fn wait_until(client: &mut Client, check: impl Fn(&mut Client) -> bool) {
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

/// Somebody of whom rows of one tenant tell, and a role that sees the rows of the tenant of a setting.
const HIDE: &str = "
    INSERT INTO story SELECT n, 'It is told that Xaver Peeters walked with Anna Peeters and spoke with Bruno Peeters.', 1 FROM generate_series(101, 102) AS n;
    CREATE TABLE all_of AS SELECT id, tenant FROM story;
    CREATE ROLE guest; GRANT SELECT ON story, all_of TO guest;
    ALTER TABLE story ENABLE ROW LEVEL SECURITY;
    CREATE POLICY seen ON story USING (tenant = current_setting('story.tenant')::int);";

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
    client.batch_execute(HIDE).unwrap();
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

/// What a call is told: its last message.
fn told(request: &Request) -> String {
    let body: Value = serde_json::from_str(request.text()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// Answers by the first source that a call shows, or, where it shows answers, by all that these cite.
pub fn tell(request: &Request) -> Reply {
    let text = told(request);
    let cited: String = match text.split("<<<source ").nth(1) {
        Some(source) => format!("[{}]", source.split(' ').next().unwrap()),
        None => {
            let inside = text.split('[').skip(1).filter_map(|it| it.split(']').next());
            let numbers = inside.filter(|it| it.parse::<usize>().is_ok());
            numbers.map(|number| format!("[{number}]")).collect()
        }
    };
    Reply::chat(&format!("It is told that they walked together {cited}."))
}

/// All chunks of each community are read, so that what is hidden would be, too.
const READ_ALL: &str = r#"{"answer": {"community_chunks": 20}}"#;

/// In how many calls an answer would be written, as a dry run says it; of one call nothing is said.
fn foretold(client: &mut Client, strategy: &str, question: &str) -> usize {
    let explain = "SELECT detail FROM rag_explain($1, 'story', strategy => $2, llm => 'extractive', options => $3::text::jsonb)
                   WHERE stage = 'communities'";
    let row = client.query_one(explain, &[&question, &strategy, &READ_ALL]).unwrap();
    let detail: String = row.get(0);
    println!("{strategy}: {detail}");
    match detail.split_once(", about ") {
        Some((_, calls)) => calls.split(' ').next().unwrap().parse().unwrap(),
        None => 1,
    }
}

/// The answer of the language model, how many calls it says that it took, and what it cites.
fn ask(client: &mut Client, strategy: &str, question: &str) -> (String, Option<u64>, Value) {
    let ask = "SELECT answer, usage::text, citations::text
        FROM rag_answer_details($1, 'story', strategy => $2, llm => 'writer', options => $3::text::jsonb)";
    let row = client.query_one(ask, &[&question, &strategy, &READ_ALL]).unwrap();
    let json = |place: usize| serde_json::from_str::<Value>(row.get(place)).unwrap();
    (row.get(0), json(1)["calls"].as_u64(), json(2))
}

/// How many of these citations are words of a chunk that the session sees.
const OF_CHUNKS: &str = "
    SELECT count(*) FROM jsonb_array_elements($1::text::jsonb) AS c
    JOIN story_rag AS v ON v.chunk_id = (c ->> 'chunk_id')::bigint AND v.source_id::text = c ->> 'source_key'
    WHERE strpos(v.content, c ->> 'quote') > 0";

#[test]
fn a_language_model_is_called_as_often_as_was_said_and_reads_what_the_caller_sees() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let (mut owner, mut guest) = (cluster.connect(), cluster.connect());
    owner.batch_execute(&format!("{SETUP} {HIDE} {}", server("writer", &http))).unwrap();
    owner.batch_execute("GRANT USAGE ON FOREIGN SERVER writer TO guest").unwrap();
    owner.batch_execute(CREATE).unwrap();
    wait_until(&mut owner, |client| community_of(client, "xaver peeters").is_some());
    let hidden = owner.query("SELECT body FROM story WHERE tenant = 1", &[]).unwrap();
    let hidden: Vec<String> = hidden.iter().map(|row| row.get(0)).collect();
    guest.batch_execute("SET story.tenant = 0; SET rag.cache = 'exact'; SET ROLE guest").unwrap();
    for (strategy, question, fewest) in [
        ("global", "What is told of Anna Peeters and the others?", 3),
        ("local", "With whom did Xaver Peeters walk?", 1),
    ] {
        let before = http.requests().len();
        let calls = foretold(&mut guest, strategy, question);
        assert!(calls >= fewest, "{strategy}: {calls} calls");
        assert_eq!(http.requests().len(), before, "a dry run of {strategy} calls nobody");
        let (answer, used, citations) = ask(&mut guest, strategy, question);
        let requests = http.requests();
        assert_eq!((requests.len() - before, used), (calls, Some(calls as u64)), "{strategy}");
        // Each community is cited, or the one call's source, by words of a chunk.
        let cited = citations.as_array().unwrap().len();
        assert_eq!(cited, calls - usize::from(calls > 1), "{answer}: {citations}");
        let of_chunks = guest.query_one(OF_CHUNKS, &[&citations.to_string()]).unwrap();
        assert_eq!(usize::try_from(of_chunks.get::<_, i64>(0)), Ok(cited), "{citations}");
        for request in &requests[before..] {
            assert!(!hidden.iter().any(|body| request.text().contains(body)), "{request:?}");
            // The question alone may name who is hidden.
            let others = told(request).replace(question, "");
            assert!(!others.contains("Xaver"), "{strategy}: {others}");
        }
        // The same question costs nothing.
        assert_eq!(ask(&mut guest, strategy, question).0, answer);
        assert_eq!(http.requests().len(), requests.len(), "{strategy} is asked again");
        // Who sees all has all of it read.
        ask(&mut owner, strategy, question);
        let asked = &http.requests()[requests.len()..];
        assert!(asked.iter().any(|it| told(it).contains("Xaver Peeters walked")), "{strategy}");
    }
}

/// A pipeline whose two communities have been found, with a language model and a role that sees as much as its owner.
pub fn with_reader(client: &mut Client, http: &Server) {
    let roles = "CREATE ROLE reader; GRANT SELECT ON story TO reader;";
    client.batch_execute(&format!("{SETUP} {roles} {}", server("writer", http))).unwrap();
    client.batch_execute("GRANT USAGE ON FOREIGN SERVER writer TO reader").unwrap();
    client.batch_execute(CREATE).unwrap();
    wait_until(client, |client| {
        count(client, "SELECT count(*) FROM story_rag_chunks_communities WHERE level = 0") == 12
    });
}

/// What the rows of both communities answer.
pub const WALKED: &str = "Who walked with whom?";

/// The answer of `global`, and how many calls were made for it.
pub fn asked(client: &mut Client, http: &Server, question: &str) -> (String, usize) {
    let before = http.requests().len();
    let (answer, used, _) = ask(client, "global", question);
    let made = http.requests().len() - before;
    assert_eq!(used, Some(made as u64), "{question}");
    (answer, made)
}

/// How many replies are kept.
pub const KEPT: &str = "SELECT count(*) FROM rag.kept_reply";

/// Chunks of replies that are there no more.
const GONE: &str = "
    SELECT count(*) FROM rag.kept_reply AS k, unnest(k.chunks) AS c
    WHERE NOT EXISTS (SELECT FROM story_rag_chunks AS t WHERE t.chunk_id = c)";

#[test]
fn what_was_answered_of_a_community_is_paid_for_once() {
    let Some(mut cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let mut client = cluster.connect();
    with_reader(&mut client, &http);
    assert_eq!(foretold(&mut client, "global", WALKED), 3);
    let (answer, made) = asked(&mut client, &http, WALKED);
    assert_eq!((made, foretold(&mut client, "global", WALKED)), (3, 0));
    assert_eq!(asked(&mut client, &http, WALKED), (answer.clone(), 0));
    assert_eq!(foretold(&mut client, "global", "Who spoke?"), 3);
    // Whoever sees the same chunks, and after a restart.
    let mut reader = cluster.connect();
    reader.batch_execute("SET ROLE reader").unwrap();
    assert_eq!(asked(&mut reader, &http, WALKED), (answer.clone(), 0));
    assert_fails(&mut reader, KEPT, &["42501"]);
    drop((client, reader));
    cluster.stop("INT");
    cluster.boot();
    let mut client = cluster.connect();
    assert_eq!(asked(&mut client, &http, WALKED), (answer, 0));
    let before = http.requests().len();
    let stream = format!(
        "SELECT count(*) FROM rag_answer_stream('{WALKED}', 'story', strategy => 'global', llm => 'writer', options => '{READ_ALL}')"
    );
    assert!(count(&mut client, &stream) > 1 && http.requests().len() == before);
    // A member changes: its community is asked about, and the answers are merged.
    client
        .batch_execute("UPDATE story SET body = replace(body, 'walked', 'strolled') WHERE body LIKE '%Anna Peeters walked%'")
        .unwrap();
    let strolls = "SELECT count(*) FROM story_rag_chunks WHERE content LIKE '%strolled%'";
    wait_until(&mut client, |client| count(client, strolls) == 1 && count(client, GONE) == 0);
    assert_eq!(count(&mut client, KEPT), 1);
    assert_eq!(foretold(&mut client, "global", WALKED), 2);
    assert_eq!(asked(&mut client, &http, WALKED).1, 2);
    assert_eq!((count(&mut client, KEPT), asked(&mut client, &http, WALKED).1), (3, 0));
    // A row is deleted, and with it what was said of it.
    client.batch_execute("DELETE FROM story WHERE body LIKE '%strolled%'").unwrap();
    wait_until(&mut client, |client| count(client, strolls) == 0 && count(client, GONE) == 0);
    assert_eq!(count(&mut client, KEPT), 1);
    // Another model says something else.
    client.batch_execute("ALTER SERVER writer OPTIONS (SET model 'other')").unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
}

#[test]
fn replies_are_kept_by_transactions_that_commit_and_nobody_waits_for_them() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(tell);
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    with_reader(&mut client, &http);
    // What cannot be kept is answered nevertheless.
    for begin in ["BEGIN READ ONLY", "BEGIN ISOLATION LEVEL SERIALIZABLE"] {
        client.batch_execute(begin).unwrap();
        assert_eq!(asked(&mut client, &http, WALKED).1, 3, "{begin}");
        client.batch_execute("COMMIT").unwrap();
        assert_eq!(count(&mut client, KEPT), 0, "{begin}");
    }
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    assert_eq!(asked(&mut client, &http, WALKED).1, 0);
    client.batch_execute("ROLLBACK").unwrap();
    assert_eq!(count(&mut client, KEPT), 0);
    // Two ask at once: neither waits, and both are kept.
    other.batch_execute("SET lock_timeout = '1min'").unwrap();
    client.batch_execute("BEGIN").unwrap();
    assert_eq!(asked(&mut client, &http, WALKED).1, 3);
    assert_eq!(asked(&mut other, &http, WALKED).1, 3);
    client.batch_execute("COMMIT").unwrap();
    for begin in ["BEGIN", "BEGIN READ ONLY", "BEGIN ISOLATION LEVEL SERIALIZABLE"] {
        other.batch_execute(begin).unwrap();
        assert_eq!(asked(&mut other, &http, WALKED).1, 0, "{begin}");
        other.batch_execute("COMMIT").unwrap();
    }
    assert_eq!(count(&mut client, KEPT), 6);
    // They go with the communities and with the pipeline.
    for statement in [
        "SELECT rag_drop_pipeline('story')",
        "SELECT rag_alter_pipeline('story', options => '{\"communities\": false}')",
    ] {
        client.batch_execute(&format!("BEGIN; {statement}")).unwrap();
        assert_eq!(count(&mut client, KEPT), 0, "{statement}");
        client.batch_execute("ROLLBACK").unwrap();
    }
    assert_eq!(count(&mut client, KEPT), 6);
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
