//! How are the steps of an agent offered as tools of a provider?
//!
//! ```text
//! offers → tools: a name, what it does, the JSON schema of its arguments
//! a call's name and arguments → the step as JSON has it, or nothing
//! ```
//!
//! Each function is a tool of its own name, with its own arguments. To answer takes no tool: a reply that calls none is
//! the answer. Each tool has the argument `reason`, so that steps say why also where a model writes nothing beside its calls.

use serde_json::{Map, Value, json};

use super::action::{AgentOffers, ToolArgument, ToolOffer};
use super::offered::{self, OfferedStep};
use crate::exact;
use crate::prompt::tools::OfferedTool;

/// Longest name of an argument that providers take, in bytes.
const LONGEST_NAME: usize = 64;

/// The argument that says why.
const REASON: &str = "reason";

/// Stands before the name of a function that is called as a step is.
const PREFIX: &str = "call_";

/// The steps that may be taken as tools, but for the answer.
#[must_use]
pub fn tools(offers: &AgentOffers) -> Vec<OfferedTool> {
    let steps = offered::plain_steps(offers);
    let of_steps = steps
        .iter()
        .map(|step| tool(step.name.to_owned(), step.does.clone(), step.members.clone()));
    let named = offers.tools.iter().zip(names(offers));
    let of_functions = named.map(|(function, name)| {
        let (names, arguments) = (argument_names(function), &function.arguments);
        let members =
            names.iter().map(String::as_str).zip(arguments.iter().map(offered::argument_schema));
        let members = members.zip(arguments).map(|((name, schema), it)| match name == it.name {
            true => (name, schema),
            false => (name, described(&schema, &it.name)),
        });
        tool(name, offered::function_description(function), members.collect())
    });
    of_steps.chain(of_functions).collect()
}

fn tool(name: String, description: String, mut members: Vec<(&str, String)>) -> OfferedTool {
    // A function's own argument of this name goes before it.
    if members.iter().all(|(name, _)| *name != REASON) {
        let why = json!({"type": "string", "description": "why this step, in one sentence"});
        members.insert(0, (REASON, why.to_string()));
    }
    OfferedTool { name, description, parameters: offered::object(&members) }
}

/// What each argument of a function is called: its own name, unless providers refuse that.
fn argument_names(function: &ToolOffer) -> Vec<String> {
    let is_taken = |name: &str| function.arguments.iter().any(|it| it.name == name);
    let name = |(number, argument): (usize, &ToolArgument)| {
        if is_plain(&argument.name) {
            return argument.name.clone();
        }
        let mut name = format!("argument_{number}");
        while is_taken(&name) {
            name.push('_');
        }
        name
    };
    (1..).zip(&function.arguments).map(name).collect()
}

/// Whether providers take this name of an argument.
fn is_plain(name: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_known)
}

/// The schema of an argument that has another name, with its own.
fn described(schema: &str, name: &str) -> String {
    let mut schema: Value = serde_json::from_str(schema).unwrap_or_else(|_| json!({}));
    schema["description"] = json!(name);
    schema.to_string()
}

/// Arguments by the function's own names.
fn own_names(function: &ToolOffer, mut arguments: Map<String, Value>) -> Map<String, Value> {
    for (name, argument) in argument_names(function).iter().zip(&function.arguments) {
        if *name != argument.name
            && let Some(value) = arguments.remove(name)
        {
            arguments.insert(argument.name.clone(), value);
        }
    }
    arguments
}

/// What each function is called: its own name, unless a step has that.
fn names(offers: &AgentOffers) -> Vec<String> {
    let mut taken: Vec<String> = offered::STEPS.iter().map(|name| (*name).to_owned()).collect();
    let own = offers.tools.iter().map(|tool| tool.name.clone());
    // Of two functions, the one that has a name of its own keeps it.
    taken.extend(own.clone().filter(|name| !offered::STEPS.contains(&name.as_str())));
    let named = own.map(|name| {
        if !offered::STEPS.contains(&name.as_str()) {
            return name;
        }
        let mut name = format!("{PREFIX}{name}");
        while taken.contains(&name) {
            name.insert_str(0, PREFIX);
        }
        taken.push(name.clone());
        name
    });
    named.collect()
}

/// A call as JSON has it: its reason, and the object `step`. `None` where no tool has this name.
#[must_use]
pub fn step(
    name: &str,
    mut arguments: Map<String, Value>,
    offers: &AgentOffers,
) -> Option<(String, Map<String, Value>)> {
    let known: Vec<OfferedStep> = offered::plain_steps(offers);
    if known.iter().any(|step| step.name == name) {
        let reason = taken_reason(&mut arguments);
        arguments.insert("do".to_owned(), json!(name));
        return Some((reason, arguments));
    }
    let function = offers.tools.iter().zip(names(offers)).find(|(_, it)| it == name)?.0;
    let reason = if has_reason(function) { String::new() } else { taken_reason(&mut arguments) };
    let arguments = own_names(function, arguments);
    let step = json!({"do": "call", "tool": function.name, "with": arguments});
    Some((reason, step.as_object().cloned()?))
}

