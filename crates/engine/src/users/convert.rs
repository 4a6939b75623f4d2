//! From what a client sent to who is charged.

use headroom_core::config::legal::is_user_name;
use headroom_core::{Name, Timestamp};

use super::{Submitted, UserCache, UserError, UserInfo};

/// Who is charged for a forced application that names no user.
const NOBODY: &str = "nobody";

/// The group of a forced application whose groups cannot be found.
const NO_GROUP: &str = "nogroup";

impl UserCache {
    /// Find out who submits. Groups that were sent are remembered as the user's, so that
    /// they also count for a later submission that sends none.
    ///
    /// A forced application runs already: it is given `nobody` and `nogroup` where something
    /// is missing, and refused only for an illegal name.
    ///
    /// Blocks while the directory is asked.
    ///
    /// # Errors
    /// When there is no user, the name is illegal, or no groups were sent and none are found.
    pub fn convert(&self, submitted: &Submitted, now: Timestamp) -> Result<UserInfo, UserError> {
        let Submitted { user, groups, forced } = submitted;
        if user.is_empty() {
            if !forced {
                return Err(UserError::Empty);
            }
            return Ok(self.store(Name::new(NOBODY), vec![Name::new(NO_GROUP)], now));
        }
        // Before the directory is asked, so that it never sees a name made to confuse it.
        if !is_user_name(user) {
            return Err(UserError::IllegalName { user: user.clone() });
        }
        if !groups.is_empty() {
            return Ok(self.store(user.clone(), groups.clone(), now));
        }
        match self.look_up(user, now) {
            Err(_) if *forced => Ok(self.store(user.clone(), vec![Name::new(NO_GROUP)], now)),
            found => found,
        }
    }
}
