//! Metrics with the names of the reference, for existing dashboards. Source: rest-api §14.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::books::{ApplicationState, Books, Queue};
use headroom_core::resource::{Quantity, Resources};
use headroom_core::view::{BANDS, usage_bands};

use super::scrape::Scrape;
use super::text::{Exposition, Kind, as_name};

/// Upper bounds of the reference's histograms, in seconds.
const BOUNDS: [f64; 8] = [0.000_1, 0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1_000.0];

/// Bands of utilization, in the reference's notation.
const RANGES: [&str; BANDS] = [
    "[0,10%]",
    "(10%,20%]",
    "(20%,30%]",
    "(30%,40%]",
    "(40%,50%]",
    "(50%,60%]",
    "(60%,70%]",
    "(70%,80%]",
    "(80%,90%]",
    "(90%,100%]",
];

pub(super) fn write(out: &mut Exposition, scrape: &Scrape<'_>) {
    scheduler(out, scrape);
    latencies(out, scrape);
    node_usage(out, &scrape.view.books);
    queue_applications(out, scrape);
    queue_resources(out, &scrape.view.books);
    queue_containers(out, scrape);
    events(out, scrape);
}

fn scheduler(out: &mut Exposition, scrape: &Scrape<'_>) {
    let (tally, counters) = (&scrape.view.tally, scrape.view.counters);
    let state = |state| vec![("state", state)];
    out.samples(
        (
            "yunikorn_scheduler_container_allocation_attempt_total",
            Kind::Counter,
            "Total number of attempts to allocate containers. State of the attempt includes \
             `allocated`, `rejected`, `error`, `released`",
        ),
        [
            (state("allocated"), tally.allocated),
            (state("error"), counters.errors),
            (state("rejected"), tally.asks_refused),
            (state("released"), tally.released),
        ],
    );
    let result = |result| vec![("result", result)];
    out.samples(
        (
            "yunikorn_scheduler_application_submission_total",
            Kind::Counter,
            "Total number of application submissions. State of the attempt includes `new`, \
             `accepted` and `rejected`.",
        ),
        [
            (result("accepted"), tally.accepted),
            (result("new"), tally.submitted),
            (result("rejected"), tally.rejected),
        ],
    );
    let now = |state| tally.partitions.values().map(|one| one.states.get(state)).sum::<u64>();
    out.samples(
        (
            "yunikorn_scheduler_application_total",
            Kind::Gauge,
            "Total number of applications. State of the application includes `running`, \
             `resuming`, `failing`, `completing`, `completed` and `failed`.",
        ),
        [
            (state("completed"), tally.completed),
            (state("completing"), now(ApplicationState::Completing)),
            (state("failed"), tally.failed),
            (state("failing"), now(ApplicationState::Failing)),
            (state("resuming"), now(ApplicationState::Resuming)),
            (state("running"), now(ApplicationState::Running)),
        ],
    );
    let books = &scrape.view.books;
    let (mut active, mut draining) = (0_u64, 0_u64);
    for (_, node) in books.nodes().iter() {
        *if node.schedulable { &mut active } else { &mut draining } += 1;
    }
    out.samples(
        (
            "yunikorn_scheduler_node",
            Kind::Gauge,
            "Total number of nodes. State of the node includes `active`, `draining`, `failed` and \
             `decommissioned`.",
        ),
        [
            (state("active"), active),
            (state("decommissioned"), tally.nodes_removed),
            (state("draining"), draining),
            (state("failed"), counters.failed_nodes),
        ],
    );
}

/// Writes the measured durations of scheduling. One step is one cycle of the reference. Parts of a step are not
/// measured, because they take less time than reading the clock.
fn latencies(out: &mut Exposition, scrape: &Scrape<'_>) {
    let Some(cycles) = super::engine::steps(&scrape.view, &BOUNDS) else { return };
    for (name, help) in [
        (
            "yunikorn_scheduler_scheduling_latency_milliseconds",
            "Latency of the main scheduling routine, in seconds.",
        ),
        (
            "yunikorn_scheduler_scheduling_cycle_milliseconds",
            "Time taken for a full scheduling cycle, in seconds.",
        ),
    ] {
        if let Some(mut metric) = out.metric(name, Kind::Histogram, help) {
            metric.histogram(&[], &BOUNDS, &cycles.counts, cycles.seconds);
        }
    }
}

