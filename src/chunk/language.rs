//! What is this source code written in?
//!
//! A guess for callers that do not say: each language has beginnings of lines that are typical of
//! it, and the one whose are met most often in the first lines is taken.

use serde::{Deserialize, Serialize};

/// The languages whose syntax is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript, with JSX.
    JavaScript,
    /// TypeScript without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Rust.
    Rust,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
}

/// Lines that are looked at.
const LINES: usize = 300;

/// Beginnings of lines, without indentation, by language. The longest that fits a line counts,
/// for all languages that have it: "export " for two, "export interface " for one of them.
const BEGINNINGS: &[(Language, &[&str])] = &[
    (
        Language::Python,
        &[
            "def ",
            "class ",
            "import ",
            "from ",
            "elif ",
            "except",
            "with ",
            "async def ",
            "self.",
            "raise ",
            "@",
            "\"\"\"",
            "#!/usr/bin/env python",
            "#!/usr/bin/python",
            "if __name__",
            "return ",
        ],
    ),
    (
        Language::JavaScript,
        &[
            "const ",
            "let ",
            "var ",
            "function ",
            "async function ",
            "export ",
            "import ",
            "module.exports",
            "class ",
            "});",
            "return ",
            "constructor(",
            "this.",
            "'use strict'",
        ],
    ),
    (
        Language::TypeScript,
        &[
            "const ",
            "let ",
            "function ",
            "async function ",
            "export ",
            "import ",
            "class ",
            "});",
            "return ",
            "constructor(",
            "this.",
            "interface ",
            "type ",
            "enum ",
            "export interface ",
            "export type ",
            "export enum ",
            "export abstract ",
            "readonly ",
            "private ",
            "public ",
            "protected ",
            "declare ",
            "namespace ",
        ],
    ),
    (
        Language::Rust,
        &[
            "fn ",
            "pub ",
            "use ",
            "mod ",
            "impl ",
            "impl<",
            "let ",
            "struct ",
            "enum ",
            "trait ",
            "match ",
            "#[",
            "#![",
            "///",
            "//!",
            "pub(crate) ",
            "where",
            "unsafe ",
        ],
    ),
    (
        Language::Go,
        &[
            "func ",
            "package ",
            "type ",
            "import (",
            "import \"",
            "if err ",
            "defer ",
            "go ",
            "var (",
            "return ",
            "for ",
        ],
    ),
    (
        Language::Java,
        &[
            "package ",
            "import ",
            "public ",
            "private ",
            "protected ",
            "@Override",
            "class ",
            "interface ",
            "return ",
            "throw ",
            "static ",
            "final ",
            "/**",
        ],
    ),
    (
        Language::C,
        &[
            "#include",
            "#define",
            "#if",
            "#endif",
            "#ifdef",
            "#ifndef",
            "static ",
            "typedef ",
            "struct ",
            "return ",
            "int ",
            "void ",
            "char ",
            "unsigned ",
            "const ",
            "/*",
        ],
    ),
    (
        Language::Cpp,
        &[
            "#include",
            "#define",
            "#if",
            "#endif",
            "#ifdef",
            "#ifndef",
            "static ",
            "struct ",
            "return ",
            "int ",
            "void ",
            "const ",
            "namespace ",
            "template",
            "using ",
            "class ",
            "public:",
            "private:",
            "protected:",
            "std::",
            "auto ",
            "virtual ",
            "constexpr ",
        ],
    ),
];

impl Language {
    /// The language that `document` seems to be written in.
    pub fn guess(document: &str) -> Option<Language> {
        let mut counts = [0usize; BEGINNINGS.len()];
        for line in document.lines().take(LINES).map(str::trim) {
            let longest = |(language, beginnings): &(Language, &[&str])| {
                let fits = beginnings.iter().filter(|beginning| line.starts_with(**beginning));
                let fits = fits.filter(|_| language.ends(line));
                fits.map(|beginning| beginning.len()).max().unwrap_or(0)
            };
            let lengths: Vec<usize> = BEGINNINGS.iter().map(longest).collect();
            let most = lengths.iter().copied().max().filter(|most| *most > 0);
            for (length, count) in lengths.into_iter().zip(&mut counts) {
                *count += usize::from(Some(length) == most);
            }
        }
        // The first of those that are alike: C, and not what could be C++ as well.
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let first = counts.iter().position(|count| *count == most)?;
        BEGINNINGS.get(first).map(|(language, _)| *language)
    }

    /// Whether a line of the language may end like this one. Python has no braces around blocks
    /// and no semicolons, and the others rarely have colons before them.
    fn ends(self, line: &str) -> bool {
        match self {
            Language::Python => !line.ends_with([';', '{', '}']),
            Language::Go => !line.ends_with([';', ':']),
            _ => !line.ends_with(':') || line.starts_with("p"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(document: &str, expected: Option<Language>) {
        assert_eq!(Language::guess(document), expected, "language of {document:?}");
    }

    #[test]
    fn languages_are_told_apart() {
        use Language::*;
        check("", None);
        check("Some prose.\n\nAnd some more of it.", None);
        check("import os\n\ndef main():\n    return os.getcwd()\n", Some(Python));
        check("class A:\n    def f(self):\n        self.x = 1\n", Some(Python));
        check("import a from 'a';\n\nexport function f() {\n  return a();\n}\n", Some(JavaScript));
        check("const a = require('a');\nmodule.exports = { a };\n", Some(JavaScript));
        check("export interface A {\n  x: number;\n}\nimport b from 'b';\n", Some(TypeScript));
        check("use std::fs;\n\npub fn main() {\n    let a = 1;\n}\n", Some(Rust));
        check("package main\n\nimport \"fmt\"\n\nfunc main() {\n}\n", Some(Go));
        check(
            "package a.b;\n\nimport java.util.List;\n\npublic class A {\n    private int x;\n}\n",
            Some(Java),
        );
        check("#include <stdio.h>\n\nint main(void) {\n    return 0;\n}\n", Some(C));
        check(
            "#include <vector>\n\nnamespace a {\nclass B {\npublic:\n  int x;\n};\n}\n",
            Some(Cpp),
        );
    }
}
