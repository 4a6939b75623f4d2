//! The simulation run: reads the inputs, runs the workload, and writes the reports.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use headroom_config::{ReadError, Style};
use headroom_core::config::Configuration;
use headroom_sim::fault::FaultSource;
use headroom_sim::metric::{recorded, summarise};
use headroom_sim::nodes::{self, NodeSpec};
use headroom_sim::outcome::Outcome;
use headroom_sim::report::{self, RunHeader, csv, html, json, table};
use headroom_sim::world::{Checks, Setup, queues_of_groups, run};

use crate::output;

use super::progress::Follower;
use super::trace::drop_types;
use super::{Play, example};

impl Play {
    pub(super) fn run(self) -> Result<()> {
        if let (Some(report), Some(json)) = (&self.report, &self.json)
            && report == json
        {
            bail!(
                "--report and --json both name {}. Choose a different file for each.",
                report.display()
            );
        }
        let setup = self.setup()?;
        let decisions = match &self.csv {
            Some(folder) => {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot create folder {}", folder.display()))?;
                Some(csv::DecisionsCsv::create(folder)?)
            }
            None => None,
        };
        let mut follower = Follower::new(setup.workload.jobs.len() as u64, decisions);
        let start = Instant::now();
        let played = run(&setup, &mut follower);
        follower.clear();
        let outcome = played?;
        let took = start.elapsed();
        if let Some(decisions) = follower.decisions.take() {
            decisions.finish()?;
        }
        self.write(&setup, &outcome, took)
    }

    fn setup(&self) -> Result<Setup> {
        let built_in = self.trace.workload.is_none();
        let mut workload = match self.trace.read()? {
            Some(workload) => workload,
            None => example::workload(&self.trace.options())?,
        };
        let nodes = self.read_nodes(built_in)?;
        drop_types(&mut workload, &nodes);
        let configuration = match &self.queues {
            Some(path) => Self::read_queues(path)?,
            None if built_in && self.trace.queue_of.is_none() => example::configuration()?,
            None => queues_of_groups(&mut workload),
        };
        let source = match &self.trace.workload {
            Some(path) => path.display().to_string(),
            None => example::NAME.to_owned(),
        };
        Ok(Setup {
            configuration,
            nodes,
            workload,
            source,
            shape: self.trace.shape(),
            until_ms: self.until,
            checks: self.check.map_or(Checks::NowAndThen, Checks::Every),
            seed: self.seed,
            faults: self.faults.as_deref().map(FaultSource::read).transpose()?,
            reject_misfits: self.trace.skip_bad_lines,
        })
    }

    fn read_nodes(&self, built_in: bool) -> Result<Vec<NodeSpec>> {
        let options = self.trace.node_options();
        if !self.nodes.is_empty() {
            return Ok(nodes::read(&self.nodes, options)?);
        }
        if !built_in {
            bail!(
                "--nodes is missing. Set the size of the cluster, such as --nodes '10*{{vcore: 8, memory: 32Gi}}'"
            );
        }
        example::nodes()
    }

    fn read_queues(path: &std::path::Path) -> Result<Configuration> {
        let name = path.display().to_string();
        match headroom_config::read_file(path) {
            Ok(loaded) if loaded.is_empty() => {
                bail!(
                    "{name}: the queue file has no partition. Add `partitions:` with at least one entry."
                )
            }
            Ok(loaded) => {
                if !loaded.warnings.is_empty() {
                    output::tell(loaded.warnings.render(&name, Style::Coloured).trim_end());
                }
                if loaded.configuration.partitions.len() > 1 {
                    output::tell(&format!(
                        "note: {name} has {} partitions. The simulation uses the first one.",
                        loaded.configuration.partitions.len()
                    ));
                }
                Ok(loaded.configuration)
            }
            Err(ReadError::Faults { faults, .. }) => {
                bail!(faults.render(&name, Style::Coloured))
            }
            Err(other) => Err(other.into()),
        }
    }

