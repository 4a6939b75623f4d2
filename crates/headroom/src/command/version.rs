//! `headroom version`: the version of the program.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::remote::{Format, Listing};
use crate::{built, output};

const EXAMPLE: &str = "\
Example:
  headroom version
  headroom version -o json";

/// Print the version, the commit if known, and the build features.
///
/// Release builds take the commit from the repository, or from `HEADROOM_COMMIT` at build time. Other
/// builds have no commit.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Version {
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
}

/// The fields of the JSON output.
#[derive(Serialize)]
struct VersionInfo {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
    target: &'static str,
    profile: &'static str,
    features: &'static [&'static str],
}

impl Version {
    /// Prints the result.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn run(&self) -> Result<()> {
        output::print(&listing()?.render(self.output)?)
    }
}

fn listing() -> Result<Listing> {
    let commit = built::COMMIT.filter(|commit| !commit.is_empty());
    let info = VersionInfo {
        version: built::VERSION,
        commit,
        target: built::TARGET,
        profile: built::PROFILE,
        features: built::FEATURES,
    };
    let mut listing = Listing::new(&["HEADROOM", built::VERSION], &info)?;
    for (name, value) in [
        ("commit", commit.unwrap_or("unknown")),
        ("target", info.target),
        ("profile", info.profile),
        ("features", &info.features.join(", ")),
    ] {
        listing.row([name.to_owned(), value.to_owned()]);
    }
    Ok(listing)
}
