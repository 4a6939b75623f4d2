//! Build information of this program.

use std::collections::BTreeMap;

/// Version of the program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit of the build. `None` if unknown, as in development builds.
pub(crate) const COMMIT: Option<&str> = option_env!("HEADROOM_COMMIT");

/// Date of the commit, in RFC 3339. `None` in development builds.
const DATE: Option<&str> = option_env!("HEADROOM_DATE");

/// Target platform.
pub(crate) const TARGET: &str = env!("HEADROOM_TARGET");

/// Cargo profile, such as `release`, `debug`, or `try`.
pub(crate) const PROFILE: &str = env!("HEADROOM_PROFILE");

/// Enabled optional features, sorted by name.
pub(crate) const FEATURES: &[&str] = &[
    #[cfg(feature = "kubernetes")]
    "kubernetes",
    #[cfg(feature = "otlp")]
    "otlp",
    #[cfg(feature = "profiler")]
    "profiler",
];

/// Returns the build information for `/headroom/v1/health`.
pub(crate) fn facts() -> BTreeMap<String, String> {
    let commit = COMMIT.filter(|commit| !commit.is_empty());
    let commit = commit.map(|commit| ("commit", commit.to_owned()));
    let date = DATE.map(|date| ("date", date.to_owned()));
    let known =
        [("features", FEATURES.join(",")), ("profile", PROFILE.into()), ("target", TARGET.into())];
    let known = known.into_iter().chain(commit).chain(date);
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the build information that the resource managers of this program send, under the keys that web pages read.
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
