//! How this program was built.

use std::collections::BTreeMap;

/// Its version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit; none if the build did not set it. A development build does not know it.
pub(crate) const COMMIT: Option<&str> = option_env!("HEADROOM_COMMIT");

/// The date of the commit, in RFC 3339. A development build does not know it.
const DATE: Option<&str> = option_env!("HEADROOM_DATE");

/// For which system.
pub(crate) const TARGET: &str = env!("HEADROOM_TARGET");

/// The profile of Cargo, such as `release`, `debug`, or `try`.
pub(crate) const PROFILE: &str = env!("HEADROOM_PROFILE");

/// Parts that can be left out and were not, in the order of their names.
pub(crate) const FEATURES: &[&str] = &[
    #[cfg(feature = "otlp")]
    "otlp",
    #[cfg(feature = "profiler")]
    "profiler",
];

/// The same for `/headroom/v1/health`.
pub(crate) fn facts() -> BTreeMap<String, String> {
    let commit = COMMIT.filter(|commit| !commit.is_empty());
    let commit = commit.map(|commit| ("commit", commit.to_owned()));
    let date = DATE.map(|date| ("date", date.to_owned()));
    let known =
        [("features", FEATURES.join(",")), ("profile", PROFILE.into()), ("target", TARGET.into())];
    let known = known.into_iter().chain(commit).chain(date);
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns what a resource manager of this program sends of its build, under the keys that pages read.
pub(crate) fn facts_of_rm() -> BTreeMap<String, String> {
    let known = [
        ("arch", Some(std::env::consts::ARCH)),
        ("buildDate", DATE),
        ("buildVersion", Some(VERSION)),
        ("coreSHA", COMMIT.filter(|commit| !commit.is_empty())),
        ("isPluginVersion", Some("false")),
    ];
    let known = known.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
