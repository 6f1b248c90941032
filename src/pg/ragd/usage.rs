//! What the calls of this session to ragd have taken, and whether it may make another one.
//!
//! Counted where all answers pass, so that whatever a retrieval asks for is part of it. What a
//! provider is paid for is written into the ledger of the server as well, as soon as the answer is
//! there: a rollback does not take it back.
//!
//! A call may be made where no transaction is open, by a worker. So what is to be known of role,
//! price and budget is looked up when the provider is, and kept until the next time.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use pgrx::prelude::*;

use crate::account::ledger::{Account, Ledger, Sums};
use crate::account::{Price, SpendingLimit, Spent, tokens_of};
use crate::answer::strategy::TokenPrices;
use crate::error::{Bill, Error, ErrorKind, Result};
use crate::pg::catalog::price;
use crate::pg::server::role;
use crate::protocol::{GenerateRequest, Generated, ProviderConfig, Request, Response};

/// Where the ledger is, in the data directory. Crash recovery leaves it alone.
const FOLDER: &str = "pg_stat/pg_rag_usage";

/// Seconds of a day.
const DAY: u64 = 86_400;

thread_local! {
    static USED: Cell<Usage> = const { Cell::new(Usage::NONE) };
    static TERMS: RefCell<HashMap<TermsKey, ProviderTerms>> = RefCell::new(HashMap::new());
    static LEDGER: RefCell<Ledger> = RefCell::new(Ledger::new(FOLDER));
}

/// What calls to ragd have used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens that went through an embedding model, its reader or a reranker.
    pub embedding_tokens: u64,
    /// Calls of a language model, those that were made again included.
    pub llm_calls: u64,
    /// Tokens that a language model has read and written, as far as its provider says.
    pub llm_tokens: u64,
    /// Tokens among those read that were in the provider's cache of prompts.
    pub cached_tokens: u64,
    /// What was remembered and not asked again.
    pub cache_hits: u64,
    /// What providers cost, as far as prices are known.
    pub cost: f64,
}

impl Usage {
    const NONE: Usage = Usage {
        embedding_tokens: 0,
        llm_calls: 0,
        llm_tokens: 0,
        cached_tokens: 0,
        cache_hits: 0,
        cost: 0.0,
    };

    fn add(&mut self, generated: &Generated) {
        let Generated { prompt_tokens, cached_tokens, completion_tokens, attempts, .. } = generated;
        self.llm_calls = self.llm_calls.saturating_add(u64::from(*attempts));
        for tokens in [prompt_tokens, completion_tokens].into_iter().flatten() {
            self.llm_tokens = self.llm_tokens.saturating_add(*tokens);
        }
        self.cached_tokens = self.cached_tokens.saturating_add(cached_tokens.unwrap_or_default());
    }

