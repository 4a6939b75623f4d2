//! Result of the validation of a queue file.

use headroom_api::wsv1::Validation;
use headroom_config::{Code, Diagnostic, Diagnostics, Severity, Stage};

/// Returns the result that the reference would give. Ignores faults that the reference detects only when it builds
/// queues.
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

/// Returns the text of a fault. For the few messages that clients compare, returns the text of the reference.
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
