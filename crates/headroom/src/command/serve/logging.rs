//! The log, as text or JSON on standard error, and the traces.

use std::io::{IsTerminal as _, stderr};
use std::sync::Arc;

use anyhow::Result;
use headroom_api::headroomv1::{Level, LogLevel};
use headroom_config::process::{self, LogFormat, Process};
use headroom_engine::TRACES;
use headroom_server::{LogLevels, targets};
use tracing_subscriber::filter::{FilterExt as _, LevelFilter, filter_fn};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry, reload};

use super::otlp;

/// Logs and traces.
pub(super) struct Observability {
    /// The handle that changes the log levels.
    pub(super) levels: Arc<LogLevels>,
    /// The sender of traces. `None` without tracing.
    pub(super) traces: Option<otlp::Sending>,
}

/// Starts the log, and the traces if an endpoint is set. Requires a runtime.
///
/// # Errors
/// When traces cannot be sent.
pub(super) fn begin(process: &Process) -> Result<Observability> {
    let Process { log, otlp, .. } = process;
    let levels = LogLevel {
        level: level(log.levels.level),
        targets: log.levels.targets.iter().map(|(name, one)| (name.clone(), level(*one))).collect(),
    };
    let (filter, handle) = reload::Layer::new(targets(&levels));
    let is_terminal = stderr().is_terminal();
    let is_text = match log.format {
        LogFormat::Auto => is_terminal,
        LogFormat::Text => true,
        LogFormat::Json => false,
    };
    let lines = fmt::layer().with_writer(stderr);
    let lines = if is_text {
        let colours = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        lines.with_ansi(colours).boxed()
    } else {
        lines.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
    };
    // Spans for a collector are not log lines, and do not affect the log lines inside them.
    let lines_alone = filter_fn(|metadata| metadata.target() != TRACES);
    // With the hint, events below the level cost no more than before.
    let filter = filter.and(lines_alone.with_max_level_hint(LevelFilter::TRACE));
    let mut layers = vec![lines.with_filter(filter).boxed()];
    let mut traces = None;
    if let Some(otlp) = otlp {
        let (listener, sending) = otlp::begin(otlp)?;
        layers.push(listener);
        traces = Some(sending);
    }
    // Only a test can have initialized the log before.
    let _ = registry().with(layers).try_init();
    let levels = Arc::new(LogLevels::new(levels, move |targets| {
        // This call fails only after the log has ended.
        let _ = handle.modify(|filter| *filter = targets);
    }));
    Ok(Observability { levels, traces })
}

const fn level(level: process::Level) -> Level {
    match level {
        process::Level::Off => Level::Off,
        process::Level::Error => Level::Error,
        process::Level::Warn => Level::Warn,
        process::Level::Info => Level::Info,
        process::Level::Debug => Level::Debug,
        process::Level::Trace => Level::Trace,
    }
}
