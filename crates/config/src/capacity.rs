//! Values of the block `capacity`: the mode, and the fractions.

use headroom_core::Name;
use headroom_core::config::{CapacityConfig, CapacityShare, LabelCapacity};
use headroom_core::userlimit::Decimal;

use crate::raw::{Capacity, LabelPart, Queue, Text};
use crate::user_limits::decimal;

/// Unit of the fraction of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Percent,
    Weight,
    Absolute,
}

/// Values of `mode`.
pub(crate) const MODES: [(&str, Mode); 3] =
    [("percent", Mode::Percent), ("weight", Mode::Weight), ("absolute", Mode::Absolute)];

impl Mode {
    /// Returns the word of the mode.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Weight => "weight",
            Self::Absolute => "absolute",
        }
    }
}

/// Returns the mode of a block. `None` if the mode is missing or unknown.
pub(crate) fn mode(block: &Capacity) -> Option<Mode> {
    let text = block.mode.as_ref()?;
    MODES.iter().find(|(word, _)| *word == text.value).map(|(_, mode)| *mode)
}

/// Parses a percentage of the parent's amount.
pub(crate) fn percent(text: &Text) -> Option<Decimal> {
    decimal(&text.value).filter(|percent| *percent <= Decimal::HUNDRED)
}

/// Parses the weight of a queue among its siblings.
pub(crate) fn weight(text: &Text) -> Option<Decimal> {
    decimal(&text.value).filter(|weight| *weight <= CapacityConfig::WEIGHT_MAX)
}

/// Returns the fraction in a block. `None` if its mode or value is not valid.
pub(crate) fn share(block: &Capacity) -> Option<CapacityShare> {
    let value = block.value.as_ref();
    match mode(block)? {
        Mode::Percent => value.and_then(percent).map(CapacityShare::Percent),
        Mode::Weight => value.and_then(weight).map(CapacityShare::Weight),
        Mode::Absolute => Some(CapacityShare::Absolute),
    }
}

/// Returns the block of a label, with the mode of the queue's `capacity`.
pub(crate) fn of_label(block: &LabelPart, of_queue: Option<&Capacity>) -> Capacity {
    Capacity {
        span: block.span,
        mode: of_queue.and_then(|capacity| capacity.mode.clone()),
        value: block.value.clone(),
        maximum: block.maximum.clone(),
    }
}

/// Returns the fractions of labels in a valid queue, in the order of labels.
pub(crate) fn build_labels(queue: &Queue) -> Vec<LabelCapacity> {
    let labels = queue.node_labels.as_deref().into_iter().flat_map(|labels| &labels.capacities);
    let build = |(label, block): &(Text, LabelPart)| {
        let capacity = build(Some(&of_label(block, queue.capacity.as_deref())))?;
        Some(LabelCapacity { label: Name::new(&label.value), capacity })
    };
    let mut all: Vec<LabelCapacity> = labels.filter_map(build).collect();
    all.sort_by(|one, other| one.label.cmp(&other.label));
    all
}

/// Returns the settings of a valid block.
pub(crate) fn build(from: Option<&Capacity>) -> Option<CapacityConfig> {
    let from = from?;
    Some(CapacityConfig { share: share(from)?, maximum: from.maximum.as_ref().and_then(percent) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_they_look_like_or_none() {
        let text = |text: &str| Text { value: text.to_owned(), ..Text::default() };
        for (written, as_percent, as_weight) in [
            ("0", Some(0), Some(0)),
            ("33.333333", Some(33_333_333), Some(33_333_333)),
            ("100", Some(100_000_000), Some(100_000_000)),
            ("100.000001", None, Some(100_000_001)),
            ("10000", None, Some(10_000_000_000)),
            ("10000.000001", None, None),
            ("-1", None, None),
            ("1e1", None, None),
            ("040", None, None),
            ("", None, None),
        ] {
            let found = (percent(&text(written)), weight(&text(written)));
            let found = (found.0.map(Decimal::millionths), found.1.map(Decimal::millionths));
            assert_eq!(found, (as_percent, as_weight), "reading {written}");
        }
    }
}
