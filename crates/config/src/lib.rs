//! Reads and checks the queue file, and reports the lines of faults.
//!
//! The file has the format of `YuniKorn`: every file that `YuniKorn` loads is accepted here, with the same meaning.
//! [`read`] parses a text. It returns the typed [`Configuration`] of the core, or [`Diagnostics`]: every fault of the
//! file with its rule, both sides of the comparison, and a suggestion.
//!
//! ```
//! use headroom_config::{Style, read};
//!
//! let text = "
//! partitions:
//!   - name: default
//!     queues:
//!       - name: root
//!         queues:
//!           - name: sales
//!             resources:
//!               guaranteed: {memory: 20Gi}
//!               max: {memory: 10Gi}
//! ";
//! let faults = read(text).unwrap_err();
//! let first = faults.iter().next().unwrap();
//! assert_eq!((first.code.as_str(), first.line), ("Q-G>M", 9));
//! println!("{}", faults.render("queues.yaml", Style::Plain));
//! ```
//!
//! Stages: `yaml` parses the text within budgets into nodes with places. `raw` reads the fields of the file. `check`
//! applies the rules, and `build` creates the types of the core. [`review`] also runs `advice` on settings that are
//! valid, but probably not meant. External input never causes a panic.

mod advice;
mod application_limits;
mod build;
mod capacity;
mod check;
mod checksum;
mod code;
mod diagnostic;
mod events;
mod exercise;
mod file;
mod life;
mod ordering;
mod outline;
pub mod process;
mod raw;
mod render;
mod reservations;
mod review;
mod scalar;
pub mod schema;
mod spelling;
mod tenants;
pub mod user_limits;
mod vector;
mod wrapped;
mod written;
mod yaml;
pub mod yarn;

use headroom_core::config::Configuration;

pub use checksum::checksum;
pub use code::Code;
pub use diagnostic::{
    Counts, DIAGNOSTICS_MAX, Diagnostic, Diagnostics, Mark, Severity, Span, Stage,
};
#[doc(hidden)]
pub use exercise::{exercise, exercise_yarn};
pub use file::{ReadError, bytes_of, read_file};
pub use outline::outline;
pub use render::Style;
pub use review::{NodeTotals, Review, review, review_bytes, review_bytes_on, review_on, verdict};
pub use spelling::nearest;
pub use wrapped::{Wrapped, Wrapper, wrapped};
pub use yaml::{ALIAS_EVENTS_MAX, DEPTH_MAX, FILE_BYTES_MAX, NODES_MAX};

use diagnostic::Report;

/// The configuration without a queue file: one partition, in which applications run in the queue of their namespace.
/// The scheduler creates this queue if it is missing. Every user can submit.
pub const BUILT_IN: &str = "\
partitions:
  - name: default
    placementrules:
      - name: tag
        value: namespace
        create: true
    queues:
      - name: root
        submitacl: '*'
";

/// A valid queue file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Configuration of the file. An empty file is valid, and has no partition; see [`Loaded::is_empty`]. Two files
    /// with the same [`checksum`] have the same configuration.
    pub configuration: Configuration,
    /// Findings on settings that were probably not meant. Can be empty, and has no errors.
    pub warnings: Diagnostics,
}

impl Loaded {
    /// Returns whether the file has no partition, as an empty file.
    pub fn is_empty(&self) -> bool {
        self.configuration.partitions.is_empty()
    }
}

/// Reads the text of a queue file.
///
/// An empty text is valid, and has no partitions. A byte order mark is ignored. If the text has several documents, only
/// the first document counts.
///
/// # Errors
/// All findings, including warnings, in the order of the file. A text that is not YAML, or exceeds [`FILE_BYTES_MAX`],
/// [`NODES_MAX`], or [`DEPTH_MAX`], has only this fault.
pub fn read(text: &str) -> Result<Loaded, Diagnostics> {
    let (configuration, report) = examine(text, None, true);
    let found = report.finish(text);
    match configuration {
        Some(configuration) => Ok(Loaded { configuration, warnings: found }),
        None => Err(found),
    }
}

/// Stack size for reading. Files nest up to [`DEPTH_MAX`], and the stack of the caller can be small. With rustc 1.95 on
/// x86-64, a level uses about 72 kB in an unoptimized build, and less than 8 kB in an optimized build. Unused pages
/// cost nothing.
const STACK_BYTES: usize = 64 << 20;

/// Returns the configuration of a text, and the findings. `None` if the text is refused or `builds` is `false`.
fn examine(
    text: &str,
    advice: Option<&NodeTotals>,
    builds: bool,
) -> (Option<Configuration>, Report) {
    with_stack(|| examine_here(text, advice, builds)).unwrap_or_else(|error| {
        let message = format!("cannot start a thread to read the file: {error}");
        let mut report = Report::default();
        report.push(Diagnostic::error(Code::Yaml, Span::default(), message));
        (None, report)
    })
}

/// Runs work on a stack that is large enough to read files.
fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new()
            .name("queue-file".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, work)?;
        reader.join().map_or_else(|panic| std::panic::resume_unwind(panic), Ok)
    })
}

fn examine_here(
    text: &str,
    advice: Option<&NodeTotals>,
    builds: bool,
) -> (Option<Configuration>, Report) {
    let mut report = Report::default();
    let document = yaml::parse(text, &mut report);
    let file = document.map(|document| raw::read(&document, &mut report));
    let read_in_full = !report.has_errors();
    let trees = check::check(file.unwrap_or_default(), &mut report);
    if let Some(nodes) = advice {
        advice::advise(&trees, nodes, &mut report);
    }
    if !read_in_full {
        report.forget_absences();
    }
    let builds = builds && !report.has_errors();
    let configuration = builds.then(|| build::build(trees, &checksum(text)));
    (configuration, report)
}
