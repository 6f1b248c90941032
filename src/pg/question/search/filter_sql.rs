//! A metadata filter as SQL.

use serde_json::Value;

use crate::error::Result;
use crate::pg::catalog::operator::Operators;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::server::sql::{query, render};
use crate::retrieve::filter::{self, Comparison, Condition, Test};

/// A metadata filter as a condition over `v`, and the values it binds as `$3`.
pub struct FilterSql {
    /// What stands behind WHERE.
    pub condition: String,
    /// What `$3` is bound to.
    pub values: Vec<String>,
}

impl FilterSql {
    /// Takes filters apart, all of which must hold; an error names what is not a column or
    /// operator.
    pub fn new<'a>(
        filters: impl Iterator<Item = &'a Value>,
        metadata: &[ViewColumn],
    ) -> Result<Self> {
        let names: Vec<String> = metadata.iter().map(ViewColumn::bare).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let conditions = filters.map(|filter| filter::parse(filter, &names));
        let conditions = conditions.collect::<Result<Vec<_>>>()?.concat();
        let mut sql = FilterSql { condition: String::new(), values: Vec::new() };
        let parts: Vec<String> =
            conditions.iter().map(|condition| sql.part(condition, metadata)).collect();
        sql.condition = match parts.as_slice() {
            [] => query!(filter.none).to_owned(),
            _ => parts.join(" AND "),
        };
        Ok(sql)
    }

    fn part(&mut self, condition: &Condition, metadata: &[ViewColumn]) -> String {
        let ViewColumn { name, sql_type, type_oid } = &metadata[condition.column];
        let operators = Operators::of(*type_oid);
        let mut comparison = Comparison::Equal;
        let first = self.values.len() + 1;
        let template = match &condition.test {
            Test::Null => query!(filter.null),
            Test::NotNull => query!(filter.not_null),
            Test::OneOf { values, or_null } => {
                self.values.extend_from_slice(values);
                match or_null {
                    true => query!(filter.one_of_or_null),
                    false => query!(filter.one_of),
                }
            }
            Test::Compare(wanted, value) => {
                self.values.push(value.clone());
                comparison = *wanted;
                match comparison {
                    Comparison::NotEqual => {
                        query!(filter.not_equal)
                    }
                    _ => query!(filter.compare),
                }
            }
        };
        let cast_all = match operators.cast.as_str() {
            "" => String::new(),
            cast => format!("{cast}[]"),
        };
        render(
            template,
            &[
                ("column", name),
                ("type", sql_type),
                ("operator", &operators.operator(comparison)),
                ("cast", &operators.cast),
                ("cast_all", &cast_all),
                ("n", &first.to_string()),
                ("first", &first.to_string()),
                ("last", &self.values.len().to_string()),
            ],
        )
    }
}
