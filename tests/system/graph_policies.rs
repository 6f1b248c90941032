//! Walks and paths under row-level security: they come to what they come to in a pipeline that has no other rows than
//! those which a policy shows.

use std::collections::BTreeSet;

use postgres::Client;

use super::at_work::number;
use super::cluster::Cluster;
use super::documents::count;
use super::random::Random;

const ROWS: usize = 300;

/// Row policies that are tried; the setting of the environment makes them more.
const POLICIES: u64 = 40;

/// Tenants to whom rows belong.
const TENANTS: usize = 8;

/// A pipeline whose rows a role sees by a policy, and one that is given those rows alone.
const CREATE: &str = r#"
    SELECT rag_create_pipeline('link', 'body', refresh => 'manual', options => '{"backfill": "now", "graph": {"entities": "rules"}}');
    SELECT rag_create_pipeline('shown', 'body', refresh => 'manual', options => '{"backfill": "now", "graph": {"entities": "rules"}}')"#;

/// What gives the second pipeline rows of the first, with their chunks as they are and what these name: both depend on
/// the text alone.
const COPIES: [&str; 3] = [
    "INSERT INTO shown SELECT * FROM link WHERE id = ANY ($1) ORDER BY id",
    "INSERT INTO shown_rag_chunks (chunk_id, source_id, chunk_no, content, start_char, end_char, token_count, content_hash, model, embedding)
     SELECT chunk_id, source_id, chunk_no, content, start_char, end_char, token_count, content_hash, model, embedding
     FROM link_rag_chunks WHERE source_id = ANY ($1) ORDER BY chunk_id",
    "INSERT INTO shown_rag_chunks_mentions
     SELECT m.* FROM link_rag_chunks_mentions AS m JOIN link_rag_chunks AS c USING (chunk_id)
     WHERE c.source_id = ANY ($1) ORDER BY m.chunk_id, m.norm",
];

/// A search of 12 chunks, of which the walk puts some in the place of others. How frequent a word is counts all rows,
/// whoever sees them: so vectors alone decide, and no question has words of more than 12 rows.
const SEARCH: &str = r#"
    SELECT source_key::integer, score, coalesce(via, '{}'), dense_rank IS NULL AND lexical_rank IS NULL
    FROM rag_retrieve($1, $2, k => 12, query_vector => $3::text::vector, options => '{"retrieve": {
        "candidates": 3, "fusion": "weighted", "dense_weight": 1, "graph": {"weight": 10}}}')
    ORDER BY rank"#;

const PATHS: &str =
    "SELECT entities, score FROM rag_graph($1, $2, hops => 2, k => 1000) ORDER BY entities";

/// Somebody whom few rows name.
struct RareName {
    long: String,
    /// Its initials, by which some of the rows call it.
    short: Option<String>,
}

