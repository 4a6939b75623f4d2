//! What is wrong with a queue file, and where.

use std::fmt;
use std::sync::Arc;

use crate::code::Code;

/// How many errors, and how many warnings, are stored; a file with more is wrong in kind, not in
/// detail.
pub const DIAGNOSTICS_MAX: usize = 100;

/// A range of the text in bytes; may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Whether the file can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can, but hardly says what was meant.
    Warning,
    /// It cannot.
    Error,
}

/// When the reference finds the fault.
///
/// `YuniKorn` answers *valid* to a file with a fault of the second kind, and then fails to
/// load it. Headroom refuses both; only the compatible validation answer tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// When the file is validated.
    Validation,
    /// When its queues are built.
    Building,
}

/// A place in the text with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where.
    pub span: Span,
    /// What is there.
    pub label: String,
}

/// One fault, or one warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// Whether the file can still be used.
    pub severity: Severity,
    /// When the reference finds it.
    pub stage: Stage,
    /// One sentence with both sides of the comparison and their units.
    pub message: String,
    /// The place that is wrong; its label may be empty.
    pub primary: Mark,
    /// Other places that it depends on.
    pub secondary: Vec<Mark>,
    /// What to write instead.
    pub help: Option<String>,
    /// What the reference names in its own message, where programs compare that; else empty.
    pub subject: String,
    /// Line of the primary place, from 1.
    pub line: usize,
    /// Column of the primary place in characters, from 1.
    pub column: usize,
}

impl Diagnostic {
    /// A fault at `span` that validation finds.
    pub(crate) fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            stage: Stage::Validation,
            message: message.into(),
            primary: Mark { span, label: String::new() },
            secondary: Vec::new(),
            help: None,
            subject: String::new(),
            line: 0,
            column: 0,
        }
    }

    /// A warning at `span`.
    pub(crate) fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub(crate) fn at_stage(self, stage: Stage) -> Self {
        Self { stage, ..self }
    }

    pub(crate) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.primary.label = label.into();
        self
    }

    pub(crate) fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.secondary.push(Mark { span, label: label.into() });
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Collects diagnostics while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Report {
    errors: Kept,
    warnings: Kept,
    errors_of_validation: usize,
    /// What the parser counted.
    pub(crate) steps: usize,
}

/// The first diagnostics of one severity, and how many there were beyond them.
#[derive(Debug, Default)]
struct Kept {
    list: Vec<Diagnostic>,
    suppressed: usize,
}

impl Kept {
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < DIAGNOSTICS_MAX {
            self.list.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    fn is_full(&self) -> bool {
        self.list.len() >= DIAGNOSTICS_MAX
    }

    /// Sort by place; what an alias repeats is wrong in one place only.
    fn sort(&mut self) {
        self.list.sort_by_key(|one| (one.primary.span.start, one.code));
        self.list.dedup();
    }
}

impl Report {
    /// Take note, or only count it when there are many already.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        debug_assert_eq!(diagnostic.severity, diagnostic.code.severity(), "{diagnostic:?}");
        match diagnostic.severity {
            Severity::Error => {
                self.errors_of_validation += usize::from(diagnostic.stage == Stage::Validation);
                self.errors.push(diagnostic);
            }
            Severity::Warning => self.warnings.push(diagnostic),
        }
    }

