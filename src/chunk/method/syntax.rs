//! Where does something begin in this source code, and what is it called?
//!
//! tree-sitter parses; it makes a tree of anything, also of code with errors in it. A tree has
//! three kinds of nodes that matter here: scopes, which have a name (classes, functions),
//! blocks, whose children are units (the file itself, bodies), and notes (comments,
//! attributes), which belong to what follows them.
//!
//! What is parsed is not trusted. The steps of the parser are counted and bounded, trees are walked
//! without recursion, and what is known to be slow is not parsed. All the same there is code that
//! takes long, and the scanners of some languages are written by hand in C; so ragd has this done
//! in a process of its own, with a limit of time.

use std::ops::ControlFlow;
use std::ops::Range;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::{CutPlan, NamedScope, Section, skip_white_space};
use crate::chunk::language::Language;
use crate::text::line::{LineKind, lines, single_line};

/// Longest document that is parsed, in bytes. A tree takes about a hundred bytes for each.
const LONGEST: usize = 1 << 20;

/// Looks at the parser's progress, one each hundred steps: so many, and one more for each so
/// many bytes. Ordinary code needs one for about 300 bytes.
const LOOKS: usize = 2_000;
const BYTES_PER_LOOK: usize = 8;

/// Scopes inside each other that have names.
const DEEPEST: usize = 8;

/// Most lines in a row with nothing on them. Python's scanner looks through all of them again
/// and again, and no file has so many.
const MOST_EMPTY_LINES: usize = 200;

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// Kinds of units, largest first.
const ITEM: usize = 0;
const MEMBER: usize = 1;
const STATEMENT: usize = 2;
const NESTED: usize = 3;
const LEVELS: usize = 4;

/// What a scope is, as far as its body is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    /// Holds items: a namespace, a module.
    Space,
    /// Holds members: a class, a trait.
    Class,
    /// Holds statements: a function or method.
    Function,
}

/// Where in the tree a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NodePosition {
    /// In the file itself or a namespace.
    Top,
    /// Directly in a class.
    Class,
    /// Directly in a function.
    Function,
    /// In a block of a function.
    Deeper,
}

impl NodePosition {
    fn level(self) -> usize {
        match self {
            NodePosition::Top => ITEM,
            NodePosition::Class => MEMBER,
            NodePosition::Function => STATEMENT,
            NodePosition::Deeper => NESTED,
        }
    }

    /// Inside of a scope that stands here.
    fn inside(self, kind: ScopeKind) -> NodePosition {
        match (self, kind) {
            (NodePosition::Top, ScopeKind::Space) => NodePosition::Top,
            (NodePosition::Top | NodePosition::Class, ScopeKind::Class) => NodePosition::Class,
            (NodePosition::Top | NodePosition::Class, ScopeKind::Function | ScopeKind::Space) => {
                NodePosition::Function
            }
            (NodePosition::Function | NodePosition::Deeper, _) => NodePosition::Deeper,
        }
    }
}

/// Kind of a node that is a scope in any of the languages, and the word before its name.
fn scope(node: &str) -> Option<(ScopeKind, &'static str)> {
    let found = match node {
        // Python
        "class_definition" => (ScopeKind::Class, "class"),
        "function_definition" => (ScopeKind::Function, ""),
        // JavaScript and TypeScript
        "class_declaration" | "abstract_class_declaration" | "class" => (ScopeKind::Class, "class"),
        "function_declaration" | "generator_function_declaration" => (ScopeKind::Function, ""),
        "method_definition" => (ScopeKind::Function, ""),
        "internal_module" | "module" => (ScopeKind::Space, "namespace"),
        "type_alias_declaration" => (ScopeKind::Class, "type"),
        "variable_declarator" => (ScopeKind::Function, ""),
        // Rust
        "mod_item" => (ScopeKind::Space, "mod"),
        "struct_item" => (ScopeKind::Class, "struct"),
        "enum_item" => (ScopeKind::Class, "enum"),
        "union_item" => (ScopeKind::Class, "union"),
        "trait_item" => (ScopeKind::Class, "trait"),
        "impl_item" => (ScopeKind::Class, "impl"),
        "function_item" => (ScopeKind::Function, "fn"),
        "macro_definition" => (ScopeKind::Function, "macro"),
        // Go
        "method_declaration" => (ScopeKind::Function, ""),
        "type_spec" => (ScopeKind::Class, "type"),
        // Java
        "interface_declaration" => (ScopeKind::Class, "interface"),
        "annotation_type_declaration" => (ScopeKind::Class, "@interface"),
        "enum_declaration" => (ScopeKind::Class, "enum"),
        "record_declaration" => (ScopeKind::Class, "record"),
        "constructor_declaration" => (ScopeKind::Function, ""),
        // C and C++
        "namespace_definition" => (ScopeKind::Space, "namespace"),
        "class_specifier" => (ScopeKind::Class, "class"),
        "struct_specifier" => (ScopeKind::Class, "struct"),
        "union_specifier" => (ScopeKind::Class, "union"),
        "enum_specifier" => (ScopeKind::Class, "enum"),
        _ => return None,
    };
    Some(found)
}

