//! Metrics of tenants: tenants §6. The cost of a scrape depends on the tenants, not on their tasks. The first [`NAMED`]
//! tenants by name have their own series. The series `other` has the sum of all other tenants.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_api::routes;
use headroom_core::books::TaskOutcome;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::view::{self, Spans, TenantTally, TenantView};
use headroom_core::{Millis, Name, Timestamp, WaitCode};
use headroom_engine::{Verified, View};

use super::own::seconds;
use super::scrape::Scrape;
use super::text::{Exposition, Kind, Label};

use Kind::{Counter, Gauge, Histogram};

/// Number of tenants with their own series. The limit protects the memory of scrapers against a client that creates
/// more and more tenants.
const NAMED: usize = 256;

/// Label of the sum of all other tenants.
const OTHER: &str = "other";

const OUTCOMES: [(&str, TaskOutcome); 5] = [
    ("cancelled", TaskOutcome::Cancelled),
    ("evicted", TaskOutcome::Evicted),
    ("expired", TaskOutcome::Expired),
    ("failed", TaskOutcome::Failed),
    ("succeeded", TaskOutcome::Succeeded),
];

/// Waiting tasks of a tenant and its descendants.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) tasks: u64,
    pub(super) oldest: Option<Timestamp>,
}

impl Waits {
    pub(super) fn add(&mut self, tasks: u64, oldest: Option<Timestamp>) {
        self.tasks += tasks;
        self.oldest = match (self.oldest, oldest) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// Values of a tenant, or of all other tenants together.
#[derive(Default)]
struct Shown {
    name: String,
    is_named: bool,
    now: TenantView,
    over: u64,
    waits: Waits,
    counted: TenantTally,
    ended: [u64; OUTCOMES.len()],
    throttled: BTreeMap<Name, u64>,
    seconds: Amounts,
    measured: Amounts,
    drift: u64,
}

impl Shown {
    /// Adds the current values of a tenant and its descendants.
    fn add_now(&mut self, now: &TenantView, waits: Waits) {
        self.over += u64::from(!now.excess().is_empty());
        for (sum, more) in [
            (&mut self.now.quota, &now.quota),
            (&mut self.now.used, &now.used),
            (&mut self.now.pending, &now.pending),
        ] {
            add(sum, more);
        }
        self.waits.add(waits.tasks, waits.oldest);
    }

    /// Adds the counts of the tenant's own tasks.
    fn add_counted(&mut self, view: &View, tenant: &Name) {
        for (code, count) in view.tally.tenants.throttled(tenant) {
            *self.throttled.entry(code.clone()).or_default() += count;
        }
        let Some(more) = view.tally.tenants.get(tenant) else { return };
        let sum = &mut self.counted;
        sum.started += more.started;
        sum.evicted += more.evicted;
        sum.overtakes += more.overtakes;
        sum.violations += more.violations;
        sum.rescued += more.rescued;
        sum.held = sum.held + more.held;
        for (sum, more) in
            [(&mut sum.waits, more.waits), (&mut sum.after_release, more.after_release)]
        {
            for (sum, more) in sum.counts.iter_mut().zip(more.counts) {
                *sum += more;
            }
            sum.millis = sum.millis.saturating_add(more.millis);
        }
        for (sum, (_, outcome)) in self.ended.iter_mut().zip(OUTCOMES) {
            *sum += more.ended(outcome);
        }
    }
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more.iter() {
        sum.set(name.clone(), sum.get(name).unwrap_or_default().plus(amount));
    }
}

/// Computes the values of all tenants, on a thread for blocking work.
async fn shown(scrape: &Scrape<'_>) -> Vec<Shown> {
    let (view, verified) = (Arc::clone(&scrape.view), scrape.service.engine.verified());
    let (waits, now) = (scrape.tenants.clone(), scrape.now);
    let find = move || find(&view, (&waits, now), verified.as_deref());
    // The work is never cancelled, so an error means a panic. All other metrics are still shown.
    tokio::task::spawn_blocking(find).await.unwrap_or_default()
}

fn find(
    view: &View,
    (waits, now): (&BTreeMap<Name, Waits>, Timestamp),
    verified: Option<&Verified>,
) -> Vec<Shown> {
    let holds: BTreeMap<&Name, Millis> = view.tally.tenants.holds(&view.books, now).collect();
    let Some((partition, row, _)) = view::tenants(&view.books) else { return Vec::new() };
    let named: BTreeSet<&Name> = row.tenants.iter().take(NAMED).map(|(name, _)| name).collect();
    let drift = |tenant: &Name| {
        let all = verified.iter().flat_map(|verified| &verified.drift);
        all.filter(|one| one.tenant == *tenant).count() as u64
    };
    let (mut shown, mut other) = (Vec::new(), None);
    for (name, tenant) in row.tenants.iter() {
        let is_named = named.contains(name);
        let mut own = Shown { name: name.to_string(), is_named, ..Shown::default() };
        let sum = if is_named { &mut own } else { other.get_or_insert_with(Shown::default) };
        // The values of the parent already include these.
        let above = tenant.settings.parent.as_ref();
        if is_named || above.is_none_or(|above| named.contains(above)) {
            let used = view::tenant_use(&view.books, partition, name).unwrap_or_default();
            sum.add_now(&used, waits.get(name).copied().unwrap_or_default());
            let with_below = row.tenants.with_below(name);
            add(&mut sum.measured, &view::tenant_measured(&view.books, partition, &with_below).0);
        }
        sum.add_counted(view, name);
        let seconds =
            view::tenant_seconds(&view.books, partition, core::slice::from_ref(name), now);
        add(&mut sum.seconds, &seconds);
        sum.counted.held = sum.counted.held + holds.get(name).copied().unwrap_or_default();
        sum.drift += drift(name);
        if is_named {
            shown.push(own);
        }
    }
    shown.extend(other.map(|other| Shown { name: OTHER.to_owned(), ..other }));
    shown
}

pub(super) async fn write(out: &mut Exposition, scrape: &Scrape<'_>) {
    let shown = shown(scrape).await;
    amounts(out, &shown);
    waiting(out, &shown, scrape.now);
    happened(out, &shown);
    spent(out, &shown);
    bugs(out, &shown);
    requests(out, scrape);
}

fn of(shown: &Shown) -> Vec<Label<'_>> {
    vec![("tenant", &*shown.name)]
}

fn with<'a>(shown: &'a Shown, label: &'static str, value: &'a str) -> Vec<Label<'a>> {
    vec![("tenant", &*shown.name), (label, value)]
}

