//! The recorded requests as messages. They are in the JSON that protobuf has for them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use headroom_api::si::v1;
use serde_json::Value;

/// `RegisterResourceManagerRequest`, without its queue file.
pub fn registration(value: &Value) -> v1::RegisterResourceManagerRequest {
    v1::RegisterResourceManagerRequest {
        rm_id: text(value, "rmID"),
        version: text(value, "version"),
        policy_group: text(value, "policyGroup"),
        build_info: texts(value, "buildInfo"),
        extra_config: texts(value, "extraConfig"),
        ..v1::RegisterResourceManagerRequest::default()
    }
}

/// `ApplicationRequest`.
///
/// # Errors
/// When an amount is no number.
pub fn applications(value: &Value) -> Result<v1::ApplicationRequest> {
    let added = |one: &Value| -> Result<v1::AddApplicationRequest> {
        let ugi = one.get("ugi").map(|ugi| v1::UserGroupInformation {
            user: text(ugi, "user"),
            groups: list(ugi, "groups").iter().filter_map(word).collect(),
        });
        Ok(v1::AddApplicationRequest {
            application_id: text(one, "applicationID"),
            queue_name: text(one, "queueName"),
            partition_name: text(one, "partitionName"),
            ugi,
            tags: texts(one, "tags"),
            execution_timeout_milli_seconds: number(one, "executionTimeoutMilliSeconds")?,
            placeholder_ask: resource(one, "placeholderAsk")?,
            gang_scheduling_style: text(one, "gangSchedulingStyle"),
        })
    };
    let removed = |one: &Value| v1::RemoveApplicationRequest {
        application_id: text(one, "applicationID"),
        partition_name: text(one, "partitionName"),
    };
    Ok(v1::ApplicationRequest {
        new: list(value, "new").iter().map(added).collect::<Result<_>>()?,
        remove: list(value, "remove").iter().map(removed).collect(),
        rm_id: text(value, "rmID"),
    })
}

/// `NodeRequest`.
///
/// # Errors
/// When an amount is no number, or an action is unknown.
pub fn nodes(value: &Value) -> Result<v1::NodeRequest> {
    let node = |one: &Value| -> Result<v1::NodeInfo> {
        let word = text(one, "action");
        let action = v1::node_info::ActionFromRm::from_str_name(&word);
        Ok(v1::NodeInfo {
            node_id: text(one, "nodeID"),
            action: action.with_context(|| format!("the node action {word:?} is unknown"))?.into(),
            attributes: texts(one, "attributes"),
            schedulable_resource: resource(one, "schedulableResource")?,
        })
    };
    let nodes = list(value, "nodes").iter().map(node).collect::<Result<_>>()?;
    Ok(v1::NodeRequest { nodes, rm_id: text(value, "rmID") })
}

/// `AllocationRequest`.
///
/// # Errors
/// When an amount is no number, or a word is unknown.
pub fn allocations(value: &Value) -> Result<v1::AllocationRequest> {
    let releases = value.get("releases").map_or(&[][..], |one| list(one, "allocationsToRelease"));
    let releases = releases.iter().map(release).collect::<Result<_>>()?;
    Ok(v1::AllocationRequest {
        releases: Some(v1::AllocationReleasesRequest { allocations_to_release: releases }),
        rm_id: text(value, "rmID"),
        allocations: list(value, "allocations").iter().map(allocation).collect::<Result<_>>()?,
    })
}

fn allocation(one: &Value) -> Result<v1::Allocation> {
    let policy = one.get("preemptionPolicy").map(|policy| v1::PreemptionPolicy {
        allow_preempt_self: flag(policy, "allowPreemptSelf"),
        allow_preempt_other: flag(policy, "allowPreemptOther"),
    });
    Ok(v1::Allocation {
        allocation_key: text(one, "allocationKey"),
        allocation_tags: texts(one, "allocationTags"),
        resource_per_alloc: resource(one, "resourcePerAlloc")?,
        priority: i32::try_from(number(one, "priority")?)?,
        node_id: text(one, "nodeID"),
        application_id: text(one, "applicationID"),
        partition_name: text(one, "partitionName"),
        task_group_name: text(one, "taskGroupName"),
        placeholder: flag(one, "placeholder"),
        originator: flag(one, "originator"),
        preemption_policy: policy,
    })
}

/// `AllocationRelease`.
///
/// # Errors
/// When the termination type is unknown.
pub fn release(one: &Value) -> Result<v1::AllocationRelease> {
    let word = text(one, "terminationType");
    let termination = match word.as_str() {
        "" => v1::TerminationType::UnknownTerminationType,
        word => match v1::TerminationType::from_str_name(word) {
            Some(termination) => termination,
            None => bail!("the termination type {word:?} is unknown"),
        },
    };
    Ok(v1::AllocationRelease {
        partition_name: text(one, "partitionName"),
        application_id: text(one, "applicationID"),
        termination_type: termination.into(),
        message: text(one, "message"),
        allocation_key: text(one, "allocationKey"),
    })
}

/// Amounts as the record has them: a flat map.
pub fn amounts(resource: Option<&v1::Resource>) -> Value {
    let all = resource.into_iter().flat_map(|one| &one.resources);
    all.map(|(name, amount)| (name.clone(), Value::from(amount.value))).collect()
}

fn resource(message: &Value, field: &str) -> Result<Option<v1::Resource>> {
    let Some(resource) = message.get(field) else { return Ok(None) };
    let all = resource.get("resources").and_then(Value::as_object).into_iter().flatten();
    let amounts = all.map(|(name, amount)| -> Result<(String, v1::Quantity)> {
        Ok((name.clone(), v1::Quantity { value: number(amount, "value")? }))
    });
    Ok(Some(v1::Resource { resources: amounts.collect::<Result<_>>()? }))
}

/// A number of 64 bits may be written as a text; a missing one is 0.
fn number(message: &Value, field: &str) -> Result<i64> {
    match message.get(field) {
        None => Ok(0),
        Some(Value::String(text)) => text.parse().with_context(|| format!("{field} is {text:?}")),
        Some(value) => value.as_i64().with_context(|| format!("{field} is {value}")),
    }
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn text(message: &Value, field: &str) -> String {
    message.get(field).and_then(word).unwrap_or_default()
}

fn flag(message: &Value, field: &str) -> bool {
    message.get(field).and_then(Value::as_bool).unwrap_or_default()
}

fn list<'a>(message: &'a Value, field: &str) -> &'a [Value] {
    message.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(message: &Value, field: &str) -> BTreeMap<String, String> {
    let map = message.get(field).and_then(Value::as_object).into_iter().flatten();
    map.map(|(key, value)| (key.clone(), word(value).unwrap_or_default())).collect()
}
