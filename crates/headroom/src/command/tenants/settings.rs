//! Options for the settings of a tenant, and their fields in the API.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::show::{Kind, word};
use crate::remote::Bound;

/// The order in which tasks start.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// The oldest task first. No task overtakes another
    Fifo,
    /// The oldest task first. A later task can overtake if it fits and the first does not
    FifoBackfill,
    /// The highest priority first. Priorities rise with waiting time
    Priority,
    /// The task with the least time before its deadline first
    Urgency,
}

/// The action for running tasks when a quota is lowered below the usage.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// Running tasks continue. No task starts that needs an exceeded type
    Block,
    /// The least urgent tasks are stopped after a grace period
    Preempt,
    /// The change is rejected
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Oversized {
    /// The task is rejected
    Reject,
    /// The task waits until the quota is raised
    Park,
}

/// Returns the name of a choice, which is also its name in the API.
#[expect(clippy::needless_pass_by_value, reason = "for `and_then`")]
fn name_of(choice: impl ValueEnum) -> Option<Value> {
    Some(Value::from(choice.to_possible_value()?.get_name()))
}

/// Settings that have defaults, and that each tenant can override.
#[derive(Debug, Args)]
pub(super) struct Rules {
    /// Maximum number of waiting tasks
    #[arg(long, value_name = "COUNT")]
    max_waiting: Option<u64>,
    /// Order in which tasks start
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<Order>,
    /// With order `priority`: interval after which the priority of a waiting task rises
    #[arg(long, value_name = "SECONDS")]
    aging_interval: Option<u32>,
    /// With order `priority`: rise of the priority after each interval
    #[arg(long, value_name = "COUNT")]
    aging_step: Option<u32>,
    /// With order `priority`: maximum rise of the priority
    #[arg(long, value_name = "COUNT")]
    aging_max: Option<u32>,
    /// Maximum number of tasks that can overtake the first waiting task
    #[arg(long, value_name = "COUNT")]
    max_overtakes: Option<u32>,
    /// Longest time during which tasks can overtake the first waiting task
    #[arg(long, value_name = "SECONDS")]
    max_head_wait: Option<u32>,
    /// Longest wait before a task expires. 0 means no limit
    #[arg(long, value_name = "SECONDS")]
    max_wait: Option<u32>,
    /// Action for running tasks when the quota is lowered below the usage
    #[arg(long, value_enum, value_name = "ACTION")]
    on_lower: Option<Action>,
    /// With `--on-lower preempt`: time before running tasks are stopped
    #[arg(long, value_name = "SECONDS", requires = "on_lower")]
    grace: Option<u32>,
    /// Action for a task that is larger than the quota
    #[arg(long, value_enum, value_name = "ACTION")]
    oversized: Option<Oversized>,
}

impl Rules {
    /// Returns a merge patch with the given fields.
    pub(super) fn patch(&self) -> Map<String, Value> {
        let mut patch = Map::new();
        let waiting = given([
            ("strategy", self.order.and_then(name_of)),
            ("agingIntervalSeconds", self.aging_interval.map(Value::from)),
            ("agingStep", self.aging_step.map(Value::from)),
            ("agingMax", self.aging_max.map(Value::from)),
            ("maxOvertakes", self.max_overtakes.map(Value::from)),
            ("maxHeadWaitSeconds", self.max_head_wait.map(Value::from)),
            ("maxWaitSeconds", self.max_wait.map(Value::from)),
        ]);
        let on_lower = given([
            ("action", self.on_lower.and_then(name_of)),
            ("graceSeconds", self.grace.map(Value::from)),
        ]);
        for (name, part) in [("waiting", waiting), ("onLower", on_lower)] {
            if !part.is_empty() {
                patch.insert(name.to_owned(), part.into());
            }
        }
        patch.extend(given([("oversized", self.oversized.and_then(name_of))]));
        patch
    }

    /// Returns the maximum number of waiting tasks, which is part of the quota.
    pub(super) fn max_waiting(&self) -> Option<u64> {
        self.max_waiting
    }
}

/// Settings without a default.
#[derive(Debug, Args)]
pub(super) struct Own {
    /// Display name
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// Kind of the tenant
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// Parent tenant, whose quota also applies. `none` removes the parent
    #[arg(long, value_name = "TENANT")]
    parent: Option<String>,
    /// Guarantee, such as `vcore=60,memory=120G`. `TYPE=none` removes the guarantee of a type
    #[arg(long, value_name = "TYPE=AMOUNT", value_delimiter = ',')]
    guaranteed: Vec<Bound>,
    /// Maximum number of running tasks, regardless of their instances
    #[arg(long, value_name = "COUNT")]
    max_tasks: Option<u64>,
    /// Whether the sum of the quotas of the child tenants is limited to the quota of the tenant
    #[arg(long, value_name = "BOOL")]
    strict_sum: Option<bool>,
    /// Label of the tenant. `KEY=none` removes the label
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    label: Vec<Bound>,
}

impl Own {
    /// Returns a merge patch with the given fields.
    pub(super) fn patch(&self) -> Map<String, Value> {
        let parent = self.parent.as_deref().map(|name| match name {
            "none" => Value::Null,
            name => Value::from(name),
        });
        let mut patch = given([
            ("displayName", self.display_name.clone().map(Value::from)),
            ("kind", self.kind.and_then(name_of)),
            ("parent", parent),
            ("strictSum", self.strict_sum.map(Value::from)),
        ]);
        for (name, bounds) in [("guaranteed", &self.guaranteed), ("labels", &self.label)] {
            if !bounds.is_empty() {
                patch.insert(name.to_owned(), object(bounds).into());
            }
        }
        patch
    }

    /// Returns the maximum number of running tasks, which is part of the quota.
    pub(super) fn max_tasks(&self) -> Option<u64> {
        self.max_tasks
    }
}

/// Returns a JSON object of the bounds. `none` becomes `null`.
fn object(bounds: &[Bound]) -> Map<String, Value> {
    bounds.iter().map(|bound| (bound.name.clone(), json!(bound.value))).collect()
}

/// Returns a quota as a merge patch, with the given fields only.
///
/// # Errors
/// When the value of `instances` is not a number.
pub(super) fn quota_patch(
    bounds: &[Bound],
    max_waiting: Option<u64>,
    max_applications: Option<u64>,
) -> Result<Map<String, Value>> {
    let mut patch = given([
        ("maxWaiting", max_waiting.map(Value::from)),
        ("maxApplications", max_applications.map(Value::from)),
    ]);
    let mut resources = object(bounds);
    if let Some(instances) = resources.remove("instances") {
        let count = match instances.as_str().map(str::parse::<u64>) {
            None => Value::Null,
            Some(Ok(count)) => count.into(),
            Some(Err(_)) => bail!("`instances={}` is not a number of tasks", word(&instances)),
        };
        patch.insert("instances".to_owned(), count);
    }
    if !resources.is_empty() {
        patch.insert("resources".to_owned(), resources.into());
    }
    Ok(patch)
}

fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Applies a merge patch (RFC 7396).
pub(super) fn merged(target: Value, patch: Map<String, Value>) -> Value {
    let mut all = match target {
        Value::Object(all) => all,
        _ => Map::new(),
    };
    for (name, value) in patch {
        match value {
            Value::Null => {
                all.remove(&name);
            }
            Value::Object(inner) => {
                let before = all.remove(&name).unwrap_or_default();
                all.insert(name, merged(before, inner));
            }
            other => {
                all.insert(name, other);
            }
        }
    }
    Value::Object(all)
}