/// Whether the children of a node are units.
fn is_block(node: &str) -> bool {
    matches!(
        node,
        "program" // JavaScript, TypeScript, Java
            | "source_file" // Rust, Go
            | "translation_unit" // C, C++
            | "block"
            | "statement_block"
            | "statement_list"
            | "compound_statement"
            | "declaration_list"
            | "class_body"
            | "interface_body"
            | "annotation_type_body"
            | "enum_body"
            | "enum_body_declarations"
            | "enum_variant_list"
            | "enumerator_list"
            | "constructor_body"
            | "object_type"
            | "field_declaration_list"
            | "switch_body"
            | "switch_block"
            | "match_block"
            | "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "linkage_specification"
    )
}

/// Whether a node belongs to what follows it.
fn is_note(node: &str) -> bool {
    matches!(
        node,
        "comment"
            | "line_comment"
            | "block_comment"
            | "attribute_item"
            | "decorator"
            | "access_specifier"
    )
}

/// Items, members, statements, lines; `None` where the parser gives up.
pub(super) fn plan(document: &str, language: Language) -> Option<CutPlan> {
    let tree = parse(document, language)?;
    let mut outline =
        SyntaxOutline { document, language, levels: Default::default(), scopes: Vec::new() };
    outline.walk(tree.root_node());
    let SyntaxOutline { levels, scopes, .. } = outline;
    let mut levels = Vec::from(levels);
    for level in &mut levels {
        level.sort_unstable();
        level.dedup();
    }
    levels.push(line_starts(document));
    let sections = vec![Section { range: 0..document.len(), heading: None }];
    Some(CutPlan { sections, levels, scopes: in_order(scopes), whole_words: true })
}

/// The beginnings of all lines that are not blank.
fn line_starts(document: &str) -> Vec<usize> {
    let visible = lines(document).filter(|line| line.kind != LineKind::Blank);
    visible.map(|line| skip_white_space(document, line.range.start)).collect()
}

fn parse(document: &str, language: Language) -> Option<Tree> {
    if document.len() > LONGEST || has_long_gap(document) {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)).ok()?;
    let mut looks = LOOKS + document.len() / BYTES_PER_LOOK;
    let mut look = |_: &tree_sitter::ParseState| {
        looks = looks.saturating_sub(1);
        if looks == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut look);
    let bytes = document.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// Whether there are more lines in a row than [`MOST_EMPTY_LINES`] with nothing on them but white
/// space and the mark that joins lines.
fn has_long_gap(document: &str) -> bool {
    let mut empty = 0;
    for line in document.split(['\n', '\r']) {
        let is_empty = line.chars().all(|character| character.is_whitespace() || character == '\\');
        empty = if is_empty { empty + 1 } else { 0 };
        if empty > MOST_EMPTY_LINES {
            return true;
        }
    }
    false
}

fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
    }
    .into()
}

/// What a tree comes to.
struct SyntaxOutline<'a> {
    document: &'a str,
    language: Language,
    levels: [Vec<usize>; LEVELS],
    scopes: Vec<NamedScope>,
}

/// A node whose children are to be looked at.
struct Visit<'tree> {
    node: Node<'tree>,
    place: NodePosition,
    scope: Option<usize>,
    depth: usize,
}