impl RareName {
    /// Of two words that no other number below 333 gives; or of three, and it is called by its initials, too.
    fn new(number: usize, has_initials: bool) -> RareName {
        const LETTERS: [char; 14] =
            ['B', 'D', 'F', 'G', 'H', 'K', 'L', 'M', 'P', 'R', 'T', 'V', 'W', 'Z'];
        const SYLLABLES: [&str; 10] = ["ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "tu"];
        let initials = [number, number / LETTERS.len(), 3 * number].map(|n| LETTERS[n % 14]);
        let word = |place: usize| {
            let number = 3 * number + place;
            let syllable = |part: usize| SYLLABLES[number / part % 10];
            format!("{}o{}{}{}x", initials[place], syllable(100), syllable(10), syllable(1))
        };
        let words: Vec<String> = (0..if has_initials { 3 } else { 2 }).map(word).collect();
        let short = has_initials.then(|| initials.iter().collect());
        RareName { long: words.join(" "), short }
    }

    /// How the row calls it that is its first, its second and so on, and the names that this has. The first row says
    /// what the initials stand for, where there are any.
    fn written(&self, occurrence: usize) -> (String, Vec<String>) {
        let long = || self.long.clone();
        match &self.short {
            Some(short) if occurrence == 0 => {
                (format!("{} ({short})", self.long), vec![long(), short.clone()])
            }
            Some(short) if occurrence % 2 == 1 => (short.clone(), vec![short.clone()]),
            _ => (long(), vec![long()]),
        }
    }
}

/// A row that names two of them.
struct LinkingRow {
    id: i32,
    tenant: usize,
    body: String,
    names: Vec<String>,
    /// A name and its initials, where the row says that these stand for it.
    alias: Option<(String, String)>,
}

/// Names for one of the two places of each row, each in two to four rows, from the number `first` on. Of those below the
/// number `long` one in five is called by its initials, too.
fn places(random: &mut Random, first: usize, long: usize) -> Vec<(RareName, usize)> {
    let mut places = Vec::new();
    for number in first.. {
        let occurrences = (2 + random.below(3)).min(ROWS - places.len());
        let name = || RareName::new(number, number < long && number % 5 == 1);
        places.extend((0..occurrences).map(|nth| (name(), nth)));
        if places.len() == ROWS {
            break;
        }
    }
    for at in (1..places.len()).rev() {
        places.swap(at, random.below(at + 1));
    }
    places
}

fn rows(random: &mut Random) -> Vec<LinkingRow> {
    const WHERE: [&str; 5] =
        ["near the mill", "at a fair", "by the river", "on a market day", "behind the barn"];
    // Initials are on one side alone, so that no row has more names than a walk tells of.
    let ones = places(random, 0, ROWS / 2);
    let others = places(random, ROWS / 2, 0);
    let both = (1..).zip(ones.into_iter().zip(others));
    let row = |(id, ((one, nth), (other, _))): (i32, ((RareName, usize), (RareName, usize)))| {
        let (written, mut names) = one.written(nth);
        let alias = (names.len() == 2).then(|| (names[0].clone(), names[1].clone()));
        names.push(other.long.clone());
        let place = random.pick(&WHERE);
        let body = format!("They say {written} met {} {place}.", other.long);
        LinkingRow { id, tenant: 1 + random.below(TENANTS), body, names, alias }
    };
    both.map(row).collect()
}

/// The numbers up to `most` of which each is there in so many of ten cases.
fn some(random: &mut Random, most: usize, of_ten: usize) -> String {
    let numbers: Vec<String> =
        (1..=most).filter(|_| random.below(10) < of_ten).map(|n| n.to_string()).collect();
    numbers.join(",")
}

/// A condition of a policy.
fn condition(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 5 } else { 8 }) {
        0 => {
            let modulus = 2 + random.below(6);
            format!("id % {modulus} <> {}", random.below(modulus))
        }
        1 => format!("tenant = ANY ('{{{}}}')", some(random, TENANTS, 5)),
        2 => {
            let first = random.below(ROWS);
            format!("id BETWEEN {first} AND {}", first + 20 + random.below(ROWS))
        }
        3 => {
            let modulus = 2 + random.below(4);
            format!("length(body) % {modulus} <> {}", random.below(modulus))
        }
        4 => {
            let of_ten = 1 + random.below(9);
            format!("id = ANY ('{{{}}}')", some(random, ROWS, of_ten))
        }
        5 => format!("NOT ({})", condition(random, depth - 1)),
        other => {
            let [one, two] = [(); 2].map(|()| condition(random, depth - 1));
            let word = if other == 6 { "AND" } else { "OR" };
            format!("({one}) {word} ({two})")
        }
    }
}

/// What a search has found.
#[derive(Debug)]
struct WalkFinding {
    id: i32,
    score: f64,
    via: BTreeSet<String>,
    /// Whether neither vectors nor words have found it.
    is_by_graph: bool,
}

fn search(client: &mut Client, pipeline: &str, question: &str, vector: &str) -> Vec<WalkFinding> {
    let rows = client.query(SEARCH, &[&question, &pipeline, &vector]).unwrap();
    let finding = |row: &postgres::Row| {
        let via: Vec<String> = row.get(2);
        WalkFinding {
            id: row.get(0),
            score: row.get(1),
            via: via.into_iter().collect(),
            is_by_graph: row.get(3),
        }
    };
    rows.iter().map(finding).collect()
}

