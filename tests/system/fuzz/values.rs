//! Values of each type, usual ones and others.

/// Texts that mean something to one function or another, and texts that should mean nothing.
const TEXTS: &[&str] = &[
    "''",
    "' '",
    "'docs'",
    "'public.docs'",
    "'plain'",
    "'nosuch'",
    "'auto'",
    "'hybrid'",
    "'dense'",
    "'lexical'",
    "'recursive'",
    "'sentence'",
    "'fixed'",
    "'semantic'",
    "'markdown'",
    "'html'",
    "'code'",
    "'page'",
    "'hierarchical'",
    "'extractive'",
    "'late_interaction'",
    "'reader'",
    "'all-minilm-l6-v2'",
    "'llm'",
    "'words'",
    "'none'",
    "'prf'",
    "'hyde'",
    "'multi_query'",
    "'query'",
    "'passage'",
    "'async'",
    "'sync'",
    "'manual'",
    "'off'",
    "'body'",
    "'id'",
    "'tenant'",
    "'body || tenant'",
    "'(SELECT 1)'",
    "'1) --'",
    "'\"; DROP TABLE docs; --'",
    "'cases'",
    "'standard'",
    "'{{ question }}{% for x in range(9) %}{{ x }}{% endfor %}'",
    "'text/plain'",
    "'application/pdf'",
    "'../../../etc/passwd'",
    "'/dev/zero'",
    "E'\\x01\\n\\t\\x7f'",
    "U&'\\200B\\FEFF\\+01F600 \\0301\\0301'",
    "'[1][2, 3][1-99]. No. `5` (a [4'",
    "'How do I reset a password?'",
];

const INTEGERS: &[&str] =
    &["0", "1", "2", "3", "5", "10", "100", "256", "1000000", "-1", "2147483647", "-2147483648"];

const INTERVALS: &[&str] = &[
    "'0'",
    "'-1 second'",
    "'1 microsecond'",
    "'100 ms'",
    "'1 month'",
    "'170000000 years'",
    "'-170000000 years'",
];

const RELATIONS: &[&str] = &[
    "0",
    "4294967295",
    "'docs'::regclass",
    "'plain'::regclass",
    "'docs_rag'::regclass",
    "'docs_rag_chunks'::regclass",
    "'docs_pkey'::regclass",
    "'pg_class'::regclass",
    "'rag.queue'::regclass",
    "'rag.change'::regclass",
    "'pg_toast.pg_toast_1255'::regclass",
];

const LISTS: &[&str] = &[
    "'{}'",
    "'{NULL}'",
    "'{NULL,a}'",
    "'{a,b}'",
    "'{{a},{b}}'",
    "'[0:1]={a,b}'",
    "'{tenant}'",
    "'{tenant,views}'",
    "'{id}'",
    "'{body,body}'",
    "'{\"\"}'",
    "array_fill(NULL::text, ARRAY[300])",
    "ARRAY['A link is sent by mail.', '', 'Row 7']",
];

const INTEGER_LISTS: &[&str] = &[
    "'{}'",
    "'{NULL}'",
    "'{1}'",
    "'{1,3,5}'",
    "'{-1}'",
    "'{{1},{2}}'",
    "'{2147483647}'",
    "'{3,3}'",
];

const DOCUMENTS: &[&str] = &[
    "''",
    "'\\x00'",
    "'\\xfffe4100'",
    "'\\xff\\xff'",
    "'%PDF-1.7'",
    "'%PDF-1.4\\n1 0 obj<<>>endobj'",
    "'\\x504b0304'",
    "'<html><p>a<table><tr>'",
    "'# A'",
    "decode(repeat('c3', 1000), 'hex')",
];

const VECTORS_OF_WORDS: &[&str] = &[
    "''",
    "'a'",
    "'a:1A b:2'",
    "'reset password'::tsvector",
    "to_tsvector('english', 'reset password')",
];

