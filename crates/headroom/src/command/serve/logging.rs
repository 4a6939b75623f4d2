//! What is logged: to standard error, as text for people or JSON for machines.

use std::io::{IsTerminal as _, stderr};
use std::sync::Arc;

use headroom_api::headroomv1::{Level, LogLevel};
use headroom_config::process::{self, Log, LogFormat};
use headroom_server::{LogLevels, targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry, reload};

/// Begin to log; what comes back changes how much.
pub(super) fn begin(log: &Log) -> Arc<LogLevels> {
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
    // Only a test would have begun before.
    let _ = registry().with(lines.with_filter(filter)).try_init();
    Arc::new(LogLevels::new(levels, move |targets| {
        // It fails only where nothing is logged any more.
        let _ = handle.modify(|filter| *filter = targets);
    }))
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
