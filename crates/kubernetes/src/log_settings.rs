//! Log levels from the config maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use headroom_api::headroomv1::{Level, LogLevel};
use headroom_pods::convert::settings::table::LOG_LEVEL;
use headroom_pods::convert::settings::{Entries, is_level_key};
use headroom_pods::convert::text::{LogWord, parse_log_level};
use headroom_server::LogLevels;

/// Subsystems of `YuniKorn` by the beginning of their names, and the targets of the same parts here.
const PARTS: [(&str, &[&str]); 2] = [
    ("core", &["headroom_core", "headroom_engine", "headroom_server"]),
    ("shim", &["headroom_kubernetes", "headroom_pods"]),
];

/// Beginning of the targets of this program.
const OWN: &str = "headroom";

/// Applies the log levels of the config maps.
#[derive(Debug)]
pub(crate) struct LogSettings {
    levels: Arc<LogLevels>,
    /// Levels without any entry: those of the command line.
    start: LogLevel,
    /// Entries that were applied last.
    last: BTreeMap<String, String>,
}

impl LogSettings {
    pub(crate) fn new(levels: Arc<LogLevels>) -> Self {
        Self { start: levels.get(), levels, last: BTreeMap::new() }
    }

    /// Applies the entries if they changed. Other entries do not undo levels that an administrator set since.
    pub(crate) fn apply(&mut self, entries: &Entries) {
        let own = entries.iter().filter(|(key, _)| key.starts_with("log."));
        let own = own.map(|(key, value)| (key.to_string(), value.to_string())).collect();
        if own == self.last {
            return;
        }
        if let Err(error) = self.levels.set(levels_of(&own, &self.start)) {
            tracing::warn!("the log levels of the config maps are ignored: {error}");
        }
        self.last = own;
    }
}

/// Returns the levels that entries set. What they leave open stays as at the start.
fn levels_of(entries: &BTreeMap<String, String>, start: &LogLevel) -> LogLevel {
    let mut levels = start.clone();
    let mut of_parts = BTreeMap::<&str, Level>::new();
    for (key, value) in entries {
        if !is_level_key(key) {
            continue;
        }
        let Some(level) = level(value) else {
            let start: String = value.chars().take(60).collect();
            tracing::warn!("{key} is {start:?}, which is no log level, and is ignored");
            continue;
        };
        if key == LOG_LEVEL.key {
            // Details of libraries would hide those of the scheduler.
            levels.level = level.min(Level::Info);
            if level > Level::Info {
                levels.targets.entry(OWN.to_owned()).or_insert(level);
            }
            continue;
        }
        let name = key.strip_prefix("log.").and_then(|rest| rest.strip_suffix(".level"));
        let is_part = |part: &str| {
            let rest = name.and_then(|name| name.strip_prefix(part));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        for (_, targets) in PARTS.iter().filter(|(part, _)| is_part(part)) {
            for target in *targets {
                let known = of_parts.entry(target).or_insert(level);
                // Levels are ordered from the fewest lines to the most.
                *known = (*known).max(level);
            }
        }
    }
    levels.targets.extend(of_parts.into_iter().map(|(name, level)| (name.to_owned(), level)));
    levels
}

fn level(text: &str) -> Option<Level> {
    Some(match parse_log_level(text)? {
        LogWord::Debug => Level::Debug,
        LogWord::Info => Level::Info,
        LogWord::Warn => Level::Warn,
        LogWord::Error => Level::Error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(entries: &[(&str, &str)]) -> LogLevel {
        let entries =
            entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let start =
            LogLevel { level: Level::Warn, targets: [("h2".to_owned(), Level::Off)].into() };
        levels_of(&entries, &start)
    }

    #[test]
    fn entries_set_the_levels_of_the_log_and_of_its_parts() {
        let none = levels(&[("log.level", "loud"), ("log.admission.level", "DEBUG")]);
        assert_eq!((none.level, none.targets.len()), (Level::Warn, 1));
        let all = levels(&[("log.level", "-1")]);
        assert_eq!((all.level, all.targets["headroom"]), (Level::Info, Level::Debug));
        let few = levels(&[("log.level", "error")]);
        assert_eq!((few.level, few.targets.len()), (Level::Error, 1));
        let parts = levels(&[
            ("log.core.level", "ERROR"),
            ("log.core.scheduler.node.level", "debug"),
            ("log.shim.level", "2"),
            ("log.corelike.level", "DEBUG"),
        ]);
        assert_eq!(parts.level, Level::Warn);
        assert_eq!(parts.targets["headroom_core"], Level::Debug);
        assert_eq!(parts.targets["headroom_kubernetes"], Level::Error);
        assert_eq!(parts.targets["h2"], Level::Off);
        assert_eq!(parts.targets.len(), 6);
    }
}
