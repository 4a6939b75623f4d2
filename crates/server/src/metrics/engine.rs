//! Durations that the engine measures, in the buckets of a metric.

use headroom_engine::{Durations, Scale, View};

/// Durations in buckets.
pub(super) struct Times {
    /// Number in each bucket. The last bucket has no bound.
    pub(super) counts: Vec<u64>,
    /// Sum of all durations in seconds.
    pub(super) seconds: f64,
}

/// Returns the durations of the steps of the scheduler. `None` before the first step.
pub(super) fn steps(view: &View, bounds: &[f64]) -> Option<Times> {
    let steps = &view.step_times;
    (steps.count() > 0).then(|| times(steps, bounds))
}

/// Converts durations to buckets that are unions of the buckets of the engine.
fn times<S: Scale>(durations: &Durations<S>, bounds: &[f64]) -> Times {
    let mut counts = vec![0; bounds.len() + 1];
    for (bound, count) in durations.counts() {
        let bucket = bound.map_or(bounds.len(), |bound| {
            let seconds = bound.as_secs_f64();
            bounds.iter().position(|upper| seconds <= *upper).unwrap_or(bounds.len())
        });
        counts[bucket] += count;
    }
    Times { counts, seconds: durations.sum().as_secs_f64() }
}

/// Returns durations in the buckets of the engine.
pub(super) fn durations<S: Scale>(durations: &Durations<S>) -> (Vec<f64>, Times) {
    let bounds: Vec<f64> = S::BOUNDS.iter().map(std::time::Duration::as_secs_f64).collect();
    let times = times(durations, &bounds);
    (bounds, times)
}