/// Asserts that places have the same scores, and that the same rows are there by the same ways; which of the rows that
/// are as good as the last one are there does not matter.
fn assert_same(found: &[WalkFinding], expected: &[WalkFinding], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:#?} is not {expected:#?}");
    let is_like = |a: f64, b: f64| (a - b).abs() < 1e-6;
    for (one, other) in found.iter().zip(expected) {
        assert!(is_like(one.score, other.score), "{what}: {found:#?} is not {expected:#?}");
    }
    let last = expected.last().map_or(0.0, |it| it.score);
    for one in found.iter().filter(|it| !is_like(it.score, last)) {
        let other = expected.iter().find(|it| it.id == one.id);
        let other = other.unwrap_or_else(|| panic!("{what}: {one:?} is not in {expected:#?}"));
        assert!(is_like(one.score, other.score), "{what}: {one:?} is not {other:?}");
        assert_eq!(one.via, other.via, "{what}: {one:?} is not {other:?}");
    }
}

/// The rows that a policy shows.
struct ShownRows<'a> {
    all: &'a [LinkingRow],
    visible: BTreeSet<i32>,
}

impl ShownRows<'_> {
    fn each(&self) -> impl Iterator<Item = &LinkingRow> {
        self.all.iter().filter(move |row| self.visible.contains(&row.id))
    }

    /// The rows to which a name leads: those that have it, or what it is short for, or what is short for it, if one of
    /// them says so.
    fn led_to(&self, name: &str) -> BTreeSet<i32> {
        let mut names = BTreeSet::from([name]);
        for (long, short) in self.each().filter_map(|row| row.alias.as_ref()) {
            if name == long || name == short {
                names.extend([long.as_str(), short.as_str()]);
            }
        }
        let has_name = |row: &&LinkingRow| row.names.iter().any(|it| names.contains(it.as_str()));
        self.each().filter(has_name).map(|row| row.id).collect()
    }

    /// Asserts that each row is seen, and that each way to it goes from another one that is seen, or from the question.
    fn assert_led_to(&self, found: &[WalkFinding], question: &str, what: &str) {
        for one in found {
            assert!(self.visible.contains(&one.id), "{what}: {one:?} is hidden");
            for name in &one.via {
                let mut led_to = self.led_to(name);
                assert!(led_to.remove(&one.id), "{what}: {name} does not lead to {one:?}");
                let is_asked = question.contains(name.as_str());
                assert!(is_asked || !led_to.is_empty(), "{what}: {name} leads from a hidden row");
            }
        }
    }

    /// How many names of the rows that were found hidden rows have as well.
    fn barred(&self, found: &[WalkFinding]) -> usize {
        let is_found = |row: &&LinkingRow| found.iter().any(|it| it.id == row.id);
        let is_hidden = |row: &&LinkingRow| !self.visible.contains(&row.id);
        let names = self.all.iter().filter(is_found).flat_map(|row| &row.names);
        let leads_away =
            |name: &&String| self.all.iter().filter(is_hidden).any(|row| row.names.contains(name));
        names.filter(leads_away).count()
    }

    /// Gives these rows, and no others, to the second pipeline.
    fn give(&self, owner: &mut Client) {
        owner.batch_execute("TRUNCATE shown, shown_rag_chunks, shown_rag_chunks_mentions").unwrap();
        let ids: Vec<i32> = self.visible.iter().copied().collect();
        for copy in COPIES {
            owner.execute(copy, &[&ids]).unwrap();
        }
        let given = count(owner, "SELECT count(*) FROM shown_rag_chunks");
        assert_eq!(usize::try_from(given), Ok(ids.len()));
    }
}

