//! What `pg_stat_activity` says that a session waits for.
//!
//! Extensions have wait events of their own since PostgreSQL 17; before, all are `Extension`.

use std::cell::Cell;
use std::ffi::CStr;

use pgrx::pg_sys;

use crate::protocol::Request;

/// While ragd starts, or says what it knows.
const START: usize = 0;

/// While a provider works.
const PROVIDER: usize = 5;

/// Their names, in the order of their places.
const NAMES: [&CStr; 6] =
    [c"RagDaemon", c"RagEmbed", c"RagRerank", c"RagChunk", c"RagParse", c"RagProvider"];

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(START) };
    /// The server's numbers for them; 0 where none has been asked for yet.
    static NUMBERS: Cell<[u32; NAMES.len()]> = const { Cell::new([0; NAMES.len()]) };
}

/// While it lives, the session waits for what it was made for.
pub struct Waiting(usize);

impl Waiting {
    /// Waits for the answer to `request`.
    pub fn for_answer(request: &Request) -> Waiting {
        Waiting(CURRENT.replace(place(request)))
    }

    /// Waits for a provider.
    pub fn for_provider() -> Waiting {
        Waiting(CURRENT.replace(PROVIDER))
    }

    /// Waits for ragd to start.
    pub fn for_start() -> Waiting {
        Waiting(CURRENT.replace(START))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

fn place(request: &Request) -> usize {
    match request {
        Request::Embed { .. } | Request::EmbedInPlace { .. } | Request::ClassifyTokens { .. } => 1,
        Request::Rerank { .. } | Request::RerankByReader { .. } | Request::ScoreSpans { .. } => 2,
        Request::Chunk { .. } => 3,
        Request::Parse { .. } => 4,
        Request::Generate(_)
        | Request::GenerateStream(_)
        | Request::GenerateMany(_)
        | Request::EmbedRemotely(_)
        | Request::RerankRemotely(_) => PROVIDER,
        _ => START,
    }
}

/// The number of what the session waits for, as the server's functions for waiting take it.
pub fn current() -> u32 {
    let (place, mut numbers) = (CURRENT.get(), NUMBERS.get());
    if numbers[place] == 0 {
        numbers[place] = number(NAMES[place]);
        NUMBERS.set(numbers);
    }
    numbers[place]
}

#[cfg(any(feature = "pg17", feature = "pg18"))]
fn number(name: &CStr) -> u32 {
    // SAFETY: a C string; the server gives the same number to all that ask for the same name.
    unsafe { pg_sys::WaitEventExtensionNew(name.as_ptr()) }
}

#[cfg(not(any(feature = "pg17", feature = "pg18")))]
fn number(_name: &CStr) -> u32 {
    pg_sys::PG_WAIT_EXTENSION
}
