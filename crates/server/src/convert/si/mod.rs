//! The scheduler interface `si.v1`: requests as commands, news as responses.
//!
//! A request becomes commands in the order in which they are to be judged, each with what is to
//! be answered if it is refused. Whatever a message contains, it can be converted: what has no
//! meaning is left out or counts as absent, and what is wrong is refused by the core, in words.
//!
//! Names of partitions come as `name` or `[rmID]name`, and go out as `[rmID]name`.
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

/// The partition that a message means by leaving its name out.
pub const DEFAULT_PARTITION: &str = "default";

/// The partition that a message means: without the RM in front; `default` if it names none.
pub fn partition(name: &str) -> Name {
    let bare = match name.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(name, |(_, bare)| bare),
        None => name,
    };
    Name::new(if bare.is_empty() { DEFAULT_PARTITION } else { bare })
}

/// The name of a partition as it is sent to the RM.
pub fn normalised(rm_id: &str, partition: &str) -> String {
    format!("[{rm_id}]{partition}")
}

/// Amounts, by type. A missing message names none.
pub fn amounts(resource: Option<&v1::Resource>) -> Amounts {
    let quantities = resource.into_iter().flat_map(|one| &one.resources);
    quantities.map(|(name, amount)| (Name::new(name), Quantity::of(amount.value))).collect()
}

/// The same on the wire.
pub fn resource(amounts: &Amounts) -> v1::Resource {
    let quantity = |(name, amount): (&Name, Quantity)| {
        (name.to_string(), v1::Quantity { value: amount.get() })
    };
    v1::Resource { resources: amounts.iter().map(quantity).collect() }
}

/// A command that a request asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What is to be judged.
    pub command: Command,
    /// Who gets the refusal, if it is refused.
    pub if_refused: Refusal,
}

impl Step {
    /// A command whose refusal is not reported: what it wants has happened already, or cannot.
    const fn silent(command: Command) -> Self {
        Self { command, if_refused: Refusal::Silent }
    }
}

/// Who learns that a command was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody.
    Silent,
    /// The node with this id was not taken in.
    Node(String),
    /// The application with this id was not taken in.
    Application(String),
    /// An ask or allocation was not taken in, or not changed.
    Allocation {
        /// Its key.
        key: String,
        /// Whose it is; empty if it is foreign.
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
