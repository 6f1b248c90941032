//! What the caller of guarded SQL says of what may be read, called and used.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::options::out_of_range;

/// Most names in one list.
const MOST_NAMES: usize = 1000;

/// Most megabytes that an option may allow.
const MOST_MEGABYTES: u32 = 1 << 20;

/// Most bytes of a result: a jsonb holds no more, and a session holds all rows before it returns the first.
const MOST_BYTES: u32 = 64 << 20;

/// The options of `rag_sql_check` and `rag_sql_run`. The limits mean nothing to the former.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct GuardOptions {
    /// Schemas whose relations may be read.
    pub schemas: Option<Vec<String>>,
    /// Relations that may be read, with or without a schema. A view in this list brings along what it reads.
    pub tables: Option<Vec<String>>,
    /// Functions that may be called in spite of their mark: a name, or a name with types of arguments.
    pub functions: Vec<String>,
    /// Whether system catalogs and the information schema may be read.
    pub catalogs: bool,
    /// Most bytes of all rows, as text.
    pub max_bytes: u32,
    /// Most rows that the planner may expect.
    pub max_plan_rows: f64,
    /// Most megabytes that the statement may take of the session's memory.
    pub max_memory_mb: u32,
    /// Most megabytes of temporary files.
    pub max_temp_mb: u32,
}

impl Default for GuardOptions {
    fn default() -> Self {
        GuardOptions {
            schemas: None,
            tables: None,
            functions: Vec::new(),
            catalogs: false,
            max_bytes: 8 << 20,
            max_plan_rows: 1e7,
            max_memory_mb: 256,
            max_temp_mb: 256,
        }
    }
}

impl GuardOptions {
    /// Fails with an invalid parameter where a value is out of its range.
    pub fn checked(self) -> Result<GuardOptions> {
        let lists = [
            ("schemas", self.schemas.as_ref()),
            ("tables", self.tables.as_ref()),
            ("functions", Some(&self.functions)),
        ];
        for (name, list) in lists {
            let count = list.map_or(0, Vec::len);
            if count > MOST_NAMES {
                let message =
                    format!("option \"{name}\" has {count} names, more than {MOST_NAMES}");
                return Err(Error::invalid(message));
            }
        }
        let numbers = [
            ("max_bytes", self.max_bytes, MOST_BYTES),
            ("max_memory_mb", self.max_memory_mb, MOST_MEGABYTES),
            ("max_temp_mb", self.max_temp_mb, MOST_MEGABYTES),
        ];
        for (name, value, most) in numbers {
            if !(1..=most).contains(&value) {
                return Err(out_of_range(name, format!("between 1 and {most}"), value));
            }
        }
        match self.max_plan_rows > 0.0 {
            true => Ok(self),
            false => Err(out_of_range("max_plan_rows", "greater than 0", self.max_plan_rows)),
        }
    }

    /// Whether they name schemas or tables.
    #[must_use]
    pub fn has_lists(&self) -> bool {
        self.schemas.is_some() || self.tables.is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::GuardOptions;
    use crate::options::tests::check_read;

    fn check(options: Value, expected: Result<(), &str>) {
        check_read(options, GuardOptions::checked, expected);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        check(json!({}), Ok(()));
        check(json!({"schemas": ["public"], "functions": ["f(int)"], "catalogs": true}), Ok(()));
        check(json!({"schemas": null, "functions": null, "max_bytes": null}), Ok(()));
        check(json!({"tables": [null]}), Err("option \"tables[0]\" must be a string, not null"));
        check(
            json!({"max_bytes": 0}),
            Err("option \"max_bytes\" must be between 1 and 67108864, not 0"),
        );
        check(
            json!({"max_temp_mb": 0}),
            Err("option \"max_temp_mb\" must be between 1 and 1048576, not 0"),
        );
        check(
            json!({"max_plan_rows": 0}),
            Err("option \"max_plan_rows\" must be greater than 0, not 0"),
        );
        check(
            json!({"tables": vec!["t"; 1001]}),
            Err("option \"tables\" has 1001 names, more than 1000"),
        );
        check(json!({"schema": ["public"]}), Err("unknown option \"schema\""));
    }

    #[test]
    fn an_empty_list_is_a_list() {
        let options = GuardOptions { tables: Some(Vec::new()), ..GuardOptions::default() };
        assert!(options.has_lists());
        assert!(!GuardOptions::default().has_lists());
    }
}
