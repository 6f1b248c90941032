//! # guarded_sql: may this statement run?
//!
//! ```text
//! (what PostgreSQL knows of a function, a relation, a plan; options) → nothing │ why not
//! ```
//!
//! The lists and the rules of guarded SQL, and the words in which a refusal is told. Who takes a
//! statement apart is `src/pg/guarded_sql/`: it brings facts, and decides nothing.

pub mod function;
pub mod limits;
pub mod options;
pub mod relation;

/// Whose words call a function or name a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SqlOrigin {
    /// The statement's own.
    Statement,
    /// Those of a view that the statement reads.
    View,
    /// Those of a view that the options name, so that its owner's choice of tables holds.
    ListedView,
    /// Those of a policy of a table, which holds for whoever reads it.
    Policy,
    /// Those of a function, at whatever depth, while it runs.
    Function,
}

impl SqlOrigin {
    /// Whether the author of the statement has written it.
    #[must_use]
    pub fn is_of_author(self) -> bool {
        self == SqlOrigin::Statement
    }

    /// Whether the owner of a relation has chosen which others are read.
    #[must_use]
    pub fn chooses_relations(self) -> bool {
        matches!(self, SqlOrigin::ListedView | SqlOrigin::Policy | SqlOrigin::Function)
    }
}

/// What is wrong with a statement, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// There is no statement in the text.
    Empty,
    /// There is more than one statement in the text.
    SeveralStatements,
    /// It is no query.
    NotAQuery,
    /// A part of the query changes rows.
    ChangesRows,
    /// It would make a table.
    Into,
    /// It would lock rows.
    LocksRows,
    /// A relation that may not be read by guarded SQL.
    Relation,
    /// A function that may not be called by guarded SQL.
    Function,
    /// A right that the caller does not have.
    Permission,
    /// A part of a statement that guarded SQL does not know.
    Unknown,
    /// PostgreSQL does not understand the statement.
    Error,
}

impl ProblemKind {
    /// The word for it in SQL.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ProblemKind::Empty => "empty",
            ProblemKind::SeveralStatements => "several_statements",
            ProblemKind::NotAQuery => "not_a_query",
            ProblemKind::ChangesRows => "changes_rows",
            ProblemKind::Into => "into",
            ProblemKind::LocksRows => "locks_rows",
            ProblemKind::Relation => "relation",
            ProblemKind::Function => "function",
            ProblemKind::Permission => "permission",
            ProblemKind::Unknown => "unknown",
            ProblemKind::Error => "error",
        }
    }
}

/// One thing for which a statement does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What it is, for programs.
    pub kind: ProblemKind,
    /// The part of the statement: a command, a clause, a function with its arguments, a relation; empty
    /// where PostgreSQL does not say it.
    pub node: String,
    /// What it is, for people: lower case, no full stop.
    pub detail: String,
    /// What can be done about it.
    pub hint: Option<String>,
    /// The character of the statement's text at which it begins, counted from 1, where that is known.
    pub position: Option<i32>,
    /// The SQLSTATE of the error of PostgreSQL's behind it, five characters.
    pub sqlstate: Option<String>,
}

impl Problem {
    /// A problem of `kind` with `node`.
    pub fn new(kind: ProblemKind, node: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (node, detail) = (node.into(), detail.into());
        Problem { kind, node, detail, hint: None, position: None, sqlstate: None }
    }

    /// Adds what can be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the character at which it begins, counted from 1.
    #[must_use]
    pub fn at(mut self, position: Option<i32>) -> Problem {
        self.position = position;
        self
    }
}

/// One message, detail and hint of all that is wrong with a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong first of all.
    pub message: String,
    /// What else is wrong.
    pub detail: Option<String>,
    /// What can be done about the first.
    pub hint: Option<String>,
    /// Where the first begins, in characters from 1.
    pub position: Option<i32>,
}

/// What is said of a statement with `problems`; `None` where there are none.
#[must_use]
pub fn refusal(problems: &[Problem]) -> Option<Refusal> {
    let (first, others) = problems.split_first()?;
    let others: Vec<&str> = others.iter().map(|it| it.detail.as_str()).collect();
    Some(Refusal {
        message: format!("the statement is refused: {}", first.detail),
        detail: (!others.is_empty()).then(|| format!("Further: {}.", others.join("; "))),
        hint: first.hint.clone(),
        position: first.position,
    })
}

#[cfg(test)]
mod tests {
    use super::{Problem, ProblemKind, refusal};

    #[test]
    fn a_refusal_says_the_first_problem_and_lists_the_others() {
        let function =
            |node: &str| Problem::new(ProblemKind::Function, node, format!("{node} is volatile"));
        assert_eq!(refusal(&[]), None);
        let one = refusal(&[function("f()").hint("List it.").at(Some(8))]).unwrap();
        assert_eq!(one.message, "the statement is refused: f() is volatile");
        assert_eq!(
            (one.detail, one.hint.as_deref(), one.position),
            (None, Some("List it."), Some(8))
        );
        let three = refusal(&[function("f()"), function("g()"), function("h()")]).unwrap();
        assert_eq!(three.detail.as_deref(), Some("Further: g() is volatile; h() is volatile."));
    }
}
