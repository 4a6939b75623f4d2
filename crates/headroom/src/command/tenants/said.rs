//! What may be said of a tenant on a command line, as the fields of the interface.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::show::{Kind, word};
use crate::remote::Bound;

/// In which order tasks start.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    /// The oldest first; nobody overtakes
    Fifo,
    /// The oldest first; what fits may overtake what does not
    FifoBackfill,
    /// The highest priority first, which rises with time
    Priority,
    /// The one that has least time left first
    Urgency,
}

/// What becomes of tasks that run when a quota is lowered below what is used.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Action {
    /// They go on; nothing starts that asks for what is exceeded
    Block,
    /// The least urgent are stopped after a while
    Preempt,
    /// The quota is not lowered
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Oversized {
    /// It is refused
    Reject,
    /// It waits until the quota is raised
    Park,
}

/// The name of a choice, as the interface has it too.
#[expect(clippy::needless_pass_by_value, reason = "for `and_then`")]
fn name_of(choice: impl ValueEnum) -> Option<Value> {
    Some(Value::from(choice.to_possible_value()?.get_name()))
}

/// What holds for tenants by default, and what one of them may say otherwise.
#[derive(Debug, Args)]
pub(super) struct Rules {
    /// How many of its tasks may wait
    #[arg(long, value_name = "COUNT")]
    max_waiting: Option<u64>,
    /// In which order its tasks start
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<Order>,
    /// With order `priority`: a task is more urgent after each of these
    #[arg(long, value_name = "SECONDS")]
    aging_interval: Option<u32>,
    /// By so much
    #[arg(long, value_name = "COUNT")]
    aging_step: Option<u32>,
    /// By so much at most
    #[arg(long, value_name = "COUNT")]
    aging_max: Option<u32>,
    /// How often the first of those that wait may be overtaken
    #[arg(long, value_name = "COUNT")]
    max_overtakes: Option<u32>,
    /// How long it may be overtaken
    #[arg(long, value_name = "SECONDS")]
    max_head_wait: Option<u32>,
    /// How long a task may wait before it expires; 0 is for ever
    #[arg(long, value_name = "SECONDS")]
    max_wait: Option<u32>,
    /// What becomes of tasks that run when the quota is lowered below what is used
    #[arg(long, value_enum, value_name = "ACTION")]
    on_lower: Option<Action>,
    /// With `--on-lower preempt`: how long they go on
    #[arg(long, value_name = "SECONDS", requires = "on_lower")]
    grace: Option<u32>,
    /// What becomes of a task that is larger than the quota
    #[arg(long, value_enum, value_name = "ACTION")]
    oversized: Option<Oversized>,
}

impl Rules {
    /// As a merge patch: fields that are not said are not in it.
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

    /// Of a quota: how many may wait.
    pub(super) fn max_waiting(&self) -> Option<u64> {
        self.max_waiting
    }
}

/// What only one tenant says of itself.
#[derive(Debug, Args)]
pub(super) struct Own {
    /// What people call it
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// What it stands for
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Option<Kind>,
    /// The tenant whose quota holds for it too; `none` for nobody's
    #[arg(long, value_name = "TENANT")]
    parent: Option<String>,
    /// What it can always get back, such as `vcore=60,memory=120G`; `TYPE=none` for nothing of it
    #[arg(long, value_name = "TYPE=AMOUNT", value_delimiter = ',')]
    guaranteed: Vec<Bound>,
    /// How many of its tasks may run at once, however many instances each has
    #[arg(long, value_name = "COUNT")]
    max_tasks: Option<u64>,
    /// Whether quotas of tenants right below it may not sum up to more than its own
    #[arg(long, value_name = "BOOL")]
    strict_sum: Option<bool>,
    /// A key and value of its own; `KEY=none` takes it away
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',')]
    label: Vec<Bound>,
}

impl Own {
    /// As a merge patch.
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

    /// Of its quota: how many may run.
    pub(super) fn max_tasks(&self) -> Option<u64> {
        self.max_tasks
    }
}

/// Each name with what is said of it; none: `null`.
fn object(bounds: &[Bound]) -> Map<String, Value> {
    bounds.iter().map(|bound| (bound.name.clone(), json!(bound.value))).collect()
}

/// A quota as a merge patch: what is not named stays as it is.
///
/// # Errors
/// When the number of instances is none.
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
            Some(Err(_)) => bail!("`instances={}` is no number of tasks", word(&instances)),
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

/// Apply a merge patch (RFC 7396).
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
