//! Why task groups are refused.

use std::fmt;

use crate::object::Text;

/// What is wrong with the task groups of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupFault {
    /// The value is no JSON array of objects. The text is the error of the parser.
    NoArray(String),
    /// A field has the wrong type.
    WrongShape {
        /// Name of the field.
        field: &'static str,
    },
    /// A group has no name.
    NoName,
    /// A name cannot be part of the name of a pod.
    UnfitName {
        /// Name of the group.
        group: Text,
    },
    /// Two groups have the same name.
    DuplicateName {
        /// Name of the groups.
        group: Text,
    },
    /// A group has no amounts.
    NoResource {
        /// Name of the group.
        group: Text,
    },
    /// A group has no members.
    NoMember {
        /// Name of the group.
        group: Text,
    },
    /// An amount is no quantity.
    NoQuantity {
        /// Name of the resource.
        resource: Text,
        /// Text in the annotation.
        text: Text,
    },
    /// A resource has no name.
    EmptyResource {
        /// Name of the group.
        group: Text,
    },
    /// An amount is below zero.
    Negative {
        /// Name of the group.
        group: Text,
        /// Name of the resource.
        resource: Text,
    },
    /// A resource is given twice. The number of pods is always given.
    DuplicateResource {
        /// Name of the group.
        group: Text,
        /// Name of the resource.
        resource: Text,
    },
    /// The amount of all members of a group does not fit 64 bits.
    Overflow {
        /// Name of the group.
        group: Text,
        /// Name of the resource.
        resource: Text,
    },
    /// The amount of all groups does not fit 64 bits.
    SumOverflow {
        /// Name of the resource.
        resource: Text,
    },
}

impl fmt::Display for GroupFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoArray(error) => write!(f, "the value is no JSON array of objects: {error}"),
            Self::WrongShape { field } => write!(f, "field {field} has the wrong type"),
            Self::NoName => f.write_str("a group has no name"),
            Self::UnfitName { group } => write!(
                f,
                "group name {group:?} cannot be part of a pod name. Use lower-case letters, digits, and hyphens."
            ),
            Self::DuplicateName { group } => write!(f, "two groups have the name {group:?}"),
            Self::NoResource { group } => write!(f, "group {group:?} has no minResource"),
            Self::NoMember { group } => {
                write!(f, "group {group:?} has a minMember below 1. Write at least 1.")
            }
            Self::NoQuantity { resource, text } => {
                write!(
                    f,
                    "amount {text:?} of {resource} is no quantity. Write an amount such as 4Gi."
                )
            }
            Self::EmptyResource { group } => {
                write!(f, "a resource of group {group:?} has no name")
            }
            Self::Negative { group, resource } => {
                write!(f, "{resource} of group {group:?} is below zero. Write at least 0.")
            }
            Self::DuplicateResource { group, resource } => {
                write!(f, "{resource} of group {group:?} is given twice")
            }
            Self::Overflow { group, resource } => {
                write!(f, "{resource} of all members of group {group:?} is beyond 64 bits")
            }
            Self::SumOverflow { resource } => {
                write!(f, "{resource} of all groups together is beyond 64 bits")
            }
        }
    }
}
