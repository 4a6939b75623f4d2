//! The one table of the properties of queues. Reading, checks, and the reference page use it.

use super::property::{
    AGING_INTERVAL, AGING_MAX, AGING_STEP, BACKOFF, BACKOFF_DELAY, MAX_HEAD_WAIT, MAX_OVERTAKES,
    PREEMPTION_DELAY, PREEMPTION_POLICY, PRIORITY_OFFSET, PRIORITY_POLICY, QUOTA_PREEMPTION_DELAY,
    SORT_POLICY, SORT_PRIORITY,
};

/// A property of a queue that has a meaning.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The key.
    pub key: &'static str,
    /// The values that are understood. Others count as the default.
    pub values: &'static str,
    /// The value of a queue without the property, as one would write it.
    pub default: &'static str,
    /// What it does, in a sentence or two.
    pub meaning: &'static str,
}

const fn property(
    key: &'static str,
    values: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Property {
    Property { key, values, default, meaning }
}

/// Every property with a meaning. Source: queues and limits §4.2, tenants §8.
pub const PROPERTIES: [Property; 14] = [
    property(
        SORT_POLICY,
        "`fifo`, `fair`, `fifo-strict`, `fifo-backfill`, `priority`, `urgency`",
        "fifo",
        "The order in which a leaf serves its applications.",
    ),
    property(
        SORT_PRIORITY,
        "`enabled`, `disabled`",
        "enabled",
        "Whether priority comes before that order, and before the share of sibling queues.",
    ),
    property(
        AGING_INTERVAL,
        "a duration, such as `60s`",
        "60s",
        "With `priority`: after how long the priority of a waiting application increases.",
    ),
    property(AGING_STEP, "whole number", "1", "The size of each increase."),
    property(AGING_MAX, "whole number", "20", "The largest total increase."),
    property(
        MAX_OVERTAKES,
        "whole number",
        "16",
        "How often later applications can use what the head of line needs. 0 is never.",
    ),
    property(
        MAX_HEAD_WAIT,
        "a duration",
        "300s",
        "After this wait of the head of line, later applications can no longer overtake it.",
    ),
    property(
        BACKOFF,
        "whole number",
        "0",
        "After how many failed tries an ask is paused. 0 is never.",
    ),
    property(BACKOFF_DELAY, "a duration", "30s", "How long the pause lasts."),
    property(
        PRIORITY_POLICY,
        "`default`, `fence`",
        "default",
        "The priority that the queue has among its siblings: that of its waiting asks and the offset, or only the offset.",
    ),
    property(
        PRIORITY_OFFSET,
        "whole number, also below 0",
        "0",
        "The number that is added to the priority of the queue among its siblings.",
    ),
    property(
        PREEMPTION_POLICY,
        "`default`, `fence`, `disabled`",
        "default",
        "`fence`: asks of the queue preempt only in the queue and below. `disabled`: nothing of the queue is preempted for \
         other queues.",
    ),
    property(
        PREEMPTION_DELAY,
        "a duration",
        "30s",
        "How long an ask waits before allocations are preempted for it.",
    ),
    property(
        QUOTA_PREEMPTION_DELAY,
        "a duration",
        "0s",
        "How long the queue can stay above a lowered maximum. 0 is forever.",
    ),
];

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use crate::config::property::{PropertyValues, is_understood};
    use crate::name::Name;

    use super::PROPERTIES;

    #[test]
    fn every_value_that_a_row_names_is_understood() {
        for row in PROPERTIES {
            let words = row.values.split('`').skip(1).step_by(2);
            for value in words {
                assert_eq!(is_understood(row.key, value), Some(true), "{}: {value}", row.key);
            }
        }
    }

    #[test]
    fn defaults_are_those_of_a_queue_without_properties() {
        let pair = |key: &str, value: &str| (Name::new(key), Name::new(value));
        let written: BTreeMap<_, _> =
            PROPERTIES.iter().map(|row| pair(row.key, row.default)).collect();
        assert_eq!(PropertyValues::read(&written), PropertyValues::default());
    }
}
