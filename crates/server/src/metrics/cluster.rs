//! Metrics of the Kubernetes scheduler in this process. `docs/metrics.md` describes them.

use super::scrape::Scrape;
use super::text::{Exposition, Kind};
use crate::cluster::EventOutcome;
use crate::live::Requests;

use Kind::{Counter, Histogram};

/// Writes the metrics, if this process schedules a Kubernetes cluster.
pub(super) fn write(out: &mut Exposition, scrape: &Scrape<'_>) {
    let Some(counters) = scrape.service.live().cluster() else { return };
    let requests = counters.requests();
    let coded = requests.into_iter().map(|(request, count)| {
        let code = request.code.map_or_else(|| "none".to_owned(), |code| code.to_string());
        (request.method, code, count)
    });
    let coded: Vec<_> = coded.collect();
    let samples = coded
        .iter()
        .map(|(method, code, count)| (vec![("method", *method), ("code", &**code)], *count));
    let help = "Requests to the API server, by method and status.";
    out.samples(("headroom_kubernetes_requests_total", Counter, help), samples);
    let help = "Time until the API server bound a pod, waits for the limit of requests included.";
    if let Some(mut metric) = out.metric("headroom_kubernetes_bind_seconds", Histogram, help) {
        let binds = counters.binds();
        metric.histogram(&[], &Requests::BOUNDS, &binds.buckets, binds.seconds);
    }
    let help = "Tries to bind a pod that failed, and after which the pod still waits.";
    out.one(("headroom_kubernetes_bind_failures_total", Counter, help), counters.bind_failures());
    let events = EventOutcome::ALL
        .map(|outcome| (vec![("result", outcome.as_str())], counters.events(outcome)));
    let help = "Writes of events for people, by outcome.";
    out.samples(("headroom_kubernetes_events_total", Counter, help), events);
    let faults = counters.watch_faults();
    let samples = faults.iter().map(|(kind, count)| (vec![("kind", &**kind)], *count));
    let help = "Watches that a fault ended, by kind. They are opened again.";
    out.samples(("headroom_kubernetes_watch_faults_total", Counter, help), samples);
}
