//! The progress bar on a terminal, and the CSV file of decisions.

use std::fs::File;
use std::io::{self, BufWriter};

use headroom_sim::outcome::Decision;
use headroom_sim::report::csv::DecisionsCsv;
use headroom_sim::world::{Progress, Watcher};
use indicatif::{ProgressBar, ProgressStyle};

/// An observer of a run.
pub(super) struct Follower {
    bar: ProgressBar,
    jobs: u64,
    pub(super) decisions: Option<DecisionsCsv<BufWriter<File>>>,
}

impl Follower {
    /// Returns an observer with a bar for this many jobs. The bar is hidden unless standard error is a terminal.
    pub(super) fn new(jobs: u64, decisions: Option<DecisionsCsv<BufWriter<File>>>) -> Self {
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {pos}/{len} jobs")
            .expect("the template is well-formed");
        let bar = ProgressBar::new(jobs).with_style(style);
        Self { bar, jobs, decisions }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Follower {
    fn progress(&mut self, progress: Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let (days, rest) = (progress.now_ms / 86_400_000, progress.now_ms % 86_400_000);
        let (hours, minutes) = (rest / 3_600_000, rest / 60_000 % 60);
        let left = self.jobs - progress.done.min(self.jobs);
        self.bar.set_message(format!(
            "day {days} {hours:02}:{minutes:02}  {} running  {} waiting  {left} jobs left",
            progress.running, progress.waiting
        ));
        self.bar.set_position(progress.done);
    }

    fn wants_decisions(&self) -> bool {
        self.decisions.is_some()
    }

    fn decision(&mut self, decision: &Decision) -> io::Result<()> {
        match &mut self.decisions {
            Some(decisions) => decisions.write(decision).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}
