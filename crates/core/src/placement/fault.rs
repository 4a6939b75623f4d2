//! Why rules cannot be built, and why an application finds no queue.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::books::QueueState;
use crate::config::expression::ExpressionError;
use crate::name::Name;
use crate::rejection::RefusalCode;

/// How many rules a refusal speaks of, at most.
pub(super) const RULES_TOLD: usize = 16;

/// Longest name that a refusal repeats in full, in bytes.
const NAME_TOLD: usize = 160;

/// Why a list of placement rules cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("placement rule {number} ({name}) {wrong}")]
pub struct RuleError {
    /// Which rule of the partition, counted from 1.
    pub number: usize,
    /// The name of the rule, or of the parent rule that is at fault.
    pub name: Name,
    /// What is wrong with it.
    pub wrong: Wrong,
}

impl RuleError {
    /// A short code that does not change, as checks of queue files use it.
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

/// What is wrong with a placement rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A name that no rule has.
    #[error("does not exist. Use provided, user, fixed, tag, or reject")]
    Unknown,
    /// The rule that is always the last one.
    #[error(
        "cannot be in the queue file, because the scheduler always adds this rule as the last \
         rule. Remove the rule"
    )]
    Recovery,
    /// A rule that needs a value has none.
    #[error("has no value. Set the queue of a fixed rule, or the tag name of a tag rule")]
    NoValue,
    /// A fixed queue with an illegal name.
    #[error(
        "has the invalid queue name {element:?} in its value. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -"
    )]
    Element {
        /// The level of the path.
        element: Name,
    },
    /// A path from the root, and a rule that finds the parent.
    #[error(
        "has a parent rule and a value that begins at root. Remove the parent rule, or root from the value"
    )]
    Parent,
    /// An expression for users that cannot be read.
    #[error("filters users by the expression {text:?}, which is invalid: {error}")]
    Users {
        /// The expression.
        text: Name,
        /// Why not.
        error: ExpressionError,
    },
    /// An expression for groups that cannot be read.
    #[error("filters groups by the expression {text:?}, which is invalid: {error}")]
    Groups {
        /// The expression.
        text: Name,
        /// Why not.
        error: ExpressionError,
    },
}

/// Why an application was not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The rules of the partition cannot be built, so none is in force.
    NoRules(RuleError),
    /// A rule found a queue that cannot be; later rules are not asked.
    Fault {
        /// Which rule, counted from 1, and its name.
        rule: (usize, &'static str),
        /// What is wrong.
        fault: Fault,
    },
    /// No rule found a queue that the application may go to.
    NoMatch {
        /// The first rules with their names, and why each did not match.
        misses: Vec<(&'static str, Miss)>,
        /// How many rules there are.
        rules: usize,
        /// Why the queue `root.default` was not taken in their place.
        fallback: Miss,
    },
}

impl Refused {
    /// A short code that does not change.
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

/// Why a rule did not match. Names are clipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Miss {
    /// The application names no queue.
    #[error("the application specifies no queue")]
    NoQueue,
    /// The application has no such tag.
    #[error("the application has no tag {tag}")]
    NoTag {
        /// The tag that the rule reads.
        tag: Name,
    },
    /// The filter keeps the user out.
    #[error("the filter of the rule excludes user {user} with {groups} groups")]
    Filtered {
        /// Who.
        user: Name,
        /// How many groups the user has.
        groups: usize,
    },
    /// A rule that rejects does not hold for an application that runs already.
    #[error("the application is already running")]
    Forced,
    /// The queue is not there, and the rule does not make it.
    #[error("queue {path} does not exist, and the rule sets create: false")]
    NotThere {
        /// The queue, or one above it.
        path: Name,
    },
    /// The queue is not there, and nothing makes it.
    #[error("queue {path} does not exist")]
    NoDefault {
        /// The queue.
        path: Name,
    },
    /// The queue holds queues.
    #[error("queue {path} is a parent, but applications run only in leaves")]
    NotLeaf {
        /// The queue.
        path: Name,
    },
    /// Neither it nor a queue above lets the user in.
    #[error("no access list of queue {path} or above allows user {user} with {groups} groups")]
    NotAllowed {
        /// The queue, or the nearest one above that exists.
        path: Name,
        /// Who.
        user: Name,
        /// How many groups the user has.
        groups: usize,
    },
    /// The queue takes in nothing any more.
    #[error(
        "queue {path} is {state}{}, but only an Active queue accepts applications",
        stopped.as_ref().map_or_else(String::new, |by| format!(" because {by} sets `state: stopped`"))
    )]
    NotActive {
        /// The queue.
        path: Name,
        /// Its state.
        state: QueueState,
        /// The uppermost queue that the queue file stops, if that is why.
        stopped: Option<Name>,
    },
    /// The queue is the recovery queue, which nobody can name.
    #[error("queue {path} is reserved for forced applications")]
    Reserved {
        /// The queue.
        path: Name,
    },
}

/// What a rule found cannot be. Names are clipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The rule rejects every application that passes its filter.
    #[error("rejects the application. Ask the administrator of the queue file for a queue.")]
    Rejected,
    /// A level of the path has an illegal name.
    #[error(
        "produces the invalid queue name {element:?} of {length} characters. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -."
    )]
    Element {
        /// The level of the path.
        element: Name,
        /// Its length.
        length: usize,
    },
    /// The parent rule found a queue that holds applications.
    #[error(
        "selects a queue below {path}, which is a leaf. Change its parent rule to select a parent \
         queue."
    )]
    BelowLeaf {
        /// The leaf.
        path: Name,
    },
    /// More levels than queues may have.
    #[error("produces a path of {levels} levels, but at most {most} are allowed.")]
    TooDeep {
        /// Levels below root.
        levels: usize,
        /// The most.
        most: usize,
    },
}

/// A name from outside as a refusal repeats it: in full unless it is very long.
pub(super) fn clip(text: &str) -> Name {
    if text.len() <= NAME_TOLD {
        return Name::new(text);
    }
    let end = (0..=NAME_TOLD).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let shown: String = format!("{}…", &text[..end]);
    Name::from(shown)
}
