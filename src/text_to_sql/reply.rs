//! What a language model replies that was asked for a query.

use serde_json::Value;

use crate::prompt::object;

/// The JSON schema of a reply. The reason comes last: a small model that gives one first tends to misspell names there,
/// and to spell them alike in its query.
const SCHEMA: &str = r#"{"type": "object", "properties": {"answerable": {"type": "boolean"}, "sql": {"type": "string"}, "reason": {"type": "string"}}, "required": ["answerable", "sql", "reason"], "additionalProperties": false}"#;

/// The schema of a reply that must have a query.
const QUERY_SCHEMA: &str = r#"{"type": "object", "properties": {"answerable": {"type": "boolean", "enum": [true]}, "sql": {"type": "string"}, "reason": {"type": "string"}}, "required": ["answerable", "sql", "reason"], "additionalProperties": false}"#;

/// The schema of a reply that says whether there is a query.
const SCREEN_SCHEMA: &str = r#"{"type": "object", "properties": {"answerable": {"type": "boolean"}}, "required": ["answerable"], "additionalProperties": false}"#;

/// Longest reason that is kept, in characters.
const LONGEST: usize = 1000;

/// Longest reason that a model of this machine writes, in characters. It takes a tenth of a second for every few of them.
const LONGEST_LOCAL: usize = 160;

/// A reason in a schema, and one that is short.
const REASON: &str = r#""reason": {"type": "string"}"#;

/// What is said where a model gives no reason.
const NO_REASON: &str = "The tables do not hold what is asked for.";

/// Which replies a language model may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyForm {
    /// A query, or that there is none.
    QueryOrRefusal,
    /// A query: it is known that the tables have what is asked for.
    Query,
    /// Whether there is a query.
    Screen,
}

impl ReplyForm {
    /// What a call for such a reply is called in usage and traces.
    #[must_use]
    pub fn step(self) -> &'static str {
        match self {
            ReplyForm::QueryOrRefusal | ReplyForm::Query => "query",
            ReplyForm::Screen => "screen",
        }
    }

    /// The JSON schema of such replies.
    #[must_use]
    pub fn schema(self) -> &'static str {
        match self {
            ReplyForm::QueryOrRefusal => SCHEMA,
            ReplyForm::Query => QUERY_SCHEMA,
            ReplyForm::Screen => SCREEN_SCHEMA,
        }
    }

    /// The JSON schema of such replies by a model of this machine. Not all providers accept a longest length.
    #[must_use]
    pub fn local_schema(self) -> String {
        let short = format!(r#""reason": {{"type": "string", "maxLength": {LONGEST_LOCAL}}}"#);
        self.schema().replace(REASON, &short)
    }
}

/// A reply, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqlReply {
    /// A query, and why it answers the question.
    Query {
        /// The query.
        sql: String,
        /// The reason that is given.
        reason: Option<String>,
    },
    /// That the question cannot be answered, and why.
    Unanswerable(String),
    /// What says neither.
    Unreadable,
}

/// What `reply` says, whatever stands around its JSON.
#[must_use]
pub fn read(reply: &str) -> SqlReply {
    let Some(Value::Object(found)) = object::find(reply) else { return SqlReply::Unreadable };
    let text = |name: &str| found.get(name).and_then(Value::as_str).map(str::trim);
    let reason = text("reason").filter(|it| !it.is_empty());
    let reason = reason.map(short);
    let sql = text("sql").map(bare).filter(|it| !it.is_empty());
    match (found.get("answerable").and_then(Value::as_bool), sql) {
        (Some(false), _) => SqlReply::Unanswerable(reason.unwrap_or_else(|| NO_REASON.to_owned())),
        (_, Some(sql)) => SqlReply::Query { sql: sql.to_owned(), reason },
        (_, None) => SqlReply::Unreadable,
    }
}

/// The refusal in a `reply` that says whether there is a query; `None` where it is none.
#[must_use]
pub fn refusal(reply: &str) -> Option<String> {
    let found = object::find(reply)?;
    (found["answerable"] == Value::Bool(false)).then(|| NO_REASON.to_owned())
}

