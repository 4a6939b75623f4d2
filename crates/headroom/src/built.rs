//! How this program was built.

use std::collections::BTreeMap;

/// Its version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The commit; none if nobody said. A development build does not know it.
pub(crate) const COMMIT: Option<&str> = option_env!("HEADROOM_COMMIT");

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
    let known =
        [("features", FEATURES.join(",")), ("profile", PROFILE.into()), ("target", TARGET.into())];
    known.into_iter().chain(commit).map(|(name, value)| (name.to_owned(), value)).collect()
}
