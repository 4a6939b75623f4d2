//! Metrics with names of Headroom. `docs/metrics.md` describes them.

use std::sync::atomic::Ordering;

use headroom_api::headroomv1::ResourceManagerState;
use headroom_core::books::ApplicationState;
use headroom_core::resource::Resources;
use headroom_core::{RefusalCode, Timestamp};

use super::engine;
use super::scrape::Scrape;
use super::text::{Exposition, Kind, Label};
use crate::live::{Requests, StreamKind};
use crate::native::{drift, node_counts};

use Kind::{Counter, Gauge, Histogram};

/// Upper bounds of the duration of one step of the scheduler, in seconds.
const STEP_BOUNDS: [f64; 12] = [
    0.000_001, 0.000_002, 0.000_005, 0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5,
    0.001, 0.01, 0.1,
];

/// Properties of the build that become labels, if known.
const BUILD_LABELS: [&str; 4] = ["commit", "features", "profile", "target"];

pub(super) fn write(out: &mut Exposition, scrape: &Scrape<'_>) {
    server(out, scrape);
    journal(out, scrape);
    partitions(out, scrape);
    resources(out, scrape);
    reserved(out, scrape);
    happened(out, scrape);
    rms(out, scrape);
    requests(out, scrape);
}

fn server(out: &mut Exposition, scrape: &Scrape<'_>) {
    let about = &scrape.service.about;
    let info = ("headroom_build_info", Gauge, "Build information of the server; always 1.");
    let build = BUILD_LABELS.iter().filter_map(|label| Some((*label, &**about.build.get(*label)?)));
    let labels = [("version", about.version)].into_iter().chain(build).collect();
    out.samples(info, [(labels, 1_u64)]);
    let up = u64::from(scrape.service.engine.stopped().is_none());
    let help = "Whether the scheduler accepts commands: 0 after the journal failed.";
    out.one(("headroom_scheduler_up", Gauge, help), up);
    let help = "Number of the newest record of the journal.";
    out.one(("headroom_journal_sequence", Gauge, help), scrape.service.engine.feed().newest());
    let streams = StreamKind::ALL
        .map(|kind| (vec![("kind", kind.as_str())], scrape.service.live().streams(kind)));
    out.samples(("headroom_streams", Gauge, "Open streams, by kind."), streams);
    if let Some(traces) = scrape.service.live().traces() {
        let results = [
            ("dropped", &traces.dropped),
            ("exported", &traces.exported),
            ("failed", &traces.failed),
        ];
        let samples = results
            .map(|(result, count)| (vec![("result", result)], count.load(Ordering::Relaxed)));
        let help = "Spans for the trace collector, by outcome.";
        out.samples(("headroom_trace_spans_total", Counter, help), samples);
    }
}

/// Writes the metrics of the journal and of the writer.
fn journal(out: &mut Exposition, scrape: &Scrape<'_>) {
    let (health, work) = (scrape.service.engine.health(), &scrape.view.work);
    for (name, help, value) in [
        ("headroom_backlog", "Messages that wait for the writer.", health.backlog),
        (
            "headroom_backlog_max",
            "Maximum number of messages that wait for the writer.",
            health.backlog_max,
        ),
    ] {
        out.one((name, Gauge, help), value as u64);
    }
    let help = "Failed checks of the scheduler state. Values above 0 indicate a bug.";
    out.one(("headroom_books_drift", Gauge, help), drift(scrape.service));
    let since = |at: Timestamp| seconds(scrape.now.since(at).get());
    let help = "Duration of the current flush so far; 0 without a flush.";
    let flushing = health.flushing_since.map_or(0.0, since);
    out.one(("headroom_journal_flushing_seconds", Gauge, help), flushing);
    if let Some(at) = health.last_flush {
        let help = "Time at which records were last made durable, since the epoch.";
        let name = "headroom_journal_last_flush_timestamp_seconds";
        out.one((name, Gauge, help), seconds(at.as_millis()));
    }
    for (name, help, count) in [
        ("headroom_journal_records_total", "Records made durable.", work.records),
        ("headroom_journal_bytes_total", "Bytes of the records made durable.", work.bytes),
        ("headroom_scheduler_steps_total", "Steps of the scheduler.", work.steps),
        ("headroom_commands_total", "Processed commands.", work.commands),
        (
            "headroom_commands_repeated_total",
            "Processed commands that were repetitions of earlier commands.",
            work.repeated,
        ),
        ("headroom_snapshot_failures_total", "Failed snapshots.", work.snapshots.failed),
    ] {
        out.one((name, Counter, help), count);
    }
    let help = "Size of the last snapshot, bytes; 0 before the first.";
    out.one(("headroom_snapshot_bytes", Gauge, help), work.snapshots.last_bytes);
    let help = "Time by which the audit log of tenants lags behind the journal; 0 without a lag.";
    let behind = scrape.service.engine.audit().status().behind_since.map_or(0.0, since);
    out.one(("headroom_tenant_audit_lag_seconds", Gauge, help), behind);
    for (name, help, durations) in [
        (
            "headroom_journal_flush_seconds",
            "Time to make a batch of records durable.",
            &work.flushes,
        ),
        (
            "headroom_snapshot_seconds",
            "Time to write snapshots, in parallel with scheduling.",
            &work.snapshots.taken,
        ),
    ] {
        let (bounds, times) = engine::durations(durations);
        if let Some(mut metric) = out.metric(name, Histogram, help) {
            metric.histogram(&[], &bounds, &times.counts, times.seconds);
        }
    }
}

