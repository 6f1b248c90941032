//! Which function does a request want called?
//!
//! In: the tools that a client offers, and its choice among them. Out: the function whose arguments are to be written,
//! which is an answer that fits their schema. Nothing is called here. Tools are read only where one must be called:
//! clients offer what this program does not know.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::members::write;

/// A tool that a client offers. Those that are no function have none.
#[derive(Deserialize)]
struct GivenTool {
    function: Option<GivenFunction>,
}

#[derive(Deserialize)]
struct GivenFunction {
    name: Option<String>,
    parameters: Option<Box<RawValue>>,
}

/// A function that has to be called.
#[derive(Debug)]
pub struct Function {
    /// By which it is called.
    pub name: String,
    parameters: Option<Box<RawValue>>,
}

/// A call of a tool in a message.
#[derive(Deserialize)]
struct SaidCall {
    function: Option<CalledFunction>,
}

#[derive(Deserialize)]
struct CalledFunction {
    arguments: Option<String>,
}

impl Function {
    /// The JSON schema of its arguments: an object of any members, where it says nothing of them.
    pub fn schema(&self) -> Box<RawValue> {
        self.parameters.clone().unwrap_or_else(|| write(&json!({"type": "object"})))
    }
}

/// The function that has to be called; nothing where an answer without a call will do, as one always does where no
/// tools are offered. A choice that leaves several functions, or none, is 400: which of them suits a question is not
/// asked here. So is a tool that cannot be read, where one has to be called.
pub fn wanted(tools: &[Box<RawValue>], choice: &Value) -> Result<Option<Function>, Failure> {
    if tools.is_empty() || may_answer(choice) {
        return Ok(None);
    }
    let functions: Vec<Option<Function>> =
        tools.iter().map(|tool| function(tool)).collect::<Result<_, Failure>>()?;
    let names = names(choice);
    let is_meant = |function: &Function| {
        names.as_ref().is_none_or(|names| names.contains(&function.name.as_str()))
    };
    let mut meant = functions.into_iter().flatten().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(function), None) => Ok(Some(function)),
        (Some(_), Some(_)) => Err(refused("tool_choice must name one function of several")
            .hint("the strategy agent chooses among functions of the database")),
        (None, _) => Err(refused("tool_choice names no function of tools")),
    }
}

/// The arguments of a call of a function, where a message has no other: they are the answer if the function had to be
/// called.
pub fn arguments(calls: &[Box<RawValue>]) -> Option<String> {
    let [call] = calls else { return None };
    let call: SaidCall = serde_json::from_str(call.get()).ok()?;
    call.function?.arguments
}

/// The function that a tool is, if it is one.
fn function(tool: &RawValue) -> Result<Option<Function>, Failure> {
    let wrong = |message: String| Failure::request(message).param("tools");
    let tool: GivenTool = serde_json::from_str(tool.get())
        .map_err(|error| wrong(format!("tools has an entry that is no tool: {error}")))?;
    let Some(GivenFunction { name, parameters }) = tool.function else { return Ok(None) };
    match name.filter(|name| !name.is_empty()) {
        Some(name) => Ok(Some(Function { name, parameters })),
        None => Err(wrong("a function of tools has no name".to_owned())),
    }
}

fn refused(message: &str) -> Failure {
    Failure::request(message).param("tool_choice")
}

/// Whether a choice leaves it open whether anything is called.
fn may_answer(choice: &Value) -> bool {
    match choice {
        Value::Null => true,
        Value::String(word) => word == "auto" || word == "none",
        _ => choice["allowed_tools"]["mode"] == "auto",
    }
}

/// The names of the functions among which a choice is; nothing where it is among all.
fn names(choice: &Value) -> Option<Vec<&str>> {
    if choice.is_string() {
        return None;
    }
    let allowed = choice["allowed_tools"]["tools"].as_array().into_iter().flatten();
    Some(name(choice).into_iter().chain(allowed.filter_map(name)).collect())
}