/// The names of the tools, for whoever has called another.
#[must_use]
pub fn known(offers: &AgentOffers) -> String {
    tools(offers).into_iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

fn has_reason(function: &ToolOffer) -> bool {
    function.arguments.iter().any(|argument| argument.name == REASON)
}

fn taken_reason(arguments: &mut Map<String, Value>) -> String {
    let reason = arguments.remove(REASON);
    reason.as_ref().and_then(exact::text).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::action::ArgumentKind;
    use super::*;

    fn function(name: &str, argument: &str) -> ToolOffer {
        let argument = ToolArgument {
            name: argument.to_owned(),
            sql_type: "text".to_owned(),
            kind: ArgumentKind::Text,
            is_list: false,
            has_default: false,
        };
        let (name, description) = (name.to_owned(), "does\nit".to_owned());
        ToolOffer { name, description, arguments: vec![argument] }
    }

    fn offers() -> AgentOffers {
        let tools = vec![
            function("call_search", "q"),
            function("search", "q"),
            function("weather", "city"),
            function("why", "reason"),
        ];
        AgentOffers { graph: true, tools, ..AgentOffers::default() }
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn each_step_is_a_tool_but_the_answer() {
        let names = |offers: &AgentOffers| -> Vec<String> {
            tools(offers).into_iter().map(|tool| tool.name).collect()
        };
        assert_eq!(names(&AgentOffers::default()), ["search", "open", "calculate"]);
        assert_eq!(
            names(&offers()),
            [
                "search",
                "open",
                "graph",
                "calculate",
                "call_search",
                "call_call_search",
                "weather",
                "why"
            ]
        );
        assert_eq!(known(&AgentOffers::default()), "search, open, calculate");
    }

    #[test]
    fn arguments_are_those_of_the_step_or_function_and_a_reason() {
        let tools = tools(&offers());
        let schema = |name: &str| -> Value {
            let tool = tools.iter().find(|tool| tool.name == name).unwrap();
            serde_json::from_str(&tool.parameters).unwrap()
        };
        assert_eq!(schema("search")["required"], json!(["reason", "question", "k"]));
        assert_eq!(schema("open")["required"], json!(["reason", "number"]));
        assert_eq!(schema("weather")["required"], json!(["reason", "city"]));
        assert_eq!(schema("weather")["additionalProperties"], false);
        assert_eq!(schema("why")["required"], json!(["reason"]));
        assert_eq!(tools[6].description, "does it");
    }

    #[test]
    fn arguments_whose_names_are_refused_have_others() {
        let mut wide = function("wide", "größe in m");
        let named = |name: &str| function("wide", name).arguments.remove(0);
        let long = "x".repeat(65);
        let others = ["argument_1", "city", &long, "a.b-c"].map(named);
        wide.arguments.extend(others);
        let offers = AgentOffers { tools: vec![wide], ..AgentOffers::default() };
        let parameters: Value = serde_json::from_str(&tools(&offers)[3].parameters).unwrap();
        let names = ["reason", "argument_1_", "argument_1", "city", "argument_4", "a.b-c"];
        assert_eq!(parameters["required"], json!(names));
        let renamed = json!({"type": "string", "description": "größe in m"});
        assert_eq!(parameters["properties"]["argument_1_"], renamed);
        let given = json!({"argument_1_": "a", "argument_1": "b", "city": "c", "argument_4": "d"});
        let with = json!({"größe in m": "a", "argument_1": "b", "city": "c", long: "d"});
        let expected = json!({"do": "call", "tool": "wide", "with": with});
        let found = step("wide", object(given), &offers);
        assert_eq!(found, Some((String::new(), object(expected))));
    }

    #[test]
    fn a_call_is_the_step_that_it_stands_for() {
        let check = |name: &str, arguments: Value, expected: Option<(&str, Value)>| {
            let found = step(name, object(arguments), &offers());
            let expected = expected.map(|(reason, step)| (reason.to_owned(), object(step)));
            assert_eq!(found, expected, "{name}");
        };
        let question = json!({"reason": "so", "question": "Who?", "k": null});
        let searched = json!({"do": "search", "question": "Who?", "k": null});
        check("search", question, Some(("so", searched)));
        let call = |tool: &str, with: Value| json!({"do": "call", "tool": tool, "with": with});
        let city = json!({"reason": "so", "city": "Lier"});
        check("weather", city, Some(("so", call("weather", json!({"city": "Lier"})))));
        let own = json!({"reason": "my own"});
        check("why", own.clone(), Some(("", call("why", own))));
        check("call_call_search", json!({"q": "x"}), Some(("", call("search", json!({"q": "x"})))));
        check("call_search", json!({"q": "x"}), Some(("", call("call_search", json!({"q": "x"})))));
        // An argument cannot make another step of it.
        let other = json!({"do": "sql", "number": 1});
        check("open", other, Some(("", json!({"do": "open", "number": 1}))));
        for name in ["sql", "answer", "call", "drop_table", ""] {
            check(name, json!({}), None);
        }
    }
}
