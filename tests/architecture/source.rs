//! The project's files as the rules see them: Rust as tokens, everything else as lines.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The package's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file, by its path in the project.
pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file of the project.
pub struct SourceFile {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

impl SourceFile {
    fn read(path: &Path) -> SourceFile {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let relative = path.strip_prefix(root()).expect("a path below the root");
        SourceFile { path: relative.to_string_lossy().into_owned(), text }
    }

    /// The file's name without folder and ending.
    pub fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    pub fn is_below(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// A file of tests only: in a folder of tests, or `tests.rs` beside its subject.
    pub fn is_test(&self) -> bool {
        let mut folders = self.path.split('/').rev().skip(1);
        folders.any(|folder| ["tests", "pgrx-tests"].contains(&folder))
            || self.stem().ends_with("tests")
    }
}

/// All files below `folders` (files may be named too) with one of these endings, in order.
/// What is not there is left out.
pub fn files(folders: &[&str], endings: &[&str]) -> Vec<SourceFile> {
    let mut paths = Vec::new();
    for folder in folders {
        collect(&root().join(folder), &mut paths);
    }
    paths.sort();
    let wanted = |path: &&PathBuf| {
        let name = path.to_string_lossy();
        endings.iter().any(|ending| name.ends_with(ending))
    };
    paths.iter().filter(wanted).map(|path| SourceFile::read(path)).collect()
}

fn collect(path: &Path, paths: &mut Vec<PathBuf>) {
    if path.is_file() {
        paths.push(path.to_path_buf());
    } else if let Ok(entries) = fs::read_dir(path) {
        entries.flatten().for_each(|entry| collect(&entry.path(), paths));
    }
}

/// A statement of `sql/query/`, or a part of one.
pub struct Statement {
    /// The name of its file, without folder and ending.
    pub file: String,
    pub name: String,
    /// That of its name.
    pub line: usize,
    pub text: String,
}

impl Statement {
    /// As `query!` takes it.
    pub fn path(&self) -> String {
        format!("{}.{}", self.file, self.name)
    }
}

/// All statements of `sql/query/`.
pub fn statements() -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    for file in files(&["sql/query"], &[".sql"]) {
        for (number, line) in file.text.lines().enumerate() {
            let of_this_file = statements.last_mut().filter(|it| it.file == file.stem());
            match (line.strip_prefix("-- name: "), of_this_file) {
                (Some(name), _) => statements.push(Statement {
                    file: file.stem().to_owned(),
                    name: name.to_owned(),
                    line: number + 1,
                    text: String::new(),
                }),
                (None, Some(statement)) => statement.text.extend([line, "\n"]),
                (None, None) => {
                    let is_comment = line.is_empty() || line.starts_with("--");
                    assert!(is_comment, "{}:{}: no statement", file.path, number + 1);
                }
            }
        }
    }
    statements
}

/// What the tests of a file stand under: those that need no server, and those that run inside one.
const OF_TESTS: [&str; 2] = ["cfg(test)", "cfg(feature=\"pg_test\")"];

/// A Rust file, taken apart. What tests its own file ([`OF_TESTS`]) is kept apart too.
pub struct RustFile {
    pub file: SourceFile,
    /// Identifiers, punctuation and groups' ends, in order.
    pub tokens: Vec<Token>,
    /// String literals; doc comments are none.
    pub strings: Vec<Text>,
    pub functions: Vec<Function>,
    pub unsafe_blocks: Vec<UnsafeBlock>,
    /// Lines inside what only tests have.
    pub test_lines: usize,
}

pub struct Token {
    pub line: usize,
    pub text: String,
    pub in_test: bool,
}

pub struct Text {
    pub line: usize,
    /// As written, quotes included.
    pub text: String,
    pub in_test: bool,
    /// Inside the parentheses of `.hint(...)`.
    pub in_hint: bool,
}

pub struct Function {
    pub line: usize,
    pub name: String,
    /// Names of its attributes: `pg_extern`, `test`.
    pub attributes: Vec<String>,
    /// Lines between the braces.
    pub body: usize,
    /// Lines from `fn` to the closing brace.
    pub length: usize,
    pub in_test: bool,
}

/// `unsafe { ... }` or `unsafe impl`.
pub struct UnsafeBlock {
    pub line: usize,
    /// Whether a comment with the word SAFETY stands just above or just inside.
    pub is_explained: bool,
}

/// Every Rust file of the project.
pub fn rust_files() -> Vec<RustFile> {
    files(&["src", "tests", "pgrx-tests", "benches", "examples"], &[".rs"])
        .into_iter()
        .map(RustFile::parse)
        .collect()
}

impl RustFile {
    pub fn parse(file: SourceFile) -> RustFile {
        let stream: TokenStream =
            file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut rust = RustFile {
            file,
            tokens: Vec::new(),
            strings: Vec::new(),
            functions: Vec::new(),
            unsafe_blocks: Vec::new(),
            test_lines: 0,
        };
        let in_test = rust.file.is_test();
        rust.walk(stream, Place { in_test, in_hint: false });
        rust
    }

