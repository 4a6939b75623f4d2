//! The requests of the reference's interface as commands.
//!
//! Left out, because nothing here depends on it: attributes of nodes but the partition, the
//! message texts.

use anyhow::{Result, bail};
use headroom_core::books::GangStyle;
use headroom_core::{
    AddNode, Ask, Command, Millis, Name, RejectApplication, SetForeign, Submit, Termination,
    Timestamp,
};
use serde_json::Value;

use crate::conformance::user;

use super::driver::Driver;
use super::wire::{self, amounts, flag, list, name, pairs, text};

/// `ApplicationRequest`: new ones first, then those to be removed.
pub(super) fn applications(driver: &mut Driver, request: &Value) -> Result<()> {
    for new in list(request, "new") {
        let application = name(new, "applicationID");
        let tags: Vec<(Name, Name)> =
            pairs(new, "tags").map(|(key, value)| (Name::new(key), Name::new(value))).collect();
        let partition = wire::partition(text(new, "partitionName"));
        let queue = name(new, "queueName");
        let Some(user) = user::resolve(&driver.users, driver.now(), new, &tags) else {
            let (code, message) = (Name::new("USER"), Name::new("the user cannot be resolved"));
            let rejected = RejectApplication {
                partition,
                application,
                queue,
                code,
                message,
                ..Default::default()
            };
            let command = Command::RejectApplication(Box::new(rejected));
            let _ = driver.command(&command);
            continue;
        };
        let submit = Submit {
            partition,
            application: application.clone(),
            queue,
            tenant: Name::default(),
            user: user.name,
            groups: user.groups,
            tags,
            placeholder_ask: amounts(new, "placeholderAsk")?,
            gang_style: match text(new, "gangSchedulingStyle") {
                "Hard" => GangStyle::Hard,
                _ => GangStyle::Soft,
            },
            placeholder_timeout: timeout(new),
        };
        if driver.command(&Command::Submit(submit)).is_err() {
            driver.told.refuse_application(&application);
        }
    }
    for gone in list(request, "remove") {
        let partition = wire::partition(text(gone, "partitionName"));
        let application = name(gone, "applicationID");
        // An application that is not there is gone already.
        let _ = driver.command(&Command::RemoveApplication { partition, application });
    }
    Ok(())
}

/// How long a gang may take; zero where the record says nothing, or nothing that can be.
fn timeout(new: &Value) -> Millis {
    let millis = wire::number(new.get("executionTimeoutMilliSeconds")).unwrap_or_default();
    Millis::new(u64::try_from(millis).unwrap_or_default())
}

/// `NodeRequest`.
pub(super) fn nodes(driver: &mut Driver, request: &Value) -> Result<()> {
    for one in list(request, "nodes") {
        let mut attributes = pairs(one, "attributes");
        let partition = attributes.find(|(key, _)| *key == "si/node-partition");
        let partition = wire::partition(partition.map_or("", |(_, value)| value));
        let (node, capacity) = (name(one, "nodeID"), amounts(one, "schedulableResource")?);
        let action = text(one, "action");
        let command = match action {
            "CREATE" | "CREATE_DRAIN" => {
                let schedulable = action == "CREATE";
                let (node, partition) = (node.clone(), partition);
                Command::AddNode(AddNode {
                    partition,
                    node,
                    capacity,
                    schedulable,
                    attributes: pairs(one, "attributes").collect(),
                })
            }
            "UPDATE" if capacity.is_empty() => continue,
            "UPDATE" => Command::ResizeNode { partition, node: node.clone(), capacity },
            "DRAIN_NODE" | "DRAIN_TO_SCHEDULABLE" => {
                let schedulable = action == "DRAIN_TO_SCHEDULABLE";
                Command::SetSchedulable { partition, node: node.clone(), schedulable }
            }
            "DECOMISSION" => Command::RemoveNode { partition, node: node.clone() },
            _ => bail!("the node action {action:?} is unknown"),
        };
        let refused = driver.command(&command).is_err();
        // Nobody is told of an update that finds no node.
        if refused && action.starts_with("CREATE") {
            driver.told.refuse_node(&node);
        }
    }
    Ok(())
}

