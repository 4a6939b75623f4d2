//! Reads and checks the queue file, and points at the line that is wrong.
//!
//! The file is `YuniKorn`'s: every file that `YuniKorn` loads is read here and means the
//! same. [`read`] takes its text and gives the typed [`Configuration`] of the core, or
//! [`Diagnostics`]: every fault of the file with the rule it breaks, both sides of the
//! comparison, and what to write instead.
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
//! How a text travels: `yaml` parses it within budgets into nodes with places, `raw` reads
//! the fields of the file from them, `check` applies the rules, `build` makes the types of
//! the core. [`review`] also runs `advice`: what is legal and can hardly be meant. Input from
//! outside never causes a panic.

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

/// What is in force where no queue file is given: one partition whose applications go to
/// the queue of their namespace, made when missing; everybody may submit.
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

/// A queue file that can be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What it says. Without any partition when the file is empty, which is legal: a
    /// caller that needs one looks at [`Loaded::is_empty`]. Two files with the same
    /// [`checksum`] in it say the same.
    pub configuration: Configuration,
    /// What hardly means what was written; may be empty. Never an error.
    pub warnings: Diagnostics,
}

impl Loaded {
    /// Whether the file has no partition, as an empty file has none.
    pub fn is_empty(&self) -> bool {
        self.configuration.partitions.is_empty()
    }
}

/// Read the text of a queue file.
///
/// An empty text is legal and has no partitions. A byte order mark is skipped; of several
/// documents the first one counts.
///
/// # Errors
/// All faults that were found, in the order of the file, warnings among them. A text that
/// is not YAML, or is larger than [`FILE_BYTES_MAX`], [`NODES_MAX`] or [`DEPTH_MAX`] allow,
/// has just that one fault.
pub fn read(text: &str) -> Result<Loaded, Diagnostics> {
    let (configuration, report) = examine(text, None, true);
    let found = report.finish(text);
    match configuration {
        Some(configuration) => Ok(Loaded { configuration, warnings: found }),
        None => Err(found),
    }
}

/// Stack for reading: files nest up to [`DEPTH_MAX`], and a caller's stack may be short.
/// Measured with rustc 1.95 on x86-64: each level takes about 72 kB in an unoptimised build
/// and below 8 kB in an optimised one. Pages that are not used cost nothing.
const STACK_BYTES: usize = 64 << 20;

/// What a text says, unless it is refused or nobody builds it, and what was found on the way.
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

/// Do work on a stack on which files can be read.
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
