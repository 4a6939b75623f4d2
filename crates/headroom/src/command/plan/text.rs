//! A plan for people: changed settings, immediate effects, and usage after settling.

use headroom_api::headroomv1::{
    PlanAsk, PlanAskChange, PlanEffects, PlanEviction, PlanExcess, PlanMove, PlanSettled, PlanValue,
};
use headroom_api::wsv1::Resources;
use headroom_core::resource::{Quantity, exact, format_quantities};

use crate::output;
use crate::remote::resources;

/// Returns the whole plan as text.
pub(super) fn of(plan: &PlanEffects) -> String {
    if !plan.changes {
        return "nothing changes\n".to_owned();
    }
    let mut lines = vec![format!("{}:", settings(plan.differences.len()))];
    for one in &plan.differences {
        let queue = one.queue.as_deref().unwrap_or("the partition");
        let (key, partition) = (&one.key, &one.partition);
        let [before, after] = [&one.before, &one.after].map(|value| shown(value.as_ref()));
        // Every queue has the setting `parent`, so this setting shows added and removed queues.
        let what = match (&**key, &one.before, &one.after) {
            ("parent", None, Some(_)) => " (new queue)",
            ("parent", Some(_), None) => " (queue removed)",
            _ => "",
        };
        lines.push(format!("  {partition} {queue} {key}: {before} -> {after}{what}"));
    }
    lines.extend(of_templates(plan).map(|note| format!("  {note}")));
    at_once(plan, &mut lines);
    settled(&plan.settled, plan.at_rest, &mut lines);
    output::printable_lines(&(lines.join("\n") + "\n"))
}

/// Returns what people must know if a plan changes a template. `None` if it changes none.
pub(super) fn of_templates(plan: &PlanEffects) -> Option<&'static str> {
    let is_changed = plan.differences.iter().any(|one| one.key.starts_with("childtemplate."));
    is_changed.then_some("A changed `childtemplate` applies only to queues that are created later.")
}

/// Returns the number of changed settings as text.
pub(super) fn settings(count: usize) -> String {
    if count == 1 { "1 setting changes".to_owned() } else { format!("{count} settings change") }
}

pub(super) fn shown(value: Option<&PlanValue>) -> String {
    match value {
        None => "-".to_owned(),
        Some(PlanValue::Text(text)) => text.clone(),
        Some(PlanValue::Amount { resource, amount }) => exact(resource, Quantity::of(*amount)),
    }
}

/// Returns the usage, the limit, and the excess in one unit.
pub(super) fn excess(one: &PlanExcess) -> [String; 3] {
    let all = [one.used, one.limit, one.used.saturating_sub(one.limit)];
    match &one.resource {
        Some(resource) => format_quantities(resource, all.map(Quantity::of))
            .map(|figure| format!("{resource} {figure}")),
        None => all.map(|count| format!("{count} applications")),
    }
}

pub(super) fn amounts(amounts: &Resources) -> String {
    let text = resources(amounts);
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn at_once(plan: &PlanEffects, lines: &mut Vec<String>) {
    lines.push("immediately:".to_owned());
    let before = lines.len();
    lines.extend(plan.excesses.iter().map(above));
    list(lines, "starts", plan.starts.total, &plan.starts.first, ask);
    list(lines, "waits", plan.held.total, &plan.held.first, changed);
    let otherwise = &plan.waits_otherwise;
    list(lines, "waits for another reason", otherwise.total, &otherwise.first, changed);
    list(lines, "can never start", plan.impossible.total, &plan.impossible.first, changed);
    list(lines, "is withdrawn", plan.withdrawn.total, &plan.withdrawn.first, ask);
    list(lines, "is released", plan.released.total, &plan.released.first, ask);
    let moved = &plan.placed_otherwise;
    list(lines, "would be in another queue", moved.total, &moved.first, elsewhere);
    list(lines, "must stop", plan.evictions.total, &plan.evictions.first, eviction);
    let dropped = &plan.reservations_dropped;
    list(lines, "loses its reservation", dropped.total, &dropped.first, ask);
    if lines.len() == before {
        lines.push("  nothing starts, waits or stops because of the file".to_owned());
    }
}

fn elsewhere(one: &PlanMove) -> String {
    let other = one.after.as_deref().unwrap_or("nowhere");
    let why = one.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("application {} of {}: {} -> {other}{why}", one.application, one.user, one.before)
}

fn eviction(one: &PlanEviction) -> String {
    let cause = match (&one.for_ask, &one.for_maximum_of) {
        (Some(other), _) => ask(other),
        (None, queue) => format!("the maximum of {}", queue.as_deref().unwrap_or_default()),
    };
    format!("{} for {cause}, after {} s", ask(&one.victim), one.after_ms.div_ceil(1_000))
}

fn above(one: &PlanExcess) -> String {
    let who = match (&*one.holder, &one.tenant) {
        ("queue", Some(tenant)) => format!("queue {} of tenant {tenant}", one.name),
        ("queue", None) => format!("queue {}", one.name),
        (holder, _) => format!("{holder} {} at {}", one.name, one.queue),
    };
    let [used, limit, excess] = excess(one);
    let (uses, may) = match one.resource {
        Some(_) => ("uses", "have"),
        None => ("runs", "run"),
    };
    format!("  {who} is above its limit: {uses} {used}, can {may} {limit}, excess {excess}")
}

fn list<T>(
    lines: &mut Vec<String>,
    what: &str,
    total: u64,
    first: &[T],
    one: impl Fn(&T) -> String,
) {
    lines.extend(first.iter().map(|each| format!("  {what}: {}", one(each))));
    let named = u64::try_from(first.len()).unwrap_or(u64::MAX);
    let more = total.saturating_sub(named);
    if more > 0 {
        lines.push(format!("  {what}: {more} more"));
    }
}

fn ask(one: &PlanAsk) -> String {
    let (queue, resources) = (&one.queue, amounts(&one.resources));
    format!("{} of {} in {queue} ({resources})", one.name(), one.user)
}

fn changed(one: &PlanAskChange) -> String {
    let why = one.after.as_ref().map(|why| format!(": {}, {}", why.code, why.message));
    format!("{}{}", ask(&one.ask), why.unwrap_or_default())
}

fn settled(settled: &PlanSettled, at_rest: bool, lines: &mut Vec<String>) {
    let rest = if at_rest { "" } else { " (prediction incomplete)" };
    lines.push(format!("after settling{rest}:"));
    for one in &settled.queues {
        let [before, after] = one.used.each_ref().map(amounts);
        let [waited, waits] = one.pending.each_ref().map(amounts);
        let queue = &one.queue;
        lines.push(format!("  {queue} uses {before} -> {after}, waits for {waited} -> {waits}"));
    }
    for one in &settled.users {
        let [before, after] = one.used.each_ref().map(amounts);
        lines.push(format!("  user {} uses {before} -> {after}", one.user));
    }
    if let [Some(before), Some(after)] = settled.evenness {
        let part = |thousandths: u64| format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
        lines.push(format!("  fairness between users {} -> {}", part(before), part(after)));
    }
}