impl SyntaxOutline<'_> {
    fn walk(&mut self, root: Node<'_>) {
        let mut cursor = root.walk();
        let mut waiting =
            vec![Visit { node: root, place: NodePosition::Top, scope: None, depth: 0 }];
        while let Some(visit) = waiting.pop() {
            let is_root = visit.node == root;
            let children: Vec<Node<'_>> = visit.node.named_children(&mut cursor).collect();
            // Go has a list inside of a block.
            let has_list = children.iter().any(|child| child.kind() == "statement_list");
            let is_units = is_root || is_block(visit.node.kind()) && !has_list;
            if is_units {
                self.add_units(&children, visit.place.level(), is_root);
            }
            // A block in a function is one of its units, and what is in it lies deeper.
            let place = match visit.place {
                NodePosition::Function if is_units => NodePosition::Deeper,
                place => place,
            };
            // On a single line there is nothing to cut at.
            let is_long = |node: &Node<'_>| node.start_position().row < node.end_position().row;
            for node in children.into_iter().filter(is_long) {
                waiting.push(self.enter(node, place, &visit));
            }
        }
    }

    /// What is below `node`, which may be a scope.
    fn enter<'tree>(
        &mut self,
        node: Node<'tree>,
        place: NodePosition,
        outer: &Visit<'tree>,
    ) -> Visit<'tree> {
        let mut visit = Visit { node, place, scope: outer.scope, depth: outer.depth };
        let Some((kind, word)) = scope(node.kind()) else { return visit };
        if node.kind() == "variable_declarator" && !holds_function(node) {
            return visit;
        }
        visit.place = outer.place.inside(kind);
        if let Some(name) = self.name(node, word)
            && visit.depth < DEEPEST
        {
            visit.scope = Some(self.scopes.len());
            visit.depth += 1;
            self.scopes.push(NamedScope { range: node.byte_range(), name, outer: outer.scope });
        }
        visit
    }

    /// Each child begins a unit, unless it stands on the line of the one before, or notes
    /// before it have begun it. The first one stays with the head of its block, if it has one.
    fn add_units(&mut self, children: &[Node<'_>], level: usize, has_first: bool) {
        let mut before: Option<&Node<'_>> = None;
        for node in children {
            let begins = before.map_or(has_first, |before| {
                let rows = node.start_position().row.saturating_sub(before.end_position().row);
                rows > 1 || rows == 1 && !is_note(before.kind())
            });
            if begins {
                self.levels[level].push(node.start_byte());
            }
            before = Some(node);
        }
    }

    /// What a scope is called: the word of its language and its name.
    fn name(&self, node: Node<'_>, word: &str) -> Option<String> {
        let text = |node: Node<'_>| beginning(&self.document[node.byte_range()]);
        let name = match node.kind() {
            "impl_item" => {
                let of_type = text(node.child_by_field_name("type")?);
                match node.child_by_field_name("trait") {
                    Some(of_trait) => format!("{} for {of_type}", text(of_trait)),
                    None => of_type,
                }
            }
            "method_declaration" if self.language == Language::Go => {
                let receiver = node.child_by_field_name("receiver").map(text).unwrap_or_default();
                format!("{receiver} {}", text(node.child_by_field_name("name")?))
            }
            _ => match node.child_by_field_name("name") {
                Some(name) => text(name),
                None => text(declared(node)?),
            },
        };
        let word = match (word, self.language, node.kind()) {
            ("", Language::Python, _) => "def",
            ("", Language::Go, _) => "func",
            ("", _, "function_declaration" | "generator_function_declaration") => "function",
            (word, _, _) => word,
        };
        let name = if word.is_empty() { name } else { format!("{word} {name}") };
        Some(name.chars().take(LONGEST_NAME).collect())
    }
}

/// Whether a variable of JavaScript holds a function or a class, so that its name is theirs.
fn holds_function(node: Node<'_>) -> bool {
    node.child_by_field_name("value").is_some_and(|value| {
        let kinds = ["arrow_function", "function_expression", "generator_function", "class"];
        kinds.contains(&value.kind())
    })
}

/// The name that a declaration of C declares, below its stars and parentheses.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = node.child_by_field_name("declarator")?;
    // Declarators lie as deep in each other as their author likes.
    for _ in 0..32 {
        match inner.child_by_field_name("declarator") {
            Some(next) => inner = next,
            None => return Some(inner),
        }
    }
    None
}

/// The beginning of `text` on one line; longer than a name may be.
fn beginning(text: &str) -> String {
    single_line(&text[..text.floor_char_boundary(4 * LONGEST_NAME)])
}

/// `scopes` in the order of their beginnings, outer ones first.
fn in_order(scopes: Vec<NamedScope>) -> Vec<NamedScope> {
    let mut order: Vec<usize> = (0..scopes.len()).collect();
    let key = |number: &usize| {
        let Range { start, end } = scopes[*number].range;
        (start, std::cmp::Reverse(end), *number)
    };
    order.sort_unstable_by_key(key);
    let mut places = vec![0; scopes.len()];
    for (place, number) in order.iter().enumerate() {
        places[*number] = place;
    }
    let moved = |number: &usize| {
        let NamedScope { range, name, outer } = scopes[*number].clone();
        NamedScope { range, name, outer: outer.map(|outer| places[outer]) }
    };
    order.iter().map(moved).collect()
}

#[cfg(test)]
#[path = "syntax_tests.rs"]
mod tests;
