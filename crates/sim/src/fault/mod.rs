//! Injected faults. Nodes are lost or drained for some time. The RM confirms late or twice, repeats its reports, or
//! names unknown objects. The core is lost and recovers.
//!
//! A run with faults verifies that nothing is lost or counted twice.

mod file;
mod random;

use headroom_core::Name;

pub use file::FaultsError;
pub(crate) use random::{Delay, Lateness};

/// All faults of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Faults in order of time.
    pub(crate) list: Vec<Fault>,
    /// Behavior of the RM outside the time spans in the list.
    pub(crate) manner: Manner,
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Time in ms.
    pub(crate) at_ms: u64,
    pub(crate) kind: FaultKind,
}

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A node is lost, and returns empty.
    Lose {
        /// Name of the node.
        node: Name,
        /// Duration in ms.
        for_ms: u64,
    },
    /// A node is drained, so nothing starts on it.
    Drain {
        /// Name of the node.
        node: Name,
        /// Duration in ms.
        for_ms: u64,
    },
    /// The RM sends its whole state again: nodes, applications, asks, and allocations.
    Reconnect,
    /// The core is lost, and recovers from its records.
    Recover,
    /// The RM releases an unknown allocation.
    ReleaseUnknown,
    /// The RM confirms requests in this time span late.
    Late {
        /// Length of the time span in ms.
        for_ms: u64,
        /// Delay in ms.
        after_ms: u64,
    },
    /// The RM confirms requests in this time span twice.
    Twice {
        /// Length of the time span in ms.
        for_ms: u64,
    },
}

/// Delays and repetitions of the confirmations of the RM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Always once, after [`CONFIRMS_AFTER_MS`].
    Reliable,
    /// Sometimes late, sometimes very late, and sometimes twice.
    Random,
}

/// Time in ms in which the RM stops an allocation and confirms.
pub const CONFIRMS_AFTER_MS: u64 = 1_000;

/// Source of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultSource {
    /// Random faults with this seed, over the minimum duration of the work.
    Random(u64),
    /// Faults from a file.
    Listed(Faults),
}

impl FaultSource {
    /// Parses the value of `--faults`: `random:SEED`, or the path of a file.
    ///
    /// # Errors
    /// A [`FaultsError`] that names the seed, or the file and the line.
    pub fn read(text: &str) -> Result<Self, FaultsError> {
        match text.strip_prefix("random:") {
            Some(seed) => match seed.parse() {
                Ok(seed) => Ok(Self::Random(seed)),
                Err(_) => Err(FaultsError::Seed { found: seed.to_owned() }),
            },
            None => file::read(std::path::Path::new(text)).map(Self::Listed),
        }
    }

    /// Returns the faults of a run with these nodes, and this duration in ms.
    pub(crate) fn faults(&self, nodes: &[Name], length_ms: u64) -> Faults {
        match self {
            Self::Random(seed) => random::draw(*seed, nodes, length_ms),
            Self::Listed(faults) => faults.clone(),
        }
    }

    /// Returns the first named node that is not among these.
    pub(crate) fn unknown_node(&self, nodes: &[Name]) -> Option<&Name> {
        let Self::Listed(faults) = self else { return None };
        faults.list.iter().find_map(|fault| match &fault.kind {
            FaultKind::Lose { node, .. } | FaultKind::Drain { node, .. } => {
                (!nodes.contains(node)).then_some(node)
            }
            FaultKind::Reconnect
            | FaultKind::Recover
            | FaultKind::ReleaseUnknown
            | FaultKind::Late { .. }
            | FaultKind::Twice { .. } => None,
        })
    }
}
