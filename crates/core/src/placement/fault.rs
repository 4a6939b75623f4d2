//! Errors of placement rules, and reasons why an application gets no queue.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::books::QueueState;
use crate::config::expression::ExpressionError;
use crate::name::Name;
use crate::rejection::RefusalCode;

/// Largest number of rules in a rejection.
pub(super) const RULES_TOLD: usize = 16;

/// Longest name in bytes that a rejection repeats completely.
const NAME_TOLD: usize = 160;

/// Reason why a list of placement rules cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("placement rule {number} ({name}) {wrong}")]
pub struct RuleError {
    /// Number of the rule in the partition, starting at 1.
    pub number: usize,
    /// Name of the rule, or of its faulty parent rule.
    pub name: Name,
    /// Error in the rule.
    pub wrong: Wrong,
}

impl RuleError {
    /// Returns a short, stable code, which checks of queue files also use.
    pub const fn code(&self) -> RefusalCode {
        match &self.wrong {
            Wrong::Unknown => RefusalCode::PrUnknown,
            Wrong::Recovery => RefusalCode::PrRecovery,
            Wrong::NoValue | Wrong::Element { .. } | Wrong::Parent => RefusalCode::PrValue,
            Wrong::Users { .. } => RefusalCode::PrUsers,
            Wrong::Groups { .. } => RefusalCode::PrGroups,
        }
    }
}

/// Error in a placement rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// No rule has this name.
    #[error("does not exist. Use provided, user, fixed, tag, or reject")]
    Unknown,
    /// The recovery rule is always added automatically.
    #[error(
        "cannot be in the queue file, because the scheduler always adds this rule as the last \
         rule. Remove the rule"
    )]
    Recovery,
    /// The rule needs a value and has none.
    #[error("has no value. Set the queue of a fixed rule, or the tag name of a tag rule")]
    NoValue,
    /// The value of a fixed rule has an invalid queue name.
    #[error(
        "has the invalid queue name {element:?} in its value. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -"
    )]
    Element {
        /// Invalid level of the path.
        element: Name,
    },
    /// The value begins at the root, but the rule has a parent rule.
    #[error(
        "has a parent rule and a value that begins at root. Remove the parent rule, or root from the value"
    )]
    Parent,
    /// The expression for users is invalid.
    #[error("filters users by the expression {text:?}, which is invalid: {error}")]
    Users {
        /// Expression for users.
        text: Name,
        /// Error in the expression.
        error: ExpressionError,
    },
    /// The expression for groups is invalid.
    #[error("filters groups by the expression {text:?}, which is invalid: {error}")]
    Groups {
        /// Expression for groups.
        text: Name,
        /// Error in the expression.
        error: ExpressionError,
    },
}

/// Reason why an application was not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The rules of the partition cannot be compiled, so none applies.
    NoRules(RuleError),
    /// A rule produced an invalid queue. Later rules are not tried.
    Fault {
        /// Number of the rule, starting at 1, and its name.
        rule: (usize, &'static str),
        /// Error of the queue.
        fault: Fault,
    },
    /// No rule returned a queue that the application can use.
    NoMatch {
        /// Names of the first rules, and the reason why each did not match.
        misses: Vec<(&'static str, Miss)>,
        /// Number of rules.
        rules: usize,
        /// Reason why the queue `root.default` was not used instead.
        fallback: Miss,
    },
}

impl Refused {
    /// Returns a short, stable code.
    pub const fn code(&self) -> RefusalCode {
        match self {
            Self::NoRules(_) => RefusalCode::PlNoRules,
            Self::Fault { fault: Fault::Rejected, .. } | Self::NoMatch { .. } => {
                RefusalCode::PlRejected
            }
            Self::Fault { .. } => RefusalCode::PlRuleError,
        }
    }
}

impl core::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRules(error) => write!(
                out,
                "the partition has no active placement rules, {}: {error}. Then load the queue file again.",
                error.code().as_str()
            ),
            Self::Fault { rule: (number, name), fault } => {
                write!(out, "placement rule {number} ({name}) {fault}")
            }
            Self::NoMatch { misses, rules, fallback } => {
                out.write_str("no placement rule matched: ")?;
                for (position, (name, miss)) in misses.iter().enumerate() {
                    write!(out, "rule {} ({name}): {miss}; ", position + 1)?;
                }
                if *rules > misses.len() {
                    write!(out, "and {} more; ", rules - misses.len())?;
                }
                write!(
                    out,
                    "at last: {fallback}; submit to a leaf that accepts you, or change the rules"
                )
            }
        }
    }
}

