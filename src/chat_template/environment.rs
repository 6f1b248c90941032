//! What a chat template can call, with a count of what that makes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, filters, functions, tests};

use super::guard::{CHECKED, PLAIN};

/// Most steps that rendering may take.
const MOST_STEPS: usize = 65_536;

/// Steps times bytes of the longest value: each step may copy one.
const MOST_WORK: usize = 4 << 30;

/// Bytes that all values may have that a template makes, looks at or prints.
const MOST_BYTES: usize = 256 << 20;

/// Bytes of one value, beside what the messages have.
const LONGEST_VALUE: usize = 64 << 10;

/// Deepest lists within lists.
const DEEPEST: usize = 24;

/// What may still be made.
#[derive(Clone, Debug)]
struct TemplateBudget {
    left: Arc<AtomicUsize>,
    /// Most bytes of one value.
    longest: usize,
}

impl TemplateBudget {
    fn spend(&self, bytes: usize) -> Result<(), Error> {
        let left = self.left.load(Ordering::Relaxed);
        match left.checked_sub(bytes) {
            Some(left) if bytes <= self.longest => {
                self.left.store(left, Ordering::Relaxed);
                Ok(())
            }
            _ => Err(Error::new(ErrorKind::OutOfFuel, "its values are too long")),
        }
    }

    /// Spends what `value` would take if it were printed.
    fn check(&self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            return Err(Error::new(ErrorKind::OutOfFuel, "its lists are too deep"));
        }
        self.spend(16 + value.as_str().map_or(0, str::len))?;
        if !matches!(value.kind(), ValueKind::Seq | ValueKind::Map | ValueKind::Iterable) {
            return Ok(());
        }
        let is_map = value.kind() == ValueKind::Map;
        for item in value.try_iter()? {
            if is_map {
                self.check(&value.get_item(&item)?, depth + 1)?;
            }
            self.check(&item, depth + 1)?;
        }
        Ok(())
    }

    /// Fails unless `value` is a text, a number or the like, or a list of such.
    fn check_plain(&self, value: &Value) -> Result<(), Error> {
        let is_list = |it: &Value| matches!(it.kind(), ValueKind::Seq | ValueKind::Iterable);
        let is_plain = |it: &Value| !is_list(it) && it.kind() != ValueKind::Map;
        self.check(value, 0)?;
        if is_plain(value) || is_list(value) && value.try_iter()?.all(|it| is_plain(&it)) {
            return Ok(());
        }
        let said = "a namespace may hold texts, numbers and lists of these only";
        Err(Error::new(ErrorKind::InvalidOperation, said))
    }
}

/// An environment for one rendering of a guarded template, with messages of `length` bytes together, on the
/// day `today` (`2024-12-31`).
///
/// Fails only if minijinja refuses how spaces around tags are dealt with.
pub fn environment(length: usize, today: &str) -> Result<Environment<'static>, Error> {
    let (left, longest) = (Arc::new(AtomicUsize::new(MOST_BYTES)), LONGEST_VALUE + 2 * length);
    let budget = TemplateBudget { left, longest };
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    // As the Python libraries have it.
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_fuel(Some(MOST_STEPS.min(MOST_WORK / longest) as u64));
    environment.set_recursion_limit(DEEPEST);
    add_checks(&mut environment, &budget);
    add_filters(&mut environment, &budget);
    add_tests(&mut environment);
    add_functions(&mut environment, &budget, today);
    environment.set_unknown_method_callback(move |_, value, method, arguments| {
        call_method(&budget, value, method, arguments)
    });
    Ok(environment)
}

fn add_checks(environment: &mut Environment<'static>, budget: &TemplateBudget) {
    let of_size = budget.clone();
    environment.add_filter(CHECKED, move |value: Value| of_size.check(&value, 0).map(|()| value));
    let plain = budget.clone();
    environment.add_filter(PLAIN, move |value: Value| plain.check_plain(&value).map(|()| value));
}

