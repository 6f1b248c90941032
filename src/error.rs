//! One error type for every stage.
//!
//! A stage that fails says *what* went wrong with which value, of which kind it is, and,
//! where that helps, what the user can do. The kinds travel over ragd's socket; the table
//! that turns a kind into an SQLSTATE is `pg/error.rs` and nowhere else.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `Result`, by default with pg_rag's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong: a kind, a message with the offending value, perhaps a hint.
///
/// Messages follow PostgreSQL's style: lower case, no full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
    retry_after: Option<Duration>,
    // Few errors have such, and all are passed around.
    call: Option<Box<FailedCall>>,
}

/// What a call to a provider leaves behind that came to nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FailedCall {
    bill: Option<Bill>,
    withheld: WithheldTexts,
}

/// Texts that were kept from a provider, each with the word for its kind.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct WithheldTexts(BTreeMap<String, String>);

/// Without the texts: what is shown of an error may stand in a log.
impl fmt::Debug for WithheldTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WithheldTexts")
    }
}

/// What a provider has been paid for, or is likely to want to be, although nothing came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    /// Calls of the provider.
    pub calls: u32,
    /// Calls among them of which the provider did not say how many tokens it has read.
    pub uncounted: u32,
    /// Tokens read in the others.
    pub input: u64,
    /// Tokens written, as far as that is known.
    pub output: u64,
}

impl Bill {
    /// The bill of `calls` that have read and written so many tokens together, as far as that was
    /// said.
    #[must_use]
    pub fn new(calls: u32, read: Option<u64>, written: Option<u64>) -> Bill {
        let uncounted = if read.is_some() { 0 } else { calls };
        let (input, output) = (read.unwrap_or_default(), written.unwrap_or_default());
        Bill { calls, uncounted, input, output }
    }

    /// Tokens read, where a call of which that is not known has read `expected`.
    #[must_use]
    pub fn input_of(&self, expected: u64) -> u64 {
        self.input.saturating_add(expected.saturating_mul(self.uncounted.into()))
    }

    /// The sum of both bills.
    #[must_use]
    pub fn plus(self, more: Bill) -> Bill {
        Bill {
            calls: self.calls.saturating_add(more.calls),
            uncounted: self.uncounted.saturating_add(more.uncounted),
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
        }
    }
}

/// The kinds of failure a caller can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErrorKind {
    /// An argument, option or value is not acceptable.
    InvalidParameter,
    /// A NULL where a value is needed.
    NullNotAllowed,
    /// A named thing (model, pipeline, server, column) does not exist.
    UndefinedObject,
    /// A named thing exists already.
    DuplicateObject,
    /// A relation of that name exists already.
    DuplicateRelation,
    /// The thing named is there but of a kind that cannot serve.
    WrongObjectType,
    /// More than one thing fits and none was named.
    Ambiguous,
    /// Understood, but this version does not do it.
    Unsupported,
    /// Possible, but not now or not here.
    NotInState,
    /// Something was changed after the snapshot of the transaction, which can be repeated.
    SerializationFailure,
    /// The role may not do what was asked.
    Forbidden,
    /// Two vectors or a vector and a column differ in dimension.
    DimensionMismatch,
    /// A file is missing or unreadable.
    FileUnavailable,
    /// A file's content is not what was registered, or cannot be understood.
    FileCorrupted,
    /// A frame or page cannot be decoded.
    DataCorrupted,
    /// A document is damaged, encrypted, or of a format that isn't read.
    DocumentUnreadable,
    /// A document needs more time, memory or room than it may have.
    DocumentLimit,
    /// A page of an index is not what it should be.
    IndexCorrupted,
    /// ragd cannot be started or reached.
    DaemonUnavailable,
    /// ragd went away while a call was in flight.
    DaemonLost,
    /// No worker slot, no memory, queue full.
    OutOfResources,
    /// A provider says that there is something wrong with what it was asked.
    ProviderRefused,
    /// A provider answered with an error or with something that is not an answer.
    ProviderFailed,
    /// What a language model replied has not the form that was asked for, though it was told.
    ReplyMisfit,
    /// A provider did not answer in time.
    ProviderTimeout,
    /// A provider asked to be left alone for a while; [`Error::retry_delay`] says how long.
    ProviderBusy,
    /// Something that pg_rag promises itself did not hold.
    Internal,
    /// A call would take more than it may itself, or a session may write.
    BudgetExceeded,
    /// ragd has hung during a call again and again, perhaps because of it.
    DaemonHung,
    /// A model that ragd runs has computed something that is no result, be it for what it was asked or for what it is.
    ModelFailed,
    /// A call of a provider would take more than its role may spend.
    RoleBudgetSpent,
}

impl ErrorKind {
    /// Whether a provider was called, or could not be reached.
    #[must_use]
    pub fn is_of_provider(self) -> bool {
        use ErrorKind::{ProviderBusy, ProviderRefused, ProviderTimeout};
        self.is_of_answer() || matches!(self, ProviderRefused | ProviderTimeout | ProviderBusy)
    }

    /// Whether what a provider answered is no answer.
    #[must_use]
    pub fn is_of_answer(self) -> bool {
        matches!(self, ErrorKind::ProviderFailed | ErrorKind::ReplyMisfit)
    }
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (detail, hint, retry_after, call) = (None, None, None, None);
        Error { kind, message: message.into(), detail, hint, retry_after, call }
    }

    /// Shorthand for the commonest kind, [`ErrorKind::InvalidParameter`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::InvalidParameter, message)
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds facts that would make the message too long.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds one more fact, in a line behind the detail where there is one.
    #[must_use]
    pub fn fact(self, fact: String) -> Self {
        let detail = match &self.detail {
            None => fact,
            Some(known) => format!("{known}\n{fact}"),
        };
        self.detail(detail)
    }

    /// Adds how long to wait before the same can be tried again.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// With what was paid for in vain.
    #[must_use]
    pub fn with_bill(mut self, bill: Option<Bill>) -> Self {
        if bill.is_some() || self.call.is_some() {
            self.call.get_or_insert_default().bill = bill;
        }
        self
    }

    /// What was paid for in vain; `None`: nothing, as far as that is known.
    pub fn bill(&self) -> Option<Bill> {
        self.call.as_ref().and_then(|call| call.bill)
    }

    /// Adds texts that the call has kept from a provider, each with the word for its kind. No message says them.
    #[must_use]
    pub fn with_withheld(mut self, texts: BTreeMap<String, String>) -> Self {
        if !texts.is_empty() {
            self.call.get_or_insert_default().withheld.0.extend(texts);
        }
        self
    }

    /// As the error of a call that was not made because of this one: nothing was paid for it, and nothing kept from a
    /// provider.
    #[must_use]
    pub fn without_call(mut self) -> Self {
        self.call = None;
        self
    }

    /// Texts that the call has kept from a provider, each with the word for its kind.
    pub fn withheld(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.call.iter().flat_map(|call| &call.withheld.0);
        texts.map(|(text, kind)| (text.as_str(), kind.as_str()))
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message, without hint or detail.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The detail, if any.
    pub fn detail_text(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// The hint, if any.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// How long to wait before the same can be tried again, if the provider or ragd said so. It
    /// counts from the moment at which the error was made.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
