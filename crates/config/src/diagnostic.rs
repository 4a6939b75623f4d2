//! Findings on a queue file, with their places.

use std::fmt;
use std::sync::Arc;

use crate::code::Code;

/// Maximum number of stored findings of each severity. A file with more needs a general review.
pub const DIAGNOSTICS_MAX: usize = 100;

/// A range of the text in bytes. Can be empty.
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
    /// The file is correct, but a key that it does not use prevents a known problem. A stock file can have many
    /// recommendations, so they are not warnings: see [`Diagnostics::recommendations`].
    Recommendation,
    /// The file can be used, but was probably not meant this way.
    Warning,
    /// The file cannot be used.
    Error,
}

/// Stage at which the reference detects the fault.
///
/// `YuniKorn` calls a file with a fault of the second stage *valid*, and then fails to load it. Headroom rejects faults
/// of both stages. Only the compatible validation endpoint distinguishes the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The validation of the file.
    Validation,
    /// The construction of its queues.
    Building,
}

/// A place in the text with a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Range of the place.
    pub span: Span,
    /// Text at the place.
    pub label: String,
}

/// One error, warning, or recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Code of the rule.
    pub code: Code,
    /// Whether the file can be used.
    pub severity: Severity,
    /// Stage at which the reference detects the fault.
    pub stage: Stage,
    /// One sentence with both sides of the comparison and their units.
    pub message: String,
    /// Place of the fault. Its label can be empty.
    pub primary: Mark,
    /// Other relevant places.
    pub secondary: Vec<Mark>,
    /// Suggested change.
    pub help: Option<String>,
    /// Object in the reference's own message, where programs compare that. Otherwise empty.
    pub subject: String,
    /// Line of the primary place, from 1.
    pub line: usize,
    /// Column of the primary place in characters, from 1.
    pub column: usize,
}

impl Diagnostic {
    /// Returns an error at `span` of the validation stage.
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

    /// Returns a warning at `span`.
    pub(crate) fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Returns a recommendation at `span`.
    pub(crate) fn recommendation(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Recommendation, ..Self::error(code, span, message) }
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
    errors: StoredFindings,
    warnings: StoredFindings,
    recommendations: StoredFindings,
    errors_of_validation: usize,
    /// Number of parser steps.
    pub(crate) steps: usize,
}

/// The first findings of a severity, and the number of the remaining findings.
#[derive(Debug, Default)]
struct StoredFindings {
    list: Vec<Diagnostic>,
    suppressed: usize,
}

impl StoredFindings {
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

    /// Sorts by place. Removes duplicates, which aliases cause.
    fn sort(&mut self) {
        self.list.sort_by_key(|one| (one.primary.span.start, one.code));
        self.list.dedup();
    }
}

impl Report {
    /// Stores a finding. Only counts the finding if too many findings are stored.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        debug_assert_eq!(diagnostic.severity, diagnostic.code.severity(), "{diagnostic:?}");
        match diagnostic.severity {
            Severity::Error => {
                self.errors_of_validation += usize::from(diagnostic.stage == Stage::Validation);
                self.errors.push(diagnostic);
            }
            Severity::Warning => self.warnings.push(diagnostic),
            Severity::Recommendation => self.recommendations.push(diagnostic),
        }
    }

    /// Returns whether further errors would only be counted. If so, an expensive rule can stop.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.is_full()
    }

    /// Returns whether further warnings would only be counted. If so, expensive advice can stop.
    pub(crate) fn is_full_of_warnings(&self) -> bool {
        self.warnings.is_full()
    }

    /// Removes reports of missing parts. If the file was not read completely, a missing part can exist in the unread
    /// text.
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

    /// Returns whether a finding has one of these codes.
    pub(crate) fn has_any(&self, codes: &[Code]) -> bool {
        self.errors.list.iter().chain(&self.warnings.list).any(|one| codes.contains(&one.code))
    }

    /// Sorts by place, and determines lines and columns in `source`.
    pub(crate) fn finish(mut self, source: &str) -> Diagnostics {
        self.errors.sort();
        self.warnings.sort();
        self.recommendations.sort();
        let suppressed = Counts {
            errors: self.errors.suppressed,
            warnings: self.warnings.suppressed,
            recommendations: self.recommendations.suppressed,
        };
        let mut list = self.errors.list;
        list.append(&mut self.warnings.list);
        list.sort_by_key(|one| (one.primary.span.start, one.code));
        find_lines(&mut list, source);
        let mut recommendations = self.recommendations.list;
        find_lines(&mut recommendations, source);
        Diagnostics {
            source: Arc::from(source),
            list,
            recommendations: recommendations.into_boxed_slice(),
            suppressed,
            errors_of_validation: self.errors_of_validation,
            steps: self.steps,
        }
    }
}

/// Sets lines and columns of findings that are sorted by place.
fn find_lines(list: &mut [Diagnostic], source: &str) {
    let (mut line, mut from) = (1, 0);
    let mut line_start = 0;
    for diagnostic in list {
        let start = diagnostic.primary.span.start.min(source.len());
        for (offset, _) in source[from..start].match_indices('\n') {
            line += 1;
            line_start = from + offset + 1;
        }
        from = start;
        diagnostic.line = line;
        diagnostic.column = source[line_start..start].chars().count() + 1;
    }
}

/// Number of findings of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of errors, which make the file unusable.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of recommendations.
    pub recommendations: usize,
}

/// All findings on a file, with its text.
///
/// Errors and warnings are one list in the order of the file. [`Diagnostics::render`] shows this list to people.
/// Recommendations are in a separate list, so that programs that look for warnings do not find them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    pub(crate) source: Arc<str>,
    pub(crate) list: Vec<Diagnostic>,
    recommendations: Box<[Diagnostic]>,
    suppressed: Counts,
    errors_of_validation: usize,
    steps: usize,
}

impl Diagnostics {
    /// Returns the errors and warnings in the order of the file: at most [`DIAGNOSTICS_MAX`] of each.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Returns the recommendations in the order of the file: at most [`DIAGNOSTICS_MAX`]. Only a review of a file
    /// without errors has any.
    pub fn recommendations(&self) -> impl ExactSizeIterator<Item = &Diagnostic> {
        self.recommendations.iter()
    }

    /// Returns how many findings beyond [`DIAGNOSTICS_MAX`] were not stored. The file can have even more findings.
    pub fn suppressed(&self) -> Counts {
        self.suppressed
    }

    /// Returns the number of findings, including those that were not stored.
    pub fn counts(&self) -> Counts {
        let errors = self.iter().filter(|one| one.severity == Severity::Error).count();
        let warnings = self.list.len() - errors;
        Counts {
            errors: errors + self.suppressed.errors,
            warnings: warnings + self.suppressed.warnings,
            recommendations: self.recommendations.len() + self.suppressed.recommendations,
        }
    }

    /// Returns the number of parser steps: scalars, lists, and mappings, including those from aliases. For tests,
    /// because it bounds the work for a file.
    #[doc(hidden)]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the line of a byte, and its column in characters, both from 1.
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

    /// Returns whether there are neither errors nor warnings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether `YuniKorn`'s validation rejects the file too.
    ///
    /// `false` if all faults are of [`Stage::Building`]: the reference then calls the file valid, and fails to load it.
    pub fn refused_by_validation(&self) -> bool {
        self.errors_of_validation > 0
    }

    /// Returns the text of the file.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Diagnostics {
    /// Writes one line for each error and warning: `line 3, column 5: Q-NAME: …`.
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
