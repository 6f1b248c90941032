//! How queries are written, corrected and given up, with a model and a server that play a script.

use std::collections::{HashMap, VecDeque};

use super::table::tests::table;
use super::*;
use crate::answer::strategy::Budget;
use crate::error::{Bill, Error, ErrorKind};

/// A reply that is cut short.
const CUT: &str = "cut";

/// Says and runs what a script wants.
struct Script {
    replies: VecDeque<String>,
    /// What does not run, and why.
    failures: HashMap<&'static str, QueryFailure>,
    asked: Vec<Vec<Message>>,
    ran: Vec<String>,
    limits: Vec<Limits>,
    forms: Vec<ReplyForm>,
}

impl Script {
    fn new(replies: &[String]) -> Script {
        Script {
            replies: replies.iter().cloned().collect(),
            failures: HashMap::new(),
            asked: Vec::new(),
            ran: Vec::new(),
            limits: Vec::new(),
            forms: Vec::new(),
        }
    }

    fn failing(mut self, sql: &'static str, sqlstate: &str, message: &str) -> Script {
        let (sqlstate, message) = (sqlstate.to_owned(), message.to_owned());
        self.failures.insert(sql, QueryFailure { sqlstate, message, ..QueryFailure::default() });
        self
    }

    /// A query with a wrong column at its eighth character, and the right one in a hint.
    fn misspelled(mut self, sql: &'static str, right: &str) -> Script {
        let failure = QueryFailure {
            sqlstate: "42703".to_owned(),
            message: "column \"custmer\" does not exist".to_owned(),
            hint: Some(format!("Perhaps you meant to reference the column \"{right}\".")),
            position: Some(8),
            ..QueryFailure::default()
        };
        self.failures.insert(sql, failure);
        self
    }
}

impl SqlHost for Script {
    type Rows = usize;

    fn ask(&mut self, prompt: &[Message], form: ReplyForm, limits: Limits) -> Result<ModelReply> {
        self.asked.push(prompt.to_vec());
        self.forms.push(form);
        self.limits.push(limits);
        let text = self.replies.pop_front();
        let text =
            text.ok_or_else(|| Error::new(ErrorKind::ProviderFailed, "nothing is left to say"))?;
        if text == CUT {
            let bill = Bill { calls: 1, uncounted: 0, input: 100, output: 1000 };
            return Err(Error::new(ErrorKind::ReplyMisfit, "cut").with_bill(Some(bill)));
        }
        Ok(ModelReply {
            tools: None,
            text,
            prompt_tokens: Some(100),
            completion_tokens: Some(10),
            attempts: 1,
            ..ModelReply::default()
        })
    }

    fn run(&mut self, sql: &str) -> Result<usize, QueryFailure> {
        self.ran.push(sql.to_owned());
        self.failures.get(sql).cloned().map_or(Ok(self.ran.len()), Err)
    }

    fn has_read(&self, _: &usize) -> bool {
        self.ran.last().is_none_or(|sql| !sql.contains("own words"))
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }
}

fn query(sql: &str) -> String {
    json!({"reason": "so", "answerable": true, "sql": sql}).to_string()
}

/// What was written, and what it took.
#[derive(Debug)]
struct Done {
    ending: SqlEnding<usize>,
    attempts: Vec<SqlAttempt>,
    usage: Value,
}

fn written(script: &mut Script, attempts: u32, budget: Budget) -> Result<Done> {
    let known = ["orders", "customer", "o"].map(str::to_owned).into();
    let prompt = vec![Message { role: "user".to_owned(), content: "How many?".to_owned() }];
    let mut ledger = BudgetLedger::new(budget);
    let task = SqlTask { prompt, screen: None, attempts, kept: None, known: &known, tables: &[] };
    let WrittenSql { ending, attempts, .. } = write(&task, &mut ledger, script)?;
    Ok(Done { ending, attempts, usage: ledger.usage("sql") })
}

#[test]
fn a_call_that_comes_later_keeps_its_room() {
    let known = HashSet::new();
    let mut script = Script::new(&[query("SELECT 1")]);
    let mut ledger = BudgetLedger::new(Budget { calls: Some(1), ..Budget::default() });
    let task = SqlTask {
        prompt: Vec::new(),
        screen: None,
        attempts: 3,
        kept: Some(10),
        known: &known,
        tables: &[],
    };
    let done = write(&task, &mut ledger, &mut script).unwrap();
    assert_eq!((done.ending, script.asked.len()), (SqlEnding::OverBudget, 0));
}

#[test]
fn the_first_query_that_runs_is_the_last() {
    let mut script = Script::new(&[query("SELECT 1"), query("SELECT 2")]);
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert_eq!(done.ending, SqlEnding::Ran { rows: 1, reason: Some("so".to_owned()) });
    assert_eq!((script.asked.len(), script.ran), (1, vec!["SELECT 1".to_owned()]));
    assert_eq!(done.attempts[0].to_json(), json!({"sql": "SELECT 1", "by": "model"}));
    assert_eq!(done.usage["calls"], 1);
}