    /// What has been used since it was `before`.
    pub fn since(&self, before: &Usage) -> Usage {
        Usage {
            embedding_tokens: self.embedding_tokens.saturating_sub(before.embedding_tokens),
            llm_calls: self.llm_calls.saturating_sub(before.llm_calls),
            llm_tokens: self.llm_tokens.saturating_sub(before.llm_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(before.cached_tokens),
            cache_hits: self.cache_hits.saturating_sub(before.cache_hits),
            // Sums of fractions are not exact.
            cost: (self.cost - before.cost).max(0.0),
        }
    }

    /// The sum of this and `more`.
    pub fn plus(&self, more: &Usage) -> Usage {
        Usage {
            embedding_tokens: self.embedding_tokens.saturating_add(more.embedding_tokens),
            llm_calls: self.llm_calls.saturating_add(more.llm_calls),
            llm_tokens: self.llm_tokens.saturating_add(more.llm_tokens),
            cached_tokens: self.cached_tokens.saturating_add(more.cached_tokens),
            cache_hits: self.cache_hits.saturating_add(more.cache_hits),
            cost: self.cost + more.cost,
        }
    }

    /// Tokens of models of either kind.
    pub fn tokens(&self) -> u64 {
        self.embedding_tokens.saturating_add(self.llm_tokens)
    }
}

/// Adds what `response` says.
pub fn note(response: &Response) {
    let mut used = USED.get();
    match response {
        Response::Vectors { tokens, .. }
        | Response::SomeVectors { tokens, .. }
        | Response::SpanScores { tokens, .. }
        | Response::Scores { tokens, .. } => {
            used.embedding_tokens = used.embedding_tokens.saturating_add(*tokens);
        }
        Response::Text(generated) => used.add(generated),
        Response::Texts(all) => all.iter().flatten().for_each(|generated| used.add(generated)),
        _ => {}
    }
    USED.set(used);
}

/// Adds that something was remembered and not asked again.
pub fn note_cache_hit() {
    let used = USED.get();
    USED.set(Usage { cache_hits: used.cache_hits + 1, ..used });
}

/// What has been used since the session began.
pub fn total() -> Usage {
    USED.get()
}

/// On whose behalf a provider is called, and the names of its server and model.
type TermsKey = (u32, String, String);

fn terms_key(provider: &ProviderConfig) -> TermsKey {
    (role::on_behalf_of().to_u32(), provider.name.clone(), provider.model.clone())
}

/// Under which terms a role calls a provider.
#[derive(Clone)]
struct ProviderTerms {
    database: u32,
    role: u32,
    role_name: String,
    /// What has no price costs nothing.
    price: Option<Price>,
    limits: Vec<SpendingLimit>,
}

/// Looks up under which terms the current role calls a provider. To be called in a transaction, when
/// the provider's options are read.
pub fn prepare(provider: &ProviderConfig) -> Result<()> {
    // SAFETY: variables of the session.
    let (role, database) = unsafe { (pg_sys::GetUserId(), pg_sys::MyDatabaseId) };
    let role_name = role::role_name(role);
    // No role's operators are to come in between the role and its budget.
    let (price, limits) = role::as_superuser(|| {
        let price = price::price(&provider.name, &provider.model)?;
        Ok::<_, Error>((price, price::limits(&role_name)?))
    })?;
    let (database, role) = (database.to_u32(), role.to_u32());
    let terms = ProviderTerms { database, role, role_name, price, limits };
    TERMS.with_borrow_mut(|known| known.insert(terms_key(provider), terms));
    Ok(())
}

/// What a million tokens of `provider` cost, by what was looked up when its options were read;
/// `None` where `rag.price` has no row for it.
pub fn prices(provider: &ProviderConfig) -> Option<TokenPrices> {
    let price = TERMS.with_borrow(|known| known.get(&terms_key(provider))?.price)?;
    Some(TokenPrices { input: price.input, cached: price.cached, output: price.output })
}

/// A call that may be made. Until it is known how it ended it counts as made: the provider of a
/// call that is cancelled has read, or may have read, what was sent.
pub struct Admitted {
    /// Who calls, and at what price, if one is known; `None`: it is no call of a provider.
    of: Option<(Account, Option<Price>)>,
    expected: Spent,
}

/// Whether the budget of the current role allows `request`, which is charged to the pipeline with the
/// ID `pipeline`; an error of [`ErrorKind::RoleBudgetSpent`] where it does not.
pub fn admit(request: &Request, pipeline: i32) -> Result<Admitted> {
    let characters = GenerateRequest::bytes;
    let (provider, characters) = match request {
        Request::Generate(it) | Request::GenerateStream(it) => (&it.provider, characters(it)),
        Request::GenerateMany(it) => match it.requests.first() {
            // One strategy asks one provider.
            Some(first) => (&first.provider, it.requests.iter().map(characters).sum()),
            None => return Ok(Admitted { of: None, expected: Spent::default() }),
        },
        Request::RerankRemotely(it) => {
            (&it.provider, it.passages.iter().map(|text| text.len() + it.query.len()).sum())
        }
        Request::EmbedRemotely(it) => (&it.provider, it.texts.iter().map(String::len).sum()),
        _ => return Ok(Admitted { of: None, expected: Spent::default() }),
    };
    let Some(terms) = TERMS.with_borrow(|known| known.get(&terms_key(provider)).cloned()) else {
        let message = format!("the terms of server \"{}\" have not been looked up", provider.name);
        return Err(Error::new(ErrorKind::Internal, message));
    };
    let input = tokens_of(characters);
    let calls = match request {
        Request::GenerateMany(it) => it.requests.len() as u64,
        _ => 1,
    };
    let price = terms.price;
    let expected = priced(Spent { calls, input, ..Spent::default() }, price.as_ref());
    check(&terms, &expected)?;
    let (server, model) = (provider.name.clone(), provider.model.clone());
    let ProviderTerms { database, role, .. } = terms;
    let account = Account { database, role, pipeline, server, model };
    Ok(Admitted { of: Some((account, price)), expected })
}

fn check(terms: &ProviderTerms, next: &Spent) -> Result<()> {
    let today = today();
    let is_theirs = |it: &Account| it.database == terms.database && it.role == terms.role;
    for limit in &terms.limits {
        let from = limit.period.start(today);
        let spent = LEDGER.with_borrow_mut(|ledger| ledger.sum(from, today, is_theirs));
        limit.check(&terms.role_name, today, &spent.map_err(unreadable)?, next)?;
    }
    Ok(())
}

impl Admitted {
    /// The call has been answered.
    pub fn answered(mut self, response: &Response) {
        note(response);
        if let Some((account, price)) = self.of.take() {
            write(&account, &spent(response, &self.expected, price.as_ref()));
        }
    }

