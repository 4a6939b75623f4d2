//! Table of queue properties. Parsing, checks, and the reference page use it.

use super::property::{
    AGING_INTERVAL, AGING_MAX, AGING_STEP, BACKOFF, BACKOFF_DELAY, MAX_HEAD_WAIT, MAX_OVERTAKES,
    PREEMPTION_DELAY, PREEMPTION_POLICY, PRIORITY_OFFSET, PRIORITY_POLICY, QUOTA_PREEMPTION_DELAY,
    SORT_POLICY, SORT_PRIORITY,
};

/// A queue property with a meaning.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// Key of the property.
    pub key: &'static str,
    /// Valid values. Other values count as the default.
    pub values: &'static str,
    /// Default value, in the format of the queue file.
    pub default: &'static str,
    /// Meaning, in one or two sentences.
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

/// All properties with a meaning. Source: queues and limits §4.2, tenants §8.
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
        "Whether asks with a higher priority come first, before `application.sort.policy` and the \
         shares of sibling queues apply.",
    ),
    property(
        AGING_INTERVAL,
        "a duration, such as `60s`",
        "60s",
        "With the policy `priority`: the time after which the priority of a waiting application \
         increases.",
    ),
    property(
        AGING_STEP,
        "whole number",
        "1",
        "The amount by which the priority increases each time.",
    ),
    property(AGING_MAX, "whole number", "20", "The maximum total increase of the priority."),
    property(
        MAX_OVERTAKES,
        "whole number",
        "16",
        "Number of times that later applications can use amounts that the head of line needs. 0 \
         means never.",
    ),
    property(
        MAX_HEAD_WAIT,
        "a duration",
        "300s",
        "Waiting time of the head of line. After this time, no later application can overtake it.",
    ),
    property(
        BACKOFF,
        "whole number",
        "0",
        "Number of failed attempts after which an ask pauses. 0 means that asks never pause.",
    ),
    property(BACKOFF_DELAY, "a duration", "30s", "Duration of the pause."),
    property(
        PRIORITY_POLICY,
        "`default`, `fence`",
        "default",
        "The priority of the queue among its siblings: the priority of its waiting asks plus the \
         offset, or only the offset.",
    ),
    property(
        PRIORITY_OFFSET,
        "whole number, also below 0",
        "0",
        "The offset that is added to the priority of the queue among its siblings.",
    ),
    property(
        PREEMPTION_POLICY,
        "`default`, `fence`, `disabled`",
        "default",
        "`fence`: asks of the queue preempt only in the queue and below. `disabled`: allocations \
         of the queue are not preempted for other queues.",
    ),
    property(
        PREEMPTION_DELAY,
        "a duration",
        "30s",
        "Time that an ask waits before allocations are preempted for the ask.",
    ),
    property(
        QUOTA_PREEMPTION_DELAY,
        "a duration",
        "0s",
        "Time that the queue can stay above a lowered maximum. 0 means forever.",
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