/// Paths from a name, and how likely each is.
fn paths(client: &mut Client, pipeline: &str, name: &str) -> Vec<(Vec<String>, f64)> {
    let rows = client.query(PATHS, &[&name, &pipeline]).unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn assert_same_paths(guest: &mut Client, owner: &mut Client, name: &str, what: &str) {
    let (found, expected) = (paths(guest, "link", name), paths(owner, "shown", name));
    let likely = |all: &[(Vec<String>, f64)]| all.iter().map(|it| it.1).collect::<Vec<_>>();
    let entities =
        |all: &[(Vec<String>, f64)]| all.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
    assert_eq!(entities(&found), entities(&expected), "{what}: paths from {name}");
    for (one, other) in likely(&found).into_iter().zip(likely(&expected)) {
        assert!((one - other).abs() < 1e-6, "{what}: {found:?} is not {expected:?}");
    }
}

/// A session of the owner, and one of a role that sees what the policy shows; both pipelines are there. No scan of a
/// vector index is to miss a row.
fn start(cluster: &Cluster, rows: &[LinkingRow]) -> (Client, Client) {
    let (mut owner, mut guest) = (cluster.connect(), cluster.connect());
    let values: Vec<String> = rows
        .iter()
        .map(|LinkingRow { id, tenant, body, .. }| format!("({id}, {tenant}, '{body}')"))
        .collect();
    owner
        .batch_execute(&format!(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE link (id integer PRIMARY KEY, tenant integer, body text);
             CREATE TABLE shown (id integer PRIMARY KEY, tenant integer, body text);
             INSERT INTO link VALUES {};
             CREATE ROLE guest; GRANT SELECT ON link TO guest;
             ALTER TABLE link ENABLE ROW LEVEL SECURITY;
             CREATE POLICY seen ON link USING (true);
             SET enable_indexscan = off",
            values.join(", ")
        ))
        .unwrap();
    owner.batch_execute(CREATE).unwrap();
    owner.batch_execute("CALL rag_run('link')").unwrap();
    let chunks = count(&mut owner, "SELECT count(*) FROM link_rag_chunks");
    assert_eq!(usize::try_from(chunks), Ok(rows.len()));
    let mentions = count(&mut owner, "SELECT count(*) FROM link_rag_chunks_mentions");
    let names: usize = rows.iter().map(|row| row.names.len()).sum();
    assert_eq!(usize::try_from(mentions), Ok(names), "each name is found, and nothing else");
    let aliases = "SELECT count(*) FROM link_rag_chunks_mentions WHERE alias_of IS NOT NULL";
    assert!(count(&mut owner, aliases) > 10);
    guest.batch_execute("SET ROLE guest; SET enable_indexscan = off").unwrap();
    (owner, guest)
}

#[test]
fn a_walk_comes_to_what_it_comes_to_without_the_hidden_rows() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut random = Random(number("PG_RAG_POLICY_SEED", 7));
    let all = rows(&mut random);
    let (mut owner, mut guest) = start(&cluster, &all);
    let vectors = "SELECT embedding::text FROM link_rag_chunks ORDER BY source_id";
    let vectors = owner.query(vectors, &[]).unwrap();
    let vectors: Vec<String> = vectors.iter().map(|row| row.get(0)).collect();
    let names: Vec<&String> = all.iter().flat_map(|row| &row.names).collect();
    let policies = number("PG_RAG_POLICIES", POLICIES);
    let (mut added, mut led, mut barred) = (0, 0, 0);
    for policy in 0..policies {
        let condition = condition(&mut random, 2);
        owner.batch_execute(&format!("ALTER POLICY seen ON link USING ({condition})")).unwrap();
        let visible = guest.query("SELECT id FROM link", &[]).unwrap();
        let visible = visible.iter().map(|row| row.get(0)).collect();
        let shown = ShownRows { all: &all, visible };
        shown.give(&mut owner);
        // From what is near to some row, hidden or not, and from a name that such a row has.
        let named = *random.pick(&names);
        for question in ["Who was that?".to_owned(), format!("Who was {named}?")] {
            let vector = random.pick(&vectors);
            let what = format!("policy {policy}, {condition}: {question}");
            let found = search(&mut guest, "link", &question, vector);
            assert_same(&found, &search(&mut owner, "shown", &question, vector), &what);
            shown.assert_led_to(&found, &question, &what);
            added += found.iter().filter(|it| it.is_by_graph).count();
            led += found.iter().filter(|it| !it.via.is_empty()).count();
            barred += shown.barred(&found);
        }
        assert_same_paths(&mut guest, &mut owner, named, &condition);
    }
    println!("{added} rows by walks alone, {led} by ways, from {barred} names of hidden rows none");
    let least = usize::try_from(policies).unwrap();
    assert!(added >= least && barred >= least, "walks add {added}, and {barred} ways are barred");
}