/// A reason of some length, without the word that was cut off at its end.
fn short(reason: &str) -> String {
    let length = reason.chars().count();
    let kept: String = reason.chars().take(LONGEST).collect();
    let is_cut = length > LONGEST || length == LONGEST_LOCAL && !reason.ends_with(['.', '!', '?']);
    match kept.rsplit_once(' ').filter(|_| is_cut) {
        Some((whole, _)) => format!("{}…", whole.trim_end_matches([',', ';', ':'])),
        None => kept,
    }
}

/// A query without the fence of code around it, and without semicolons at its end.
fn bare(sql: &str) -> &str {
    let inside = sql.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = inside.map_or(sql, |it| it.strip_prefix("sql").unwrap_or(it));
    inside.trim().trim_end_matches(|c: char| c == ';' || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(reply: &str, expected: SqlReply) {
        assert_eq!(read(reply), expected, "{reply}");
    }

    fn query(sql: &str, reason: Option<&str>) -> SqlReply {
        SqlReply::Query { sql: sql.to_owned(), reason: reason.map(str::to_owned) }
    }

    #[test]
    fn replies_are_read_as_models_write_them() {
        check(
            r#"{"reason": "orders have it", "answerable": true, "sql": "SELECT 1;"}"#,
            query("SELECT 1", Some("orders have it")),
        );
        check(
            "So:\n```json\n{\"sql\": \"```sql\\nSELECT 1;\\n```\"}\n```",
            query("SELECT 1", None),
        );
        check(
            r#"{"reason": "no weather", "answerable": false, "sql": "SELECT 1"}"#,
            SqlReply::Unanswerable("no weather".to_owned()),
        );
        check(
            r#"{"answerable": false, "sql": "", "reason": " "}"#,
            SqlReply::Unanswerable(NO_REASON.to_owned()),
        );
        for reply in ["", "SELECT 1", "[1]", "{}", r#"{"answerable": true, "sql": " ; "}"#] {
            check(reply, SqlReply::Unreadable);
        }
        let SqlReply::Unanswerable(reason) =
            read(&format!(r#"{{"answerable": false, "reason": "{}"}}"#, "x".repeat(5000)))
        else {
            panic!("it cannot be answered");
        };
        assert_eq!(reason.len(), LONGEST);
    }

    #[test]
    fn a_reason_that_was_cut_off_ends_with_a_word() {
        let reason =
            |text: &str| match read(&json!({"sql": "SELECT 1", "reason": text}).to_string()) {
                SqlReply::Query { reason, .. } => reason.unwrap_or_default(),
                other => panic!("{other:?}"),
            };
        let local = format!("{}, and the rest is cu", "a ".repeat(69) + "bc");
        assert_eq!(local.chars().count(), LONGEST_LOCAL);
        assert_eq!(reason(&local), format!("{}, and the rest is…", "a ".repeat(69) + "bc"));
        for whole in [&local[1..], &format!("{}.", &local[1..]), "It counts orders."] {
            assert_eq!(reason(whole), whole.trim());
        }
        assert!(reason(&"word ".repeat(500)).ends_with("word…"));
    }

    #[test]
    fn a_local_model_writes_a_short_reason() {
        for (form, is_short) in [
            (ReplyForm::QueryOrRefusal, true),
            (ReplyForm::Query, true),
            (ReplyForm::Screen, false),
        ] {
            let schema: Value = serde_json::from_str(&form.local_schema()).unwrap();
            let longest = &schema["properties"]["reason"]["maxLength"];
            assert_eq!(longest.as_u64(), is_short.then_some(LONGEST_LOCAL as u64));
        }
    }

    #[test]
    fn a_screen_refuses_or_does_not() {
        assert_eq!(refusal(r#"{"answerable": false}"#).as_deref(), Some(NO_REASON));
        for reply in [r#"{"answerable": true}"#, "", "no", "{}", "[false]"] {
            assert_eq!(refusal(reply), None, "{reply}");
        }
    }

    #[test]
    fn a_schema_says_whether_a_refusal_is_a_reply() {
        for (form, may_refuse) in [(ReplyForm::QueryOrRefusal, true), (ReplyForm::Query, false)] {
            let schema: Value = serde_json::from_str(form.schema()).unwrap();
            let answerable = &schema["properties"]["answerable"];
            assert_eq!(answerable["type"], "boolean");
            assert_eq!(answerable["enum"].is_null(), may_refuse);
            assert_eq!(schema["required"].as_array().map(Vec::len), Some(3));
        }
    }
}