fn partitions(out: &mut Exposition, scrape: &Scrape<'_>) {
    let books = &scrape.view.books;
    let tally = |id| scrape.view.tally.partitions.get(&id).cloned().unwrap_or_default();
    let of = |name| vec![("partition", name)];
    let running = scrape.partitions().map(|(id, name)| (of(name), tally(id).with_allocations));
    let help = "Running applications. An application runs from its first allocation.";
    out.samples(("headroom_running_applications", Gauge, help), running);
    let states = [
        ("accepted", ApplicationState::Accepted),
        ("completing", ApplicationState::Completing),
        ("failing", ApplicationState::Failing),
        ("new", ApplicationState::New),
        ("resuming", ApplicationState::Resuming),
        ("running", ApplicationState::Running),
    ];
    let applications = scrape.partitions().flat_map(|(id, name)| {
        let counts = tally(id).states;
        states.map(|(word, state)| (with(name, "state", word), counts.get(state)))
    });
    out.samples(("headroom_applications", Gauge, "Applications by state."), applications);
    let nodes = scrape.partitions().flat_map(|(id, name)| {
        let counts = node_counts(books, id);
        [("active", counts.active), ("draining", counts.draining)]
            .map(|(word, count)| (with(name, "state", word), count))
    });
    out.samples(("headroom_nodes", Gauge, "Nodes by state."), nodes);
    for (description, count) in [
        (("headroom_allocations", Gauge, "Current allocations."), 0),
        (("headroom_placeholders", Gauge, "Allocations that are placeholders."), 1),
        (("headroom_reservations", Gauge, "Nodes reserved for an ask."), 2),
    ] {
        let samples = scrape.partitions().map(|(id, name)| {
            let row = books.partition(id);
            let counts = [row.allocation_count, row.placeholder_count, row.reservation_count];
            (of(name), counts[count])
        });
        out.samples(description, samples);
    }
    let queues =
        scrape.partitions().map(|(id, name)| (of(name), books.partition(id).queues.len() as u64));
    out.samples(("headroom_queues", Gauge, "Queues."), queues);
}

fn with<'a>(partition: &'a str, label: &'static str, value: &'a str) -> Vec<Label<'a>> {
    vec![("partition", partition), (label, value)]
}

fn resources(out: &mut Exposition, scrape: &Scrape<'_>) {
    let books = &scrape.view.books;
    let nothing = Resources::new();
    for (description, which) in [
        (("headroom_capacity", Gauge, "Capacity of all nodes, in core units."), 0),
        (("headroom_allocated", Gauge, "Allocated amounts, in core units."), 1),
        (("headroom_pending", Gauge, "Amounts of waiting asks, in core units."), 2),
        (
            (
                "headroom_preempting",
                Gauge,
                "Amounts of allocations that are stopping, in core units.",
            ),
            3,
        ),
    ] {
        let samples = scrape.partitions().flat_map(|(id, name)| {
            let root = books.queue(books.partition(id).root);
            let capacity = root.max.as_ref().unwrap_or(&nothing);
            let amounts = [capacity, &root.allocated, &root.pending, &root.preempting][which];
            let types = capacity.iter().map(|(resource, _)| resource);
            types.map(move |resource| {
                let label = books.types().name(resource).as_str();
                (with(name, "resource", label), amounts.get_or_zero(resource).get())
            })
        });
        out.samples(description, samples);
    }
}

