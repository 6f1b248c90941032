//! What of a statement PostgreSQL looks up in the search path: a small lexer, and what it finds.

/// A piece of SQL, as far as names and operators are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name or a keyword, in lower case.
    Word(String),
    /// An operator.
    Operator(String),
    /// `::`
    Cast,
    /// A literal, a parameter or a placeholder.
    Value,
    /// Anything else, such as a parenthesis.
    Sign(char),
}

/// Characters of operators.
const OPERATOR: &str = "+-*/<>=~!@#%^&|`?";

/// Words before a parenthesis that are no functions: syntax, and what PostgreSQL itself puts into
/// pg_catalog.
const SYNTAX: &[&str] = &[
    "all", "and", "any", "array", "as", "by", "cast", "check", "coalesce", "conflict", "exists",
    "extract", "filter", "from", "greatest", "in", "key", "least", "lateral", "not", "on",
    "options", "or", "operator", "over", "row", "select", "set", "union", "unique", "using",
    "values", "when", "where", "with",
];

/// Words after which stands the name of a relation and the list of its columns.
const BEFORE_COLUMNS: &[&str] = &["as", "into", "recursive", "table", "using"];

/// Types that are keywords, which are always those of pg_catalog.
const TYPES: &[&str] = &[
    "bigint",
    "bit",
    "boolean",
    "char",
    "character",
    "decimal",
    "double",
    "float",
    "int",
    "integer",
    "interval",
    "numeric",
    "real",
    "smallint",
    "time",
    "timestamp",
    "varchar",
];

/// Keywords that are operators, and bound by name.
const WORDED: &[&str] = &["between", "ilike", "like", "nullif", "overlaps", "similar"];

/// What of a statement, or a part of one, is looked up in the search path, each with its line.
pub fn looked_up(sql: &str) -> Vec<(usize, String)> {
    let tokens = tokens(sql);
    let found = (0..tokens.len()).filter_map(|place| {
        let what = unqualified(&tokens, place)?;
        Some((tokens[place].0, what))
    });
    found.collect()
}

fn unqualified(tokens: &[(usize, Token)], place: usize) -> Option<String> {
    let at = |distance: isize| {
        let index = place.checked_add_signed(distance)?;
        tokens.get(index).map(|(_, token)| token)
    };
    let word = |distance: isize| match at(distance) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let follows = |sign: char| at(-1) == Some(&Token::Sign(sign));
    match at(0)? {
        Token::Operator(_) if follows('.') => None,
        // All columns, or all arguments; and the name of an argument.
        Token::Operator(star) if star == "*" && follows('(') => None,
        Token::Operator(arrow) if arrow == "=>" => None,
        Token::Operator(name) if name == "=" && assigns(&tokens[..place]) => None,
        Token::Operator(name) => Some(name.clone()),
        Token::Cast => match at(1)? {
            Token::Word(name) if TYPES.contains(&name.as_str()) => None,
            Token::Word(name) if at(2) != Some(&Token::Sign('.')) => Some(format!("::{name}")),
            _ => None,
        },
        Token::Word(name) => {
            let is_called = at(1) == Some(&Token::Sign('('));
            let is_worded = WORDED.contains(&name.as_str())
                || name == "in" && is_called
                || name == "case" && word(1) != "when"
                || name == "distinct" && word(1) == "from";
            let is_function = is_called
                && !follows('.')
                && !SYNTAX.contains(&name.as_str())
                && !BEFORE_COLUMNS.contains(&word(-1));
            (is_worded || is_function).then(|| name.clone())
        }
        Token::Value | Token::Sign(_) => None,
    }
}

/// Whether an `=` after these tokens gives something a value: in SET of an UPDATE, and among the
/// options of a relation.
fn assigns(before: &[(usize, Token)]) -> bool {
    let mut depth = 0;
    for (place, (_, token)) in before.iter().enumerate().rev() {
        match token {
            Token::Sign(')') => depth += 1,
            Token::Sign('(') if depth == 0 => {
                let opened_by = place.checked_sub(1).map(|place| &before[place].1);
                return opened_by == Some(&Token::Word("with".to_owned()));
            }
            Token::Sign('(') => depth -= 1,
            Token::Word(word) if depth == 0 => match word.as_str() {
                "set" => return true,
                "select" | "where" | "on" | "when" | "from" | "using" | "and" | "or" => {
                    return false;
                }
                _ => {}
            },
            _ => {}
        }
    }
    false
}

