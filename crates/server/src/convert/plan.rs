//! Plans for programs.

use headroom_api::headroomv1::{
    Plan, PlanAsk, PlanAskChange, PlanAskChanges, PlanAsks, PlanDifference, PlanEffects,
    PlanEviction, PlanEvictions, PlanExcess, PlanMove, PlanMoves, PlanQueueUsage, PlanRefusal,
    PlanSettled, PlanUserUsage, PlanValue,
};
use headroom_config::Review;
use headroom_core::plan::{
    self as core, AskChange, AskInPlan, Eviction, ExcessAmount, For, Holder, Listed, Moved, Settled,
};
use headroom_core::{Name, Rejection};
use sha2::{Digest as _, Sha256};

use super::diagnostic::diagnostics;
use super::value::resources;

/// Result of computing a plan. `None` if the file has errors.
pub type Found = Option<Result<core::Plan, Rejection>>;

/// Returns the body without the record and time of the books.
pub fn plan(file: &str, review: &Review, found: &Found) -> Plan {
    let counts = review.diagnostics.counts();
    let refused = found.as_ref().and_then(|found| found.as_ref().err());
    let effects = found.as_ref().and_then(|found| found.as_ref().ok());
    Plan {
        file: file.to_owned(),
        checksum: review.checksum.clone(),
        errors: count(counts.errors),
        warnings: count(counts.warnings),
        diagnostics: diagnostics(&review.diagnostics),
        refused: refused.map(refusal),
        effects: effects.map(|plan| with_digest(of(plan), &review.checksum)),
        ..Plan::default()
    }
}

/// Returns the digest of a plan for a file with this checksum.
pub fn digest(plan: &core::Plan, checksum: &str) -> String {
    with_digest(of(plan), checksum).digest
}

/// Sets the digest. The digest excludes figures that change continuously and have no further effect: usage, durations
/// of waits, and the sentences with these figures.
fn with_digest(mut effects: PlanEffects, file: &str) -> PlanEffects {
    // These can be very many, so they are not copied.
    let differences = std::mem::take(&mut effects.differences);
    let mut hashed = effects.clone();
    hashed.events = 0;
    hashed.settled = PlanSettled::default();
    hashed.excesses.iter_mut().for_each(|one| one.used = 0);
    hashed.evictions.first.iter_mut().for_each(|one| one.after_ms = 0);
    hashed.placed_otherwise.first.iter_mut().for_each(|one| one.why = None);
    for list in [&mut hashed.held, &mut hashed.waits_otherwise, &mut hashed.impossible] {
        let reasons = list.first.iter_mut().flat_map(|one| [&mut one.before, &mut one.after]);
        reasons.flatten().for_each(|why| why.message.clear());
    }
    let mut hash = Hash(Sha256::new());
    serde_json::to_writer(&mut hash, &(file, &differences, hashed))
        .expect("a plan is texts and numbers");
    PlanEffects { digest: hex::encode_upper(hash.0.finalize()), differences, ..effects }
}

/// A writer that hashes its input instead of storing it.
struct Hash(Sha256);

impl std::io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn refusal(why: &Rejection) -> PlanRefusal {
    PlanRefusal { code: why.code().as_str().to_owned(), message: why.to_string() }
}