#[test]
fn a_query_that_reads_nothing_is_no_answer() {
    let mut script = Script::new(&[query("SELECT 'own words'"), query("SELECT 2")]);
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert_eq!(done.ending, SqlEnding::Unanswerable(READS_NOTHING.to_owned()));
    assert_eq!((script.asked.len(), done.attempts.len()), (1, 1));
}

#[test]
fn an_error_is_shown_and_the_query_corrected() {
    let mut script = Script::new(&[query("SELECT bad"), query("SELECT good")]).failing(
        "SELECT bad",
        "42703",
        "column \"bad\" does not exist",
    );
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert_eq!(done.ending, SqlEnding::Ran { rows: 2, reason: Some("so".to_owned()) });
    let repair = &script.asked[1];
    assert_eq!(repair.len(), 3);
    assert_eq!(repair[1].content, query("SELECT bad"));
    assert!(repair[2].content.contains("column \"bad\" does not exist (SQLSTATE 42703)"));
    assert_eq!(done.attempts[0].to_json()["sqlstate"], "42703");
}

#[test]
fn a_question_may_have_no_answer() {
    let none = json!({"reason": "no weather here", "answerable": false, "sql": ""}).to_string();
    let mut script = Script::new(&[none]);
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert_eq!(done.ending, SqlEnding::Unanswerable("no weather here".to_owned()));
    assert!(done.attempts.is_empty() && script.ran.is_empty());
}

#[test]
fn attempts_and_calls_have_an_end() {
    let bad = || query("SELECT bad");
    let script = || {
        Script::new(&[bad(), bad(), bad(), bad()]).failing("SELECT bad", "42601", "syntax error")
    };
    let mut three = script();
    let done = written(&mut three, 3, Budget::default()).unwrap();
    assert_eq!((done.ending, done.attempts.len(), three.asked.len()), (SqlEnding::Failed, 3, 3));
    let mut two = script();
    let calls = Budget { calls: Some(2), ..Budget::default() };
    let done = written(&mut two, 3, calls).unwrap();
    assert_eq!((done.ending, two.asked.len()), (SqlEnding::OverBudget, 2));
    assert_eq!(done.usage["stopped_by"], "calls");
    let mut none = script();
    let tokens = Budget { tokens: Some(10), ..Budget::default() };
    let done = written(&mut none, 3, tokens).unwrap();
    assert_eq!((done.ending, none.asked.len()), (SqlEnding::OverBudget, 0));
    let mut few = script();
    let tokens = Budget { tokens: Some(300), ..Budget::default() };
    drop(written(&mut few, 1, tokens).unwrap());
    assert!(few.limits[0].max_tokens.is_some_and(|most| most < 300));
}

#[test]
fn what_cannot_be_read_is_asked_for_again() {
    let mut script = Script::new(&["SELECT 1".to_owned(), query("SELECT 1")]);
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert!(matches!(done.ending, SqlEnding::Ran { .. }));
    assert!(script.asked[1][2].content.contains("no JSON object"));
    assert_eq!(done.attempts[0].sql, "");
}

#[test]
fn a_screen_ends_the_work_or_lets_it_begin() {
    let screened = |replies: &[String]| {
        let known = HashSet::new();
        let mut script = Script::new(replies);
        let mut ledger = BudgetLedger::new(Budget::default());
        let said =
            |content: &str| vec![Message { role: "user".to_owned(), content: content.to_owned() }];
        let (prompt, screen) = (said("How many?"), Some(said("Is there a query?")));
        let task = SqlTask { prompt, screen, attempts: 3, kept: None, known: &known, tables: &[] };
        let done = write(&task, &mut ledger, &mut script).unwrap();
        (done.ending, script, ledger.usage("sql"))
    };
    let no = json!({"answerable": false}).to_string();
    let (ending, script, usage) = screened(&[no]);
    assert!(matches!(ending, SqlEnding::Unanswerable(_)));
    assert_eq!((script.forms, &usage["calls"]), (vec![ReplyForm::Screen], &json!(1)));
    for reply in [json!({"answerable": true}).to_string(), CUT.to_owned()] {
        let (ending, script, usage) = screened(&[reply, query("SELECT 1")]);
        assert!(matches!(ending, SqlEnding::Ran { .. }));
        assert_eq!(script.forms, [ReplyForm::Screen, ReplyForm::QueryOrRefusal]);
        let [screen, asked] = &script.asked[..] else { panic!("it is asked twice") };
        assert_eq!(screen[0].content, "Is there a query?");
        assert_eq!(asked[0].content, "How many?");
        let steps = json!([{"step": "screen", "calls": 1}, {"step": "query", "calls": 1}]);
        assert_eq!(usage["steps"], steps);
    }
}

#[test]
fn a_reply_that_is_cut_short_is_an_attempt() {
    let mut script = Script::new(&[CUT.to_owned(), query("SELECT 1")]);
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert!(matches!(done.ending, SqlEnding::Ran { .. }));
    assert_eq!((done.attempts.len(), script.asked[1][1].content.as_str()), (2, "{}"));
    assert_eq!((&done.usage["calls"], &done.usage["completion_tokens"]), (&json!(2), &json!(1010)));
    let mut script = Script::new(&[CUT.to_owned(), CUT.to_owned()]);
    assert_eq!(written(&mut script, 2, Budget::default()).unwrap().ending, SqlEnding::Failed);
}

