//! Spans for trace collectors: one of each command, one of each flush.
//!
//! A command's span is opened and closed by those who wait for its answer, not by the writer, which
//! has no time for it: it lasts from the moment when the command is handed in until it is durable.
//! Where nobody collects, a span costs a look at a cached flag.

use headroom_core::Command;
use tracing::{Span, field};

use crate::handle::Unavailable;
use crate::writer::{Outcome, Submission};

/// The target of all spans that are traces. They are no lines of the log: what shows those leaves
/// this target out.
pub const TRACES: &str = "headroom::traces";

/// Spans of commands that are on their way.
pub(crate) struct Commands(Vec<Span>);

impl Commands {
    /// Open a span for each command, within the span that is open now.
    pub(crate) fn begin(submissions: &[Submission]) -> Self {
        if !tracing::enabled!(target: TRACES, tracing::Level::INFO) {
            return Self(Vec::new());
        }
        Self(submissions.iter().map(span).collect())
    }

    /// Close them, with what became of the commands.
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

/// A refusal is a normal answer, no error.
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

/// A span of making records durable, up to the one before `next`.
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

/// Collectors know signed numbers alone; others would reach them as text.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What a command is called.
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