fn add_filters(environment: &mut Environment<'static>, budget: &TemplateBudget) {
    add_method(environment, budget, "trim", "strip");
    for name in ["upper", "lower", "title", "capitalize"] {
        add_method(environment, budget, name, name);
    }
    environment.add_filter("length", filters::length);
    environment.add_filter("count", filters::length);
    environment.add_filter("first", filters::first);
    environment.add_filter("last", filters::last);
    environment.add_filter("list", filters::list);
    environment.add_filter("items", filters::items);
    environment.add_filter("default", filters::default);
    environment.add_filter("d", filters::default);
    environment.add_filter("int", filters::int);
    environment.add_filter("bool", filters::bool);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("select", filters::select);
    environment.add_filter("reject", filters::reject);
    environment.add_filter("selectattr", filters::selectattr);
    environment.add_filter("rejectattr", filters::rejectattr);
    environment.add_filter("map", filters::map);
    environment.add_filter("safe", |value: Value| value);
    let strings = budget.clone();
    environment.add_filter("string", move |value: Value| {
        strings.check(&value, 0).map(|()| value.to_string())
    });
    let json = budget.clone();
    environment.add_filter("tojson", move |value: Value, _: Kwargs| {
        json.check(&value, 0)?;
        let text = serde_json::to_string(&value);
        text.map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
    });
    let joins = budget.clone();
    environment.add_filter("join", move |list: Value, between: Option<&str>| {
        join(&joins, &list, between.unwrap_or_default())
    });
    let replaces = budget.clone();
    environment.add_filter("replace", move |text: &str, from: &str, to: &str| {
        replace(&replaces, text, from, to)
    });
}

/// Adds a filter that does what a method of texts does.
fn add_method(
    environment: &mut Environment<'static>,
    budget: &TemplateBudget,
    name: &'static str,
    method: &'static str,
) {
    let budget = budget.clone();
    environment.add_filter(name, move |text: Value, arguments: Rest<Value>| {
        budget.check(&text, 0)?;
        call_method(&budget, &Value::from(text.to_string()), method, &arguments)
    });
}

fn add_tests(environment: &mut Environment<'static>) {
    environment.add_test("defined", tests::is_defined);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("none", tests::is_none);
    environment.add_test("string", tests::is_string);
    environment.add_test("number", tests::is_number);
    environment.add_test("integer", tests::is_integer);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("iterable", tests::is_iterable);
    environment.add_test("true", tests::is_true);
    environment.add_test("false", tests::is_false);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("even", tests::is_even);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("equalto", tests::is_eq);
    environment.add_test("==", tests::is_eq);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("in", tests::is_in);
}

fn add_functions(environment: &mut Environment<'static>, budget: &TemplateBudget, today: &str) {
    environment.add_function("range", functions::range);
    let namespaces = budget.clone();
    environment.add_function("namespace", move |values: Kwargs| {
        for name in values.args() {
            namespaces.check_plain(&values.peek::<Value>(name)?)?;
        }
        functions::namespace(Some(Value::from(values).into()))
    });
    environment.add_function("raise_exception", |said: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, said))
    });
    let today = today.to_owned();
    environment.add_function("strftime_now", move |form: &str| date(&today, form));
}

/// The day `today` (`2024-12-31`) in the form `form` of C; what is no part of a date stays.
fn date(today: &str, form: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut parts = today.split('-').map(|it| it.parse::<usize>().unwrap_or(1));
    let (year, month, day) =
        (parts.next().unwrap_or(1), parts.next().unwrap_or(1), parts.next().unwrap_or(1));
    let name = MONTHS.get(month.saturating_sub(1)).copied().unwrap_or("January");
    let (mut text, mut rest) = (String::new(), form.chars());
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        match rest.next() {
            Some('Y') => text += &format!("{year:04}"),
            Some('m') => text += &format!("{month:02}"),
            Some('d') => text += &format!("{day:02}"),
            Some('B') => text += name,
            Some('b') => text += &name[..3],
            Some('H' | 'M' | 'S') => text += "00",
            other => text.extend(other),
        }
    }
    text
}

fn join(budget: &TemplateBudget, list: &Value, between: &str) -> Result<String, Error> {
    budget.check(list, 0)?;
    let mut text = String::new();
    for (number, item) in list.try_iter()?.enumerate() {
        if number > 0 {
            budget.spend(between.len())?;
            text += between;
        }
        text += &item.to_string();
    }
    budget.spend(text.len()).map(|()| text)
}