fn name(tool: &Value) -> Option<&str> {
    tool["function"]["name"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(tools: Value) -> Vec<Box<RawValue>> {
        serde_json::from_value(tools).unwrap()
    }

    /// What is wanted of the functions `f` and `g`: a name, nothing, or words of the message of an error.
    fn check(names: &[&str], choice: Value, expected: Result<Option<&str>, &str>) {
        let tool = |name: &&str| json!({"type": "function", "function": {"name": name}});
        let tools = raw(names.iter().map(tool).collect());
        match (wanted(&tools, &choice), expected) {
            (Ok(found), Ok(expected)) => {
                let found = found.map(|function| function.name);
                assert_eq!(found.as_deref(), expected, "{choice}");
            }
            (Err(failure), Err(words)) => {
                assert!(failure.message.contains(words), "{failure:?}");
                assert_eq!((failure.status.as_u16(), failure.param), (400, Some("tool_choice")));
            }
            (found, expected) => panic!("{choice}: {found:?} and not {expected:?}"),
        }
    }

    #[test]
    fn tools_that_need_not_be_called_are_not() {
        for choice in [json!(null), json!("auto"), json!("none")] {
            check(&["f", "g"], choice, Ok(None));
        }
        let allowed =
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}});
        check(&["f", "g"], allowed, Ok(None));
        check(&[], json!("required"), Ok(None));
    }

    #[test]
    fn the_function_that_must_be_called_is_known_by_its_name_or_alone() {
        let by_name = |name: &str| json!({"type": "function", "function": {"name": name}});
        check(&["f", "g"], by_name("g"), Ok(Some("g")));
        check(&["f"], json!("required"), Ok(Some("f")));
        check(&["f", "g"], json!("required"), Err("one function of several"));
        check(&["f", "g"], by_name("h"), Err("no function of tools"));
        let custom = json!({"type": "custom", "custom": {"name": "f"}});
        check(&["f"], custom, Err("no function of tools"));
    }

    #[test]
    fn allowed_tools_are_all_that_there_are() {
        let required = |names: &[&str]| {
            let tool = |name: &&str| json!({"type": "function", "function": {"name": name}});
            let tools: Vec<Value> = names.iter().map(tool).collect();
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": tools}})
        };
        check(&["f", "g"], required(&["f"]), Ok(Some("f")));
        check(&["f", "g"], required(&["g", "f"]), Err("one function of several"));
        check(&["f", "g"], required(&[]), Err("no function of tools"));
    }

    #[test]
    fn arguments_fit_what_a_function_says_of_them() {
        let schema = |function: Value| {
            let tools = raw(json!([{"type": "function", "function": function}]));
            let function = wanted(&tools, &json!("required")).unwrap().unwrap();
            serde_json::from_str::<Value>(function.schema().get()).unwrap()
        };
        let parameters = json!({"type": "object", "properties": {"day": {"type": "string"}}});
        assert_eq!(schema(json!({"name": "f", "parameters": parameters})), parameters);
        assert_eq!(schema(json!({"name": "f", "parameters": null})), json!({"type": "object"}));
        assert_eq!(schema(json!({"name": "f"})), json!({"type": "object"}));
    }

    #[test]
    fn a_tool_that_is_no_function_is_no_error() {
        let tools = json!([{"type": "custom", "custom": {"name": "f"}}, {"type": "web_search"}]);
        let tools = raw(tools);
        assert!(wanted(&tools, &json!("auto")).unwrap().is_none());
        assert_eq!(wanted(&tools, &json!("required")).unwrap_err().param, Some("tool_choice"));
    }

    #[test]
    fn tools_are_read_only_where_one_must_be_called() {
        let check = |tool: Value, words: &str| {
            let tools = raw(json!([tool, {"type": "function", "function": {"name": "f"}}]));
            assert!(wanted(&tools, &json!("auto")).unwrap().is_none(), "{tool}");
            let by_name = json!({"type": "function", "function": {"name": "f"}});
            for choice in [json!("required"), by_name] {
                let failure = wanted(&tools, &choice).unwrap_err();
                assert!(failure.message.contains(words), "{failure:?}");
                assert_eq!((failure.status.as_u16(), failure.param), (400, Some("tools")));
            }
        };
        check(json!(null), "no tool");
        check(json!({"function": "f"}), "no tool");
        check(json!({"function": {"name": 5}}), "no tool");
        check(json!({"function": {"name": null}}), "has no name");
        check(json!({"function": {"name": ""}}), "has no name");
        check(json!({"type": "function", "function": {}}), "has no name");
    }

    #[test]
    fn a_call_has_arguments_where_it_is_the_only_one() {
        let call = |arguments: Value| {
            let function = json!({"name": "f", "arguments": arguments});
            json!({"id": "c", "type": "function", "function": function})
        };
        let said = |calls: Value| arguments(&raw(calls));
        assert_eq!(said(json!([call(json!("{\"day\": 1}"))])).unwrap(), "{\"day\": 1}");
        let of_two = json!([call(json!("{}")), call(json!("{}"))]);
        let custom = json!([{"id": "c", "type": "custom", "custom": {"name": "f", "input": ""}}]);
        for calls in [json!([]), of_two, custom, json!([call(json!({}))]), json!([null])] {
            assert_eq!(said(calls.clone()), None, "{calls}");
        }
    }
}