/// Reason why a rule did not match. Long names are truncated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Miss {
    /// The application requests no queue.
    #[error("the application specifies no queue")]
    NoQueue,
    /// The application does not have the tag.
    #[error("the application has no tag {tag}")]
    NoTag {
        /// Tag of the rule.
        tag: Name,
    },
    /// The filter excludes the user.
    #[error("the filter of the rule excludes user {user} with {groups} groups")]
    Filtered {
        /// Name of the user.
        user: Name,
        /// Number of groups of the user.
        groups: usize,
    },
    /// A reject rule does not apply to an application that already runs.
    #[error("the application is already running")]
    Forced,
    /// The queue does not exist, and the rule does not create it.
    #[error("queue {path} does not exist, and the rule sets create: false")]
    NotThere {
        /// Missing queue: the selected one or an ancestor.
        path: Name,
    },
    /// The queue does not exist, and no rule creates it.
    #[error("queue {path} does not exist")]
    NoDefault {
        /// Path of the queue.
        path: Name,
    },
    /// The queue is a parent.
    #[error("queue {path} is a parent, but applications run only in leaves")]
    NotLeaf {
        /// Path of the queue.
        path: Name,
    },
    /// No access list of the queue or an ancestor allows the user.
    #[error("no access list of queue {path} or above allows user {user} with {groups} groups")]
    NotAllowed {
        /// Path of the queue, or of the nearest existing ancestor.
        path: Name,
        /// Name of the user.
        user: Name,
        /// Number of groups of the user.
        groups: usize,
    },
    /// The queue accepts no applications.
    #[error(
        "queue {path} is {state}{}, but only an Active queue accepts applications",
        stopped.as_ref().map_or_else(String::new, |by| format!(" because {by} sets `state: stopped`"))
    )]
    NotActive {
        /// Path of the queue.
        path: Name,
        /// State of the queue.
        state: QueueState,
        /// Highest ancestor that the queue file stops, if that is the reason.
        stopped: Option<Name>,
    },
    /// The queue is the recovery queue, which users cannot request.
    #[error("queue {path} is reserved for forced applications")]
    Reserved {
        /// Path of the queue.
        path: Name,
    },
}

/// Reason why the queue of a rule is invalid. Long names are truncated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The rule rejects every application that passes its filter.
    #[error("rejects the application. Ask the administrator of the queue file for a queue.")]
    Rejected,
    /// A level of the path has an invalid name.
    #[error(
        "produces the invalid queue name {element:?} of {length} characters. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -."
    )]
    Element {
        /// Invalid level of the path.
        element: Name,
        /// Length of the name in characters.
        length: usize,
    },
    /// The parent rule selected a leaf.
    #[error(
        "selects a queue below {path}, which is a leaf. Change its parent rule to select a parent \
         queue."
    )]
    BelowLeaf {
        /// Path of the leaf.
        path: Name,
    },
    /// The path has too many levels.
    #[error("produces a path of {levels} levels, but at most {most} are allowed.")]
    TooDeep {
        /// Number of levels without the root.
        levels: usize,
        /// Largest allowed number.
        most: usize,
    },
}

/// Returns a name as a rejection repeats it: complete unless it is very long.
pub(super) fn clip(text: &str) -> Name {
    if text.len() <= NAME_TOLD {
        return Name::new(text);
    }
    let end = (0..=NAME_TOLD).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let shown: String = format!("{}…", &text[..end]);
    Name::from(shown)
}
