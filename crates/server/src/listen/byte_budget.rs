//! A common budget of bytes of all clients.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Sizes up to this many bytes are not counted. Ordinary bodies and messages are therefore always accepted.
const FREE: usize = 64 << 10;
/// Unit of counting, in bytes.
const UNIT: usize = 1 << 10;

/// A budget of bytes, shared by its clones.
#[derive(Clone, Debug)]
pub(super) struct ByteBudget {
    units: Arc<Semaphore>,
    bytes: usize,
}

/// Share of a body or message in the budget. Dropping the permit returns the share.
#[derive(Debug)]
pub(super) struct BudgetPermit {
    room: ByteBudget,
    permit: Option<OwnedSemaphorePermit>,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("request bodies already use the limit of {bytes} bytes; try again later")]
pub(super) struct BudgetExhausted {
    bytes: usize,
}

impl BudgetExhausted {
    /// Returns the sentence for a budget of answers.
    pub(super) fn of_answers(self) -> String {
        let bytes = self.bytes;
        format!(
            "unread responses already use the limit of {bytes} bytes; read the open responses, or \
             try again later"
        )
    }
}

impl ByteBudget {
    /// Returns a budget of this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), bytes }
    }

    /// Returns an empty share.
    pub(super) fn hold(&self) -> BudgetPermit {
        BudgetPermit { room: self.clone(), permit: None }
    }
}

impl BudgetPermit {
    /// Changes the share to the size of `bytes`. A smaller size returns the difference to the budget.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(super) fn resize(&mut self, bytes: usize) -> Result<(), BudgetExhausted> {
        let wanted = if bytes > FREE { bytes.div_ceil(UNIT) } else { 0 };
        let has = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted < has {
            // A smaller share never fails.
            drop(self.permit.as_mut().and_then(|permit| permit.split(has - wanted)));
            return Ok(());
        }
        let no_room = BudgetExhausted { bytes: self.room.bytes };
        let more = u32::try_from(wanted - has).map_err(|_| no_room)?;
        if more == 0 {
            return Ok(());
        }
        let more =
            Arc::clone(&self.room.units).try_acquire_many_owned(more).map_err(|_| no_room)?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BudgetExhausted, ByteBudget, FREE, UNIT};

    #[test]
    fn what_is_held_is_given_back_and_small_things_are_always_taken() {
        let bytes = 2 * FREE + 8 * UNIT;
        let room = ByteBudget::new(bytes);
        let (mut one, mut two) = (room.hold(), room.hold());
        assert!(one.resize(FREE + 6 * UNIT).is_ok() && two.resize(FREE + 2 * UNIT).is_ok());
        let exhausted = BudgetExhausted { bytes };
        assert_eq!(two.resize(FREE + 2 * UNIT + 1), Err(exhausted));
        let sentence = "request bodies already use the limit of 139264 bytes; try again later";
        assert_eq!(exhausted.to_string(), sentence);
        assert!(room.hold().resize(FREE).is_ok(), "what is small is always taken");
        assert_eq!(room.hold().resize(FREE + 1), Err(exhausted), "what is larger counts whole");
        assert!(one.resize(FREE + UNIT).is_ok() && two.resize(FREE + 7 * UNIT).is_ok());
        assert_eq!(one.resize(FREE + 2 * UNIT), Err(exhausted));
        drop(two);
        assert!(one.resize(bytes).is_ok() && one.resize(0).is_ok());
        assert!(room.hold().resize(bytes).is_ok());
    }
}