/// `AllocationRequest`: asks and allocations first, then releases.
pub(super) fn allocations(driver: &mut Driver, request: &Value) -> Result<()> {
    for one in list(request, "allocations") {
        if let Some((_, kind)) = pairs(one, "allocationTags").find(|(tag, _)| *tag == "foreign") {
            foreign(driver, one, kind)?;
            continue;
        }
        let ask = ask(one)?;
        let (key, application) = (ask.key.clone(), ask.application.clone());
        if driver.command(&Command::Ask(ask)).is_err() {
            driver.told.refuse_allocation(&key, &application);
        }
    }
    let releases = request.get("releases").unwrap_or(&Value::Null);
    for one in list(releases, "allocationsToRelease") {
        let (application, key) = (name(one, "applicationID"), name(one, "allocationKey"));
        let partition = wire::partition(text(one, "partitionName"));
        let command = if application.is_empty() {
            Command::ReleaseForeign { partition, key }
        } else {
            let key = (!key.is_empty()).then_some(key);
            let termination = termination(text(one, "terminationType"))?;
            Command::Release { partition, application, key, termination }
        };
        // What is not there is released already.
        let _ = driver.command(&command);
    }
    Ok(())
}

/// What the reference's word for it means.
fn termination(word: &str) -> Result<Termination> {
    Ok(match word {
        "" | "UNKNOWN_TERMINATION_TYPE" | "STOPPED_BY_RM" => Termination::StoppedByRm,
        "TIMEOUT" => Termination::Timeout,
        "PREEMPTED_BY_SCHEDULER" => Termination::Preempted,
        "PLACEHOLDER_REPLACED" => Termination::PlaceholderReplaced,
        _ => bail!("the termination type {word:?} is unknown"),
    })
}

/// Something that runs on a node and is not scheduled here.
fn foreign(driver: &mut Driver, one: &Value, kind: &str) -> Result<()> {
    let foreign = SetForeign {
        partition: wire::partition(text(one, "partitionName")),
        key: name(one, "allocationKey"),
        node: name(one, "nodeID"),
        resources: amounts(one, "resourcePerAlloc")?,
        preemptable: kind != "static",
    };
    let key = foreign.key.clone();
    if driver.command(&Command::SetForeign(foreign)).is_err() {
        driver.told.refuse_allocation(&key, &name(one, "applicationID"));
    }
    Ok(())
}

/// The RM confirms that it has released something.
///
/// # Errors
/// When the recorded kind of release is unknown.
pub(super) fn confirm(driver: &mut Driver, release: &Value) -> Result<()> {
    let command = Command::Release {
        partition: Name::new(text(release, "partition")),
        application: name(release, "applicationID"),
        key: Some(name(release, "allocationKey")),
        termination: termination(text(release, "terminationType"))?,
    };
    // What is gone by now needs no confirmation.
    let _ = driver.command(&command);
    Ok(())
}

fn ask(one: &Value) -> Result<Ask> {
    let (mut created, mut required_node) = (None, Name::default());
    for (tag, value) in pairs(one, "allocationTags") {
        match tag {
            "yunikorn.apache.org/requiredNode" => required_node = Name::new(value),
            "creationTime" => {
                let seconds = value.parse::<u64>().ok();
                created = seconds.map(|seconds| Timestamp::from_millis(seconds * 1_000));
            }
            _ => {}
        }
    }
    let policy = one.get("preemptionPolicy").unwrap_or(&Value::Null);
    let node = name(one, "nodeID");
    let priority = one.get("priority").and_then(Value::as_i64).unwrap_or_default();
    Ok(Ask {
        partition: wire::partition(text(one, "partitionName")),
        application: name(one, "applicationID"),
        key: name(one, "allocationKey"),
        resources: amounts(one, "resourcePerAlloc")?,
        node: (!node.is_empty()).then_some(node),
        priority: i32::try_from(priority)?,
        created,
        originator: flag(one, "originator"),
        placeholder: flag(one, "placeholder"),
        task_group: name(one, "taskGroupName"),
        required_node,
        may_preempt: flag(policy, "allowPreemptOther"),
        preemptable: flag(policy, "allowPreemptSelf"),
        ..Ask::default()
    })
}
