//! Metrics of the process, with the names that all Prometheus clients use.
//!
//! Source: <https://prometheus.io/docs/instrumenting/writing_clientlibs/>, "Standard and runtime collectors". Systems
//! without `/proc` omit its metrics.

use std::fs;

use crate::service::Service;

use super::text::{Exposition, Kind, Value};

/// Clock ticks of `/proc` in a second, on all supported systems.
const TICKS: f64 = 100.0;
/// Size of a page in bytes, on all supported systems.
const PAGE: u64 = 4_096;

pub(super) fn write(out: &mut Exposition, service: &Service) {
    let mut show = |name: &str, kind, help: &str, value: Option<Value>| {
        if let Some(value) = value {
            out.samples((name, kind, help), [(Vec::new(), value)]);
        }
    };
    let stat = Stat::read();
    let cpu = stat.as_ref().map(|stat| Value::Measure(stat.cpu_seconds));
    let help = "Total user and system CPU time spent in seconds.";
    show("process_cpu_seconds_total", Kind::Counter, help, cpu);
    let memory = stat.as_ref().map(|stat| Value::Count(stat.resident_bytes));
    let help = "Resident memory size in bytes.";
    show("process_resident_memory_bytes", Kind::Gauge, help, memory);
    let memory = stat.as_ref().map(|stat| Value::Count(stat.virtual_bytes));
    let help = "Virtual memory size in bytes.";
    show("process_virtual_memory_bytes", Kind::Gauge, help, memory);
    let threads = stat.as_ref().map(|stat| Value::Count(stat.threads));
    show("process_threads", Kind::Gauge, "Number of OS threads in the process.", threads);
    let open = fs::read_dir("/proc/self/fd").ok().map(|files| Value::Count(files.count() as u64));
    show("process_open_fds", Kind::Gauge, "Number of open file descriptors.", open);
    let help = "Maximum number of open file descriptors.";
    show("process_max_fds", Kind::Gauge, help, files_max().map(Value::Count));
    let started = service.about.started_at.as_duration().as_secs_f64();
    let help = "Start time of the process since unix epoch in seconds.";
    show("process_start_time_seconds", Kind::Gauge, help, Some(Value::Measure(started)));
}

/// Content of `/proc/self/stat`.
struct Stat {
    cpu_seconds: f64,
    virtual_bytes: u64,
    resident_bytes: u64,
    threads: u64,
}

impl Stat {
    fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Parses the text. Source: proc(5). The name in the second field can contain any character, including brackets.
    #[expect(clippy::cast_precision_loss, reason = "ticks of a process are far below 2^53")]
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // The first of these fields is number 3 in the documentation.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            cpu_seconds: (number(14)? + number(15)?) as f64 / TICKS,
            threads: number(20)?,
            virtual_bytes: number(23)?,
            resident_bytes: number(24)? * PAGE,
        })
    }
}

/// Returns the maximum number of open files of the process.
fn files_max() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let text = "7 (a) b (c) R 1 1 1 0 -1 4 9 0 0 0 250 50 0 0 20 0 13 0 99 4096 3 0 0";
        let stat = Stat::parse(text).expect("it is complete");
        assert_eq!((stat.virtual_bytes, stat.resident_bytes, stat.threads), (4_096, 12_288, 13));
        assert!((stat.cpu_seconds - 3.0).abs() < 1e-9);
        assert!(Stat::parse("7 (a) R 1").is_none());
    }
}
