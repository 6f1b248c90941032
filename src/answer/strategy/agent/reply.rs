//! What does an agent want to do next?
//!
//! ```text
//! (reply, offers, sources read) → reason and action of each step, or what is wrong with it
//! ```
//!
//! A reply may say what a chunk has told the language model to say. So it is taken for a wish among those that were
//! offered, and whatever else it says is no wish at all.

use serde_json::{Map, Value, json};

use super::action::{
    AgentAction, AgentOffers, AgentSearch, AgentTurn, AgentWalk, ToolArgument, ToolCall, ToolOffer,
};
use super::as_tools;
use super::offered::{MOST_CHUNKS, OPERATORS};
use crate::exact;
use crate::prompt::messages::Message;
use crate::prompt::object;
use crate::prompt::tools::{RequestedCall, ToolReply};
use crate::retrieve::value;

/// Longest reason that is kept, in characters.
const LONGEST_REASON: usize = 300;

/// Longest question, name or expression, in characters.
const LONGEST_TEXT: usize = 2000;

/// Characters that are shown of a reply that is to be corrected.
const LONGEST_REPLY: usize = 4000;

/// Most calls of a reply.
const MOST_CALLS: usize = 16;

/// What is wished, or what is wrong with it.
pub type Wished<T> = std::result::Result<T, String>;

/// What a reply comes to.
pub struct AgentReply {
    /// What it wants, in order.
    pub wishes: Vec<Wished<AgentTurn>>,
    /// The calls that these are, each of which wants a result; `None` where it calls for nothing.
    pub called: Option<ToolReply>,
}

impl AgentReply {
    /// A text that is the answer.
    #[must_use]
    pub fn answer(text: &str) -> AgentReply {
        let action = AgentAction::Answer(text.to_owned());
        AgentReply::of_json(Ok(AgentTurn { reason: String::new(), action }))
    }

    /// What a reply of JSON wants.
    #[must_use]
    pub fn of_json(wish: Wished<AgentTurn>) -> AgentReply {
        AgentReply { wishes: vec![wish], called: None }
    }

    /// What is wrong, where nothing that it wants can be done.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let all: Vec<&str> = self.problems().collect();
        (all.len() == self.wishes.len()).then(|| all.join("; "))
    }

    /// What is wrong with its wishes.
    pub fn problems(&self) -> impl Iterator<Item = &str> {
        self.wishes.iter().filter_map(|wish| wish.as_ref().err()).map(String::as_str)
    }
}

/// What the calls of a reply want; `said` stands beside them. `read` is as in [`read`].
#[must_use]
pub fn read_calls(said: &str, called: &ToolReply, offers: &AgentOffers, read: usize) -> AgentReply {
    let count = called.calls.len();
    if count > MOST_CALLS {
        let problem = format!("it calls {count} tools at once, more than {MOST_CALLS}");
        return AgentReply::of_json(Err(problem));
    }
    let wish = |call: &RequestedCall| read_call(call, said, offers, read);
    AgentReply { wishes: called.calls.iter().map(wish).collect(), called: Some(called.clone()) }
}

fn read_call(
    call: &RequestedCall,
    said: &str,
    offers: &AgentOffers,
    read: usize,
) -> Wished<AgentTurn> {
    let arguments = match exact::read(&call.arguments) {
        Ok(Value::Object(arguments)) => arguments,
        // Some models leave them out where there are none.
        _ if call.arguments.trim().is_empty() => Map::new(),
        _ => return Err("its arguments are no JSON object".to_owned()),
    };
    let Some((reason, step)) = as_tools::step(&call.name, arguments, offers) else {
        let known = as_tools::known(offers);
        let name: String = call.name.chars().take(80).collect();
        return Err(format!("there is no tool \"{name}\"; there are {known}"));
    };
    let reason = if reason.trim().is_empty() { said } else { &reason };
    turn(reason, &Value::Object(step), offers, read)
}

/// What `reply` says. `read` is how many sources have been read. Fails with what is wrong, in words.
pub fn read(reply: &str, offers: &AgentOffers, read: usize) -> Wished<AgentTurn> {
    let Some(Value::Object(found)) = object::find_exact(reply) else {
        return Err("there is no JSON object in it".to_owned());
    };
    let Some(step) = found.get("step").filter(|step| step.is_object()) else {
        return Err("it has no object \"step\"".to_owned());
    };
    let reason = found.get("reason").and_then(exact::text).unwrap_or_default();
    turn(reason, step, offers, read)
}

