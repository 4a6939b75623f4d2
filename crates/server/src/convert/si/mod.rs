//! The scheduler interface `si.v1`: converts requests to commands, and notices to responses.
//!
//! A request becomes commands in the order of their execution, each with the answer to its rejection. Every message can
//! be converted. Parts without a meaning are omitted or count as absent, and the core rejects invalid parts with a
//! reason.
//!
//! Names of partitions arrive as `name` or `[rmID]name`, and are sent as `[rmID]name`.
//!
//! Source: scheduler interface §2 to §8, decisions K-1 to K-20.

mod allocation;
mod answer;
mod application;
mod constraint;
mod event;
mod node;
mod outbound;
mod question;

use headroom_api::si::v1;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::{Command, Name};

pub use allocation::allocations;
pub use answer::answers;
pub use application::{Applications, New, applications};
pub use constraint::{Constraint, Constraints, constraints};
pub use event::event;
pub use node::nodes;
pub use outbound::{RmUpdate, rm_update};
pub use question::{Inquiry, Part};

/// The partition of a message without a partition name.
pub const DEFAULT_PARTITION: &str = "default";

/// Returns the partition of a message, without the RM prefix. Returns `default` if the message names no partition.
pub fn partition(name: &str) -> Name {
    let bare = match name.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(name, |(_, bare)| bare),
        None => name,
    };
    Name::new(if bare.is_empty() { DEFAULT_PARTITION } else { bare })
}

/// Returns the name of a partition in the form for the RM.
pub fn normalised(rm_id: &str, partition: &str) -> String {
    format!("[{rm_id}]{partition}")
}

/// Returns amounts by type. Empty for a missing message.
pub fn amounts(resource: Option<&v1::Resource>) -> Amounts {
    let quantities = resource.into_iter().flat_map(|one| &one.resources);
    quantities.map(|(name, amount)| (Name::new(name), Quantity::of(amount.value))).collect()
}

/// Returns amounts as a message.
pub fn resource(amounts: &Amounts) -> v1::Resource {
    let quantity = |(name, amount): (&Name, Quantity)| {
        (name.to_string(), v1::Quantity { value: amount.get() })
    };
    v1::Resource { resources: amounts.iter().map(quantity).collect() }
}

/// A command of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Command to execute.
    pub command: Command,
    /// Answer if the command is rejected.
    pub if_refused: Refusal,
}

impl Step {
    /// Returns a command whose rejection is not reported, because its goal is already reached, or cannot be reached.
    const fn silent(command: Command) -> Self {
        Self { command, if_refused: Refusal::Silent }
    }
}

/// Answer to the rejection of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No answer.
    Silent,
    /// The node with this id was not added.
    Node(String),
    /// The application with this id was not accepted.
    Application(String),
    /// An ask or allocation was not added, or not changed.
    Allocation {
        /// Allocation key.
        key: String,
        /// Application of the ask or allocation. Empty for a foreign allocation.
        application: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_come_in_both_forms_and_go_out_in_one() {
        for (name, expected) in [
            ("", "default"),
            ("gpu", "gpu"),
            ("[rm]gpu", "gpu"),
            ("[rm]", "default"),
            ("[", "["),
            ("[rm", "[rm"),
            ("gpu]", "gpu]"),
            ("[a]b]c", "b]c"),
        ] {
            assert_eq!(partition(name), expected, "{name:?}");
        }
        assert_eq!(normalised("rm", "gpu"), "[rm]gpu");
    }
}
