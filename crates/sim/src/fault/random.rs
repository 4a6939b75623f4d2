//! Random faults with a seed.

use headroom_core::Name;

use crate::workload::generate::random::Random;

use super::{Fault, FaultKind, Faults, Manner};

/// One loss for each this many nodes, but at least [`LOSSES_MIN`] losses.
const NODES_PER_LOSS: u64 = 4;
const LOSSES_MIN: u64 = 3;
const LOSSES_MAX: u64 = 60;
/// Shortest and longest time for which a node is lost or drained, in ms.
const AWAY_MS: (u64, u64) = (60_000, 2 * 3_600_000);
const RECONNECTS: u64 = 2;
const RECOVERIES: u64 = 3;
const UNKNOWN_RELEASES: u64 = 10;

/// Returns the faults of this seed for these nodes, over a time in ms.
pub(super) fn draw(seed: u64, nodes: &[Name], length_ms: u64) -> Faults {
    let mut random = Random::new(seed);
    let mut list = Vec::new();
    let losses = (nodes.len() as u64 / NODES_PER_LOSS).clamp(LOSSES_MIN, LOSSES_MAX);
    let mut add = |random: &mut Random, kind| {
        list.push(Fault { at_ms: random.whole(1, length_ms.max(1)), kind });
    };
    let node = |random: &mut Random| {
        let position = random.whole(0, (nodes.len() as u64).saturating_sub(1));
        usize::try_from(position).ok().and_then(|position| nodes.get(position)).cloned()
    };
    for number in 0..losses + losses.div_ceil(2) {
        let Some(node) = node(&mut random) else { break };
        let for_ms = random.whole(AWAY_MS.0, AWAY_MS.1);
        let kind = if number < losses {
            FaultKind::Lose { node, for_ms }
        } else {
            FaultKind::Drain { node, for_ms }
        };
        add(&mut random, kind);
    }
    for (count, kind) in [
        (RECONNECTS, FaultKind::Reconnect),
        (RECOVERIES, FaultKind::Recover),
        (UNKNOWN_RELEASES, FaultKind::ReleaseUnknown),
    ] {
        (0..count).for_each(|_| add(&mut random, kind.clone()));
    }
    list.sort_by_key(|fault| fault.at_ms);
    Faults { list, manner: Manner::Random }
}

/// Delay of a confirmation, and further delay of a repeated confirmation, in ms.
pub(crate) struct Delay {
    pub(crate) after_ms: u64,
    pub(crate) again_ms: Option<u64>,
    pub(crate) lateness: Lateness,
}

/// Category of a delay, for the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lateness {
    InTime,
    Late,
    VeryLate,
}

impl Delay {
    /// Returns a random delay. Of all confirmations, a fifth are late by up to a minute, a twentieth are late by 5 to
    /// 20 minutes, and a tenth are repeated.
    pub(crate) fn draw(random: &mut Random) -> Self {
        let (lateness, after_ms) = match random.whole(0, 19) {
            0 => (Lateness::VeryLate, random.whole(300_000, 1_200_000)),
            1..=4 => (Lateness::Late, random.whole(1_001, 60_000)),
            _ => (Lateness::InTime, super::CONFIRMS_AFTER_MS),
        };
        let again_ms = (random.whole(0, 9) == 0).then(|| random.whole(0, 60_000));
        Self { after_ms, again_ms, lateness }
    }
}
