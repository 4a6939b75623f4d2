//! `AllocationRequest` as commands.

use headroom_api::si::v1::{
    Allocation, AllocationRelease, AllocationRequest, PreemptionPolicy, TerminationType,
};
use headroom_core::{Ask, Command, Name, SetForeign, Termination, Timestamp};

use super::{Refusal, Step, amounts, partition};

/// Tag of a foreign allocation. Its value specifies whether preemption can stop the allocation.
const FOREIGN: &str = "foreign";
/// Value of this tag for an allocation that cannot be stopped. With any other value, the allocation can be stopped.
const STATIC: &str = "static";
/// Tag that binds an ask to one node.
const REQUIRED_NODE: &str = "yunikorn.apache.org/requiredNode";
/// Tag with the nodes that are excluded for an ask, separated by commas.
const BLOCKED_NODES: &str = "headroom/blocked-nodes";
/// Tag with the label of the nodes that an ask can use.
const NODE_LABEL: &str = "headroom/node-label";
/// Tag with the time at which an ask was made, in seconds.
const CREATION_TIME: &str = "creationTime";

/// Returns the commands of a request: asks and allocations in the order of their list, and then releases. Source:
/// scheduler interface §6.3, §6.4.
///
/// The core ignores all other tags, and does not store them.
pub fn allocations(request: AllocationRequest) -> Vec<Step> {
    let releases = request.releases.map(|one| one.allocations_to_release).unwrap_or_default();
    let asks = request.allocations.into_iter().map(asked);
    asks.chain(releases.into_iter().map(released)).collect()
}

fn asked(one: Allocation) -> Step {
    let if_refused = Refusal::Allocation {
        key: one.allocation_key.clone(),
        application: one.application_id.clone(),
    };
    let command = match one.allocation_tags.get(FOREIGN) {
        Some(kind) => Command::SetForeign(SetForeign {
            partition: partition(&one.partition_name),
            resources: amounts(one.resource_per_alloc.as_ref()),
            preemptable: kind != STATIC,
            key: Name::new(one.allocation_key),
            node: Name::new(one.node_id),
        }),
        None => Command::Ask(ask(&one)),
    };
    Step { command, if_refused }
}

fn ask(one: &Allocation) -> Ask {
    let tag = |key| one.allocation_tags.get(key).map_or("", String::as_str);
    let PreemptionPolicy { allow_preempt_self, allow_preempt_other } =
        one.preemption_policy.unwrap_or_default();
    Ask {
        partition: partition(&one.partition_name),
        resources: amounts(one.resource_per_alloc.as_ref()),
        node: (!one.node_id.is_empty()).then(|| Name::new(&one.node_id)),
        priority: one.priority,
        created: created(tag(CREATION_TIME)),
        originator: one.originator,
        placeholder: one.placeholder,
        required_node: Name::new(tag(REQUIRED_NODE)),
        node_label: Name::new(tag(NODE_LABEL).trim()),
        blocked_nodes: names_of(tag(BLOCKED_NODES)),
        may_preempt: allow_preempt_other,
        preemptable: allow_preempt_self,
        application: Name::new(&one.application_id),
        key: Name::new(&one.allocation_key),
        task_group: Name::new(&one.task_group_name),
    }
}

/// Returns names separated by commas. Ignores surrounding blanks and empty names.
fn names_of(list: &str) -> Vec<Name> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Name::new).collect()
}

/// Returns the time at which an ask was made. `None`, which means now, if the text is not a valid time.
fn created(seconds: &str) -> Option<Timestamp> {
    let seconds: u64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000).map(Timestamp::from_millis)
}

fn released(one: AllocationRelease) -> Step {
    let termination = one.termination_type();
    let partition = partition(&one.partition_name);
    let key = Name::new(one.allocation_key);
    if one.application_id.is_empty() {
        return Step::silent(Command::ReleaseForeign { partition, key });
    }
    Step::silent(Command::Release {
        partition,
        application: Name::new(one.application_id),
        key: (!key.is_empty()).then_some(key),
        termination: match termination {
            TerminationType::Timeout => Termination::Timeout,
            TerminationType::PreemptedByScheduler => Termination::Preempted,
            TerminationType::PlaceholderReplaced => Termination::PlaceholderReplaced,
            TerminationType::UnknownTerminationType | TerminationType::StoppedByRm => {
                Termination::StoppedByRm
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_none_is_now() {
        for (text, expected) in [
            ("", None),
            ("x", None),
            ("-1", None),
            ("1.5", None),
            ("18446744073709551615", None),
            ("0", Some(0)),
            ("1700000000", Some(1_700_000_000_000)),
        ] {
            assert_eq!(created(text), expected.map(Timestamp::from_millis), "{text:?}");
        }
    }

    #[test]
    fn what_is_foreign_may_be_stopped_unless_it_is_static() {
        for (kind, preemptable) in [("static", false), ("default", true), ("", true)] {
            let one = Allocation {
                allocation_tags: [(FOREIGN.into(), kind.into())].into(),
                ..Allocation::default()
            };
            let Command::SetForeign(foreign) = asked(one).command else { panic!("{kind:?}") };
            assert_eq!(foreign.preemptable, preemptable, "{kind:?}");
        }
    }

    #[test]
    fn a_release_of_an_unknown_kind_is_one_by_the_rm() {
        for (number, expected) in [
            (0, Termination::StoppedByRm),
            (1, Termination::StoppedByRm),
            (2, Termination::Timeout),
            (3, Termination::Preempted),
            (4, Termination::PlaceholderReplaced),
            (5, Termination::StoppedByRm),
            (-1, Termination::StoppedByRm),
        ] {
            let one = AllocationRelease {
                application_id: "a".into(),
                termination_type: number,
                ..AllocationRelease::default()
            };
            let Command::Release { termination, key, .. } = released(one).command else {
                panic!("{number}")
            };
            assert_eq!((termination, key), (expected, None), "{number}");
        }
    }
}