fn each_type<'a>(
    shown: &'a Shown,
    amounts: &'a Amounts,
) -> impl Iterator<Item = (Vec<Label<'a>>, i64)> {
    amounts.iter().map(move |(name, amount)| (with(shown, "resource", name), amount.get()))
}

/// Writes quotas and usage.
fn amounts(out: &mut Exposition, shown: &[Shown]) {
    let quota = shown.iter().flat_map(|one| each_type(one, &one.now.quota));
    let help = "Quota of a tenant, in core units; a type without a limit has no series.";
    out.samples(("headroom_tenant_quota", Gauge, help), quota);
    let used = shown.iter().flat_map(|one| each_type(one, &one.now.used));
    let help = "Usage of the tasks of a tenant and of all tenants below it, in core units.";
    out.samples(("headroom_tenant_used", Gauge, help), used);
    let measured = shown.iter().flat_map(|one| each_type(one, &one.measured));
    let help = "Measured usage, as reported by clients, in core units. It affects no decision.";
    out.samples(("headroom_tenant_measured", Gauge, help), measured);
    let free = shown.iter().filter(|one| one.is_named).flat_map(|one| {
        let quota = one.now.quota.iter().filter(|(_, quota)| *quota > Quantity::ZERO);
        quota.map(move |(name, quota)| {
            let used = one.now.used.get(name).unwrap_or_default();
            (with(one, "resource", name), ratio(quota.minus(used), quota))
        })
    });
    let help = "Fraction of the quota that is free; negative if the usage is above the quota.";
    out.samples(("headroom_tenant_free_ratio", Gauge, help), free);
    let over = shown.iter().map(|one| (of(one), one.over));
    let help = "Whether the usage is above the quota; for `other`, the number of such tenants.";
    out.samples(("headroom_tenant_over_quota", Gauge, help), over);
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(part: Quantity, whole: Quantity) -> f64 {
    part.get() as f64 / whole.get() as f64
}

fn waiting(out: &mut Exposition, shown: &[Shown], now: Timestamp) {
    let tasks = shown.iter().map(|one| (of(one), one.waits.tasks));
    let help = "Waiting tasks of a tenant and of all tenants below it.";
    out.samples(("headroom_tenant_waiting_tasks", Gauge, help), tasks);
    let pending = shown.iter().flat_map(|one| each_type(one, &one.now.pending));
    let help = "Amounts of the waiting tasks, in core units.";
    out.samples(("headroom_tenant_waiting_resource", Gauge, help), pending);
    let oldest = shown.iter().map(|one| {
        let age = one.waits.oldest.map_or(0, |at| now.since(at).get());
        (of(one), seconds(age))
    });
    let help = "Age of the oldest waiting task; 0 without a waiting task.";
    out.samples(("headroom_tenant_oldest_wait_seconds", Gauge, help), oldest);
}

/// Writes counts of task events.
fn happened(out: &mut Exposition, shown: &[Shown]) {
    for (name, help, spans) in [
        (
            "headroom_tenant_wait_seconds",
            "Time from the submission of a task to its first start.",
            (|one: &TenantTally| one.waits) as fn(&TenantTally) -> Spans,
        ),
        (
            "headroom_tenant_release_to_start_seconds",
            "Time from the last release to the start, for tasks that waited.",
            |one| one.after_release,
        ),
    ] {
        if shown.is_empty() {
            break;
        }
        let bounds = Spans::BOUNDS.map(seconds);
        let Some(mut metric) = out.metric(name, Histogram, help) else { continue };
        for one in shown {
            let spans = spans(&one.counted);
            metric.histogram(&of(one), &bounds, &spans.counts, seconds(spans.millis));
        }
    }
    let throttled = shown.iter().flat_map(|one| {
        // Every reason has a series from the start, at 0: `increase()` ignores the first value of a series that
        // begins at 1. A journal of another version can have more reasons.
        let others = one.throttled.keys().map(|code| &**code);
        let known = throttle_codes().map(|code| -> &str { code });
        let codes: BTreeSet<&str> = known.chain(others).collect();
        codes.into_iter().map(move |code| {
            (with(one, "reason", code), one.throttled.get(code).copied().unwrap_or(0))
        })
    });
    let help = "Number of times that a task began to wait, by reason.";
    out.samples(("headroom_tenant_throttled_total", Counter, help), throttled);
    let ended = shown.iter().flat_map(|one| {
        let counts = OUTCOMES.iter().zip(one.ended);
        counts.map(move |((word, _), count)| (with(one, "outcome", word), count))
    });
    let help = "Ended tasks, by outcome.";
    out.samples(("headroom_tenant_ended_total", Counter, help), ended);
    for (name, help, count) in [
        (
            "headroom_tenant_started_total",
            "Tasks whose members all received a node.",
            (|one| one.started) as fn(&TenantTally) -> u64,
        ),
        ("headroom_tenant_evicted_total", "Preempted allocations.", |one| one.evicted),
        (
            "headroom_tenant_overtakes_total",
            "Number of times that a later task overtook the head of line.",
            |one| one.overtakes,
        ),
    ] {
        let samples = shown.iter().map(|one| (of(one), count(&one.counted)));
        out.samples((name, Counter, help), samples);
    }
}

/// Returns every wait reason of a task: the reasons of its tenant, and the checks of the scheduler.
fn throttle_codes() -> impl Iterator<Item = &'static str> {
    WaitCode::ALL.iter().map(|code| code.as_str())
}

