//! `headroom simulate scenes`: a study of user limits that needs no input.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use headroom_sim::report::html::scenes;
use headroom_sim::study::{Study, text};

use crate::output;

/// Run scenes in which users of YARN's `CapacityScheduler` get stuck, with three formulas.
///
/// Each scene runs with yarn27, yarn3, and smooth. The report also shows the results of
/// `CapacityScheduler` 2.7.3 and 3.4.3. The command needs no workload, and its output is reproducible.
#[derive(Debug, Args)]
#[command(after_help = "Example: headroom simulate scenes --report scenes.html")]
pub(crate) struct Scenes {
    /// Write the study as one HTML file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write the study as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Scenes {
    pub(crate) fn run(self) -> Result<()> {
        if let (Some(report), Some(json)) = (&self.report, &self.json)
            && report == json
        {
            bail!(
                "--report and --json both name {}. Choose a different file for each.",
                report.display()
            );
        }
        let study = Study::new()?;
        if let Some(path) = &self.json {
            output::write_file(path, &study.json())?;
        }
        if let Some(path) = &self.report {
            output::write_file(path, &scenes::page(&study))?;
        }
        output::print(&text::render(&study))?;
        for (what, path) in [("report", &self.report), ("JSON", &self.json)] {
            if let Some(path) = path {
                output::tell(&format!("{what}: {}", path.display()));
            }
        }
        Ok(())
    }
}
