//! Conditions on columns that are not in the index: evaluated on a row before it is measured, and where that could
//! be noticed, not.

use super::*;

/// A condition that one row in ten meets, and that counts how often it is asked.
const COUNTED: &str = "
    CREATE SEQUENCE calls;
    CREATE FUNCTION is_wanted(id bigint) RETURNS boolean LANGUAGE plpgsql STABLE COST 1 AS $$
    BEGIN
        PERFORM nextval('calls');
        RETURN id % 10 = 3;
    END $$;";

/// The ten nearest that meet the condition.
const WANTED: &str = "
    SELECT i.id FROM items AS i WHERE is_wanted(i.id)
    ORDER BY i.v <-> (SELECT v FROM questions WHERE id = 7) LIMIT 10";

fn table(cluster: &Cluster) -> Client {
    let mut client = cluster.connect();
    client.batch_execute(&format!("{VECTORS} {INDEX} {COUNTED}")).unwrap();
    insert(&mut client, 1, 5000).unwrap();
    client.batch_execute("VACUUM ANALYZE items").unwrap();
    client.batch_execute(BY_INDEX).unwrap();
    client
}

/// The rows of a query, and how often its condition was asked.
fn asked(client: &mut Client, query: &str) -> (Vec<i64>, i64) {
    client.batch_execute("SELECT setval('calls', 1)").unwrap();
    let rows = client.query(query, &[]).unwrap_or_else(|error| panic!("{}", describe(&error)));
    let rows = rows.iter().map(|row| row.get(0)).collect();
    (rows, count(client, "SELECT last_value - 1 FROM calls"))
}

#[test]
fn a_condition_is_asked_ahead_where_that_cannot_be_noticed() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = table(&cluster);
    assert_plan(&mut client, WANTED);
    let (rows, ahead) = asked(&mut client, WANTED);
    assert_eq!(rows.len(), 10);
    for (change, what) in [("VOLATILE", "volatile"), ("STABLE COST 100", "expensive")] {
        client.batch_execute(&format!("ALTER FUNCTION is_wanted {change}")).unwrap();
        let (others, afterwards) = asked(&mut client, WANTED);
        assert_eq!(others, rows, "{what}");
        // The executor asks again of each row that it gets.
        assert!(ahead >= afterwards + 10, "{what}: asked {ahead} times ahead, {afterwards} else");
    }
    client.batch_execute("ALTER FUNCTION is_wanted STABLE COST 1").unwrap();
    let subquery = WANTED.replace("is_wanted(i.id)", "(SELECT is_wanted(i.id))");
    let (others, afterwards) = asked(&mut client, &subquery);
    assert_eq!(others, rows, "a subquery");
    assert!(ahead >= afterwards + 10, "a subquery: asked {ahead} times ahead, {afterwards} else");
}

#[test]
fn a_scan_finds_its_conditions_wherever_its_plan_is_run() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = table(&cluster);
    let (rows, ahead) = asked(&mut client, WANTED);
    let body = WANTED.replace('\n', " ");
    client
        .batch_execute(&format!(
            "CREATE FUNCTION in_sql() RETURNS SETOF bigint LANGUAGE sql VOLATILE AS $${body}$$;
             CREATE FUNCTION in_plpgsql() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
             DECLARE wanted bigint;
             BEGIN
                 FOR wanted IN {body} LOOP RETURN NEXT wanted; END LOOP;
             END $$;"
        ))
        .unwrap();
    let within = [
        "SELECT * FROM in_sql()".to_owned(),
        "SELECT * FROM in_plpgsql()".to_owned(),
        format!("WITH found AS MATERIALIZED ({WANTED}) SELECT id FROM found"),
        format!("SELECT n.id FROM (VALUES (1)) AS once CROSS JOIN LATERAL ({WANTED}) AS n"),
    ];
    for query in &within {
        assert_eq!(asked(&mut client, query), (rows.clone(), ahead), "{query}");
    }
    // A part at a time, with another query in between.
    let mut transaction = client.transaction().unwrap();
    transaction.batch_execute(&format!("DECLARE part CURSOR FOR {WANTED}")).unwrap();
    let mut fetched = Vec::new();
    for _ in 0..5 {
        let part = transaction.query("FETCH 2 FROM part", &[]).unwrap();
        fetched.extend(part.iter().map(|row| row.get::<_, i64>(0)));
        let others = transaction.query(WANTED, &[]).unwrap();
        assert_eq!(others.iter().map(|row| row.get::<_, i64>(0)).collect::<Vec<_>>(), rows);
    }
    assert_eq!(fetched, rows);
}