/// Writes the number of nodes in each band of utilization, by resource type.
fn node_usage(out: &mut Exposition, books: &Books) {
    let mut all: BTreeMap<String, [u64; BANDS]> = BTreeMap::new();
    for id in books.partitions().keys() {
        for (resource, counts) in usage_bands(books, *id) {
            let sums = all.entry(resource.to_string()).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    for (resource, counts) in all {
        let name = format!("yunikorn_scheduler_{}_node_usage_total", as_name(&resource));
        let help = "Total resource usage of node, by resource name.";
        let samples = RANGES.into_iter().zip(counts);
        let samples = samples.map(|(range, count)| (vec![("range", range)], count));
        out.samples((&name, Kind::Gauge, help), samples);
    }
}

/// Returns all queues by path, one partition after another.
fn queues(books: &Books) -> impl Iterator<Item = &Queue> {
    let partitions = books.partitions().values();
    partitions.flat_map(|one| one.queues.iter()).map(|(_, id)| books.queue(*id))
}

fn queue_applications(out: &mut Exposition, scrape: &Scrape<'_>) {
    use ApplicationState::{Accepted, Completing, Failing, New, Resuming, Running};

    let tally = &scrape.view.tally;
    let there: BTreeSet<&str> = queues(&scrape.view.books).map(|queue| &*queue.path).collect();
    let counted = tally.queues.iter().filter(|(path, _)| there.contains(&***path));
    let samples = counted.flat_map(|(path, queue)| {
        let now = |state| queue.states.get(state);
        [
            ("accepted", now(Accepted)),
            ("completed", queue.completed),
            ("completing", now(Completing)),
            ("failed", queue.failed),
            ("failing", now(Failing)),
            ("new", now(New)),
            ("rejected", queue.rejected),
            ("resuming", now(Resuming)),
            ("running", now(Running)),
        ]
        .map(|(state, count)| (vec![("queue", &**path), ("state", state)], count))
    });
    out.samples(
        (
            "yunikorn_queue_app",
            Kind::Gauge,
            "Queue application metrics. State of the application includes `new`, `accepted`, \
             `rejected`, `running`, `resuming`, `failing`, `failed`, `completing`, `completed`",
        ),
        samples,
    );
    let samples = tally.queues.iter().flat_map(|(path, queue)| {
        [("completed", queue.completed), ("failed", queue.failed), ("rejected", queue.rejected)]
            .map(|(state, count)| (vec![("queue", &**path), ("state", state)], count))
    });
    out.samples(
        (
            "yunikorn_queue_app_total",
            Kind::Counter,
            "Queue application metrics. State of the application includes `rejected`, `failed`, \
             `completed`.",
        ),
        samples,
    );
}

fn queue_resources(out: &mut Exposition, books: &Books) {
    let help = "Queue resource metrics. State of the resource includes `guaranteed`, `max`, \
                `allocated`, `pending`, `preempting`, `maxRunningApps`.";
    let Some(mut metric) = out.metric("yunikorn_queue_resource", Kind::Gauge, help) else { return };
    for queue in queues(books) {
        let mut show = |state: &str, resource: &str, amount: i64| {
            let labels = [("queue", &*queue.path), ("resource", resource), ("state", state)];
            metric.sample(&labels, amount);
        };
        let name = |resource| books.types().name(resource).as_str();
        for (state, amounts) in [("guaranteed", &queue.guaranteed), ("max", &queue.max)] {
            for (resource, amount) in amounts.iter().flat_map(Resources::iter) {
                show(state, name(resource), amount.get());
            }
        }
        // A type that is no longer used has the value 0. Otherwise the old value would stay.
        let root = books.queue(books.partition(queue.partition).root);
        let types = root.max.iter().flat_map(Resources::iter).map(|(resource, _)| resource);
        let types: Vec<_> = types.collect();
        for (state, amounts) in [
            ("allocated", &queue.allocated),
            ("pending", &queue.pending),
            ("preempting", &queue.preempting),
        ] {
            for resource in &types {
                show(state, name(*resource), amounts.get_or_zero(*resource).get());
            }
            let beyond = amounts.iter().filter(|(resource, _)| !types.contains(resource));
            for (resource, amount) in beyond.filter(|(_, amount)| *amount != Quantity::ZERO) {
                show(state, name(resource), amount.get());
            }
        }
        let most = queue.settings.max_applications;
        if most > 0 {
            show("maxRunningApps", "apps", i64::try_from(most).unwrap_or(i64::MAX));
        }
    }
}

/// Writes the metrics with the path in the name, as the reference does. If two paths result in the same name, omits the
/// second metric.
fn queue_containers(out: &mut Exposition, scrape: &Scrape<'_>) {
    for queue in queues(&scrape.view.books) {
        let Some(tally) = scrape.view.tally.queues.get(&queue.path) else { continue };
        let name = format!("yunikorn_{}_queue_container", as_name(&queue.path));
        let help = "Queue container metrics. State of the attempt includes `allocated`, \
                    `released`.";
        let state = |state| vec![("state", state)];
        out.samples(
            (&name, Kind::Counter, help),
            [(state("allocated"), tally.allocated), (state("released"), tally.released)],
        );
    }
}

/// Writes the counts of events. Every event is stored immediately, so no event is lost between the stages.
fn events(out: &mut Exposition, scrape: &Scrape<'_>) {
    let made = scrape.service.engine.watched().made();
    for (name, help, count) in [
        ("yunikorn_event_total_created", "Total events created", made),
        ("yunikorn_event_total_channeled", "Total events channeled", made),
        ("yunikorn_event_total_not_channeled", "Total events not channeled", 0),
        ("yunikorn_event_total_processed", "Total events processed", made),
        ("yunikorn_event_total_stored", "Total events stored", made),
        ("yunikorn_event_total_not_stored", "Total events not stored", 0),
    ] {
        out.one((name, Kind::Gauge, help), count);
    }
}
