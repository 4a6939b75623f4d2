//! What the engine measures of itself, in the buckets of a metric.

use headroom_engine::{Durations, Scale, View};

/// Times in buckets.
pub(super) struct Times {
    /// How many in each bucket, the last without bound.
    pub(super) counts: Vec<u64>,
    /// All of them together.
    pub(super) seconds: f64,
}

/// How long the steps of the scheduler took; none before the first.
pub(super) fn steps(view: &View, bounds: &[f64]) -> Option<Times> {
    let steps = &view.step_times;
    (steps.count() > 0).then(|| times(steps, bounds))
}

/// Put into buckets that are unions of the engine's own.
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

/// How long something took, in the buckets that the engine has.
pub(super) fn durations<S: Scale>(durations: &Durations<S>) -> (Vec<f64>, Times) {
    let bounds: Vec<f64> = S::BOUNDS.iter().map(std::time::Duration::as_secs_f64).collect();
    let times = times(durations, &bounds);
    (bounds, times)
}
