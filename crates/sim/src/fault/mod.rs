//! What goes wrong on purpose: nodes that are lost or drained for a while, an RM that confirms
//! late, twice or not for a long time, repeats its reports, or names what nobody knows, and
//! a core that is lost and recovers.
//!
//! Nothing may be lost by it or counted twice; that is what a run with faults is for.

mod file;
mod random;

use headroom_core::Name;

pub use file::FaultsError;
pub(crate) use random::{Delay, Lateness};

/// All that goes wrong in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// In order of time.
    pub(crate) list: Vec<Fault>,
    /// How the RM confirms outside of the spans that the list names.
    pub(crate) manner: Manner,
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// When, ms.
    pub(crate) at_ms: u64,
    pub(crate) kind: FaultKind,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// A node is lost, and comes back empty.
    Lose {
        /// Which.
        node: Name,
        /// For how long, ms.
        for_ms: u64,
    },
    /// A node takes nothing new.
    Drain {
        /// Which.
        node: Name,
        /// For how long, ms.
        for_ms: u64,
    },
    /// The RM says again all that it knows: nodes, applications, asks and allocations.
    Reconnect,
    /// The core is lost, and recovers from what was recorded.
    Recover,
    /// The RM releases an allocation that nobody knows.
    ReleaseUnknown,
    /// What the RM is asked for in this span, it confirms late.
    Late {
        /// How long the span is, ms.
        for_ms: u64,
        /// How late, ms.
        after_ms: u64,
    },
    /// What the RM is asked for in this span, it confirms twice.
    Twice {
        /// How long the span is, ms.
        for_ms: u64,
    },
}

/// How the RM confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Every time, once, after [`CONFIRMS_AFTER_MS`].
    Reliable,
    /// Sometimes late, sometimes very late, sometimes twice.
    Random,
}

/// How long the RM takes to stop something and to say so, ms.
pub const CONFIRMS_AFTER_MS: u64 = 1_000;

/// Where faults come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultSource {
    /// Drawn from this seed, over the time that the work takes at least.
    Random(u64),
    /// As a file lists them.
    Listed(Faults),
}

impl FaultSource {
    /// What `--faults` says: `random:SEED`, or the name of a file.
    ///
    /// # Errors
    /// [`FaultsError`] names the seed, or the file and the line.
    pub fn read(text: &str) -> Result<Self, FaultsError> {
        match text.strip_prefix("random:") {
            Some(seed) => match seed.parse() {
                Ok(seed) => Ok(Self::Random(seed)),
                Err(_) => Err(FaultsError::Seed { found: seed.to_owned() }),
            },
            None => file::read(std::path::Path::new(text)).map(Self::Listed),
        }
    }

    /// The faults of a run on these nodes, of this length in ms.
    pub(crate) fn faults(&self, nodes: &[Name], length_ms: u64) -> Faults {
        match self {
            Self::Random(seed) => random::draw(*seed, nodes, length_ms),
            Self::Listed(faults) => faults.clone(),
        }
    }

    /// Nodes that are named and not among these; the first of them.
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