/// Writes usage over time, and how long a head of line blocked later asks.
fn spent(out: &mut Exposition, shown: &[Shown]) {
    let seconds_of = shown.iter().flat_map(|one| each_type(one, &one.seconds));
    let help = "Accumulated usage of the tasks of a tenant, in core units times seconds.";
    out.samples(("headroom_tenant_resource_seconds_total", Counter, help), seconds_of);
    let held = shown.iter().map(|one| (of(one), seconds(one.counted.held.get())));
    let help = "Time for which the head of line has blocked later asks.";
    out.samples(("headroom_tenant_hold_seconds_total", Counter, help), held);
}

/// Writes values that are always 0, unless there is a bug.
fn bugs(out: &mut Exposition, shown: &[Shown]) {
    let help = "Resource types whose counted usage differs from the sum of the tasks. Values above \
                0 indicate a bug.";
    let drift = shown.iter().map(|one| (of(one), one.drift));
    out.samples(("headroom_tenant_ledger_drift", Gauge, help), drift);
    let help = "Starts that exceeded the quota. Values above 0 indicate a bug.";
    let violations = shown.iter().map(|one| (of(one), one.counted.violations));
    out.samples(("headroom_tenant_limit_violation_total", Counter, help), violations);
    let help = "Tasks that could start, but that only the periodic sweep found. Values above 0 \
                indicate a bug.";
    let rescued = shown.iter().map(|one| (of(one), one.counted.rescued));
    out.samples(("headroom_tenant_sweep_rescued_total", Counter, help), rescued);
}

/// Writes counts of requests about tenants and tasks.
fn requests(out: &mut Exposition, scrape: &Scrape<'_>) {
    let ours: BTreeSet<&str> = routes::all()
        .filter(|route| {
            let path = route.path.strip_prefix("/headroom/v1/").unwrap_or_default();
            let first = path.split('/').next().unwrap_or_default();
            ["tenants", "tenant-defaults", "tasks", "audit", "ledger"].contains(&first)
        })
        .map(|route| route.operation)
        .collect();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, requests) in scrape.service.live().requests() {
        if ours.contains(kind.operation) {
            *counts.entry(kind.status.to_string()).or_default() += requests.count();
        }
    }
    let samples = counts.iter().map(|(code, count)| (vec![("code", code.as_str())], *count));
    let help = "Requests about tenants, tasks, and the audit log, by status.";
    out.samples(("headroom_tenant_api_requests_total", Counter, help), samples);
}
