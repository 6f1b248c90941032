//! # How many calls of a provider are made at once, and what do its replies say of what was asked?
//!
//! ```text
//! (things to ask about, replies as they come) → what is asked next │ what is known of which thing
//! ```
//!
//! As many calls as the provider allows are in flight. It begins with one, and each answer makes room
//! for one more, as TCP's slow start does (Jacobson, SIGCOMM 1988, section 1): a provider that is out
//! of order gets a call or two at each attempt, and not all of them.
//!
//! A provider that answers about one thing and refuses another has something against that one.
//! Nothing will be known of it, and no other waits for it. A provider that refuses whatever it is
//! asked is out of order itself, and then nothing is said of the things. To tell one from the other
//! it is asked about something harmless, which no provider can object to, unless it has just answered
//! about another thing.

use std::mem;

use super::one_by_one::ItemReply;

/// So many refusals after an answer are believed to be about the things, one after the other.
const BELIEVED: u32 = 3;

/// What is asked next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCall {
    /// The next thing.
    Thing,
    /// Something that no provider can object to.
    Harmless,
}

/// Whether the provider is asked about something harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HarmlessCall {
    No,
    Wanted,
    InFlight,
}

/// What a reply has made known of things: their answers, or nothing where that was refused.
pub type KnownThings<T, A> = Vec<(T, Option<A>)>;

/// Calls of one provider about things of one kind.
#[derive(Debug)]
pub struct ConcurrentCalls<T, F> {
    most: usize,
    room: usize,
    in_flight: usize,
    /// Refusals since the last answer that are still believed to be about what was asked.
    believed: u32,
    /// Refused things, while it is not known whether that was because of them.
    doubted: Vec<T>,
    probe: HarmlessCall,
    refused: Option<F>,
    stopped: Option<F>,
}

impl<T, F: Clone> ConcurrentCalls<T, F> {
    /// No more than `most` calls are in flight.
    #[must_use]
    pub fn new(most: usize) -> Self {
        ConcurrentCalls {
            most: most.max(1),
            room: 1,
            in_flight: 0,
            believed: 0,
            doubted: Vec::new(),
            probe: HarmlessCall::No,
            refused: None,
            stopped: None,
        }
    }

    /// What is asked next; `None`: nothing before another reply has come.
    #[must_use]
    pub fn next(&self) -> Option<NextCall> {
        match (&self.stopped, self.probe) {
            (None, HarmlessCall::Wanted) => Some(NextCall::Harmless),
            (None, HarmlessCall::No) if self.in_flight < self.room => Some(NextCall::Thing),
            _ => None,
        }
    }

