//! Keys of all kinds name the same row in every session, whatever its settings.

use super::*;

/// Settings under which values look different.
const ABROAD: &str = "
    SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'iso_8601';
    SET bytea_output = 'escape'; SET extra_float_digits = -10; SET lc_monetary = 'C';";

/// Types, and values of them.
const KEYS: &[(&str, [&str; 4])] = &[
    ("text", ["", "NULL", "{\"a\",'b'}\\", "mañana \u{1f600}, % $1"]),
    ("varchar(20)", ["a", " a", "a ", "A"]),
    ("char(5)", ["a", "ab", "abc", "é"]),
    (
        "uuid",
        [
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
        ],
    ),
    ("bigint", ["-9223372036854775808", "0", "7", "9223372036854775807"]),
    ("smallint", ["-32768", "0", "1", "32767"]),
    ("numeric", ["1", "1.10", "-0.00000001", "123456789012345678901234567890"]),
    ("double precision", ["0.1", "0.30000000000000004", "1e300", "-Infinity"]),
    (
        "timestamptz",
        [
            "2026-02-03 04:05:06.789012+00",
            "2026-03-02 04:05:06+00",
            "infinity",
            "0044-03-15 12:00:00+00 BC",
        ],
    ),
    ("timestamp", ["2026-02-03 04:05:06", "2026-03-02 04:05:06", "-infinity", "1999-12-31"]),
    ("date", ["2026-02-03", "2026-03-02", "infinity", "0001-01-01"]),
    ("interval", ["1 day", "25:00:00", "1 mon -3 days", "-00:00:01"]),
    ("bytea", ["\\x00ff", "\\x", "\\x5c", "\\x27"]),
    ("boolean[]", ["{t,f}", "{}", "{NULL}", "{f}"]),
    ("inet", ["10.0.0.1", "10.0.0.1/8", "::1", "::/0"]),
];

#[test]
fn keys_of_every_type() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(&mut client, "CREATE EXTENSION pg_rag CASCADE");
    run(&mut client, ABROAD);
    for (number, (key, _)) in KEYS.iter().enumerate() {
        run(
            &mut client,
            &format!(
                "CREATE TABLE k{number} (k {key} PRIMARY KEY, body text);
                 SELECT rag_create_pipeline('k{number}', 'body')"
            ),
        );
    }
    let mut write = |session: &str, statement: &dyn Fn(usize, [String; 4]) -> String| {
        run(&mut client, session);
        for (number, (key, values)) in KEYS.iter().enumerate() {
            let literals = values.map(|value| {
                let value = value.replace('\'', "''");
                // Read as everybody reads it, and then shown as the session likes.
                format!("'{value}'::{key}")
            });
            run(&mut client, &statement(number, literals));
        }
        for (number, (key, _)) in KEYS.iter().enumerate() {
            let pipeline = format!("k{number}");
            let done = client.query_one("SELECT rag_wait($1, '5 minutes')", &[&pipeline]).unwrap();
            assert!(done.get::<_, bool>(0), "{key}: {:?}", status(&mut client));
            let wrong = format!(
                "SELECT '{key}: ' || coalesce(k.k::text, '') || ' ' || coalesce(c.source_k::text, '')
                 FROM k{number} AS k FULL JOIN k{number}_rag_chunks AS c ON c.source_k = k.k
                 WHERE c.content IS DISTINCT FROM k.body"
            );
            assert_none(&mut client, &wrong);
        }
    };
    let insert = |n: usize, [a, b, c, d]: [String; 4]| {
        format!(
            "INSERT INTO k{n} VALUES ({a}, 'First.'), ({b}, 'Second.'), ({c}, 'Third.'), ({d}, 'Fourth.')"
        )
    };
    // An ISO date is understood everywhere.
    write(ABROAD, &insert);
    let update = |n: usize, [a, b, ..]: [String; 4]| {
        format!("UPDATE k{n} SET body = 'New.' WHERE k = {a}; DELETE FROM k{n} WHERE k = {b}")
    };
    write("RESET ALL", &update);
    let swap = |n: usize, [a, b, c, d]: [String; 4]| {
        format!(
            "UPDATE k{n} SET k = {b} WHERE k = {c}; DELETE FROM k{n} WHERE k = {d};
             INSERT INTO k{n} VALUES ({c}, 'Third, again.'); UPDATE k{n} SET body = 'Newer.' WHERE k = {a}"
        )
    };
    write("RESET ALL; SET TimeZone = 'America/St_Johns'; SET DateStyle = 'German'", &swap);
    assert_none(&mut client, "SELECT key::text FROM rag.dead_letter");
}

