//! A plan over time: one workload, run with the active file and with the planned file.

use anyhow::{Context as _, Result, bail};
use headroom_core::config::Configuration;
use headroom_sim::metric::{Series, Summary, summarise};
use headroom_sim::nodes::NodeSpec;
use headroom_sim::report::html::sheet::{Part, Rows};
use headroom_sim::report::{Curves, compare, pretty};
use headroom_sim::world::{Checks, Setup, run};
use serde_json::{Value, json};

use super::super::simulate::{Trace, drop_types};

/// The results of both runs.
pub(super) struct Times {
    hours: u64,
    source: String,
    nodes: usize,
    before: Summary,
    after: Summary,
}

impl Times {
    /// Runs a workload on these nodes for this many hours, once with each file.
    ///
    /// # Errors
    /// When the workload cannot be read, or does not match the files and the nodes.
    pub(super) fn played(
        hours: u64,
        trace: &Trace,
        [before, after]: [&Configuration; 2],
        nodes: Vec<NodeSpec>,
    ) -> Result<Self> {
        let Some(mut workload) = trace.read()? else {
            bail!("--hours requires --workload. Specify the workload to run for {hours} h.")
        };
        drop_types(&mut workload, &nodes);
        let source = trace.workload.as_ref().map(|path| path.display().to_string());
        let mut setup = Setup {
            configuration: before.clone(),
            nodes,
            workload,
            source: source.unwrap_or_default(),
            shape: trace.shape(),
            until_ms: Some(hours * 3_600_000),
            checks: Checks::NowAndThen,
            seed: 1,
            faults: None,
            reject_misfits: trace.skip_bad_lines,
        };
        let old = run(&setup, &mut ()).context("with the active file")?;
        setup.configuration = after.clone();
        let new = run(&setup, &mut ()).context("with the planned file")?;
        Ok(Self {
            hours,
            nodes: setup.nodes.len(),
            source: setup.source,
            before: summarise(&old),
            after: summarise(&new),
        })
    }

    fn title(&self) -> String {
        let (hours, source) = (self.hours, &self.source);
        let nodes = u64::try_from(self.nodes).unwrap_or(u64::MAX);
        let nodes = pretty::counted(nodes, "node");
        format!("{hours} h of {source} on {nodes}, with the active file and with the planned file")
    }

    /// Returns the result for people.
    pub(super) fn text(&self) -> String {
        let lines = compare::summaries(&self.before, &self.after);
        format!("over time: {}\n{lines}", pretty::plain(&self.title()))
    }

    /// Returns both summaries for programs, in the format of `headroom simulate --json`.
    pub(super) fn json(&self) -> Value {
        json!({
            "hours": self.hours, "workload": self.source, "nodes": self.nodes,
            "before": self.before, "after": self.after,
        })
    }

    /// Returns the sections of the HTML page.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for (number, section) in compare::sections(&self.before, &self.after).iter().enumerate() {
            let title = match number {
                0 => "Over time".to_owned(),
                _ => capital(&section.title),
            };
            let note = match (number, section.more) {
                (0, _) => {
                    format!("{}. The figures cover each run until its end.", self.title())
                }
                (_, 0) => String::new(),
                (_, more) => format!("Smaller changes that are not listed: {more}."),
            };
            parts.push(Part::Rows(Rows {
                id: format!("time-{number}"),
                title,
                note,
                columns: ["", "before", "after", "change", "%"].map(str::to_owned).to_vec(),
                rows: section.cells().map(Vec::from).collect(),
                numbers: true,
            }));
            if number == 0 {
                parts.extend(self.curves());
            }
        }
        parts
    }

    /// Returns the utilization by resource type, and the number of tasks, over time.
    fn curves(&self) -> Vec<Part> {
        let end_ms = self.before.end_ms.max(self.after.end_ms);
        let line = |name: &str, summary: &Summary, series: &Series| {
            let values = series.values.iter().enumerate();
            let steps = values.map(|(bin, value)| (summary.grid.start_of(bin), *value));
            let mut steps: Vec<(u64, f64)> = steps.collect();
            // After the end of the shorter run, its value is 0.
            if summary.end_ms < end_ms {
                steps.push((summary.end_ms, 0.0));
            }
            (name.to_owned(), steps)
        };
        let both =
            |title: String, quantity: &str, unit: &str, of: &dyn Fn(&Summary) -> Option<Series>| {
                let sides = [("before", &self.before), ("after", &self.after)];
                let curves = sides.into_iter().filter_map(|(name, summary)| {
                    of(summary).map(|series| line(name, summary, &series))
                });
                let curves = Curves {
                    title,
                    quantity: quantity.to_owned(),
                    unit: unit.to_owned(),
                    curves: curves.collect(),
                };
                Part::Curves(curves, end_ms)
            };
        let named = |all: &[Series], name: &str| all.iter().find(|one| one.name == name).cloned();
        let mut parts: Vec<Part> = Vec::new();
        for one in &self.after.series.utilisation {
            let of = |summary: &Summary| named(&summary.series.utilisation, &one.name);
            parts.push(both(format!("{} in use", one.name), "share of capacity", "%", &of));
        }
        for one in &self.after.series.tasks {
            let of = |summary: &Summary| named(&summary.series.tasks, &one.name);
            parts.push(both(format!("Tasks {}", one.name), "number of tasks", "tasks", &of));
        }
        parts
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
