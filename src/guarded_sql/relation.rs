//! Which relations may a statement of a stranger read?

use super::SqlOrigin;

/// What is known of a relation that a statement reads. That the caller may read it is PostgreSQL's to
/// check, and it does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationFacts {
    /// Whether the options name it.
    pub is_listed: bool,
    /// Whether the options name its schema.
    pub has_listed_schema: bool,
    /// Whether it is in a schema of the server's own: system catalogs, the information schema, TOAST tables.
    pub is_system: bool,
    /// Whether its rows come from elsewhere: it is a foreign table.
    pub is_foreign: bool,
}

/// What the options say of relations as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationScope {
    /// Whether they name schemas or tables; otherwise all are allowed that are not of the system.
    pub has_lists: bool,
    /// Whether they allow system catalogs.
    pub catalogs: bool,
}

/// Why a relation is not to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationRefusal {
    /// It is not among those that the options name.
    NotListed,
    /// It is one of the system's.
    System,
    /// It is a foreign table, and the options don't name it.
    Foreign,
}

/// Why the relation is not to be read by words of `origin`; `None`: it may be.
#[must_use]
pub fn relation_refusal(
    facts: RelationFacts,
    origin: SqlOrigin,
    scope: RelationScope,
) -> Option<RelationRefusal> {
    if facts.is_listed || origin.chooses_relations() {
        return None;
    }
    if facts.is_foreign {
        return Some(RelationRefusal::Foreign);
    }
    match (facts.is_system, facts.has_listed_schema, scope) {
        (_, true, _) => None,
        (true, _, RelationScope { catalogs: true, .. }) => None,
        (true, ..) => Some(RelationRefusal::System),
        (false, _, RelationScope { has_lists: false, .. }) => None,
        (false, ..) => Some(RelationRefusal::NotListed),
    }
}

impl RelationRefusal {
    /// What is said of `name`, or of one that a view or a table brings along and that the caller is not shown.
    #[must_use]
    pub fn detail(self, name: Option<&str>) -> String {
        let name = name.map_or_else(
            || "a relation behind one that the statement names".to_owned(),
            |name| format!("relation {name}"),
        );
        match self {
            RelationRefusal::NotListed => format!("{name} is not among those that may be read"),
            RelationRefusal::System => format!("{name} is one of the system's"),
            RelationRefusal::Foreign => format!("{name} is a foreign table"),
        }
    }

    /// What the caller can do so that it may be read.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            RelationRefusal::NotListed => {
                "List it in \"tables\", or its schema in \"schemas\". A view that \"tables\" names brings along \
                 what it reads."
            }
            RelationRefusal::System => "Allow system catalogs with {\"catalogs\": true}.",
            RelationRefusal::Foreign => "List it in \"tables\" if its server may be asked.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RelationFacts, RelationRefusal, RelationScope, relation_refusal};
    use crate::guarded_sql::SqlOrigin;

    fn check(facts: RelationFacts, scope: RelationScope, expected: Option<RelationRefusal>) {
        let of = |origin| relation_refusal(facts, origin, scope);
        assert_eq!(of(SqlOrigin::Statement), expected, "{facts:?} in {scope:?}");
        assert_eq!(of(SqlOrigin::View), expected, "{facts:?} in {scope:?}");
        for origin in [SqlOrigin::ListedView, SqlOrigin::Policy, SqlOrigin::Function] {
            assert_eq!(of(origin), None, "{facts:?} in {scope:?}");
        }
    }

    const OPEN: RelationScope = RelationScope { has_lists: false, catalogs: false };
    const LISTS: RelationScope = RelationScope { has_lists: true, catalogs: false };
    const PLAIN: RelationFacts = RelationFacts {
        is_listed: false,
        has_listed_schema: false,
        is_system: false,
        is_foreign: false,
    };

    #[test]
    fn without_lists_all_but_those_of_the_system_are_read() {
        check(PLAIN, OPEN, None);
        let system = RelationFacts { is_system: true, ..PLAIN };
        check(system, OPEN, Some(RelationRefusal::System));
        check(system, RelationScope { catalogs: true, ..OPEN }, None);
        check(system, RelationScope { catalogs: true, ..LISTS }, None);
    }

    #[test]
    fn with_lists_only_what_they_name_is_read() {
        check(PLAIN, LISTS, Some(RelationRefusal::NotListed));
        check(RelationFacts { is_listed: true, ..PLAIN }, LISTS, None);
        check(RelationFacts { has_listed_schema: true, ..PLAIN }, LISTS, None);
        let system = RelationFacts { is_system: true, has_listed_schema: true, ..PLAIN };
        check(system, LISTS, None);
    }

    #[test]
    fn a_foreign_table_is_read_where_it_is_named_itself() {
        let foreign = RelationFacts { is_foreign: true, has_listed_schema: true, ..PLAIN };
        check(foreign, OPEN, Some(RelationRefusal::Foreign));
        check(foreign, LISTS, Some(RelationRefusal::Foreign));
        check(RelationFacts { is_listed: true, ..foreign }, LISTS, None);
    }

    #[test]
    fn what_is_not_shown_has_no_name() {
        let detail = RelationRefusal::NotListed.detail(None);
        assert!(detail.contains("behind"), "{detail}");
        assert_eq!(
            RelationRefusal::System.detail(Some("pg_class")),
            "relation pg_class is one of the system's"
        );
    }
}