#[test]
fn a_key_of_several_columns() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(
        &mut client,
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE TABLE pages (site text, at timestamptz, body text, no integer, PRIMARY KEY (no, site, at));
         SELECT rag_create_pipeline('pages', 'body');",
    );
    run(&mut client, ABROAD);
    run(
        &mut client,
        "INSERT INTO pages SELECT s, t::timestamptz, 'Page of ' || s || n, n
             FROM unnest(ARRAY['a', 'a,1', '']) AS s, generate_series(1, 3) AS n,
                  unnest(ARRAY['2026-01-02 03:04:05+00', '2026-02-01 03:04:05+00']) AS t;
         UPDATE pages SET no = no + 1 WHERE no = 3 AND site = 'a';
         UPDATE pages SET body = 'Changed.' WHERE site = 'a,1' AND no = 1;
         DELETE FROM pages WHERE site = '' AND no = 2;",
    );
    wait(&mut client, "pages");
    assert_none(
        &mut client,
        "SELECT p::text || c::text FROM pages AS p FULL JOIN pages_rag_chunks AS c
             ON (p.no, p.site, p.at) = (c.source_no, c.source_site, c.source_at)
         WHERE p.body IS DISTINCT FROM c.content",
    );
    assert_eq!(count(&mut client, "SELECT count(*) FROM pages_rag_chunks"), 16);
}

/// A type whose operators are not those of pg_catalog, as types of extensions are.
const TYPE: &str = "
    CREATE TYPE number;
    CREATE FUNCTION number_in(cstring) RETURNS number IMMUTABLE STRICT LANGUAGE internal AS 'int4in';
    CREATE FUNCTION number_out(number) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'int4out';
    CREATE TYPE number (INPUT = number_in, OUTPUT = number_out, LIKE = integer);
    CREATE FUNCTION lt(number, number) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4lt';
    CREATE FUNCTION le(number, number) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4le';
    CREATE FUNCTION eq(number, number) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4eq';
    CREATE FUNCTION ge(number, number) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4ge';
    CREATE FUNCTION gt(number, number) RETURNS boolean IMMUTABLE STRICT LANGUAGE internal AS 'int4gt';
    CREATE FUNCTION compared(number, number) RETURNS integer IMMUTABLE STRICT LANGUAGE internal AS 'btint4cmp';
    CREATE OPERATOR < (LEFTARG = number, RIGHTARG = number, FUNCTION = lt);
    CREATE OPERATOR <= (LEFTARG = number, RIGHTARG = number, FUNCTION = le);
    CREATE OPERATOR = (LEFTARG = number, RIGHTARG = number, FUNCTION = eq);
    CREATE OPERATOR >= (LEFTARG = number, RIGHTARG = number, FUNCTION = ge);
    CREATE OPERATOR > (LEFTARG = number, RIGHTARG = number, FUNCTION = gt);
    CREATE OPERATOR CLASS of_numbers DEFAULT FOR TYPE number USING btree AS
        OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
        FUNCTION 1 compared(number, number);";

#[test]
fn a_key_of_a_type_with_operators_of_its_own() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut client = cluster.connect();
    run(&mut client, &format!("CREATE EXTENSION pg_rag CASCADE; {TYPE}"));
    run(
        &mut client,
        r#"CREATE TABLE numbered (k number PRIMARY KEY, body text);
           INSERT INTO numbered VALUES ('1', 'First.'), ('2', 'Second.'), ('3', 'Third.');
           SELECT rag_create_pipeline('numbered', 'body', options => '{"backfill": "background"}');"#,
    );
    wait(&mut client, "numbered");
    run(
        &mut client,
        "UPDATE numbered SET body = 'New.' WHERE k = '1'; DELETE FROM numbered WHERE k = '2';
         UPDATE numbered SET k = '4' WHERE k = '3'; INSERT INTO numbered VALUES ('5', 'Fifth.');",
    );
    wait(&mut client, "numbered");
    assert_none(
        &mut client,
        "SELECT n::text || c::text FROM numbered AS n
         FULL JOIN numbered_rag_chunks AS c ON c.source_k::text = n.k::text
         WHERE n.body IS DISTINCT FROM c.content",
    );
    let found = r#"SELECT count(*) FROM rag_retrieve('fifth', k => 1, options => '{"retrieve": {"neighbours": 1}}')"#;
    assert_eq!(count(&mut client, found), 1);
    assert_none(&mut client, "SELECT key::text FROM rag.dead_letter");
}
