//! Placeholder timeout and gang style of an application.

use std::fmt;

/// What happens if not all placeholders of a gang get nodes in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GangStyle {
    /// The application runs without placeholders.
    #[default]
    Soft,
    /// The application fails.
    Hard,
}

impl GangStyle {
    /// Returns the spelling in annotations and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soft => "Soft",
            Self::Hard => "Hard",
        }
    }
}

/// Policy of a gang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GangPolicy {
    /// Placeholder timeout in seconds. Zero means the default of the core.
    pub timeout_seconds: i64,
    /// What happens after the timeout.
    pub style: GangStyle,
}

/// Placeholder timeout if an application specifies none, in seconds.
pub const DEFAULT_TIMEOUT_SECONDS: i64 = 900;

/// Greatest placeholder timeout in seconds. In milliseconds, it fits 64 bits.
const TIMEOUT_SECONDS_MAX: i64 = i64::MAX / 1000;

impl GangPolicy {
    /// Returns the placeholder timeout in milliseconds, or zero for the default of the core.
    pub fn timeout_millis(self) -> i64 {
        self.timeout_seconds.saturating_mul(1000)
    }
}

/// A policy parameter that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoredParameter {
    /// The parameter is no `key=value`.
    Shape(String),
    /// The timeout is no number of seconds from 0 to [`TIMEOUT_SECONDS_MAX`].
    Timeout(String),
    /// The style is neither `Soft` nor `Hard`.
    Style(String),
}

impl fmt::Display for IgnoredParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(text) => {
                write!(f, "policy parameter {text:?} is ignored: write it as key=value")
            }
            Self::Timeout(text) => write!(
                f,
                "{TIMEOUT}={text} is ignored: write a number of seconds from 0 to {TIMEOUT_SECONDS_MAX}"
            ),
            Self::Style(text) => write!(f, "{STYLE}={text} is ignored: write Soft or Hard"),
        }
    }
}

const TIMEOUT: &str = "placeholderTimeoutInSeconds";
const STYLE: &str = "gangSchedulingStyle";

/// Reads policy parameters, which are separated by spaces. Of equal keys, the last one wins.
pub fn parse_policy(text: &str) -> (GangPolicy, Vec<IgnoredParameter>) {
    let (mut policy, mut ignored) = (GangPolicy::default(), Vec::new());
    for parameter in text.split(' ').filter(|parameter| !parameter.is_empty()) {
        let pair = parameter.split_once('=').filter(|(_, value)| !value.contains('='));
        match pair {
            None => ignored.push(IgnoredParameter::Shape(parameter.to_owned())),
            Some((TIMEOUT, value)) => {
                let seconds = value.parse().ok();
                let seconds = seconds.filter(|seconds| (0..=TIMEOUT_SECONDS_MAX).contains(seconds));
                policy.timeout_seconds = seconds.unwrap_or_else(|| {
                    ignored.push(IgnoredParameter::Timeout(value.to_owned()));
                    0
                });
            }
            Some((STYLE, "Soft")) => policy.style = GangStyle::Soft,
            Some((STYLE, "Hard")) => policy.style = GangStyle::Hard,
            Some((STYLE, value)) => {
                policy.style = GangStyle::Soft;
                ignored.push(IgnoredParameter::Style(value.to_owned()));
            }
            Some(_) => {}
        }
    }
    (policy, ignored)
}
