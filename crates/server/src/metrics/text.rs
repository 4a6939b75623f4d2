//! Prometheus' text format, version 0.0.4.
//!
//! The Prometheus client library for Rust writes `OpenMetrics`, which appends `_total` to the name of every counter and
//! omits it in its `TYPE`. Names of the reference must not change, so this module writes the format itself. All values
//! are known at the scrape, so a metric is only a name with samples.
//!
//! Source: <https://prometheus.io/docs/instrumenting/exposition_formats/>, "Text format details".

use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Write as _};

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value that only rises.
    Counter,
    /// A value that rises and falls.
    Gauge,
    /// Counts in buckets.
    Histogram,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        })
    }
}

/// A label and its value.
pub(super) type Label<'a> = (&'static str, &'a str);

/// A value of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Count(u64),
    Amount(i64),
    Measure(f64),
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<i64> for Value {
    fn from(amount: i64) -> Self {
        Self::Amount(amount)
    }
}

impl From<f64> for Value {
    fn from(measure: f64) -> Self {
        Self::Measure(measure)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(out, "{count}"),
            Self::Amount(amount) => write!(out, "{amount}"),
            Self::Measure(measure) => write!(out, "{measure}"),
        }
    }
}

/// A text to which metrics are appended.
#[derive(Debug, Default)]
pub(super) struct Exposition {
    text: String,
    names: BTreeSet<String>,
}

/// Samples of one metric.
#[derive(Debug)]
pub(super) struct Metric<'a> {
    text: &'a mut String,
    name: String,
    /// Labels of the samples so far. Each sample occurs once.
    seen: HashSet<String>,
}

impl Exposition {
    /// Begins a metric. `None` if a metric with this name exists: two names of the reference can become the same, and
    /// the second metric is omitted.
    pub(super) fn metric(
        &mut self,
        name: impl Into<String>,
        kind: Kind,
        help: &str,
    ) -> Option<Metric<'_>> {
        let name = name.into();
        if !self.names.insert(name.clone()) {
            return None;
        }
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("texts take all");
        Some(Metric { text: &mut self.text, name, seen: HashSet::new() })
    }

    /// Adds a metric with these samples. Omits the metric if the list is empty.
    pub(super) fn samples<'a, V: Into<Value>>(
        &mut self,
        (name, kind, help): (&str, Kind, &str),
        samples: impl IntoIterator<Item = (Vec<Label<'a>>, V)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let Some(mut metric) = self.metric(name, kind, help) else { return };
        for (labels, value) in samples {
            metric.sample(&labels, value);
        }
    }

    /// Adds a metric with one sample without labels.
    pub(super) fn one(&mut self, description: (&str, Kind, &str), value: impl Into<Value>) {
        self.samples(description, [(Vec::new(), value)]);
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

impl Metric<'_> {
    /// Adds a sample. If several samples have the same labels, the first sample stays.
    pub(super) fn sample(&mut self, labels: &[Label<'_>], value: impl Into<Value>) {
        let labels = written(labels);
        if self.seen.insert(labels.clone()) {
            let (name, value) = (&self.name, value.into());
            writeln!(self.text, "{name}{} {value}", braces(&labels)).expect("texts take all");
        }
    }

    /// Adds a histogram: the number in each bucket, of which the last has no bound, and the sum.
    pub(super) fn histogram(
        &mut self,
        labels: &[Label<'_>],
        bounds: &[f64],
        counts: &[u64],
        sum: f64,
    ) {
        let (name, labels) = (&self.name, written(labels));
        let comma = if labels.is_empty() { "" } else { "," };
        let mut below = 0;
        for (bucket, count) in counts.iter().enumerate() {
            below += count;
            let bound = bounds.get(bucket).map_or("+Inf".to_owned(), ToString::to_string);
            writeln!(self.text, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {below}")
                .expect("texts take all");
        }
        let labels = braces(&labels);
        writeln!(self.text, "{name}_sum{labels} {sum}\n{name}_count{labels} {below}")
            .expect("texts take all");
    }
}

fn written(labels: &[Label<'_>]) -> String {
    let escaped =
        |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    labels.collect::<Vec<_>>().join(",")
}

fn braces(labels: &str) -> String {
    if labels.is_empty() { String::new() } else { format!("{{{labels}}}") }
}

/// Returns a text as a part of the name of a metric. Source: the reference's rule, rest-api §14.
pub(super) fn as_name(text: &str) -> String {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':');
    // Every byte of another character becomes one `_`.
    let mut name: String = text
        .chars()
        .flat_map(|letter| {
            let (shown, count) = if legal(letter) { (letter, 1) } else { ('_', letter.len_utf8()) };
            std::iter::repeat_n(shown, count)
        })
        .collect();
    if name.starts_with(|letter: char| letter.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_legal_byte_by_byte() {
        for (text, expected) in [
            ("root.a-b", "root_a_b"),
            ("ephemeral-storage", "ephemeral_storage"),
            ("nvidia.com/gpu", "nvidia_com_gpu"),
            ("9lives", "_9lives"),
            ("é", "__"),
        ] {
            assert_eq!(as_name(text), expected, "{text}");
        }
    }

    #[test]
    fn labels_are_escaped_and_nothing_is_there_twice() {
        let mut out = Exposition::default();
        let labels = |value| vec![("queue", value)];
        let description = ("a", Kind::Gauge, "One\nline\\.");
        out.samples(description, [(labels("x\"\\\n"), 1_i64), (labels("x\"\\\n"), 2)]);
        out.samples(description, [(labels("y"), 3_i64)]);
        out.samples(("b", Kind::Counter, "None."), Vec::<(Vec<Label<'_>>, u64)>::new());
        assert_eq!(
            out.finish(),
            "# HELP a One\\nline\\\\.\n# TYPE a gauge\na{queue=\"x\\\"\\\\\\n\"} 1\n"
        );
    }

    #[test]
    fn a_histogram_counts_up() {
        let mut out = Exposition::default();
        let mut metric = out.metric("h", Kind::Histogram, "H.").expect("it is the first");
        metric.histogram(&[("route", "r")], &[0.5, 1.0], &[2, 0, 1], 3.5);
        let text = out.finish();
        let samples: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            samples,
            [
                "h_bucket{route=\"r\",le=\"0.5\"} 2",
                "h_bucket{route=\"r\",le=\"1\"} 2",
                "h_bucket{route=\"r\",le=\"+Inf\"} 3",
                "h_sum{route=\"r\"} 3.5",
                "h_count{route=\"r\"} 3",
            ]
        );
    }
}
