//! `headroom version`: which Headroom this is.

use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::remote::{Format, Listing};
use crate::{built, output};

const EXAMPLE: &str = "\
Example:
  headroom version
  headroom version -o json";

/// Print the version, the commit if it is known, and what was built in.
///
/// Release builds know their commit from the repository, or from `HEADROOM_COMMIT` at build time;
/// others do not.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Version {
    /// As what it is printed
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t)]
    output: Format,
}

/// As JSON has it.
#[derive(Serialize)]
struct Told {
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
    target: &'static str,
    profile: &'static str,
    features: &'static [&'static str],
}

impl Version {
    /// Print it.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(crate) fn run(&self) -> Result<()> {
        output::print(&listing()?.render(self.output)?)
    }
}

fn listing() -> Result<Listing> {
    let commit = built::COMMIT.filter(|commit| !commit.is_empty());
    let told = Told {
        version: built::VERSION,
        commit,
        target: built::TARGET,
        profile: built::PROFILE,
        features: built::FEATURES,
    };
    let mut listing = Listing::new(&["HEADROOM", built::VERSION], &told)?;
    for (name, value) in [
        ("commit", commit.unwrap_or("not known")),
        ("target", told.target),
        ("profile", told.profile),
        ("features", &told.features.join(", ")),
    ] {
        listing.row([name.to_owned(), value.to_owned()]);
    }
    Ok(listing)
}