const QUERIES_OF_WORDS: &[&str] = &[
    "''",
    "'a'",
    "'!a'",
    "'a:*'",
    "'a <-> b'",
    "'a <16384> b'",
    "'(a | !b) & !(c & d)'",
    "'passwords:*A'",
];

const WEIGHTED: &[&str] = &[
    "ROW(NULL, NULL, NULL)",
    "ROW(NULL, 'a', '{}')",
    "ROW(0, 'reset & a', '{1,0.5,9,99,1,1}')",
    "ROW(NULL, 'a', '{NaN,-1,Infinity,NULL,1}')",
];
const RANKINGS: &[&str] = &[
    "ROW(NULL, NULL)",
    "ROW(0, 'a')",
    "ROW('docs'::regclass, 'a')",
    "ROW('docs_rag_chunks_tsv_idx'::regclass, NULL)",
    "ROW('docs_rag_chunks_tsv_idx'::regclass, 'reset & !a')",
    "ROW('docs_rag_chunks_tsv_idx'::regclass, '')",
];

/// Values of a type; `NULL` is a value of each.
pub fn values(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" | "name" => TEXTS,
        "integer" => INTEGERS,
        "bigint" => &["0", "1", "-1", "42", "9223372036854775807", "-9223372036854775808"],
        "double precision" | "real" | "numeric" => {
            &["0", "-0.0", "0.5", "1", "-1", "'NaN'", "'Infinity'", "'-Infinity'", "1e30", "1e-30"]
        }
        "boolean" => &["true", "false"],
        "interval" => INTERVALS,
        "regclass" | "oid" => RELATIONS,
        "regprocedure" => {
            &["0", "'pg_sleep(double precision)'", "'lower(text)'", "'pg_client_encoding()'"]
        }
        "text[]" | "name[]" => LISTS,
        "integer[]" => INTEGER_LISTS,
        "bytea" => DOCUMENTS,
        "regconfig" => &["'simple'", "'english'"],
        "tsvector" => VECTORS_OF_WORDS,
        "tsquery" => QUERIES_OF_WORDS,
        "rag_bm25_query" => RANKINGS,
        "rag.bm25_weighted_query" => WEIGHTED,
        "vector" => &[
            "'[1]'",
            "'[0,0]'",
            "array_fill(0.5, ARRAY[384])::vector",
            "array_fill(0, ARRAY[16000])::vector",
        ],
        "uuid" => &["'00000000-0000-0000-0000-000000000000'", "gen_random_uuid()"],
        "timestamp with time zone" => &["'infinity'", "'-infinity'", "now()"],
        _ => &["NULL"],
    }
}

/// Values of megabytes or of great depth; rare, since they take their time.
pub fn huge(kind: &str) -> &'static [&'static str] {
    match kind {
        "text" => &[
            "repeat('word ', 100000)",
            "repeat('(', 300000)",
            "repeat('a. ', 50000)",
            "repeat(chr(769), 100000)",
            "repeat('{{', 100000)",
            "repeat('[1', 100000)",
            "repeat('`', 100000)",
            "repeat(chr(55203), 100000)",
        ],
        "text[]" => &[
            "array_fill('word'::text, ARRAY[50000])",
            "array_fill(repeat('word ', 100), ARRAY[100])",
        ],
        "jsonb" | "json" => &[
            "(repeat('[', 5000) || repeat(']', 5000))::@",
            "('[' || repeat('{\"question\": \"How?\"},', 2000) || '1]')::@",
            "('{\"a\": \"' || repeat('x', 300000) || '\"}')::@",
        ],
        "bytea" => {
            &["decode(repeat('00', 300000), 'hex')", "convert_to(repeat('<div>', 20000), 'UTF8')"]
        }
        "integer[]" => &["array_fill(1, ARRAY[50000])"],
        "tsquery" => &["(repeat('a & ', 5000) || 'b')::tsquery"],
        _ => &["NULL"],
    }
}
