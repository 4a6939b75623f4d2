//! Rules for merging messages. Scheduler interface §12.6.

use headroom_api::si::v1::{AllocationResponse, ApplicationResponse, NodeResponse};

use super::message_queue::Coalesce;

/// Maximum number of allocations and releases in one message.
const ENTRIES_MAX: usize = 5_000;

impl Coalesce for AllocationResponse {
    /// Merges new allocations only with new allocations, and releases only with releases. All messages about a key
    /// therefore stay in order.
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        let is_new = |one: &Self| one.released.is_empty() && one.rejected_allocations.is_empty();
        let is_released = |one: &Self| one.new.is_empty() && one.rejected_allocations.is_empty();
        let fits = self.new.len() + self.released.len() + next.new.len() + next.released.len()
            <= ENTRIES_MAX;
        if fits && (is_new(self) && is_new(&next) || is_released(self) && is_released(&next)) {
            self.new.extend(next.new);
            self.released.extend(next.released);
            return Ok(());
        }
        Err(next)
    }
}

/// Application responses are never merged, because each request and each state has its own response.
impl Coalesce for ApplicationResponse {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

/// Node responses are never merged: each request has its own.
impl Coalesce for NodeResponse {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::si::v1::{Allocation, AllocationRelease, RejectedAllocation};

    use super::*;

    fn response(word: &str) -> AllocationResponse {
        let mut response = AllocationResponse::default();
        for letter in word.chars() {
            match letter {
                'n' => response.new.push(Allocation::default()),
                'r' => response.released.push(AllocationRelease::default()),
                _ => response.rejected_allocations.push(RejectedAllocation::default()),
            }
        }
        response
    }

    #[test]
    fn only_entries_of_one_kind_share_a_message() {
        for (first, next, expected) in [
            ("n", "nn", Ok("nnn")),
            ("rr", "r", Ok("rrr")),
            ("n", "r", Err(())),
            ("r", "n", Err(())),
            ("x", "x", Err(())),
            ("n", "x", Err(())),
            ("x", "r", Err(())),
        ] {
            let mut message = response(first);
            let absorbed = message.absorb(response(next)).map(|()| message).map_err(|_| ());
            assert_eq!(absorbed, expected.map(response), "{first} {next}");
        }
        let mut full = response(&"n".repeat(ENTRIES_MAX));
        assert_eq!(full.absorb(response("n")), Err(response("n")), "a message has a bound");
    }
}