fn of(plan: &core::Plan) -> PlanEffects {
    let effects = &plan.effects;
    PlanEffects {
        digest: String::new(),
        changes: !plan.is_empty(),
        differences: plan.differences.iter().map(difference).collect(),
        events: count(plan.events().count()),
        at_rest: plan.at_rest,
        excesses: plan.excesses.iter().map(excess).collect(),
        starts: asks(&effects.starts),
        held: changes(&effects.held),
        waits_otherwise: changes(&effects.waits_otherwise),
        impossible: changes(&effects.impossible),
        withdrawn: asks(&effects.withdrawn),
        released: asks(&effects.released),
        placed_otherwise: PlanMoves {
            total: count(effects.placed_otherwise.total),
            first: effects.placed_otherwise.first.iter().map(moved).collect(),
        },
        evictions: PlanEvictions {
            total: count(effects.evictions.total),
            first: effects.evictions.first.iter().map(eviction).collect(),
        },
        reservations_dropped: asks(&effects.reservations_dropped),
        settled: settled(&plan.settled),
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn text(name: Option<&Name>) -> Option<String> {
    name.map(Name::to_string)
}

fn difference(one: &core::Difference) -> PlanDifference {
    let shown = |value: &core::Value| match value {
        core::Value::Text(text) => PlanValue::Text(text.to_string()),
        core::Value::Amount { resource, amount } => {
            PlanValue::Amount { resource: resource.to_string(), amount: amount.get() }
        }
    };
    PlanDifference {
        partition: one.partition.to_string(),
        queue: text(one.queue.as_ref()),
        key: one.key.to_string(),
        before: one.before.as_ref().map(shown),
        after: one.after.as_ref().map(shown),
    }
}

fn excess(one: &core::Excess) -> PlanExcess {
    let holder = match one.holder {
        Holder::Queue => "queue",
        Holder::User => "user",
        Holder::Group => "group",
    };
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let (resource, used, limit) = match &one.of {
        ExcessAmount::Resource { resource, used, limit, .. } => {
            (Some(resource.to_string()), used.get(), limit.get())
        }
        ExcessAmount::Applications { used, limit } => (None, number(*used), number(*limit)),
    };
    PlanExcess {
        partition: one.partition.to_string(),
        holder: holder.to_owned(),
        name: one.name.to_string(),
        tenant: text(one.tenant.as_ref()),
        queue: one.queue.to_string(),
        resource,
        used,
        limit,
    }
}

fn ask(one: &AskInPlan) -> PlanAsk {
    PlanAsk {
        partition: one.partition.to_string(),
        application: one.application.to_string(),
        key: one.key.to_string(),
        pod: None,
        queue: one.queue.to_string(),
        user: one.user.to_string(),
        resources: resources(&one.resources),
    }
}

fn asks(all: &Listed<AskInPlan>) -> PlanAsks {
    PlanAsks { total: count(all.total), first: all.first.iter().map(ask).collect() }
}

fn changes(all: &Listed<AskChange>) -> PlanAskChanges {
    let why = |why: &Option<(&str, Name)>| {
        why.as_ref()
            .map(|(code, why)| PlanRefusal { code: (*code).to_owned(), message: why.to_string() })
    };
    let change = |one: &AskChange| PlanAskChange {
        ask: ask(&one.ask),
        before: why(&one.before),
        after: why(&one.after),
    };
    PlanAskChanges { total: count(all.total), first: all.first.iter().map(change).collect() }
}

fn moved(one: &Moved) -> PlanMove {
    PlanMove {
        partition: one.partition.to_string(),
        application: one.application.to_string(),
        user: one.user.to_string(),
        before: one.queue.to_string(),
        after: text(one.other.as_ref()),
        why: text(one.why.as_ref()),
    }
}

fn eviction(one: &Eviction) -> PlanEviction {
    let (for_ask, for_maximum_of) = match &one.cause {
        For::Ask(other) => (Some(ask(other)), None),
        For::Maximum(queue) => (None, Some(queue.to_string())),
    };
    PlanEviction { after_ms: one.after.get(), victim: ask(&one.victim), for_ask, for_maximum_of }
}

fn settled(settled: &Settled) -> PlanSettled {
    let queues = settled.queues.iter().map(|one| PlanQueueUsage {
        partition: one.partition.to_string(),
        queue: one.queue.to_string(),
        used: one.used.each_ref().map(resources),
        pending: one.pending.each_ref().map(resources),
        of_guarantee: one.of_guarantee,
    });
    let users = settled.users.iter().map(|one| PlanUserUsage {
        partition: one.partition.to_string(),
        user: one.user.to_string(),
        used: one.used.each_ref().map(resources),
    });
    PlanSettled { queues: queues.collect(), users: users.collect(), evenness: settled.evenness }
}
