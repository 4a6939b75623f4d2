//! A plan for programs; `docs/plan.md` describes it.

use headroom_config::Review;
use headroom_core::Rejection;
use headroom_core::plan::{
    AskChange, AskInPlan, Excess, ExcessAmount, For, Holder, Listed, Plan, Value as Said,
};
use headroom_core::resource::Amounts;
use serde_json::{Map, Value, json};

/// The whole answer.
pub(super) fn object(
    name: &str,
    review: &Review,
    found: Option<&Result<Plan, Rejection>>,
    sequence: u64,
) -> Value {
    let counts = review.diagnostics.counts();
    let head = json!({
        "file": name,
        "checksum": review.checksum,
        "sequence": sequence,
        "errors": counts.errors,
        "warnings": counts.warnings,
        "refused": match found {
            Some(Err(refused)) => json!({"code": refused.code(), "message": refused.to_string()}),
            Some(Ok(_)) | None => Value::Null,
        },
    });
    let plan = found.and_then(|found| found.as_ref().ok()).map(of);
    match (head, plan) {
        (Value::Object(mut head), Some(Value::Object(plan))) => {
            head.extend(plan);
            Value::Object(head)
        }
        (head, _) => head,
    }
}

fn of(plan: &Plan) -> Value {
    let effects = &plan.effects;
    let differences = plan.differences.iter().map(|one| {
        json!({
            "partition": one.partition.as_str(),
            "queue": one.queue.as_deref(),
            "key": one.key.as_str(),
            "before": one.before.as_ref().map(said),
            "after": one.after.as_ref().map(said),
        })
    });
    json!({
        "changes": !plan.is_empty(),
        "differences": differences.collect::<Vec<_>>(),
        "events": plan.events().count(),
        "atRest": plan.at_rest,
        "excesses": plan.excesses.iter().map(excess).collect::<Vec<_>>(),
        "starts": list(&effects.starts, ask),
        "held": list(&effects.held, changed),
        "waitsOtherwise": list(&effects.waits_otherwise, changed),
        "impossible": list(&effects.impossible, changed),
        "withdrawn": list(&effects.withdrawn, ask),
        "released": list(&effects.released, ask),
        "placedOtherwise": list(&effects.placed_otherwise, |one| json!({
            "partition": one.partition.as_str(), "application": one.application.as_str(),
            "user": one.user.as_str(), "before": one.queue.as_str(),
            "after": one.other.as_deref(), "why": one.why.as_deref(),
        })),
        "evictions": list(&effects.evictions, |one| json!({
            "afterMs": one.after.get(),
            "victim": ask(&one.victim),
            "forAsk": match &one.cause { For::Ask(other) => ask(other), For::Maximum(_) => Value::Null },
            "forMaximumOf": match &one.cause {
                For::Maximum(queue) => json!(queue.as_str()),
                For::Ask(_) => Value::Null,
            },
        })),
        "reservationsDropped": list(&effects.reservations_dropped, ask),
        "settled": settled(plan),
    })
}

fn said(value: &Said) -> Value {
    match value {
        Said::Text(text) => json!(text.as_str()),
        Said::Amount { resource, amount } => {
            json!({"resource": resource.as_str(), "amount": amount.get()})
        }
    }
}

fn amounts(amounts: &Amounts) -> Value {
    let all = amounts.iter().map(|(name, amount)| (name.to_string(), json!(amount.get())));
    Value::Object(all.collect::<Map<_, _>>())
}

fn list<T>(all: &Listed<T>, one: impl Fn(&T) -> Value) -> Value {
    json!({"total": all.total, "first": all.first.iter().map(one).collect::<Vec<_>>()})
}

fn ask(one: &AskInPlan) -> Value {
    json!({
        "partition": one.partition.as_str(), "application": one.application.as_str(),
        "key": one.key.as_str(), "queue": one.queue.as_str(), "user": one.user.as_str(),
        "resources": amounts(&one.resources),
    })
}

fn changed(one: &AskChange) -> Value {
    let why = |why: &Option<(&str, headroom_core::Name)>| {
        why.as_ref().map(|(code, why)| json!({"code": code, "message": why.as_str()}))
    };
    json!({"ask": ask(&one.ask), "before": why(&one.before), "after": why(&one.after)})
}

fn excess(one: &Excess) -> Value {
    let holder = match one.holder {
        Holder::Queue => "queue",
        Holder::User => "user",
        Holder::Group => "group",
    };
    let (resource, used, limit) = match &one.of {
        ExcessAmount::Resource { resource, used, limit, .. } => {
            (Some(resource.as_str()), json!(used.get()), json!(limit.get()))
        }
        ExcessAmount::Applications { used, limit } => (None, json!(used), json!(limit)),
    };
    json!({
        "partition": one.partition.as_str(), "holder": holder, "name": one.name.as_str(),
        "tenant": one.tenant.as_deref(), "queue": one.queue.as_str(),
        "resource": resource, "used": used, "limit": limit,
    })
}

fn settled(plan: &Plan) -> Value {
    let queues = plan.settled.queues.iter().map(|one| {
        json!({
            "partition": one.partition.as_str(), "queue": one.queue.as_str(),
            "used": one.used.each_ref().map(amounts),
            "pending": one.pending.each_ref().map(amounts),
            "ofGuarantee": one.of_guarantee,
        })
    });
    let users = plan.settled.users.iter().map(|one| {
        json!({
            "partition": one.partition.as_str(), "user": one.user.as_str(),
            "used": one.used.each_ref().map(amounts),
        })
    });
    json!({
        "queues": queues.collect::<Vec<_>>(),
        "users": users.collect::<Vec<_>>(),
        "evenness": plan.settled.evenness,
    })
}
