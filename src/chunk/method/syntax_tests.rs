//! What is found in source code.

use super::*;
use crate::chunk::HEADING_SEPARATOR;

/// The first lines of the units of `document`, each with its level's digit, in order.
fn check(language: Language, document: &str, expected: &[(usize, &str)]) {
    let plan = plan(document, language).unwrap();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (level, places) in plan.levels.iter().take(LEVELS).enumerate() {
        found.extend(places.iter().map(|at| (*at, level)));
    }
    found.sort_unstable();
    let found: Vec<(usize, &str)> = found
        .into_iter()
        .map(|(at, level)| (level, document[at..].lines().next().unwrap_or("")))
        .collect();
    assert_eq!(found, expected, "units of {document}");
}

/// The paths of names in `document`.
fn check_names(language: Language, document: &str, expected: &[&str]) {
    let plan = plan(document, language).unwrap();
    let path = |scope: &NamedScope| {
        let mut names = vec![scope.name.as_str()];
        let mut outer = scope.outer;
        while let Some(number) = outer {
            names.push(&plan.scopes[number].name);
            outer = plan.scopes[number].outer;
        }
        names.reverse();
        names.join(HEADING_SEPARATOR)
    };
    let found: Vec<String> = plan.scopes.iter().map(path).collect();
    assert_eq!(found, expected, "names in {document}");
}

const PYTHON: &str = "\
import os

# About A.
@final
class A(B):
    x = 1

    def f(self):
        if self.x:
            return 1
        return 2

    async def g(self):
        pass

def h():
    pass
";

#[test]
fn python() {
    check(
        Language::Python,
        PYTHON,
        &[
            (ITEM, "import os"),
            (ITEM, "# About A."),
            (MEMBER, "def f(self):"),
            (STATEMENT, "return 2"),
            (MEMBER, "async def g(self):"),
            (ITEM, "def h():"),
        ],
    );
    check_names(
        Language::Python,
        PYTHON,
        &["class A", "class A > def f", "class A > def g", "def h"],
    );
}

#[test]
fn rust() {
    let document = "\
use a::b;

/// About S.
#[derive(Debug)]
pub struct S {
    /// About x.
    x: u32,
    y: u32,
}

impl<T> Show for S<T> {
    fn show(&self) {
        if self.x > 0 {
            a();
        }
        b()
    }
}

mod inner {
    fn f() {
        c();
    }
}
";
    check(
        Language::Rust,
        document,
        &[
            (ITEM, "use a::b;"),
            (ITEM, "/// About S."),
            (MEMBER, "y: u32,"),
            (ITEM, "impl<T> Show for S<T> {"),
            (STATEMENT, "b()"),
            (ITEM, "mod inner {"),
        ],
    );
    check_names(
        Language::Rust,
        document,
        &[
            "struct S",
            "impl Show for S<T>",
            "impl Show for S<T> > fn show",
            "mod inner",
            "mod inner > fn f",
        ],
    );
}

#[test]
fn javascript_and_typescript() {
    let document = "\
import a from 'a';

export class A extends B {
  constructor() {
    super();
  }

  run() {
    return 1;
  }
}

const f = (x) => {
  return x;
};

function g() {
  return 2;
}
";
    for language in [Language::JavaScript, Language::TypeScript, Language::Tsx] {
        check_names(
            language,
            document,
            &["class A", "class A > constructor", "class A > run", "f", "function g"],
        );
    }
    check_names(
        Language::TypeScript,
        "namespace n {\n  export interface I {\n    x: number;\n  }\n}\nenum E {\n  A,\n  B,\n}\n",
        &["namespace n", "namespace n > interface I", "enum E"],
    );
}

#[test]
fn go() {
    let document = "\
package main

type S struct {
\tx int
}

// Run runs.
func (s *S) Run() error {
\tif s.x > 0 {
\t\treturn nil
\t}
\treturn err
}

func main() {
\trun()
}
";
    check_names(Language::Go, document, &["type S", "func (s *S) Run", "func main"]);
    check(
        Language::Go,
        document,
        &[
            (ITEM, "package main"),
            (ITEM, "type S struct {"),
            (ITEM, "// Run runs."),
            (STATEMENT, "return err"),
            (ITEM, "func main() {"),
        ],
    );
}

#[test]
fn java() {
    let document = "\
package a;

/** About A. */
public class A {
    private int x;

    A() {
        x = 1;
    }

    @Override
    public int get() {
        return x;
    }

    enum E {
        B,
        C
    }
}
";
    check_names(
        Language::Java,
        document,
        &["class A", "class A > A", "class A > get", "class A > enum E"],
    );
}

#[test]
fn c_and_cpp() {
    let document = "\
#include <a.h>

struct s {
    int x;
};

static char **
find(struct s *s)
{
    return 0;
}
";
    check_names(Language::C, document, &["struct s", "find"]);
    check_names(
        Language::Cpp,
        "namespace n {\ntemplate <class T>\nclass A {\npublic:\n  int f() {\n    return 1;\n  }\n};\n}\n\nint n::A::g() {\n  return 2;\n}\n",
        &["namespace n", "namespace n > class A", "namespace n > class A > f", "n::A::g"],
    );
}

#[test]
fn broken_code_has_places_too() {
    let document = "def f(:\n    x = \n\nclass A:\n    def g(self):\n        return (1\n";
    let plan = plan(document, Language::Python).unwrap();
    assert_eq!(plan.levels[LEVELS].len(), 5, "one place a line");
}

/// Longer documents of some kinds take seconds, because a parser that mends errors compares many
/// ways of doing so. ragd ends the process in which that happens.
#[test]
fn hostile_code_is_read() {
    let languages = [
        Language::Python,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::Rust,
        Language::Go,
        Language::Java,
        Language::C,
        Language::Cpp,
    ];
    let units = [
        "(",
        "[",
        "{\n",
        "<",
        "((\n",
        "a",
        "a ",
        "\"",
        "'",
        "`",
        "/*",
        "\\\n",
        "#",
        "#if\n",
        "if ",
        "if(a)\n",
        "else ",
        "x=",
        "a<b<",
        "-",
        "- ",
        "def f(\n",
        "class A{\n",
        "fn a(){\n",
        "${`",
        "\n",
        " \n",
        "#\n",
        "f\"{",
        "\u{0}",
        "\u{feff}",
        "é",
        " a:\n",
        "\t",
        "r#\"",
        "<<",
        "a?b:",
        "=>",
        "case 1:\n",
    ];
    for language in languages {
        for unit in units {
            let document = unit.repeat(3_000 / unit.len());
            let start = std::time::Instant::now();
            let _ = plan(&document, language);
            let time = start.elapsed();
            assert!(time.as_secs() < 10, "{language:?} of {unit:?} took {time:?}");
        }
    }
}

#[test]
fn long_documents_are_not_parsed() {
    assert!(plan(&"x = 1\n".repeat(LONGEST / 6 + 1), Language::Python).is_none());
}
