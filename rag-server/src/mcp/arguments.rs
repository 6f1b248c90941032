//! How does a filter reach the tools as it was written?
//!
//! In: the bytes of a message, before rmcp reads them and has 64 bits for each number. Out: the message with the filter of
//! its call as a text, and the filter that such a text holds.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio_postgres::types::Json;

use crate::members::{AsWritten, Members, write};

/// What the text of a filter begins with.
const MARK: char = '\0';
/// Bytes of messages that wait for rmcp.
const WAITING: usize = 64 << 10;

/// The message with the filter of its call as a text; nothing where it has none.
pub fn with_filter_as_text(message: &[u8]) -> Option<Vec<u8>> {
    let mut message: Members = serde_json::from_slice(message).ok()?;
    let mut params = members_of(&message, "params")?;
    let mut arguments = members_of(&params, "arguments")?;
    let filter = arguments.get("filter").filter(|filter| filter.get() != "null")?;
    let filter = write(&format!("{MARK}{}", filter.get()));
    arguments.insert("filter".to_owned(), filter);
    params.insert("arguments".to_owned(), write(&arguments));
    message.insert("params".to_owned(), write(&params));
    serde_json::to_vec(&message).ok()
}

fn members_of(message: &Members, name: &str) -> Option<Members> {
    serde_json::from_str(message.get(name)?.get()).ok()
}

/// The lines of `input`, each a message, with filters as texts; ends with them.
pub fn with_filters_as_texts(input: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (mut passed, read) = duplex(WAITING);
    tokio::spawn(async move {
        let (mut input, mut line) = (BufReader::new(input), Vec::new());
        while input.read_until(b'\n', &mut line).await.is_ok_and(|length| length > 0) {
            if let Some(mut changed) = with_filter_as_text(&line) {
                changed.push(b'\n');
                line = changed;
            }
            if passed.write_all(&line).await.is_err() {
                break;
            }
            line.clear();
        }
    });
    read
}

/// Reads the filter of a call.
pub fn read_filter<'de, D>(deserializer: D) -> Result<Option<AsWritten>, D::Error>
where
    D: Deserializer<'de>,
{
    let Some(filter) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let written = match filter.as_str().and_then(|text| text.strip_prefix(MARK)) {
        Some(json) => RawValue::from_string(json.to_owned()).map_err(D::Error::custom)?,
        None => write(&filter),
    };
    Ok(Some(Json(written)))
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[derive(Deserialize)]
    struct Arguments {
        query: String,
        #[serde(default, deserialize_with = "read_filter")]
        filter: Option<AsWritten>,
    }

    /// The arguments that a tool gets of a message.
    fn arguments(message: &[u8]) -> Arguments {
        let message: Value = serde_json::from_slice(message).unwrap();
        assert_eq!((&message["id"], &message["method"]), (&Value::from(7), &"tools/call".into()));
        assert_eq!(message["params"]["name"], "search");
        serde_json::from_value(message["params"]["arguments"].clone()).unwrap()
    }

    fn message(filter: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"search","arguments":{{"query":"a","filter":{filter}}}}}}}"#
        )
    }

    #[test]
    fn a_filter_keeps_what_was_written() {
        let deep = "[".repeat(500) + &"]".repeat(500);
        for filter in [
            r#"{"price": 12345678901234567890.123, "rate": {"lte": 0.1000000000000000055}}"#,
            r#"{"or": [{"id": 89490200001234567890}, {"n": -1e400}, {"scale": 1.50}]}"#,
            r#"{"name": "a \" \\ \u00e9", "gone": null}"#,
            r#""a text""#,
            r#""\u00001""#,
            "[1]",
            deep.as_str(),
        ] {
            let changed = with_filter_as_text(message(filter).as_bytes()).expect("it has a filter");
            let arguments = arguments(&changed);
            assert_eq!(arguments.query, "a");
            assert_eq!(arguments.filter.unwrap().0.get(), filter);
        }
    }

    #[test]
    fn what_has_no_filter_is_left_alone() {
        assert!(with_filter_as_text(message("null").as_bytes()).is_none());
        for message in [
            r#"{"id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"filter"}}}"#,
            r#"{"id":1,"method":"tools/list","params":{"filter":{"a":1}}}"#,
            r#"{"id":1,"method":"tools/call","params":{"arguments":[{"filter":1}]}}"#,
            r#"{"id":1,"method":"tools/call","params":[1]}"#,
            r#"{"id":1,"method":"ping"}"#,
            "[]",
            r#"{"params":"#,
            "",
        ] {
            assert!(with_filter_as_text(message.as_bytes()).is_none(), "{message}");
        }
        assert!(arguments(message("null").as_bytes()).filter.is_none());
        let plain = arguments(message(r#"{"year": 2024}"#).as_bytes());
        assert_eq!(plain.filter.unwrap().0.get(), r#"{"year":2024}"#);
    }

    #[tokio::test]
    async fn messages_stay_in_their_lines() {
        let ping = r#"{"id":1,"method":"ping"}"#;
        let filter = r#"{"rate": 0.1000000000000000055}"#;
        let said = format!("{ping}\n\r\n{}\r\n{ping}", message(filter));
        let mut passed = String::new();
        let input = std::io::Cursor::new(said.into_bytes());
        with_filters_as_texts(input).read_to_string(&mut passed).await.unwrap();
        let lines: Vec<_> = passed.split('\n').collect();
        assert_eq!((lines.len(), lines[0], lines[1], lines[3]), (4, ping, "\r", ping));
        assert_eq!(arguments(lines[2].as_bytes()).filter.unwrap().0.get(), filter);
    }
}
