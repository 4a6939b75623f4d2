//! Findings on a queue file, for programs.

use headroom_api::headroomv1::{Diagnostic, DiagnosticPlace};
use headroom_config::{Diagnostics, Mark, Severity, Stage};

/// Returns all stored errors and warnings, in the order of the file.
pub fn diagnostics(all: &Diagnostics) -> Vec<Diagnostic> {
    all.iter().map(|one| diagnostic(all, one)).collect()
}

/// Returns one finding.
pub fn diagnostic(all: &Diagnostics, one: &headroom_config::Diagnostic) -> Diagnostic {
    Diagnostic {
        code: one.code.as_str().to_owned(),
        severity: match one.severity {
            Severity::Error => "error".to_owned(),
            Severity::Warning => "warning".to_owned(),
            Severity::Recommendation => "recommendation".to_owned(),
        },
        stage: match one.stage {
            Stage::Validation => "validation".to_owned(),
            Stage::Building => "building".to_owned(),
        },
        message: one.message.clone(),
        place: place(all, &one.primary),
        related: one.secondary.iter().map(|mark| place(all, mark)).collect(),
        help: one.help.clone(),
    }
}

fn place(all: &Diagnostics, mark: &Mark) -> DiagnosticPlace {
    let number = |number: usize| u64::try_from(number).ok();
    let ((line, column), (end_line, end_column)) =
        (all.place(mark.span.start), all.place(mark.span.end));
    DiagnosticPlace {
        label: (!mark.label.is_empty()).then(|| mark.label.clone()),
        line: number(line),
        column: number(column),
        end_line: number(end_line),
        end_column: number(end_column),
    }
}
