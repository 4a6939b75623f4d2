//! Determines the charged user from the user and groups that a client sent.

use headroom_core::config::legal::is_user_name;
use headroom_core::{Name, Timestamp};

use super::{Submitted, UserCache, UserError, UserInfo};

/// User of a forced application without a user name.
const NOBODY: &str = "nobody";

/// Group of a forced application whose groups cannot be determined.
const NO_GROUP: &str = "nogroup";

impl UserCache {
    /// Determines the submitting user. Groups in the submission are stored for the user, so that they also count for a
    /// later submission without groups.
    ///
    /// A forced application already runs. It gets `nobody` and `nogroup` for missing parts, and is rejected only for an
    /// invalid name.
    ///
    /// Blocks while the directory is queried.
    ///
    /// # Errors
    /// If the submission has no user, if the name is invalid, or if the groups are neither sent nor found.
    pub fn convert(&self, submitted: &Submitted, now: Timestamp) -> Result<UserInfo, UserError> {
        let Submitted { user, groups, forced } = submitted;
        if user.is_empty() {
            if !forced {
                return Err(UserError::Empty);
            }
            return Ok(self.store(Name::new(NOBODY), vec![Name::new(NO_GROUP)], now));
        }
        // Checked before the query, so that the directory never gets a malicious name.
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
