//! Errors of determining the charged user.

use std::fmt;

use headroom_core::Name;

/// Reason why a submission has no user, or the user no groups. The submission is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// The user name is missing or empty, and the submission is not forced.
    #[error(
        "the submission has no user name, but every application is charged to a user. Send a user name."
    )]
    Empty,
    /// The name has characters that user names cannot have. Forced submissions are refused too.
    #[error(
        "{} is not a valid user name. A name begins with a letter or _, continues with letters, digits, and \
         : # / _ . @ -, and can end with $. Send a valid name.",
        Shown(.user)
    )]
    IllegalName {
        /// The name as sent.
        user: Name,
    },
    /// The submission has no groups, and the directory of the partition finds none.
    #[error(
        "the groups of user {} are unknown: {failure}. Send the groups with the submission, or \
         correct the directory and submit again after 90 seconds.",
        Shown(.user)
    )]
    Unresolved {
        /// Name of the user.
        user: Name,
        /// Error of the directory. Not a `source`, because the sentence already contains the error.
        failure: LookupFailure,
    },
    /// The partition is not configured.
    #[error("partition {} does not exist. Submit to a partition of the queue file.", Shown(.partition))]
    UnknownPartition {
        /// The name as sent.
        partition: Name,
    },
}

impl UserError {
    /// Codes of rejected applications. An unknown partition is rejected earlier, as `UNKNOWN_PARTITION`.
    pub const CODES: [&str; 3] = ["U-EMPTY", "U-NAME", "U-UNRESOLVED"];

    /// Returns a code that does not change with the sentence, for logs, tests, and documentation.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "U-EMPTY",
            Self::IllegalName { .. } => "U-NAME",
            Self::Unresolved { .. } => "U-UNRESOLVED",
            Self::UnknownPartition { .. } => "U-PARTITION",
        }
    }
}

/// Reason why a directory has no complete answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupFailure {
    /// The user does not exist.
    #[error("the directory has no such user")]
    NoSuchUser,
    /// The query for the user failed.
    #[error("the directory failed to look the user up ({reason})")]
    User {
        /// Error of the directory.
        reason: Name,
    },
    /// The user exists, but the query for its groups failed.
    #[error("the directory has the user, but failed to list the groups ({reason})")]
    Groups {
        /// Error of the directory.
        reason: Name,
    },
    /// Another thread that queried the same user panicked.
    #[error("the lookup ended without a result because of an error in the directory code")]
    BrokenOff,
}

/// Reason why a `usergroupresolver` cannot be used. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolverError {
    /// LDAP is not supported yet. Another resolver would give users other groups than the file requests, and therefore
    /// other limits.
    #[error(
        "partition {} sets `usergroupresolver` to `ldap`, which Headroom does not support yet. Set \
         `os` on a machine whose user database reads the directory (for example with SSSD), or \
         remove the setting and send the groups with each submission.",
        Shown(.partition)
    )]
    Ldap {
        /// Partition with this setting.
        partition: Name,
    },
}

impl ResolverError {
    /// Returns a code that does not change with the sentence.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Ldap { .. } => "U-LDAP",
        }
    }
}

/// A valid setting that probably does not have the intended meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolverWarning {
    /// An unknown type is valid and means no directory, as in the reference.
    UnknownType {
        /// Partition with this setting.
        partition: Name,
        /// The value as written.
        given: String,
    },
}

impl ResolverWarning {
    /// Returns a code that does not change with the sentence.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownType { .. } => "U-RESOLVER",
        }
    }
}

impl fmt::Display for ResolverWarning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownType { partition, given } => write!(
                out,
                "partition {} sets `usergroupresolver` to {}, which is not a resolver: a user \
                 without groups gets one group of the same name. Set `os`, or remove the setting.",
                Shown(partition),
                Shown(given)
            ),
        }
    }
}

/// Shows an external name with quotes, escaped and shortened, because log readers cannot trust it.
struct Shown<'a>(&'a str);

/// Maximum number of characters of a name that are shown.
const SHOWN_CHARACTERS_MAX: usize = 80;

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(SHOWN_CHARACTERS_MAX).map(|(place, _)| place);
        match end {
            Some(end) => write!(out, "{:?}… ({} bytes)", &self.0[..end], self.0.len()),
            None => write!(out, "{:?}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_the_rule_what_was_given_and_what_to_do() {
        let user = Name::new("b!b");
        let unresolved =
            UserError::Unresolved { user: "eve".into(), failure: LookupFailure::NoSuchUser };
        let partition = Name::new("default");
        let warning =
            ResolverWarning::UnknownType { partition: partition.clone(), given: "OS".into() };
        for (sentence, expected) in [
            (
                UserError::Empty.to_string(),
                "the submission has no user name, but every application is charged to a user. Send a \
                 user name.",
            ),
            (
                UserError::IllegalName { user }.to_string(),
                "\"b!b\" is not a valid user name. A name begins with a letter or _, continues with letters, \
                 digits, and : # / _ . @ -, and can end with $. Send a valid name.",
            ),
            (
                unresolved.to_string(),
                "the groups of user \"eve\" are unknown: the directory has no such user. Send \
                 the groups with the submission, or correct the directory and submit again after \
                 90 seconds.",
            ),
            (
                ResolverError::Ldap { partition }.to_string(),
                "partition \"default\" sets `usergroupresolver` to `ldap`, which Headroom does not \
                 support yet. Set `os` on a machine whose user database reads the directory (for \
                 example with SSSD), or remove the setting and send the groups with each \
                 submission.",
            ),
            (
                warning.to_string(),
                "partition \"default\" sets `usergroupresolver` to \"OS\", which is not a resolver: \
                 a user without groups gets one group of the same name. Set `os`, or remove the \
                 setting.",
            ),
        ] {
            assert_eq!(sentence, expected);
        }
    }

    #[test]
    fn a_name_from_outside_is_escaped_and_cut() {
        assert_eq!(Shown("a\n\u{1b}").to_string(), r#""a\n\u{1b}""#);
        let long = "é".repeat(81);
        let expected = format!("\"{}\"… (162 bytes)", "é".repeat(80));
        assert_eq!(Shown(&long).to_string(), expected);
    }
}