    /// Whether more errors would only be counted; a rule that costs much may then stop.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.is_full()
    }

    /// Whether more warnings would only be counted; advice that costs much may then stop.
    pub(crate) fn is_full_of_warnings(&self) -> bool {
        self.warnings.is_full()
    }

    /// Forget reports of missing parts. Where the file could not be read in full, such a part may
    /// be what was not understood.
    pub(crate) fn forget_absences(&mut self) {
        let absences = [
            Code::QueuesMissing,
            Code::LimitForNobody,
            Code::LimitNothing,
            Code::ApplicationsMissing,
            Code::NoEffect,
            Code::PropertyLevel,
            Code::AclNobody,
            Code::LimitHidden,
            Code::LimitLoose,
            Code::LimitUnreached,
            Code::UserLimitNoShare,
            Code::ApplicationsNoShare,
        ];
        for severity in [&mut self.errors, &mut self.warnings] {
            severity.list.retain(|one| !absences.contains(&one.code));
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.list.is_empty() || self.errors.suppressed > 0
    }

    /// Whether one of these codes was found.
    pub(crate) fn has_any(&self, codes: &[Code]) -> bool {
        self.errors.list.iter().chain(&self.warnings.list).any(|one| codes.contains(&one.code))
    }

    /// Sort by place, and find lines and columns in `source`.
    pub(crate) fn finish(mut self, source: &str) -> Diagnostics {
        self.errors.sort();
        self.warnings.sort();
        let suppressed =
            Counts { errors: self.errors.suppressed, warnings: self.warnings.suppressed };
        let mut list = self.errors.list;
        list.append(&mut self.warnings.list);
        list.sort_by_key(|one| (one.primary.span.start, one.code));
        let (mut line, mut from) = (1, 0);
        let mut line_start = 0;
        for diagnostic in &mut list {
            let start = diagnostic.primary.span.start.min(source.len());
            for (offset, _) in source[from..start].match_indices('\n') {
                line += 1;
                line_start = from + offset + 1;
            }
            from = start;
            diagnostic.line = line;
            diagnostic.column = source[line_start..start].chars().count() + 1;
        }
        Diagnostics {
            source: Arc::from(source),
            list,
            suppressed,
            errors_of_validation: self.errors_of_validation,
            steps: self.steps,
        }
    }
}

/// How many of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Faults that make the file unusable.
    pub errors: usize,
    /// What can be used but hardly says what was meant.
    pub warnings: usize,
}

/// Everything that was found in one file, with the text that it points into.
///
/// In the order of the file. [`Diagnostics::render`] shows it to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    pub(crate) source: Arc<str>,
    pub(crate) list: Vec<Diagnostic>,
    suppressed: Counts,
    errors_of_validation: usize,
    steps: usize,
}

impl Diagnostics {
    /// The diagnostics, by their place in the file; at most [`DIAGNOSTICS_MAX`] errors and as
    /// many warnings.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// How many were found beyond [`DIAGNOSTICS_MAX`] and not stored; there may be more.
    pub fn suppressed(&self) -> Counts {
        self.suppressed
    }

    /// How many were found, including those that were not stored.
    pub fn counts(&self) -> Counts {
        let errors = self.iter().filter(|one| one.severity == Severity::Error).count();
        let warnings = self.list.len() - errors;
        Counts {
            errors: errors + self.suppressed.errors,
            warnings: warnings + self.suppressed.warnings,
        }
    }

    /// What the parser counted: scalars, lists and mappings, those behind aliases included.
    /// For tests: it is what bounds the work that a file makes.
    #[doc(hidden)]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Where a byte of the text stands: its line, and its column in characters, both from 1.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        let mut end = byte.min(self.source.len());
        while !self.source.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.source[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether `YuniKorn`'s validation refuses the file too.
    ///
    /// False when only [`Stage::Building`] faults were found: the reference then calls
    /// the file valid and fails to load it.
    pub fn refused_by_validation(&self) -> bool {
        self.errors_of_validation > 0
    }

    /// The text that the spans point into.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Diagnostics {
    /// One line for each: `line 3, column 5: Q-NAME: …`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, one) in self.list.iter().enumerate() {
            if position > 0 {
                out.write_str("\n")?;
            }
            let Diagnostic { line, column, code, message, .. } = one;
            write!(out, "line {line}, column {column}: {code}: {message}")?;
        }
        let more = self.suppressed.errors + self.suppressed.warnings;
        if more > 0 {
            write!(out, "\nand {more} more")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