/// The step that is taken for this reason.
fn turn(reason: &str, step: &Value, offers: &AgentOffers, read: usize) -> Wished<AgentTurn> {
    if has_nul(step) || reason.contains('\0') {
        return Err("it has the character \\u0000, which no text can have".to_owned());
    }
    let none = Map::new();
    let wish = Wish { step: step.as_object().unwrap_or(&none), offers };
    let reason = reason.trim().chars().take(LONGEST_REASON).collect();
    Ok(AgentTurn { reason, action: wish.action(read)? })
}

/// Whether the character 0, which PostgreSQL's texts cannot have, is in a text or key anywhere in a value.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(_) => exact::text(value).is_some_and(|text| text.contains('\0')),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => {
            members.iter().any(|(key, value)| key.contains('\0') || has_nul(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A reply that is no step that can be taken.
pub struct WrongReply {
    /// Its text, which is empty where it only calls.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

impl WrongReply {
    /// Tells it a model that is asked for JSON. Some providers refuse messages that are empty.
    pub fn repair(&self, messages: &mut Vec<Message>) {
        let text: String = self.text.trim().chars().take(LONGEST_REPLY).collect();
        if !text.is_empty() {
            messages.push(Message { role: "assistant".to_owned(), content: text });
        }
        let problem = &self.problem;
        let told = format!(
            "That is no step that can be taken: {problem}. Reply with the JSON object and nothing else."
        );
        tell(messages, told);
    }

    /// Tells it a model that is offered tools, and to which the reply itself is not shown again.
    pub fn warn(&self, messages: &mut Vec<Message>) {
        let problem = &self.problem;
        tell(
            messages,
            format!(
                "Your last reply was no step that can be taken: {problem}. Call tools that are offered, or answer."
            ),
        );
    }
}

/// Has the user say this. Some providers refuse a second message of the user behind the first.
fn tell(messages: &mut Vec<Message>, content: String) {
    match messages.last_mut().filter(|last| last.role == "user") {
        Some(last) => last.content += &format!("\n\n{content}"),
        None => messages.push(Message { role: "user".to_owned(), content }),
    }
}

/// Adds a condition to the first of `filters` that says nothing of this column by this operator, or to a new one.
fn add_condition(
    filters: &mut Vec<Map<String, Value>>,
    column: &str,
    operator: &str,
    value: Value,
) {
    let is_free =
        |it: &Map<String, Value>| it.get(column).is_none_or(|it| it.get(operator).is_none());
    let place = filters.iter().position(is_free).unwrap_or_else(|| {
        filters.push(Map::new());
        filters.len() - 1
    });
    let tests = filters[place].entry(column).or_insert_with(|| Value::Object(Map::new()));
    tests[operator] = value;
}

/// The object `step` of a reply.
struct Wish<'a> {
    step: &'a Map<String, Value>,
    offers: &'a AgentOffers,
}

impl Wish<'_> {
    fn action(&self, read: usize) -> Wished<AgentAction> {
        let name = self.step.get("do").and_then(Value::as_str).unwrap_or_default();
        match name {
            "search" => Ok(AgentAction::Search(self.search()?)),
            "open" => self.open(read),
            "graph" if self.offers.graph => Ok(AgentAction::Graph(self.walk()?)),
            "sql" if self.offers.sql => Ok(AgentAction::Sql(self.text("question")?)),
            "calculate" => Ok(AgentAction::Calculate(self.text("expression")?)),
            "call" if !self.offers.tools.is_empty() => Ok(AgentAction::Call(self.call()?)),
            "answer" => match self.said("text") {
                "" => Err("\"text\" of the answer is empty".to_owned()),
                text => Ok(AgentAction::Answer(text.to_owned())),
            },
            _ => Err(format!("\"do\" must be one of {}", self.known())),
        }
    }

    fn known(&self) -> String {
        let AgentOffers { graph, sql, tools, .. } = self.offers;
        let offered = [
            ("search", true),
            ("open", true),
            ("graph", *graph),
            ("sql", *sql),
            ("calculate", true),
            ("call", !tools.is_empty()),
            ("answer", true),
        ];
        let names = offered.iter().filter(|(_, is_offered)| *is_offered).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    }

    fn said(&self, member: &str) -> &str {
        self.step.get(member).and_then(exact::text).unwrap_or_default().trim()
    }

    fn walk(&self) -> Wished<AgentWalk> {
        let entity = self.text("entity")?;
        let known = &self.offers.predicates;
        let named = match self.step.get("predicates") {
            None | Some(Value::Null) => Vec::new(),
            Some(named) => named.as_array().cloned().ok_or("\"predicates\" must be an array")?,
        };
        let mut predicates: Vec<String> = Vec::new();
        for name in named {
            match known.iter().find(|it| name.as_str() == Some(it.as_str())) {
                Some(it) if predicates.contains(it) => {}
                Some(it) => predicates.push(it.clone()),
                None if known.is_empty() => return Err("there are no predicates".to_owned()),
                None => {
                    return Err(format!("\"predicates\" must be among {}", known.join(", ")));
                }
            }
        }
        Ok(AgentWalk { entity, predicates })
    }

    /// A text that is there and not too long.
    fn text(&self, member: &str) -> Wished<String> {
        let text = self.said(member);
        match text.chars().count() {
            0 => Err(format!("\"{member}\" is missing or empty")),
            1..=LONGEST_TEXT => Ok(text.to_owned()),
            count => Err(format!("\"{member}\" has {count} characters, more than {LONGEST_TEXT}")),
        }
    }

    /// The value of a member, unless that is null.
    fn given(&self, member: &str) -> Option<&Value> {
        self.step.get(member).filter(|it| !it.is_null())
    }

    fn open(&self, read: usize) -> Wished<AgentAction> {
        let number = self.given("number").and_then(Value::as_u64).unwrap_or_default();
        match usize::try_from(number) {
            Ok(number) if (1..=read).contains(&number) => Ok(AgentAction::Open(number)),
            _ if read == 0 => Err("there is no source to open".to_owned()),
            _ => Err(format!("\"number\" must be that of a source, 1 to {read}")),
        }
    }

    fn search(&self) -> Wished<AgentSearch> {
        let k = match self.given("k").map(Value::as_u64) {
            None => None,
            Some(Some(k)) if (1..=u64::from(MOST_CHUNKS)).contains(&k) => u32::try_from(k).ok(),
            Some(_) => return Err(format!("\"k\" must be between 1 and {MOST_CHUNKS}, or null")),
        };
        let pipeline = match self.said("pipeline") {
            "" => None,
            name if self.offers.pipelines.iter().any(|it| it == name) => Some(name.to_owned()),
            _ => return Err("\"pipeline\" is none of those that are asked".to_owned()),
        };
        let filter = self.given("filter").map(|it| self.filter(it)).transpose()?.flatten();
        Ok(AgentSearch { question: self.text("question")?, k, filter, pipeline })
    }

    /// Conditions as the filter of a call; `None` where there are none.
    fn filter(&self, conditions: &Value) -> Wished<Option<Value>> {
        let Value::Array(conditions) = conditions else {
            return Err("\"filter\" must be an array of conditions".to_owned());
        };
        let mut filters = vec![Map::new()];
        for condition in conditions {
            let text = |member: &str| condition.get(member).and_then(exact::text);
            let (column, operator) = (text("column").unwrap_or_default(), text("is"));
            let Some(operator) = operator.filter(|it| OPERATORS.contains(it)) else {
                return Err(format!("\"is\" must be one of {}", OPERATORS.join(", ")));
            };
            let value = condition.get("value").cloned().unwrap_or(Value::Null);
            add_condition(&mut filters, column, operator, value);
        }
        let filter = match filters.as_slice() {
            [only] => Value::Object(only.clone()),
            several => json!({ "$and": several }),
        };
        self.check(&filter)?;
        Ok((!conditions.is_empty()).then_some(filter))
    }

    /// What PostgreSQL would refuse must not end the answer.
    fn check(&self, filter: &Value) -> Wished<()> {
        value::check_filter(filter, &self.offers.columns).map_err(|error| error.to_string())
    }

    fn call(&self) -> Wished<ToolCall> {
        let name = self.said("tool");
        let Some(tool) = self.offers.tools.iter().find(|it| it.name == name) else {
            let known = self.offers.tools.iter().map(|it| it.name.as_str());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(format!("\"tool\" must be one of {known}"));
        };
        let none = Map::new();
        let given = match self.given("with") {
            None => &none,
            Some(Value::Object(given)) => given,
            Some(_) => return Err("\"with\" must be an object of arguments".to_owned()),
        };
        Ok(ToolCall { tool: tool.name.clone(), arguments: arguments(tool, given)? })
    }
}

/// The arguments that are given, each checked; what is null and has a default is left out.
fn arguments(tool: &ToolOffer, given: &Map<String, Value>) -> Wished<Map<String, Value>> {
    let is_known = |name: &str| tool.arguments.iter().any(|it| it.name == name);
    if let Some(unknown) = given.keys().find(|name| !is_known(name)) {
        return Err(format!("tool \"{}\" has no argument \"{unknown}\"", tool.name));
    }
    let mut checked = Map::new();
    for argument in &tool.arguments {
        match given.get(&argument.name).filter(|it| !it.is_null()) {
            None if argument.has_default => {}
            None => return Err(format!("argument \"{}\" is missing", argument.name)),
            Some(value) if argument.takes(value) => {
                checked.insert(argument.name.clone(), value.clone());
            }
            Some(value) => return Err(argument.refusal(value)),
        }
    }
    Ok(checked)
}

impl ToolArgument {
    fn takes(&self, value: &Value) -> bool {
        match (self.is_list, value) {
            (true, Value::Array(items)) => items.iter().all(|it| self.kind.fits(it)),
            (is_list, value) => !is_list && self.kind.fits(value),
        }
    }

    fn refusal(&self, value: &Value) -> String {
        let kind = self.kind.name();
        let wanted = if self.is_list {
            format!("an array of {kind}")
        } else {
            format!("{} {kind}", if kind == "integer" { "an" } else { "a" })
        };
        let shown: String = exact::written(value).chars().take(80).collect();
        format!("argument \"{}\" must be {wanted} ({}), not {shown}", self.name, self.sql_type)
    }
}

#[cfg(test)]
mod tests {
    use super::super::action::ArgumentKind;
    use super::*;

    fn argument(name: &str, kind: ArgumentKind, has_default: bool) -> ToolArgument {
        let sql_type = "integer".to_owned();
        ToolArgument { name: name.to_owned(), sql_type, kind, is_list: false, has_default }
    }

    fn offers() -> AgentOffers {
        let numbers = argument("n", ArgumentKind::Integer, false);
        let list = ToolArgument { is_list: true, ..argument("all", ArgumentKind::Number, true) };
        let tool = |name: &str, arguments| ToolOffer {
            name: name.to_owned(),
            description: "does it".to_owned(),
            arguments,
        };
        AgentOffers {
            columns: vec![
                ("year".to_owned(), "integer".to_owned()),
                ("lang".to_owned(), "text".to_owned()),
            ],
            pipelines: vec!["docs".to_owned(), "tickets".to_owned()],
            graph: true,
            predicates: vec!["uses".to_owned(), "worked on".to_owned()],
            sql: true,
            tools: vec![tool("double", vec![numbers, list]), tool("now", Vec::new())],
        }
    }

    fn wished(step: Value, offers: &AgentOffers) -> Wished<String> {
        let reply = json!({"reason": "so", "step": step}).to_string();
        read(&reply, offers, 3).map(|turn| turn.action.to_string())
    }

    fn check(step: Value, expected: Wished<&str>) {
        let found = wished(step.clone(), &offers());
        assert_eq!(found.as_deref().map_err(Clone::clone), expected, "{step}");
    }

    fn refused(step: Value, why: &str) {
        check(step, Err(why.to_owned()));
    }

    #[test]
    fn wishes_are_read() {
        check(json!({"do": "search", "question": " Who? "}), Ok("search \"Who?\""));
        check(
            json!({"do": "search", "question": "Who?", "k": 8, "pipeline": "docs", "filter": [
                {"column": "year", "is": "gte", "value": "2020"},
                {"column": "year", "is": "lt", "value": "2024"},
                {"column": "lang", "is": "ne", "value": null}]}),
            Ok(
                "search \"Who?\", 8 chunks, filter {\"lang\":{\"ne\":null},\"year\":{\"gte\":\"2020\",\"lt\":\"2024\"}}, pipeline docs",
            ),
        );
        check(
            json!({"do": "search", "question": "Who?", "filter": [
                {"column": "lang", "is": "ne", "value": "de"},
                {"column": "lang", "is": "ne", "value": "fr"}]}),
            Ok(
                "search \"Who?\", filter {\"$and\":[{\"lang\":{\"ne\":\"de\"}},{\"lang\":{\"ne\":\"fr\"}}]}",
            ),
        );
        check(
            json!({"do": "search", "question": "Who?", "k": null, "filter": [], "pipeline": null}),
            Ok("search \"Who?\""),
        );
        check(json!({"do": "open", "number": 3}), Ok("open source 3"));
        check(json!({"do": "graph", "entity": "Eve"}), Ok("graph \"Eve\""));
        check(json!({"do": "graph", "entity": "Eve", "predicates": []}), Ok("graph \"Eve\""));
        check(json!({"do": "graph", "entity": "Eve", "predicates": null}), Ok("graph \"Eve\""));
        check(
            json!({"do": "graph", "entity": "Eve", "predicates": ["worked on", "uses", "uses"]}),
            Ok("graph \"Eve\", over worked on, uses"),
        );
        check(json!({"do": "sql", "question": "How many?"}), Ok("sql \"How many?\""));
        check(json!({"do": "calculate", "expression": "1 + 1"}), Ok("calculate 1 + 1"));
        check(
            json!({"do": "call", "tool": "double", "with": {"n": 2, "all": null}}),
            Ok("call double({\"n\":2})"),
        );
        check(
            json!({"do": "call", "tool": "double", "with": {"n": 2, "all": [1, 2.5]}}),
            Ok("call double({\"all\":[1,2.5],\"n\":2})"),
        );
        let exact = "{\"step\": {\"do\": \"call\", \"tool\": \"double\", \"with\": {\"n\": 2, \"all\": [12345678901234567.89, 1.50]}}}";
        let called = read(exact, &offers(), 3).unwrap().action.to_string();
        assert_eq!(called, "call double({\"all\":[12345678901234567.89,1.50],\"n\":2})");
        check(json!({"do": "call", "tool": "now"}), Ok("call now({})"));
        check(json!({"do": "answer", "text": "It is [1]."}), Ok("answer \"It is [1].\""));
    }

    #[test]
    fn what_is_wrong_is_said() {
        refused(json!({"do": "search", "question": " "}), "\"question\" is missing or empty");
        refused(json!({"do": "search", "question": "\0"}), "\"question\" is missing or empty");
        refused(
            json!({"do": "search", "question": "x", "k": 51}),
            "\"k\" must be between 1 and 50, or null",
        );
        refused(
            json!({"do": "search", "question": "x", "pipeline": "secrets"}),
            "\"pipeline\" is none of those that are asked",
        );
        let filtered =
            |condition: Value| json!({"do": "search", "question": "x", "filter": [condition]});
        refused(
            filtered(json!({"column": "pay", "is": "eq", "value": "1"})),
            "filter names an unknown column \"pay\"",
        );
        refused(
            filtered(json!({"column": "year", "is": "eq", "value": "soon"})),
            "\"soon\" is no integer, the type of \"year\"",
        );
        refused(
            filtered(json!({"column": "year", "is": "like", "value": "1"})),
            "\"is\" must be one of eq, ne, lt, lte, gt, gte",
        );
        refused(json!({"do": "open", "number": 4}), "\"number\" must be that of a source, 1 to 3");
        refused(json!({"do": "open", "number": 0}), "\"number\" must be that of a source, 1 to 3");
        refused(
            json!({"do": "calculate", "expression": "1".repeat(3000)}),
            "\"expression\" has 3000 characters, more than 2000",
        );
        let over =
            |predicates: Value| json!({"do": "graph", "entity": "Eve", "predicates": predicates});
        refused(over(json!("uses")), "\"predicates\" must be an array");
        refused(over(json!(["uses", "owns"])), "\"predicates\" must be among uses, worked on");
        refused(over(json!([1])), "\"predicates\" must be among uses, worked on");
        refused(json!({"do": "answer", "text": ""}), "\"text\" of the answer is empty");
        refused(
            json!({"do": "delete"}),
            "\"do\" must be one of search, open, graph, sql, calculate, call, answer",
        );
    }

    #[test]
    fn calls_are_among_those_on_offer_and_have_their_arguments() {
        let call = |tool: &str, with: Value| json!({"do": "call", "tool": tool, "with": with});
        refused(call("pg_sleep", json!({"n": 1})), "\"tool\" must be one of double, now");
        refused(call("double", json!({})), "argument \"n\" is missing");
        refused(call("double", json!({"n": null})), "argument \"n\" is missing");
        refused(
            call("double", json!({"n": "two"})),
            "argument \"n\" must be an integer (integer), not \"two\"",
        );
        refused(
            call("double", json!({"n": 1, "all": ["x"]})),
            "argument \"all\" must be an array of number (integer), not [\"x\"]",
        );
        refused(call("double", json!({"n": 1, "m": 1})), "tool \"double\" has no argument \"m\"");
        refused(call("now", json!([1])), "\"with\" must be an object of arguments");
    }

    #[test]
    fn what_was_not_offered_is_no_wish() {
        let bare = AgentOffers { graph: true, ..AgentOffers::default() };
        let over = json!({"do": "graph", "entity": "Eve", "predicates": ["uses"]});
        assert_eq!(wished(over, &bare), Err("there are no predicates".to_owned()));
        let none = AgentOffers::default();
        for step in [
            json!({"do": "graph", "entity": "Eve"}),
            json!({"do": "sql", "question": "How many?"}),
            json!({"do": "call", "tool": "double", "with": {"n": 2}}),
        ] {
            let why = "\"do\" must be one of search, open, calculate, answer".to_owned();
            assert_eq!(wished(step, &none), Err(why));
        }
    }

    #[test]
    fn replies_are_read_whatever_stands_around_them() {
        let none = AgentOffers::default();
        let reply =
            "So:\n```json\n{\"step\": {\"do\": \"answer\", \"text\": \"It [1].\"}}\n```\nReally.";
        let turn = read(reply, &none, 1).unwrap();
        assert_eq!((turn.reason.as_str(), turn.action.name()), ("", "answer"));
        let why = |reply: &str| read(reply, &none, 1).unwrap_err();
        assert_eq!(why("I would search."), "there is no JSON object in it");
        assert_eq!(why("[1]"), "there is no JSON object in it");
        assert_eq!(why("{\"do\": \"answer\"}"), "it has no object \"step\"");
        let long = json!({"reason": "x".repeat(5000), "step": {"do": "answer", "text": "y"}});
        assert_eq!(read(&long.to_string(), &none, 1).unwrap().reason.len(), LONGEST_REASON);
        assert_eq!(why(&"{".repeat(100_000)), "there is no JSON object in it");
    }

    fn called(calls: &[(&str, &str)]) -> AgentReply {
        let call = |(name, arguments): &(&str, &str)| RequestedCall {
            id: "c".to_owned(),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
        };
        let calls = calls.iter().map(call).collect();
        read_calls("beside", &ToolReply { calls, ..ToolReply::default() }, &offers(), 3)
    }

    fn said(reply: &AgentReply) -> Vec<Wished<String>> {
        let said = |wish: &Wished<AgentTurn>| {
            wish.as_ref().map(|it| format!("{} ({})", it.action, it.reason)).map_err(Clone::clone)
        };
        reply.wishes.iter().map(said).collect()
    }

    #[test]
    fn calls_are_wishes_as_good_as_others() {
        let known = "search, open, graph, sql, calculate, double, now";
        let none = |name: &str| Err(format!("there is no tool \"{name}\"; there are {known}"));
        let reply = called(&[
            ("search", r#"{"reason": "why", "question": "Who?", "k": null, "filter": []}"#),
            ("double", r#"{"reason": "", "n": 2}"#),
            ("now", ""),
            ("drop_table", "{}"),
            ("answer", r#"{"text": "x"}"#),
            ("open", r#"{"number": 9}"#),
            ("double", r#"{"n": "two"}"#),
            ("double", "[1]"),
            ("search", r#"{"question": "a\u0000b"}"#),
        ]);
        assert_eq!(
            said(&reply),
            [
                Ok("search \"Who?\" (why)".to_owned()),
                Ok("call double({\"n\":2}) (beside)".to_owned()),
                Ok("call now({}) (beside)".to_owned()),
                none("drop_table"),
                none("answer"),
                Err("\"number\" must be that of a source, 1 to 3".to_owned()),
                Err("argument \"n\" must be an integer (integer), not \"two\"".to_owned()),
                Err("its arguments are no JSON object".to_owned()),
                Err("it has the character \\u0000, which no text can have".to_owned()),
            ]
        );
        assert_eq!(reply.problem(), None);
        assert_eq!(reply.called.map(|it| it.calls.len()), Some(9));
        let all = called(&[("a", "{}"), ("b", "{}")]);
        assert!(all.problem().unwrap().contains("no tool \"a\""));
        let many = called(&[("now", "{}"); 17]);
        assert_eq!(many.problem().as_deref(), Some("it calls 17 tools at once, more than 16"));
        assert!(many.called.is_none());
    }
}
