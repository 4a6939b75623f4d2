//! Numbers that look random and are the same on every machine.

/// A stream of numbers. Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014
/// (SplitMix64).
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number between these, ends included.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let last = all.len() as u64 - 1;
        all[usize::try_from(self.between(0, last)).expect("a position fits")]
    }

    /// Whether an event of this probability happens, in percent.
    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }
}
