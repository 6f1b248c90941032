//! The language model that writes queries, and guarded SQL that runs them.

use std::time::{Duration, Instant};

use crate::answer::strategy::{Limits, ModelReply};
use crate::error::Result;
use crate::pg::guarded_sql::{self, GuardedRequest, GuardedRows};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::generate::{Sampling, ask, request, said};
use crate::pg::ragd::trace;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::statement_error::StatementError;
use crate::prompt::messages::Message;
use crate::protocol::{GenerateRequest, LOCAL_API, ProviderConfig};
use crate::text_to_sql::SqlHost;
use crate::text_to_sql::failure::QueryFailure;
use crate::text_to_sql::options::SqlOptions;
use crate::text_to_sql::reply::ReplyForm;

/// What works at one question.
pub struct SqlSession<'a> {
    provider: &'a ProviderConfig,
    options: &'a SqlOptions,
    wants_keys: bool,
    with: Option<String>,
    context: CallContext,
    begun: Instant,
}

impl<'a> SqlSession<'a> {
    /// Asks `provider`, and runs queries as `options` say.
    pub fn new(provider: &'a ProviderConfig, options: &'a SqlOptions) -> SqlSession<'a> {
        let (context, begun) = (CallContext::query(), Instant::now());
        SqlSession { provider, options, wants_keys: false, with: None, context, begun }
    }

    /// For an answer that was `begun` earlier, in whose `context` calls are made, and which cites rows by their keys.
    #[must_use]
    pub fn for_answer(self, context: CallContext, begun: Instant) -> SqlSession<'a> {
        SqlSession { wants_keys: true, context, begun, ..self }
    }

    /// Whether the language model is asked first whether there is a query: a local one, if the options do not say. Such
    /// are small, and one that writes at once seldom says that there is none.
    pub fn is_screened(&self) -> bool {
        self.options.screen.unwrap_or(self.is_local())
    }

    /// Whether it is a model of this machine.
    fn is_local(&self) -> bool {
        self.provider.api == LOCAL_API
    }

    /// Lets queries name the relations that the WITH of this one has.
    pub fn name(&mut self, with: Option<String>) {
        self.with = with;
    }

    fn guarded(&self, sql: &str) -> Result<GuardedRows, StatementError> {
        let SqlOptions { max_rows, timeout, max_cost, guard, .. } = self.options;
        // Suggestions are read, and names found in what is said, by its English words.
        let mut settings = LocalSettings::new();
        settings.set_as_superuser(c"lc_messages", c"C");
        guarded_sql::run(GuardedRequest {
            sql: Some(sql),
            max_rows: *max_rows,
            timeout: Duration::from_secs_f64(*timeout),
            max_cost: *max_cost,
            options: guard,
            wants_keys: self.wants_keys,
            with: self.with.as_deref(),
        })
    }
}

impl SqlHost for SqlSession<'_> {
    type Rows = GuardedRows;

    fn ask(&mut self, prompt: &[Message], form: ReplyForm, limits: Limits) -> Result<ModelReply> {
        let most = limits.max_tokens.unwrap_or(u32::MAX).min(self.options.max_tokens);
        let within_ms = limits.timeout_ms;
        let sampling = Sampling { within_ms, ..Sampling::probable(Some(most)) };
        let request = request(self.provider, prompt.to_vec(), sampling, self.context.lane);
        let schema = match self.is_local() {
            true => form.local_schema(),
            false => form.schema().to_owned(),
        };
        let request = GenerateRequest { schema: Some(schema), ..request };
        let write = || ask(request, &self.context).map(said);
        trace::step("write", || form.step().to_owned(), write)
    }

    /// Raises what is not about the query: a cancel, the end of the session, a server in trouble.
    fn run(&mut self, sql: &str) -> Result<GuardedRows, QueryFailure> {
        let outcome = trace::step("sql", String::new, || {
            trace::words(|| sql.to_owned());
            let outcome = self.guarded(sql);
            trace::rows(outcome.as_ref().map_or(0, |found| found.rows.len()));
            Ok(outcome)
        });
        match outcome.unwrap_or_else(|error| Err(error.into())) {
            Ok(rows) => Ok(rows),
            Err(error) if error.is_mendable() => Err(failure(error)),
            Err(error) => error.raise(sql),
        }
    }

    /// Documents of a WITH that was added to the query are none of its own words either.
    fn has_read(&self, rows: &GuardedRows) -> bool {
        rows.reads_added || !rows.relations.is_empty()
    }

    fn elapsed_ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }
}

fn failure(error: StatementError) -> QueryFailure {
    let StatementError { sqlstate, message, detail, hint, position, .. } = error;
    QueryFailure { sqlstate, message, detail, hint, position }
}