#[test]
fn a_condition_that_fails_ends_its_query_and_nothing_else() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = table(&cluster);
    let failing = WANTED.replace("is_wanted(i.id)", "1 / (i.id % 10 - 3) > 5");
    let (rows, ahead) = asked(&mut client, WANTED);
    for _ in 0..3 {
        let error = client.query(&failing, &[]).map(drop).unwrap_err();
        assert!(describe(&error).contains("division by zero"), "{}", describe(&error));
        assert_eq!(asked(&mut client, WANTED), (rows.clone(), ahead));
    }
    client
        .batch_execute(&format!(
            "DO $$ BEGIN PERFORM * FROM ({failing}) AS f; EXCEPTION WHEN division_by_zero THEN
                 PERFORM * FROM ({WANTED}) AS w; END $$"
        ))
        .unwrap();
    assert_eq!(asked(&mut client, WANTED), (rows, ahead));
}

#[test]
fn a_condition_sees_no_row_that_a_policy_hides() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = table(&cluster);
    client
        .batch_execute(
            "ALTER TABLE items ADD tenant text;
             UPDATE items SET tenant = CASE WHEN id % 3 = 0 THEN 'own' ELSE 'other' END;
             DROP INDEX items_v;
             CREATE INDEX items_v ON items USING rag_hnsw (v vector_l2_ops, tenant);
             CREATE ROLE caller;
             GRANT SELECT ON items, questions TO caller;
             CREATE FUNCTION tell(id bigint) RETURNS boolean LANGUAGE plpgsql STABLE COST 1 AS $$
             BEGIN
                 RAISE WARNING 'saw % of them', id;
                 RETURN id % 2 = 0;
             END $$;
             ALTER TABLE items ENABLE ROW LEVEL SECURITY;",
        )
        .unwrap();
    client.batch_execute("VACUUM ANALYZE items").unwrap();
    // A condition that the index evaluates, and one that it does not.
    for policy in ["tenant = 'own'", "id % 3 = 0"] {
        client
            .batch_execute(&format!("CREATE POLICY own ON items USING ({policy}); SET ROLE caller"))
            .unwrap();
        let told = WANTED.replace("is_wanted(i.id)", "tell(i.id)");
        assert_plan(&mut client, &told);
        assert_eq!(client.query(&told, &[]).unwrap().len(), 10, "{policy}");
        client.batch_execute("RESET ROLE; DROP POLICY own ON items").unwrap();
    }
    let log = cluster.log();
    let seen = log
        .split("saw ")
        .skip(1)
        .filter_map(|rest| rest.split_once(" of them")?.0.parse::<i64>().ok());
    let (own, hidden): (Vec<i64>, Vec<i64>) = seen.partition(|id| id % 3 == 0);
    assert!(own.len() > 40 && hidden.is_empty(), "{} own rows, hidden: {hidden:?}", own.len());
}

#[test]
fn errors_of_statements_keep_what_they_say() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = table(&cluster);
    let error = client.batch_execute("INSERT INTO items VALUES (1, NULL)").unwrap_err();
    let error = error.as_db_error().expect("an error of the server");
    assert_eq!(error.constraint(), Some("items_pkey"));
    client
        .batch_execute(
            "CREATE FUNCTION fails() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN 1 / 0; END $$",
        )
        .unwrap();
    let error = client.query("SELECT fails()", &[]).map(drop).unwrap_err();
    let error = error.as_db_error().expect("an error of the server");
    assert!(error.where_().is_some_and(|place| place.contains("fails()")), "{error:?}");
}
