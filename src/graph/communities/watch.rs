//! Looks at interrupts in loops over very many things.

/// Steps between two looks.
const STEPS: u32 = 1 << 14;

/// Counts steps, and looks at interrupts from time to time.
pub struct InterruptWatch<'a> {
    interrupt: &'a mut dyn FnMut(),
    steps: u32,
}

impl<'a> InterruptWatch<'a> {
    /// `interrupt` is called once in 16,384 steps, and may unwind.
    pub fn new(interrupt: &'a mut dyn FnMut()) -> InterruptWatch<'a> {
        InterruptWatch { interrupt, steps: 0 }
    }

    /// A step, which takes about as long as it takes to look at an edge.
    #[inline]
    pub fn step(&mut self) {
        self.steps += 1;
        if self.steps == STEPS {
            self.steps = 0;
            (self.interrupt)();
        }
    }
}