#[test]
fn a_column_of_another_table_is_no_reason_to_refuse() {
    const WRONG: &str = "SELECT o.customer, o.weather FROM orders AS o";
    let asked = |sqlstate: &str, message: &str| {
        let tables = [table("orders", &["id", "customer"])];
        let known = ["orders", "customer"].map(str::to_owned).into();
        let mut script =
            Script::new(&[query(WRONG), query("SELECT 1")]).failing(WRONG, sqlstate, message);
        let (prompt, mut ledger) = (Vec::new(), BudgetLedger::new(Budget::default()));
        let task = SqlTask {
            prompt,
            screen: None,
            attempts: 2,
            kept: None,
            known: &known,
            tables: &tables,
        };
        drop(write(&task, &mut ledger, &mut script).unwrap());
        assert_eq!(script.forms[0], ReplyForm::QueryOrRefusal);
        (script.forms[1], script.asked[1][1].content.clone())
    };
    let (form, said) = asked("42703", "column o.customer does not exist");
    assert_eq!(form, ReplyForm::Query);
    assert!(said.contains("customer is a column of orders"), "{said}");
    let (form, said) = asked("42703", "column o.weather does not exist");
    assert_eq!(form, ReplyForm::QueryOrRefusal);
    assert!(!said.contains("is a column of"), "{said}");
    assert_eq!(asked("42601", "syntax error").0, ReplyForm::Query);
    let missing = "missing FROM-clause entry for table \"i\"";
    assert_eq!(asked("42P01", missing).0, ReplyForm::Query);
    let missing = "relation \"items\" does not exist";
    assert_eq!(asked("42P01", missing).0, ReplyForm::QueryOrRefusal);
    assert_eq!(asked("42702", "column reference \"id\" is ambiguous").0, ReplyForm::Query);
}

#[test]
fn a_suggested_column_is_tried_without_another_call() {
    let sql = "SELECT custmer FROM orders AS o";
    let mut script = Script::new(&[query(sql)]).misspelled(sql, "o.customer");
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert!(matches!(done.ending, SqlEnding::Ran { .. }));
    assert_eq!(script.ran, [sql, "SELECT \"o\".\"customer\" FROM orders AS o"]);
    assert_eq!(script.asked.len(), 1);
    assert_eq!(done.attempts[1].by, QueryAuthor::Hint);
}

#[test]
fn what_followed_a_suggestion_and_failed_is_shown_with_it() {
    let sql = "SELECT custmer FROM orders AS o";
    let mut script = Script::new(&[query(sql), query("SELECT 1")])
        .misspelled(sql, "o.customer")
        .failing("SELECT \"o\".\"customer\" FROM orders AS o", "42803", "it must be grouped");
    let done = written(&mut script, 3, Budget::default()).unwrap();
    assert_eq!(done.attempts.len(), 3);
    let repair = &script.asked[1][2].content;
    assert!(repair.contains("\"o\".\"customer\"") && repair.contains("grouped"), "{repair}");
}

#[test]
fn a_suggestion_of_what_the_caller_may_not_read_is_not_passed_on() {
    let sql = "SELECT custmer FROM orders AS o";
    // PostgreSQL names a column that no relation has which the caller may read.
    let mut script = Script::new(&[query(sql), query("SELECT 1")]).misspelled(sql, "o.salary");
    let done = written(&mut script, 3, Budget::default()).unwrap();
    let told = format!("{:?} {:?} {:?}", script.asked, script.ran, done.attempts);
    assert!(!told.contains("salary"), "{told}");
    // The name is another column's, too, and this one is not the caller's to read.
    let mut script =
        Script::new(&[query(sql), query("SELECT 1")]).misspelled(sql, "o.customer").failing(
            "SELECT \"o\".\"customer\" FROM orders AS o",
            NO_RIGHT,
            "permission denied for table orders",
        );
    let done = written(&mut script, 3, Budget::default()).unwrap();
    let told = format!("{:?} {:?}", script.asked, done.attempts);
    assert!(!told.contains("customer"), "{told}");
    assert_eq!(done.attempts.len(), 2);
}

#[test]
fn suggestions_are_followed_a_few_times_only() {
    let mut script = Script::new(&[query("SELECT custmer FROM orders AS o")]);
    script = script.misspelled("SELECT custmer FROM orders AS o", "o.customer");
    script = script.misspelled("SELECT \"o\".\"customer\" FROM orders AS o", "o.customer");
    let done = written(&mut script, 1, Budget::default()).unwrap();
    assert_eq!((done.ending, script.ran.len()), (SqlEnding::Failed, 1 + MOST_HINTS));
}

#[test]
fn a_provider_that_fails_ends_the_work() {
    let error = written(&mut Script::new(&[]), 3, Budget::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderFailed);
}