    fn write(&self, setup: &Setup, outcome: &Outcome, took: Duration) -> Result<()> {
        let mut summary = summarise(outcome);
        summary.recorded = recorded(&setup.workload, &setup.nodes, outcome);
        let header = self.header(setup);
        if let Some(folder) = &self.csv {
            csv::write_all(folder, outcome)?;
        }
        let document = json::Document::new(header, summary, Vec::new());
        if let Some(path) = &self.json {
            output::write_file(path, &json::render(&document))?;
        }
        if let Some(path) = &self.report {
            output::write_file(path, &html::page(&document))?;
        }
        output::print(&table::render(&document.header, &document.summary, Some(took)))?;
        for (what, path) in
            [("report", &self.report), ("JSON", &self.json), ("CSV files", &self.csv)]
        {
            if let Some(path) = path {
                output::tell(&format!("{what}: {}", path.display()));
            }
        }
        Ok(())
    }

    fn header(&self, setup: &Setup) -> RunHeader {
        let mut remarks = setup.workload.remarks.clone();
        for (reason, count) in &setup.workload.skipped {
            remarks.push(format!("skipped: {} ({reason})", report::pretty::counted(*count, "job")));
        }
        if setup.workload.jobs.iter().any(|job| job.node_label.is_some()) {
            remarks.push("jobs that request a node model can run on any node".to_owned());
        }
        if outcome_shares_cards(setup) {
            remarks.push("GPU sharing counts amounts, not cards".to_owned());
        }
        let checks = match self.check.map(NonZeroU64::get) {
            None => "occasionally, and at the end".to_owned(),
            Some(1) => "after every event".to_owned(),
            Some(events) => format!("after every {events} events, and at the end"),
        };
        let accounted = if self.check.is_some() { "at every moment" } else { "at the end" };
        RunHeader {
            title: format!(
                "{} on {}",
                self.trace.workload.as_ref().and_then(|path| path.file_name()).map_or_else(
                    || setup.source.clone(),
                    |name| name.to_string_lossy().into_owned()
                ),
                report::pretty::counted(setup.nodes.len() as u64, "node")
            ),
            command: command_line(),
            seed: self.seed,
            inputs: report::inputs(setup),
            versions: vec![("headroom".to_owned(), env!("CARGO_PKG_VERSION").to_owned())],
            remarks,
            checks: vec![
                ("books recomputed from scratch".to_owned(), checks),
                ("every job and task counted".to_owned(), accounted.to_owned()),
            ],
        }
    }
}

fn outcome_shares_cards(setup: &Setup) -> bool {
    setup.nodes.iter().any(|node| node.resources.get("gpu-milli").is_some())
}

/// Returns the command line, quoted for a shell.
fn command_line() -> String {
    let mut text = String::from("headroom");
    for argument in std::env::args().skip(1) {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
        if !argument.is_empty() && argument.chars().all(plain) {
            let _ = write!(text, " {argument}");
        } else {
            let _ = write!(text, " '{}'", argument.replace('\'', r"'\''"));
        }
    }
    text
}

/// Returns the milliseconds of a text such as `90s`, `15m`, `36h`, or `7d`.
pub(super) fn parse_time(text: &str) -> Result<u64, String> {
    let expected =
        || format!("{text:?} is not a time. Use a whole number and s, m, h, or d, such as 36h");
    let unit = text.chars().last().ok_or_else(expected)?;
    let factor = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return Err(expected()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| expected())?;
    number
        .checked_mul(factor)
        .ok_or_else(|| format!("the time {text} is too long. Use a shorter time"))
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn times_are_a_number_and_a_unit() {
        for (text, expected) in [
            ("90s", Some(90_000)),
            ("15m", Some(900_000)),
            ("36h", Some(129_600_000)),
            ("7d", Some(604_800_000)),
            ("", None),
            ("7", None),
            ("-1h", None),
            ("h", None),
            ("1.5h", None),
            ("99999999999999999999d", None),
            ("999999999999999999d", None),
            ("7µ", None),
        ] {
            assert_eq!(parse_time(text).ok(), expected, "{text:?}");
        }
    }
}
