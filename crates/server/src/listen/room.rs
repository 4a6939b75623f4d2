//! How many bytes of what clients send are held at once, all together.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So much of each body or message does not count, in bytes: ordinary ones are always taken.
const FREE: usize = 64 << 10;
/// What is counted in, in bytes.
const UNIT: usize = 1 << 10;

/// Room for what clients send. Clones are one.
#[derive(Clone, Debug)]
pub(super) struct Room {
    units: Arc<Semaphore>,
    bytes: usize,
}

/// What one body or message holds of it; given back when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    room: Room,
    permit: Option<OwnedSemaphorePermit>,
}

/// There is no room for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes of what clients send are held already, as many as may; try again")]
pub(super) struct NoRoom {
    bytes: usize,
}

impl NoRoom {
    /// Returns the sentence where the bytes are those of answers.
    pub(super) fn of_answers(self) -> String {
        let bytes = self.bytes;
        format!(
            "clients have not taken {bytes} bytes of answers yet, as many as may be; read them, or try again"
        )
    }
}

impl Room {
    /// For so many bytes, beside what does not count.
    pub(super) fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).min(Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), bytes }
    }

    /// Nothing of it yet.
    pub(super) fn hold(&self) -> Held {
        Held { room: self.clone(), permit: None }
    }
}

impl Held {
    /// Hold as much as so many bytes need; less than before gives the rest back.
    ///
    /// # Errors
    /// When others hold it.
    pub(super) fn resize(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let wanted = bytes.saturating_sub(FREE).div_ceil(UNIT);
        let has = self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if wanted < has {
            // Less than there is can always be given back.
            drop(self.permit.as_mut().and_then(|permit| permit.split(has - wanted)));
            return Ok(());
        }
        let no_room = NoRoom { bytes: self.room.bytes };
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
    use super::{FREE, Room, UNIT};

    #[test]
    fn what_is_held_is_given_back_and_small_things_are_always_taken() {
        let room = Room::new(8 * UNIT);
        let (mut one, mut two) = (room.hold(), room.hold());
        assert!(one.resize(FREE + 6 * UNIT).is_ok() && two.resize(FREE + 2 * UNIT).is_ok());
        let said = two.resize(FREE + 2 * UNIT + 1).unwrap_err().to_string();
        assert!(said.starts_with("8192 bytes"), "{said}");
        assert!(room.hold().resize(FREE).is_ok());
        assert!(one.resize(FREE + UNIT).is_ok() && two.resize(FREE + 7 * UNIT).is_ok());
        assert!(one.resize(FREE + 2 * UNIT).is_err());
        drop(two);
        assert!(one.resize(FREE + 8 * UNIT).is_ok() && one.resize(0).is_ok());
        assert!(room.hold().resize(FREE + 8 * UNIT).is_ok());
    }
}
