//! Log levels that can be changed while the server runs.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_api::headroomv1::{Level, LogLevel};
use tracing_subscriber::filter::{LevelFilter, Targets};

/// Maximum number of targets with their own level.
pub const TARGETS_MAX: usize = 100;
/// Maximum length of the name of a target, in bytes.
pub const TARGET_BYTES_MAX: usize = 200;

/// The current log levels, which can be changed at any time.
pub struct LogLevels {
    current: Mutex<LogLevel>,
    apply: Box<dyn Fn(Targets) + Send + Sync>,
}

/// Reason why levels were not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogLevelError {
    /// The request has too many targets.
    #[error("{found} targets have their own level, but at most {TARGETS_MAX} are allowed")]
    TooMany {
        /// Number of targets.
        found: usize,
    },
    /// A name that no target can have.
    #[error("the name of a target has {bytes} bytes, but 1 to {TARGET_BYTES_MAX} are allowed")]
    Name {
        /// Length of the name in bytes.
        bytes: usize,
    },
}

impl LogLevels {
    /// Returns the active levels. `apply` activates new levels.
    pub fn new(current: LogLevel, apply: impl Fn(Targets) + Send + Sync + 'static) -> Self {
        Self { current: Mutex::new(current), apply: Box::new(apply) }
    }

    /// Returns the active levels.
    pub fn get(&self) -> LogLevel {
        self.current().clone()
    }

    /// Replaces all active levels.
    ///
    /// # Errors
    /// If the request has too many targets, or a target has an invalid name. Nothing changes then.
    pub fn set(&self, levels: LogLevel) -> Result<(), LogLevelError> {
        if levels.targets.len() > TARGETS_MAX {
            return Err(LogLevelError::TooMany { found: levels.targets.len() });
        }
        let wrong = |name: &&String| name.is_empty() || name.len() > TARGET_BYTES_MAX;
        if let Some(name) = levels.targets.keys().find(wrong) {
            return Err(LogLevelError::Name { bytes: name.len() });
        }
        // The lock ensures that two concurrent calls do not apply one value and report the other.
        let mut current = self.current();
        (self.apply)(targets(&levels));
        *current = levels;
        Ok(())
    }

    fn current(&self) -> MutexGuard<'_, LogLevel> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LogLevels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LogLevels").field("current", &*self.current()).finish_non_exhaustive()
    }
}

/// Audit lines are written at every level.
const ALWAYS: &str = crate::audit::TARGET;

/// Returns a filter for these levels.
pub fn targets(levels: &LogLevel) -> Targets {
    let mut targets = Targets::new().with_default(filter(levels.level));
    for (name, level) in &levels.targets {
        targets = targets.with_target(name.as_str(), filter(*level));
    }
    targets.with_target(ALWAYS, LevelFilter::INFO)
}

const fn filter(level: Level) -> LevelFilter {
    match level {
        Level::Off => LevelFilter::OFF,
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use headroom_api::headroomv1::{Level, LogLevel};
    use tracing::Level as Of;

    use super::{LogLevelError, LogLevels, TARGETS_MAX};

    #[test]
    fn levels_are_put_in_force_or_refused_as_a_whole() {
        let applied = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&applied);
        let levels = LogLevels::new(LogLevel::default(), move |targets| {
            *seen.lock().unwrap() = Some(targets);
        });
        let part = |name: &str| (name.to_owned(), Level::Trace);
        let wanted = LogLevel { level: Level::Off, targets: [part("a::b")].into() };
        levels.set(wanted.clone()).unwrap();
        assert_eq!(levels.get(), wanted);
        let targets = applied.lock().unwrap().take().unwrap();
        assert!(targets.would_enable("a::b::c", &Of::TRACE));
        assert!(!targets.would_enable("a", &Of::ERROR));
        assert!(targets.would_enable("audit", &Of::INFO));

        let many = (0..=TARGETS_MAX).map(|number| part(&number.to_string())).collect();
        for (bad, why) in [
            (many, LogLevelError::TooMany { found: TARGETS_MAX + 1 }),
            ([part("")].into(), LogLevelError::Name { bytes: 0 }),
        ] {
            let refused = levels.set(LogLevel { level: Level::Info, targets: bad });
            assert_eq!(refused, Err(why));
        }
        assert_eq!(levels.get(), wanted);
        assert!(applied.lock().unwrap().is_none());
    }
}