fn tokens(sql: &str) -> Vec<(usize, Token)> {
    let (mut found, mut rest) = (Vec::new(), sql);
    while let Some(first) = rest.chars().next() {
        let line = sql[..sql.len() - rest.len()].matches('\n').count() + 1;
        let (token, length) = next(first, rest);
        found.extend(token.map(|token| (line, token)));
        rest = &rest[length..];
    }
    found
}

/// The token at the beginning of a text, and its length; none for white space and comments.
fn next(first: char, rest: &str) -> (Option<Token>, usize) {
    let until = |text: &str, end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
    let while_ = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        _ if rest.starts_with("--") => (None, until(rest, "\n")),
        _ if rest.starts_with("::") => (Some(Token::Cast), 2),
        // A doubled quote ends one literal and begins another, which is as good.
        '\'' => (Some(Token::Value), 1 + until(&rest[1..], "'")),
        '"' => (Some(Token::Word(String::new())), 1 + until(&rest[1..], "\"")),
        '{' => (Some(Token::Value), until(rest, "}")),
        '$' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            (Some(Token::Value), 1 + rest[1..].find(|c| !in_name(c)).unwrap_or(rest.len() - 1))
        }
        '$' => {
            let mark = until(&rest[1..], "$") + 1;
            (Some(Token::Value), mark + until(&rest[mark..], &rest[..mark]))
        }
        c if c.is_ascii_digit() => (Some(Token::Value), while_(|c| c.is_ascii_digit() || c == '.')),
        c if in_name(c) => {
            let length = while_(|c| c.is_alphanumeric() || c == '_');
            (Some(Token::Word(rest[..length].to_lowercase())), length)
        }
        c if OPERATOR.contains(c) => {
            let length = while_(|c| OPERATOR.contains(c));
            (Some(Token::Operator(rest[..length].to_owned())), length)
        }
        c if c.is_whitespace() => (None, c.len_utf8()),
        c => (Some(Token::Sign(c)), c.len_utf8()),
    }
}

#[test]
fn names_without_a_schema_are_found() {
    let check = |sql: &str, expected: &[&str]| {
        let found: Vec<String> = looked_up(sql).into_iter().map(|(_, what)| what).collect();
        assert_eq!(found, expected, "{sql}");
    };
    check("SELECT a FROM rag.t AS x (a, b) WHERE a = 1 -- a < b", &["="]);
    check("SELECT a OPERATOR(pg_catalog.=) '= < x(''='')', {hole} OPERATOR({rag}.<@>) $1", &[]);
    check("UPDATE t SET a = b, c = ROW(1) WHERE d = 2", &["="]);
    check("UPDATE t SET a = (SELECT x FROM y WHERE x <> 1) + 1", &["<>", "+"]);
    check("CREATE TABLE t (a int) WITH (fillfactor = 50)", &[]);
    check("SELECT max(a), pg_catalog.count(*), coalesce(a, 1), t.* FROM t", &["max"]);
    check("SELECT a::text, b::real[], c::pg_catalog.oid, d::{type}, 1::x.y", &["::text"]);
    check(
        "SELECT a IN (1), b BETWEEN 1 AND 2, c IS NOT DISTINCT FROM d",
        &["in", "between", "distinct"],
    );
    check(
        "SELECT CASE a WHEN 1 THEN 2 END, CASE WHEN b THEN NULLIF(c, d) END",
        &["case", "nullif"],
    );
    check("SELECT DISTINCT ON (a) a FROM t JOIN u ON (t.a) < u.b", &["<"]);
    check("SELECT $tag$ a = b $tag$, make(secs => $1)", &["make"]);
    assert_eq!(looked_up("SELECT 1\n  + 2"), [(2, "+".to_owned())]);
}