    /// How many more calls there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.room.saturating_sub(self.in_flight)
    }

    /// Whether replies are waited for.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.in_flight > 0
    }

    /// A call has been made.
    pub fn begun(&mut self, call: NextCall) {
        self.in_flight += 1;
        if call == NextCall::Harmless {
            self.probe = HarmlessCall::InFlight;
        }
    }

    /// Nothing more is asked for this reason, which has nothing to do with what was asked. Replies to
    /// the calls in flight are still taken.
    pub fn stop(&mut self, why: F) {
        self.stopped.get_or_insert(why);
        self.doubted.clear();
        self.room = 1;
    }

    /// A reply has come, about `thing` or, without one, about something harmless; what is known now.
    pub fn replied<A>(&mut self, thing: Option<T>, reply: ItemReply<A, F>) -> KnownThings<T, A> {
        self.in_flight = self.in_flight.saturating_sub(1);
        if thing.is_none() {
            self.probe = HarmlessCall::No;
        }
        match (reply, thing) {
            (ItemReply::Answer(answer), thing) => {
                self.believed = BELIEVED;
                self.room = (self.room + 1).min(self.most);
                if self.probe == HarmlessCall::Wanted {
                    self.probe = HarmlessCall::No;
                }
                let mut known = self.give_up_doubted();
                known.extend(thing.map(|thing| (thing, Some(answer))));
                known
            }
            (ItemReply::Refused(why), None) => {
                self.stop(why);
                Vec::new()
            }
            (ItemReply::Refused(why), Some(thing)) => {
                self.refused.get_or_insert(why);
                match self.believed.checked_sub(1) {
                    Some(left) => {
                        self.believed = left;
                        vec![(thing, None)]
                    }
                    None => {
                        if self.stopped.is_none() {
                            self.doubted.push(thing);
                            self.probe = match self.probe {
                                HarmlessCall::No => HarmlessCall::Wanted,
                                other => other,
                            };
                        }
                        Vec::new()
                    }
                }
            }
            (ItemReply::Stopped(why), _) => {
                self.stop(why);
                Vec::new()
            }
        }
    }

    /// Why things were refused since the last call of this function.
    pub fn take_refused(&mut self) -> Option<F> {
        match self.doubted.is_empty() {
            true => self.refused.take(),
            false => None,
        }
    }

    /// Why nothing more is asked, once all replies have come.
    #[must_use]
    pub fn stopped(&self) -> Option<&F> {
        self.stopped.as_ref().filter(|_| self.in_flight == 0)
    }

    /// The refusals were about the things.
    fn give_up_doubted<A>(&mut self) -> KnownThings<T, A> {
        mem::take(&mut self.doubted).into_iter().map(|thing| (thing, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// What came of asking about `things`: in the order of the calls what was asked, what is known,
    /// why something was refused, and why the rest waits. A capital letter is refused, a digit stops
    /// everything; `.` is the harmless question.
    #[derive(Debug, PartialEq, Eq)]
    struct Outcome {
        asked: String,
        known: String,
        refused: Option<&'static str>,
        stopped: Option<&'static str>,
        most_in_flight: usize,
    }

    /// `pick` chooses which of so many calls in flight is replied to next.
    fn run(
        things: &str,
        (most, works): (usize, bool),
        mut pick: impl FnMut(usize) -> usize,
    ) -> Outcome {
        let mut calls: ConcurrentCalls<char, &'static str> = ConcurrentCalls::new(most);
        let mut left: VecDeque<char> = things.chars().collect();
        let (mut in_flight, mut asked, mut known) = (Vec::new(), String::new(), String::new());
        let mut most_in_flight = 0;
        loop {
            while let Some(call) = calls.next() {
                let thing = match call {
                    NextCall::Harmless => None,
                    NextCall::Thing => match left.pop_front() {
                        Some(thing) => Some(thing),
                        None => break,
                    },
                };
                calls.begun(call);
                asked.push(thing.unwrap_or('.'));
                in_flight.push(thing);
                most_in_flight = most_in_flight.max(in_flight.len());
            }
            if in_flight.is_empty() {
                break;
            }
            let thing = in_flight.remove(pick(in_flight.len()));
            let reply = match thing.unwrap_or('.') {
                '.' if !works => ItemReply::Refused("out of order"),
                'A'..='Z' => ItemReply::Refused("indecent"),
                '0'..='9' => ItemReply::Stopped("busy"),
                other => ItemReply::Answer(other),
            };
            for (thing, answer) in calls.replied(thing, reply) {
                assert!(answer.is_none_or(|answer| answer == thing));
                assert_eq!(answer.is_none(), thing.is_uppercase());
                known.push(thing);
            }
        }
        assert!(!calls.is_waiting());
        let stopped = calls.stopped().copied();
        let refused = calls.take_refused();
        Outcome { asked, known, refused, stopped, most_in_flight }
    }

    fn check(things: &str, works: bool, expected: (&str, &str, Option<&str>, Option<&str>)) {
        let Outcome { asked, known, refused, stopped, .. } = run(things, (1, works), |_| 0);
        assert_eq!((asked.as_str(), known.as_str(), refused, stopped), expected, "{things}");
    }

    #[test]
    fn a_refusal_is_about_the_thing_where_another_is_answered() {
        check("abc", true, ("abc", "abc", None, None));
        check("aBc", true, ("aBc", "aBc", Some("indecent"), None));
        // Nothing has been answered before: is it the thing, or the provider?
        check("Abc", true, ("A.bc", "Abc", Some("indecent"), None));
        check("ABC", true, ("A.BC", "ABC", Some("indecent"), None));
        check("A", true, ("A.", "A", Some("indecent"), None));
        check("", true, ("", "", None, None));
        // After some refusals in a row the question comes up again.
        check("aBCDEF", true, ("aBCDE.F", "aBCDEF", Some("indecent"), None));
    }

    #[test]
    fn a_provider_that_is_out_of_order_says_nothing_of_the_things() {
        check("ABC", false, ("A.", "", Some("indecent"), Some("out of order")));
        check("aBCDEF", false, ("aBCDE.", "aBCD", Some("indecent"), Some("out of order")));
    }

    #[test]
    fn what_was_answered_is_known_where_the_rest_has_to_wait() {
        check("ab1c", true, ("ab1", "ab", None, Some("busy")));
        check("aB1c", true, ("aB1", "aB", Some("indecent"), Some("busy")));
        check("1ab", true, ("1", "", None, Some("busy")));
    }

    #[test]
    fn each_answer_makes_room_for_one_more() {
        let letters = "abcdefghijklmnopqrstuvwxyz".repeat(4);
        let done = run(&letters, (16, true), |_| 0);
        assert_eq!((done.known.len(), done.most_in_flight), (letters.len(), 16));
        let done = run("abc", (16, true), |_| 0);
        assert_eq!(done.most_in_flight, 2);
        // Replies to calls in flight are taken when nothing more is asked.
        let done = run("abcdefgh1ijk", (4, true), |in_flight| in_flight - 1);
        assert_eq!(done.stopped, Some("busy"));
        assert!(done.known.len() >= 8, "{done:?}");
    }

    proptest! {
        /// In whatever order replies come: each thing is asked about once and known once, unless the
        /// provider is out of order or busy, and then no other thing is given up.
        #[test]
        fn nothing_is_lost(
            things in "[a-zA-Z0-1]{0,40}", most in 1_usize..20, works: bool,
            picks in prop::collection::vec(0_usize..1000, 100),
        ) {
            let mut picks = picks.into_iter().cycle();
            let done = run(&things, (most, works), |count| picks.next().unwrap_or(0) % count);
            let sorted = |text: &str| {
                let mut chars: Vec<char> = text.chars().collect();
                chars.sort_unstable();
                chars
            };
            prop_assert!(done.most_in_flight <= most.max(1));
            let asked: String = done.asked.chars().filter(|it| *it != '.').collect();
            prop_assert!(things.starts_with(asked.as_str()));
            if done.stopped.is_none() {
                prop_assert_eq!(&asked, &things);
                prop_assert_eq!(sorted(&done.known), sorted(&things));
            }
            let lower = |text: &str| sorted(&text.replace(|it: char| !it.is_lowercase(), ""));
            prop_assert_eq!(lower(&done.known), lower(&asked), "what was answered is known");
        }
    }
}
