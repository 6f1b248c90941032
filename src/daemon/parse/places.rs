//! Which request may have a process now?
//!
//! There are few places, and a process may have one for as long as documents may take. So the role
//! with the fewest goes first, and none has all of them: whatever another role sends, there is a
//! place left. Within a role, the request that came first goes first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::daemon::worker::Client;
use crate::error::{Error, ErrorKind, Result};

/// How often a request that waits looks whether the client is still there.
const GLANCE: Duration = Duration::from_millis(20);

/// Places for processes, shared by roles.
pub struct ParserSlots {
    taken: Mutex<SlotUse>,
    freed: Condvar,
}

/// The right to one process.
pub struct ParserSlot<'a> {
    places: &'a ParserSlots,
    role: u32,
}

/// Which roles have places, and which requests want one.
struct SlotUse {
    most: usize,
    by_role: HashMap<u32, usize>,
    /// Tickets and roles, first come first.
    waiting: VecDeque<(u64, u32)>,
    last_ticket: u64,
}

impl ParserSlots {
    /// Places for `most` processes, two at least.
    pub fn new(most: usize) -> ParserSlots {
        let most = most.max(2);
        let taken =
            SlotUse { most, by_role: HashMap::new(), waiting: VecDeque::new(), last_ticket: 0 };
        ParserSlots { taken: Mutex::new(taken), freed: Condvar::new() }
    }

    /// Waits for a place. Fails with [`ErrorKind::DaemonLost`] if the client goes meanwhile.
    pub fn take(&self, client: &Client) -> Result<ParserSlot<'_>> {
        let mut taken = self.locked();
        let ticket = taken.queue(client.role);
        loop {
            if taken.admit(ticket) {
                // There may be another one for the request that comes next.
                self.freed.notify_all();
                return Ok(ParserSlot { places: self, role: client.role });
            }
            let waited = self.freed.wait_timeout(taken, GLANCE);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !client.is_alive() {
                taken.leave(ticket);
                self.freed.notify_all();
                return Err(Error::new(ErrorKind::DaemonLost, "the client has gone"));
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, SlotUse> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ParserSlot<'_> {
    fn drop(&mut self) {
        self.places.locked().give_back(self.role);
        self.places.freed.notify_all();
    }
}

impl SlotUse {
    /// A place at the end of the line.
    fn queue(&mut self, role: u32) -> u64 {
        self.last_ticket += 1;
        self.waiting.push_back((self.last_ticket, role));
        self.last_ticket
    }

    fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|(waiting, _)| *waiting != ticket);
    }

    /// Takes a place for the request that has `ticket`, if it is its turn.
    fn admit(&mut self, ticket: u64) -> bool {
        match self.next() {
            Some((first, role)) if first == ticket => {
                self.leave(ticket);
                *self.by_role.entry(role).or_default() += 1;
                true
            }
            _ => false,
        }
    }

    /// The ticket and role whose turn it is, if there is a place.
    fn next(&self) -> Option<(u64, u32)> {
        if self.by_role.values().sum::<usize>() >= self.most {
            return None;
        }
        let waiting = self.waiting.iter().filter(|(_, role)| self.has(*role) + 1 < self.most);
        waiting.min_by_key(|(_, role)| self.has(*role)).copied()
    }

    fn has(&self, role: u32) -> usize {
        self.by_role.get(&role).copied().unwrap_or_default()
    }

    fn give_back(&mut self, role: u32) {
        if let Some(has) = self.by_role.get_mut(&role) {
            *has -= 1;
            if *has == 0 {
                self.by_role.remove(&role);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn taken(most: usize) -> SlotUse {
        SlotUse { most, by_role: HashMap::new(), waiting: VecDeque::new(), last_ticket: 0 }
    }

    #[test]
    fn one_role_leaves_a_place_to_others() {
        let mut places = taken(3);
        let hostile: Vec<u64> = (0..8).map(|_| places.queue(1)).collect();
        assert!(places.admit(hostile[0]) && places.admit(hostile[1]));
        assert!(!places.admit(hostile[2]));
        let other = places.queue(2);
        assert!(places.admit(other));
        places.give_back(2);
        assert!(!places.admit(hostile[2]));
        places.give_back(1);
        assert!(!places.admit(hostile[3]), "the first in line is next");
        assert!(places.admit(hostile[2]));
    }

    #[test]
    fn who_has_fewest_goes_first_and_who_left_is_not_waited_for() {
        let mut places = taken(3);
        let (first, second) = (places.queue(1), places.queue(2));
        assert!(places.admit(first) && places.admit(second));
        let (again, third) = (places.queue(1), places.queue(3));
        assert!(!places.admit(again));
        assert!(places.admit(third));
        assert!(!places.admit(again), "all are taken");
        places.leave(again);
        let last = places.queue(2);
        places.give_back(3);
        assert!(places.admit(last));
        assert!(places.waiting.is_empty());
    }

    #[test]
    fn a_place_comes_back_when_it_is_dropped_and_a_client_that_goes_waits_no_more() {
        let places = ParserSlots::new(0);
        let stays = Client { role: 1, is_alive: Arc::new(|| true) };
        let goes = Client { role: 1, is_alive: Arc::new(|| false) };
        let held = places.take(&stays).unwrap();
        assert_eq!(places.take(&goes).err().unwrap().kind(), ErrorKind::DaemonLost);
        let was_let_in = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _place = places.take(&stays).unwrap();
                was_let_in.store(true, Ordering::SeqCst);
            });
            assert!(!was_let_in.load(Ordering::SeqCst));
            drop(held);
        });
        assert!(was_let_in.load(Ordering::SeqCst));
        assert!(places.locked().by_role.is_empty());
    }
}
