//! Spans for trace collectors: one span for each command, and one span for each flush.
//!
//! The span of a command lasts from its submission until the command is durable. The task that waits for the outcome
//! manages the span, because the writer has no time for it. Without a collector, a span costs one read of a cached
//! flag.

use headroom_core::Command;
use tracing::{Span, field};

use crate::handle::Unavailable;
use crate::writer::{Outcome, Submission};

/// Target of all spans for traces. Log subscribers exclude this target, because spans are not log lines.
pub const TRACES: &str = "headroom::traces";

/// Spans of submitted commands.
pub(crate) struct Commands(Vec<Span>);

impl Commands {
    /// Opens a span for each command, within the current span.
    pub(crate) fn begin(submissions: &[Submission]) -> Self {
        if !tracing::enabled!(target: TRACES, tracing::Level::INFO) {
            return Self(Vec::new());
        }
        Self(submissions.iter().map(span).collect())
    }

    /// Closes the spans with the outcomes of the commands.
    pub(crate) fn end(self, outcomes: Result<&[Outcome], &Unavailable>) {
        match outcomes {
            Ok(outcomes) => self.0.iter().zip(outcomes).for_each(|(span, one)| note(span, one)),
            Err(unavailable) => {
                for span in &self.0 {
                    span.record("otel.status_code", "ERROR");
                    span.record("otel.status_description", unavailable.to_string());
                }
            }
        }
    }
}

fn span(submission: &Submission) -> Span {
    let kind = kind(&submission.command);
    tracing::info_span!(
        target: TRACES,
        "command",
        otel.name = kind,
        otel.status_code = field::Empty,
        otel.status_description = field::Empty,
        headroom.command = kind,
        headroom.sequence = field::Empty,
        headroom.repeated = field::Empty,
        headroom.refusal = field::Empty,
    )
}

/// Records an outcome. A rejection is a normal outcome, not an error.
fn note(span: &Span, outcome: &Outcome) {
    match outcome {
        Ok(accepted) => {
            span.record("headroom.sequence", number(accepted.sequence));
            if accepted.repeated {
                span.record("headroom.repeated", true);
            }
        }
        Err(rejection) => {
            span.record("headroom.refusal", rejection.code().as_str());
        }
    }
}

/// Opens a span for a flush of records up to the one before `next`.
pub(crate) fn flush(next: u64, records: u64, bytes: u64, steps: u64) -> Span {
    tracing::info_span!(
        target: TRACES,
        "flush",
        headroom.sequence.first = number(next - records),
        headroom.sequence.last = number(next - 1),
        headroom.records = number(records),
        headroom.bytes = number(bytes),
        headroom.steps = number(steps),
    )
}

/// Returns a signed number, because collectors receive an unsigned number as text.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns the name of a command.
const fn kind(command: &Command) -> &'static str {
    match command {
        Command::Configure(_) => "Configure",
        Command::AddNode(_) => "AddNode",
        Command::ResizeNode { .. } => "ResizeNode",
        Command::SetSchedulable { .. } => "SetSchedulable",
        Command::RemoveNode { .. } => "RemoveNode",
        Command::Submit(_) => "Submit",
        Command::RejectApplication(_) => "RejectApplication",
        Command::Ask(_) => "Ask",
        Command::Release { .. } => "Release",
        Command::RemoveApplication { .. } => "RemoveApplication",
        Command::SetForeign(_) => "SetForeign",
        Command::ReleaseForeign { .. } => "ReleaseForeign",
        Command::SetQuestions { .. } => "SetQuestions",
        Command::SetManagerAway { .. } => "SetManagerAway",
        Command::Verdicts(_) => "Verdicts",
        Command::VoidVerdicts { .. } => "VoidVerdicts",
        Command::ScanQuotas { .. } => "ScanQuotas",
        Command::ScanOutstanding { .. } => "ScanOutstanding",
        Command::Tick => "Tick",
        Command::SetTenant(_) => "SetTenant",
        Command::RemoveTenant { .. } => "RemoveTenant",
        Command::SetTenantDefaults { .. } => "SetTenantDefaults",
        Command::Recover { .. } => "Recover",
        Command::ReportDrift { .. } => "ReportDrift",
        Command::SubmitTask(_) => "SubmitTask",
        Command::ChangeTask { .. } => "ChangeTask",
    }
}
