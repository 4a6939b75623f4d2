//! Why nobody could be charged.

use std::fmt;

use headroom_core::Name;

/// Why a submission has no user, or a user no groups. The submission is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// No user, or an empty one, and the submission is not forced.
    #[error(
        "the submission has no user name, but every application is charged to a user. Send a user name."
    )]
    Empty,
    /// The name has other characters than user names have. Forced submissions included.
    #[error(
        "{} is not a valid user name. A name begins with a letter or _, continues with letters, digits, and \
         : # / _ . @ -, and can end with $. Send a valid name.",
        Shown(.user)
    )]
    IllegalName {
        /// As given.
        user: Name,
    },
    /// No groups were sent, and the partition's directory has none to offer.
    #[error(
        "the groups of user {} are unknown: {failure}. Send the groups with the submission, or \
         correct the directory and submit again after 90 seconds.",
        Shown(.user)
    )]
    Unresolved {
        /// Who was looked for.
        user: Name,
        /// The error of the directory. Not a source: it is part of the sentence.
        failure: LookupFailure,
    },
    /// The partition is not configured.
    #[error("partition {} does not exist. Submit to a partition of the queue file.", Shown(.partition))]
    UnknownPartition {
        /// As given.
        partition: Name,
    },
}

impl UserError {
    /// The codes under which applications are rejected. A partition that is not there is refused before that, as
    /// `UNKNOWN_PARTITION`.
    pub const CODES: [&str; 3] = ["U-EMPTY", "U-NAME", "U-UNRESOLVED"];

    /// Stays the same when sentences change; for logs, tests and documentation.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "U-EMPTY",
            Self::IllegalName { .. } => "U-NAME",
            Self::Unresolved { .. } => "U-UNRESOLVED",
            Self::UnknownPartition { .. } => "U-PARTITION",
        }
    }
}

/// Why a directory has no complete answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookupFailure {
    /// It was asked, and there is no such user.
    #[error("the directory has no such user")]
    NoSuchUser,
    /// It could not be asked about the user.
    #[error("the directory failed to look the user up ({reason})")]
    User {
        /// The error of the directory.
        reason: Name,
    },
    /// The user is there; the list of groups is not.
    #[error("the directory has the user, but failed to list the groups ({reason})")]
    Groups {
        /// The error of the directory.
        reason: Name,
    },
    /// Another thread was asking for the same user, and broke off.
    #[error("the lookup ended without a result because of an error in the directory code")]
    BrokenOff,
}

/// Why a `usergroupresolver` cannot be used. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolverError {
    /// LDAP is not built yet. Another resolver in its place would give users other groups,
    /// and so other limits, than the file asks for.
    #[error(
        "partition {} sets `usergroupresolver` to `ldap`, which Headroom does not support yet. Set \
         `os` on a machine whose user database reads the directory (for example with SSSD), or \
         remove the setting and send the groups with each submission.",
        Shown(.partition)
    )]
    Ldap {
        /// Whose setting it is.
        partition: Name,
    },
}

impl ResolverError {
    /// Stays the same when sentences change.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Ldap { .. } => "U-LDAP",
        }
    }
}

/// A setting that was taken, and probably means something else than its author thinks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolverWarning {
    /// An unknown type is legal and stands for no directory at all, as in the reference.
    UnknownType {
        /// Whose setting it is.
        partition: Name,
        /// As written.
        given: String,
    },
}

impl ResolverWarning {
    /// Stays the same when sentences change.
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

/// Names from outside, in quotes, escaped and cut: readers of the log did not choose them.
struct Shown<'a>(&'a str);

/// More characters than any name that is meant seriously.
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