/// Writes the amounts of placeholders by leaf, which are part of the allocated amounts.
fn reserved(out: &mut Exposition, scrape: &Scrape<'_>) {
    let samples = scrape.partitions().flat_map(|(id, name)| {
        let leaves = scrape.view.tally.partitions.get(&id).into_iter();
        leaves.flat_map(|tally| tally.reserved.iter()).flat_map(move |(leaf, amounts)| {
            amounts.iter().map(move |(resource, amount)| {
                let labels = vec![
                    ("partition", name),
                    ("queue", leaf.as_str()),
                    ("resource", resource.as_str()),
                ];
                (labels, amount.get())
            })
        })
    });
    let help = "Amounts of placeholders, in core units. They are part of the allocated amounts.";
    out.samples(("headroom_queue_reserved", Gauge, help), samples);
}

#[expect(clippy::cast_precision_loss, reason = "a duration of 2^53 ms is 285,000 years")]
pub(super) fn seconds(millis: u64) -> f64 {
    millis as f64 / 1_000.0
}

fn happened(out: &mut Exposition, scrape: &Scrape<'_>) {
    let tally = &scrape.view.tally;
    // Every code has a series from the start, at 0: `increase()` ignores the first value of a series that begins at
    // 1.
    let refused = RefusalCode::ALL.map(|code| {
        let code = code.as_str();
        (vec![("code", code)], tally.refused.get(code).copied().unwrap_or(0))
    });
    out.samples(("headroom_refusals_total", Counter, "Rejected commands, by code."), refused);
    for (name, help, count) in [
        ("headroom_allocations_made_total", "Added allocations.", tally.allocated),
        ("headroom_allocations_released_total", "Removed allocations.", tally.released),
        ("headroom_reservations_made_total", "Reservations made.", tally.reserved),
        ("headroom_swaps_total", "Placeholder replacements.", tally.swapped),
        ("headroom_nodes_removed_total", "Removed nodes.", tally.nodes_removed),
        ("headroom_node_refusals_total", "Rejected nodes.", scrape.view.counters.failed_nodes),
    ] {
        out.one((name, Counter, help), count);
    }
    let cause = |cause| vec![("cause", cause)];
    out.samples(
        ("headroom_preemptions_total", Counter, "Preempted allocations, by cause."),
        [
            (cause("guarantee"), tally.preempted_for_guarantee),
            (cause("quota"), tally.preempted_for_quota),
            (cause("share"), tally.preempted_for_share),
            (cause("priority"), tally.preempted_for_priority),
            (cause("required_node"), tally.preempted_for_node),
        ],
    );
    if let Some(steps) = engine::steps(&scrape.view, &STEP_BOUNDS) {
        let help = "Time to find the next scheduling step.";
        if let Some(mut metric) = out.metric("headroom_scheduler_step_seconds", Histogram, help) {
            metric.histogram(&[], &STEP_BOUNDS, &steps.counts, steps.seconds);
        }
    }
}

fn rms(out: &mut Exposition, scrape: &Scrape<'_>) {
    let rms = scrape.service.live().rms();
    let states = [
        ("init", ResourceManagerState::Init),
        ("running", ResourceManagerState::Running),
        ("paused", ResourceManagerState::Paused),
        ("stopped", ResourceManagerState::Stopped),
    ];
    let samples = rms.iter().flat_map(|rm| {
        states.map(|(word, state)| {
            (vec![("rm", rm.id.as_str()), ("state", word)], u64::from(rm.state == state))
        })
    });
    let help = "State of each resource manager: 1 for the current state.";
    out.samples(("headroom_rm_state", Gauge, help), samples);
}

fn requests(out: &mut Exposition, scrape: &Scrape<'_>) {
    let requests = scrape.service.live().requests();
    let texts: Vec<_> =
        requests.iter().map(|(kind, one)| (kind, kind.status.to_string(), one)).collect();
    let counts = texts.iter().map(|(kind, status, one)| {
        (vec![("operation", kind.operation), ("status", status.as_str())], one.count())
    });
    let help = "Completed requests, by operation of the OpenAPI document and status.";
    out.samples(("headroom_http_requests_total", Counter, help), counts);
    if texts.is_empty() {
        return;
    }
    let help = "Time until the response to a request began.";
    let Some(mut metric) = out.metric("headroom_http_request_seconds", Histogram, help) else {
        return;
    };
    for (kind, status, one) in &texts {
        let labels = [("operation", kind.operation), ("status", status.as_str())];
        metric.histogram(&labels, &Requests::BOUNDS, &one.buckets, one.seconds);
    }
}
