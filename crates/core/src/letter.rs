//! Letters for the order in which `CapacityScheduler` checks an ask.

use crate::rejection::RefusalCode;
use crate::wait::WaitCode;

/// Returns the letter of a wait code or rejection code. `None` if the code has no letter. See [`WaitCode::letter`].
pub fn letter(code: &str) -> Option<char> {
    let too_many = [RefusalCode::MaxAppsQueue, RefusalCode::MaxAppsUser];
    let is_rejected = too_many.iter().any(|one| one.as_str() == code);
    WaitCode::of_text(code).map_or_else(|| is_rejected.then_some('e'), WaitCode::letter)
}
