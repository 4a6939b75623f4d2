//! The verdict on a queue file.

use headroom_api::wsv1::Validation;
use headroom_config::{Code, Diagnostic, Diagnostics, Severity, Stage};

/// The verdict as the reference gives it: faults that it finds only when queues are built do not
/// count.
pub(crate) fn validation(diagnostics: &Diagnostics, checksum: String) -> Validation {
    let counts =
        |one: &&Diagnostic| one.severity == Severity::Error && one.stage == Stage::Validation;
    if let Some(first) = diagnostics.iter().find(counts) {
        return Validation { allowed: false, reason: reason(first), ..Validation::default() };
    }
    let own = format!("checksum: {checksum}").to_ascii_lowercase();
    let checksum_match = diagnostics.source().to_ascii_lowercase().contains(&own);
    Validation {
        allowed: true,
        checksum,
        checksum_match: Some(checksum_match),
        ..Validation::default()
    }
}

/// In our words, but for the few messages that clients compare.
fn reason(fault: &Diagnostic) -> String {
    let subject = &fault.subject;
    match fault.code {
        Code::LimitNothing => {
            format!("invalid resource combination for limit {subject} all resource limits are null")
        }
        Code::LimitAllZero => {
            format!("MaxResources should be greater than zero in '{subject}' limit")
        }
        Code::NodePolicy => format!("undefined policy: {subject}"),
        _ => {
            let Diagnostic { line, column, code, message, help, .. } = fault;
            let help = help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
            format!("line {line}, column {column}: {code}: {message}{help}")
        }
    }
}
