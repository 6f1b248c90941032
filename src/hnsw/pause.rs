//! Work on all nodes of a graph takes seconds, and may have been cancelled meanwhile.

/// Called now and then by what takes long; it may end the work by unwinding.
pub type Pause<'a> = &'a mut dyn FnMut();

/// Nodes between two pauses.
pub const TURN: usize = 4096;

/// The items of a list, with pauses.
pub fn paused<'a, T>(items: &'a [T], pause: Pause<'_>) -> impl Iterator<Item = &'a T> {
    items.chunks(TURN).flat_map(|turn| {
        pause();
        turn
    })
}
