//! Fractions of queues in stories.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, Queue};
use crate::config::{CapacityConfig, CapacityShare, LabelCapacity};
use crate::name::Name;
use crate::resource::Resources;
use crate::userlimit::Decimal;

/// Reads `percent=40`, `percent=40/80` with a maximum, `weight=2`, or `absolute`. Also reads `apps=4`, which is not a
/// fraction.
pub(super) fn read_part(word: &str, capacity: &mut Option<CapacityConfig>, apps: &mut u64) {
    let (mode, value) = word.split_once('=').unwrap_or((word, "0"));
    if mode == "apps" {
        *apps = value.parse().expect("a number");
        return;
    }
    let (value, maximum) = match value.split_once('/') {
        Some((value, maximum)) => (value, Some(maximum)),
        None => (value, None),
    };
    let decimal = |text: &str| Decimal::parse(text).expect("a decimal");
    let share = match mode {
        "percent" => CapacityShare::Percent(decimal(value)),
        "weight" => CapacityShare::Weight(decimal(value)),
        "absolute" => CapacityShare::Absolute,
        _ => panic!("what is {word}?"),
    };
    *capacity = Some(CapacityConfig { share, maximum: maximum.map(decimal) });
}

/// Reads `percent@gpu=40/80`, the fraction of the nodes of a label.
pub(super) fn read_part_at(word: &str) -> LabelCapacity {
    let (mode, rest) = word.split_once('@').expect("a part at a label");
    let (label, value) = rest.split_once('=').expect("a label and a value");
    let mut capacity = None;
    read_part(&format!("{mode}={value}"), &mut capacity, &mut 0);
    LabelCapacity { label: Name::new(label), capacity: capacity.expect("it was read") }
}

/// Returns the text for the fraction of a queue that a rule created.
pub(super) fn shown_part(capacity: CapacityConfig) -> String {
    let share = match capacity.share {
        CapacityShare::Percent(value) => format!(" percent={value}"),
        CapacityShare::Weight(value) => format!(" weight={value}"),
        CapacityShare::Absolute => String::from(" absolute"),
    };
    let maximum = capacity.maximum.map(|maximum| format!("/{maximum}"));
    share + &maximum.unwrap_or_default()
}

/// Returns the text for the amounts of a queue that result from its fraction.
pub(super) fn shown_sizes(books: &Books, row: &Queue) -> String {
    let amounts = |one: Option<&Resources>| {
        one.map_or_else(|| "none".into(), |one| format!("{}", books.types().amounts(one)))
    };
    let (guaranteed, max) = (amounts(row.guaranteed.as_ref()), amounts(row.max.as_ref()));
    let number = row.derived_applications.map(|number| format!(", applications {number}"));
    let number = number.unwrap_or_default();
    format!("  {}: guaranteed {guaranteed}, max {max}{number}\n", row.path)
}