    /// The call has failed. It is to be paid for where the provider has answered all the same, and where
    /// it is not known what it has done meanwhile.
    pub fn failed(mut self, error: &Error) {
        if error.kind() == ErrorKind::DaemonLost {
            return;
        }
        let Some((account, price)) = self.of.take() else { return };
        let bill = error.bill().unwrap_or_default();
        let spent = priced(billed(&bill, self.expected.input), price.as_ref());
        let failed = failures([error]);
        if spent.calls > 0 || failed > 0 {
            write(&account, &Spent { failed, ..spent });
        }
    }
}

/// A call that was left before its end, by a cancel or a lost connection.
impl Drop for Admitted {
    fn drop(&mut self) {
        if let Some((account, _)) = self.of.take() {
            write(&account, &self.expected);
        }
    }
}

/// What an answer cost. Where its provider does not say how much it has read, it is about as much
/// as was expected.
fn spent(response: &Response, expected: &Spent, price: Option<&Price>) -> Spent {
    let failed = match response {
        Response::SomeVectors { error, .. } => failures([error]),
        Response::Texts(all) => failures(all.iter().filter_map(|one| one.as_ref().err())),
        _ => 0,
    };
    let one = |input| Spent { calls: 1, input, ..Spent::default() };
    let counts = match response {
        // Some providers do not count what they embed.
        Response::Vectors { tokens: 0, .. } | Response::SomeVectors { tokens: 0, .. } => {
            one(expected.input)
        }
        Response::Vectors { tokens, .. } => one(*tokens),
        Response::SomeVectors { tokens, error, .. } => {
            // What was read in vain is not more than all that was sent.
            let left = expected.input.saturating_sub(*tokens);
            let mut sum = billed(&error.bill().unwrap_or_default(), left);
            sum += one(*tokens);
            sum
        }
        Response::Text(it) => written(it, expected.input),
        Response::Texts(all) => {
            let share = expected.input / all.len().max(1) as u64;
            all.iter().fold(Spent::default(), |mut sum, one| {
                sum += match one {
                    Ok(one) => written(one, share),
                    Err(error) => billed(&error.bill().unwrap_or_default(), share),
                };
                sum
            })
        }
        _ => one(expected.input),
    };
    Spent { failed, ..priced(counts, price) }
}

/// Calls and tokens with what they cost.
fn priced(counts: Spent, price: Option<&Price>) -> Spent {
    let Spent { calls, input, cached, output, .. } = counts;
    let cost = price.map_or(0.0, |price| price.of(input, cached, output));
    let unpriced = if price.is_some() { 0 } else { calls };
    Spent { cost, unpriced, ..counts }
}

/// How many of these are about a call of a provider.
fn failures<'a>(errors: impl IntoIterator<Item = &'a Error>) -> u64 {
    errors.into_iter().filter(|error| error.kind().is_of_provider()).count() as u64
}

/// Calls and tokens of what was written. `expected` tokens were read where the provider says nothing.
fn written(it: &Generated, expected: u64) -> Spent {
    let input = it.prompt_tokens.unwrap_or(expected);
    let cached = it.cached_tokens.unwrap_or_default().min(input);
    let (calls, output) = (u64::from(it.attempts), it.written());
    Spent { calls, input, cached, output, ..Spent::default() }
}

/// Calls and tokens of calls that failed and are billed nevertheless, none of them as cached. `expected` tokens were read
/// where the provider says nothing.
fn billed(bill: &Bill, expected: u64) -> Spent {
    let (calls, input, output) = (bill.calls.into(), bill.input_of(expected), bill.output);
    Spent { calls, input, output, ..Spent::default() }
}

/// Nothing may fail here: the call has been made.
fn write(account: &Account, spent: &Spent) {
    let used = USED.get();
    USED.set(Usage { cost: used.cost + spent.cost, ..used });
    if let Err(error) = LEDGER.with_borrow(|ledger| ledger.add(today(), account, spent))
        && !std::thread::panicking()
    {
        warning!("cannot write to {FOLDER} what a call has cost: {error}");
    }
}

/// What was spent in this database, by day.
pub fn spent_here() -> Result<Vec<(i32, Sums)>> {
    // SAFETY: a variable of the session.
    let database = unsafe { pg_sys::MyDatabaseId }.to_u32();
    LEDGER.with_borrow_mut(|ledger| {
        let days = ledger.days().map_err(unreadable)?;
        let of_day = |day: i32| {
            let sums = ledger.day(day).map_err(unreadable)?;
            let here = sums.iter().filter(|(account, _)| account.database == database);
            Ok((day, here.map(|(account, spent)| (account.clone(), *spent)).collect()))
        };
        days.into_iter().map(of_day).collect()
    })
}

fn unreadable(error: std::io::Error) -> Error {
    let message = format!("cannot read what calls have cost in \"{FOLDER}\": {error}");
    Error::new(ErrorKind::FileUnavailable, message)
}

/// Days since 1970-01-01, in UTC.
fn today() -> i32 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    (now.as_secs() / DAY) as i32
}