fn replace(budget: &TemplateBudget, text: &str, from: &str, to: &str) -> Result<String, Error> {
    let longer = text.matches(from).count().saturating_mul(to.len());
    budget.spend(text.len().saturating_add(longer))?;
    Ok(text.replace(from, to))
}

/// A method of Python's texts and dictionaries.
fn call_method(
    budget: &TemplateBudget,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    budget.check(value, 0)?;
    let text = |place: usize| arguments.get(place).and_then(Value::as_str);
    if value.kind() == ValueKind::Map {
        return match (method, arguments) {
            ("get", [key]) => Ok(known(value.get_item(key)?)),
            ("get", [key, other]) => {
                let item = value.get_item(key)?;
                Ok(if item.is_undefined() { other.clone() } else { item })
            }
            ("items", []) => filters::items(value),
            ("keys", []) => Ok(value.try_iter()?.collect()),
            ("values", []) => value.try_iter()?.map(|key| value.get_item(&key)).collect(),
            _ => Err(Error::from(ErrorKind::UnknownMethod)),
        };
    }
    let Some(own) = value.as_str() else { return Err(Error::from(ErrorKind::UnknownMethod)) };
    let edge = |c: char| text(0).map_or(c.is_whitespace(), |edge| edge.contains(c));
    Ok(match (method, arguments.len()) {
        ("strip", 0 | 1) => own.trim_matches(edge).into(),
        ("lstrip", 0 | 1) => own.trim_start_matches(edge).into(),
        ("rstrip", 0 | 1) => own.trim_end_matches(edge).into(),
        ("upper", 0) => own.to_uppercase().into(),
        ("lower", 0) => own.to_lowercase().into(),
        ("title", 0) => filters::title(own.into()).into(),
        ("capitalize", 0) => {
            let mut letters = own.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            (first + &letters.as_str().to_lowercase()).into()
        }
        ("startswith", 1) => begins(own, &arguments[0], |own, edge| own.starts_with(edge))?.into(),
        ("endswith", 1) => begins(own, &arguments[0], |own, edge| own.ends_with(edge))?.into(),
        ("replace", 2) => {
            replace(budget, own, text(0).unwrap_or_default(), text(1).unwrap_or_default())?.into()
        }
        ("split", 0) => own.split_whitespace().map(Value::from).collect(),
        ("split", 1 | 2) => split(own, &arguments[0], arguments.get(1))?,
        ("splitlines", 0) => own.lines().map(Value::from).collect(),
        ("join", 1) => join(budget, &arguments[0], own)?.into(),
        ("find", 1) => own.find(text(0).unwrap_or_default()).map_or(-1, |at| at as i64).into(),
        ("count", 1) => own.matches(text(0).unwrap_or_default()).count().into(),
        ("isdigit", 0) => (!own.is_empty() && own.chars().all(char::is_numeric)).into(),
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    })
}

fn known(value: Value) -> Value {
    if value.is_undefined() { Value::from(()) } else { value }
}

/// Whether `own` has one of the edges, a text or several.
fn begins(own: &str, edges: &Value, has: fn(&str, &str) -> bool) -> Result<bool, Error> {
    match edges.as_str() {
        Some(edge) => Ok(has(own, edge)),
        None => Ok(edges.try_iter()?.any(|edge| edge.as_str().is_some_and(|it| has(own, it)))),
    }
}

fn split(own: &str, between: &Value, most: Option<&Value>) -> Result<Value, Error> {
    let Some(between) = between.as_str().filter(|it| !it.is_empty()) else {
        return Err(Error::new(ErrorKind::InvalidOperation, "a text is split at a text only"));
    };
    let most = most.and_then(Value::as_i64).filter(|it| *it >= 0);
    Ok(match most.and_then(|it| usize::try_from(it).ok()) {
        Some(most) => own.splitn(most.saturating_add(1), between).map(Value::from).collect(),
        None => own.split(between).map(Value::from).collect(),
    })
}