    pub fn path(&self) -> &str {
        &self.file.path
    }

    fn walk(&mut self, stream: TokenStream, place: Place) {
        let trees: Vec<TokenTree> = stream.into_iter().collect();
        let mut attributes: Vec<String> = Vec::new();
        for (index, tree) in trees.iter().enumerate() {
            let rest = &trees[index + 1..];
            match tree {
                TokenTree::Group(group) => {
                    if is_attribute(&trees[..index], group) {
                        attributes.push(compact(group.stream()));
                    }
                    self.enter(group, &trees[..index], &attributes, place);
                    if group.delimiter() == Delimiter::Brace {
                        attributes.clear();
                    }
                }
                TokenTree::Ident(ident) => {
                    let (word, line) = (ident.to_string(), ident.span().start().line);
                    match word.as_str() {
                        "fn" => self.function(line, rest, &attributes, place.in_test),
                        "unsafe" => self.unsafe_block(line, rest),
                        _ => {}
                    }
                    self.tokens.push(Token { line, text: word, in_test: place.in_test });
                }
                TokenTree::Punct(punct) => {
                    if punct.as_char() == ';' {
                        attributes.clear();
                    }
                    let (line, text) = (punct.span().start().line, punct.to_string());
                    self.tokens.push(Token { line, text, in_test: place.in_test });
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if text.contains('"') {
                        let line = literal.span().start().line;
                        let Place { in_test, in_hint } = place;
                        self.strings.push(Text { line, text, in_test, in_hint });
                    }
                }
            }
        }
    }

    /// Goes into a group; doc comments, which are attributes here, are left out.
    fn enter(&mut self, group: &Group, before: &[TokenTree], attributes: &[String], place: Place) {
        let attribute = is_attribute(before, group);
        if attribute && compact(group.stream()).starts_with("doc=") {
            return;
        }
        let mut inside = place;
        let of_test = attributes.iter().any(|attribute| OF_TESTS.contains(&attribute.as_str()));
        if of_test && group.delimiter() == Delimiter::Brace && !place.in_test {
            inside.in_test = true;
            self.test_lines += lines(group);
        }
        inside.in_hint |= matches!(before.last(), Some(TokenTree::Ident(name)) if *name == "hint");
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => ("", ""),
        };
        let in_test = inside.in_test;
        let line = group.span_open().start().line;
        self.tokens.push(Token { line, text: open.to_owned(), in_test });
        self.walk(group.stream(), inside);
        let line = group.span_close().start().line;
        self.tokens.push(Token { line, text: close.to_owned(), in_test });
    }

    fn function(&mut self, line: usize, rest: &[TokenTree], attributes: &[String], in_test: bool) {
        let Some(TokenTree::Ident(name)) = rest.first() else { return };
        let body = rest.iter().find_map(|tree| match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
            TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
            _ => None,
        });
        let Some(Some(body)) = body else { return };
        let name_of =
            |attribute: &String| attribute.split(['(', '=']).next().unwrap_or_default().to_owned();
        self.functions.push(Function {
            line,
            name: name.to_string(),
            attributes: attributes.iter().map(name_of).collect(),
            body: lines(body).saturating_sub(2),
            length: body.span_close().start().line - line + 1,
            in_test,
        });
    }

    fn unsafe_block(&mut self, line: usize, rest: &[TokenTree]) {
        let is_block = match rest.first() {
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            Some(TokenTree::Ident(word)) => *word == "impl",
            _ => false,
        };
        if is_block {
            let is_explained = has_safety_comment(&self.file.text, line);
            self.unsafe_blocks.push(UnsafeBlock { line, is_explained });
        }
    }
}

#[derive(Clone, Copy)]
struct Place {
    in_test: bool,
    in_hint: bool,
}

/// `#[...]` or `#![...]`.
fn is_attribute(before: &[TokenTree], group: &Group) -> bool {
    let sign = |tree: &TokenTree, sign| matches!(tree, TokenTree::Punct(p) if p.as_char() == sign);
    group.delimiter() == Delimiter::Bracket
        && match before {
            [.., last] if sign(last, '#') => true,
            [.., hash, last] => sign(hash, '#') && sign(last, '!'),
            _ => false,
        }
}

fn compact(stream: TokenStream) -> String {
    stream.to_string().replace(' ', "")
}

/// From the opening to the closing delimiter.
fn lines(group: &Group) -> usize {
    group.span_close().start().line - group.span_open().start().line + 1
}

/// How far above its block a SAFETY comment may begin: a comment of some lines and a statement
/// of some lines whose last is the block.
const REACH: usize = 6;

fn has_safety_comment(text: &str, line: usize) -> bool {
    let first = line.saturating_sub(REACH + 1);
    // `line` counts from 1, so this is the block's line and the one below.
    text.lines().skip(first).take(line - first + 1).any(|line| line.contains("SAFETY:"))
}
