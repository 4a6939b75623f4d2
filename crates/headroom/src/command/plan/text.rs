//! A plan for people: what is otherwise, what follows at once, and what is used then.

use headroom_core::plan::{
    AskChange, AskInPlan, Excess, ExcessAmount, For, Holder, Listed, Plan, Value,
};
use headroom_core::resource::{Amounts, Quantity};

use headroom_api::wsv1::Resources;

use crate::output;
use crate::remote::resources;

/// All of a plan, in the order in which it is read.
pub(super) fn of(plan: &Plan) -> String {
    if plan.is_empty() {
        return "nothing changes\n".to_owned();
    }
    let mut lines = vec![format!("{} settings change:", plan.differences.len())];
    for one in &plan.differences {
        let queue = one.queue.as_deref().unwrap_or("the partition");
        let (key, partition) = (&one.key, &one.partition);
        let [before, after] = [&one.before, &one.after].map(|value| shown(value.as_ref()));
        lines.push(format!("  {partition} {queue} {key}: {before} -> {after}"));
    }
    at_once(plan, &mut lines);
    settled(plan, &mut lines);
    output::printable_lines(&(lines.join("\n") + "\n"))
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::Text(text)) => text.to_string(),
        Some(Value::Amount { resource, amount }) => one_amount(resource, *amount),
    }
}

fn one_amount(resource: &str, amount: Quantity) -> String {
    amounts(&[(resource, amount)].into_iter().collect())
}

fn amounts(amounts: &Amounts) -> String {
    let all = amounts.iter().map(|(name, amount)| (name.to_string(), amount.get()));
    let text = resources(&Resources(all.collect()));
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn at_once(plan: &Plan, lines: &mut Vec<String>) {
    let effects = &plan.effects;
    lines.push("at once:".to_owned());
    let first = lines.len();
    lines.extend(plan.excesses.iter().map(above));
    list(lines, "starts", &effects.starts, ask);
    list(lines, "waits", &effects.held, changed);
    list(lines, "waits for another reason", &effects.waits_otherwise, changed);
    list(lines, "can never start", &effects.impossible, changed);
    list(lines, "is withdrawn", &effects.withdrawn, ask);
    list(lines, "is given back", &effects.released, ask);
    list(lines, "would be placed otherwise", &effects.placed_otherwise, |one| {
        let other = one.other.as_deref().unwrap_or("nowhere");
        let why = one.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("application {} of {}: {} -> {other}{why}", one.application, one.user, one.queue)
    });
    list(lines, "is asked to stop", &effects.evictions, |one| {
        let cause = match &one.cause {
            For::Ask(other) => ask(other),
            For::Maximum(queue) => format!("the maximum of {queue}"),
        };
        format!("{} for {cause}, after {} s", ask(&one.victim), one.after.get().div_ceil(1_000))
    });
    list(lines, "has no node kept any more", &effects.reservations_dropped, ask);
    if lines.len() == first {
        lines.push("  nothing starts, waits or stops for it".to_owned());
    }
}

fn above(one: &Excess) -> String {
    let who = match (one.holder, &one.tenant) {
        (Holder::Queue, Some(tenant)) => format!("queue {} of tenant {tenant}", one.name),
        (Holder::Queue, None) => format!("queue {}", one.name),
        (Holder::User, _) => format!("user {} at {}", one.name, one.queue),
        (Holder::Group, _) => format!("group {} at {}", one.name, one.queue),
    };
    match &one.of {
        ExcessAmount::Resource { resource, used, limit, excess } => {
            let [used, limit, excess] =
                [used, limit, excess].map(|amount| one_amount(resource, *amount));
            format!("  {who} is above its limit: uses {used}, may have {limit}, {excess} too much")
        }
        ExcessAmount::Applications { used, limit } => {
            format!("  {who} is above its limit: runs {used} applications, may run {limit}")
        }
    }
}

fn list<T>(lines: &mut Vec<String>, what: &str, all: &Listed<T>, one: impl Fn(&T) -> String) {
    lines.extend(all.first.iter().map(|each| format!("  {what}: {}", one(each))));
    let more = all.total - all.first.len();
    if more > 0 {
        lines.push(format!("  {what}: {more} more"));
    }
}

fn ask(one: &AskInPlan) -> String {
    let (queue, resources) = (&one.queue, amounts(&one.resources));
    format!("{}/{} of {} in {queue} ({resources})", one.application, one.key, one.user)
}

fn changed(one: &AskChange) -> String {
    let why = one.after.as_ref().map(|(code, why)| format!(": {code}, {why}"));
    format!("{}{}", ask(&one.ask), why.unwrap_or_default())
}

fn settled(plan: &Plan, lines: &mut Vec<String>) {
    let rest = if plan.at_rest { "" } else { ", as far as it was followed" };
    lines.push(format!("after settling{rest}:"));
    for one in &plan.settled.queues {
        let [before, after] = one.used.each_ref().map(amounts);
        let [waited, waits] = one.pending.each_ref().map(amounts);
        let queue = &one.queue;
        lines.push(format!("  {queue} uses {before} -> {after}, waits for {waited} -> {waits}"));
    }
    for one in &plan.settled.users {
        let [before, after] = one.used.each_ref().map(amounts);
        lines.push(format!("  user {} uses {before} -> {after}", one.user));
    }
    if let [Some(before), Some(after)] = plan.settled.evenness {
        let part = |thousandths: u64| format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
        lines.push(format!("  evenness among users {} -> {}", part(before), part(after)));
    }
}
