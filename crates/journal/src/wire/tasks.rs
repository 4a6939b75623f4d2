//! Tasks of tenants.

use headroom_core::books::{TaskOutcome, TaskRequest, TaskSettings};
use headroom_core::resource::Amounts;
use headroom_core::{
    Ask, Name, Submit, SubmitTask, TaskChange, TaskStep, Throttled, ThrottledType,
};

use super::{At as _, Decoded, Fault, Field, message, required, structure, words};
use crate::proto;
use crate::proto::task_change::Change;
use crate::proto::task_step::Step;
use crate::record::What;

words!(TaskOutcome = proto::TaskOutcome { Succeeded, Failed, Cancelled, Evicted, Expired });
structure!(
    TaskSettings = proto::TaskSettings { tenant, members, requeue, restarts, max_wait, request }
);
structure!(TaskRequest = proto::TaskRequest { key, digest });
structure!(Throttled = proto::Throttled { code, scope, types });
structure!(ThrottledType = proto::ThrottledType { resource, used, asked, limit });

// One ask represents all members; `settings.members` has their number. Earlier versions wrote one ask for each
// member.
impl Field<proto::SubmitTask> for SubmitTask {
    fn put(&self) -> proto::SubmitTask {
        let Self { submit, ask, settings } = self;
        proto::SubmitTask { submit: submit.put(), asks: vec![ask.put()], settings: settings.put() }
    }

    fn take(field: proto::SubmitTask) -> Decoded<Self> {
        let proto::SubmitTask { submit, asks, settings } = field;
        let mut settings = TaskSettings::take(settings).at("settings")?;
        let written = asks.len();
        let first = asks.into_iter().next();
        let mut ask: Ask = required(first).at("asks")?;
        if written > 1 {
            settings.members = u32::try_from(written).unwrap_or(u32::MAX);
            if let Some(key) = ask.key.strip_suffix(".1") {
                ask.key = Name::new(key);
            }
        }
        Ok(Self { submit: Submit::take(submit).at("submit")?, ask, settings })
    }
}

message!(SubmitTask = proto::SubmitTask);

impl Field<proto::TaskStep> for TaskStep {
    fn put(&self) -> proto::TaskStep {
        let nothing = proto::NoDetail {};
        let step = match self {
            Self::Confirmed => Step::Confirmed(nothing),
            Self::Cancelling => Step::Cancelling(nothing),
            Self::Restarted { request } => Step::Restarted(request.put()),
            Self::Requeued { request } => Step::Requeued(request.put()),
            Self::Waited => Step::Waited(nothing),
            Self::Measured { resources } => {
                Step::Measured(proto::Amounts { amounts: resources.put() })
            }
            Self::Ended { outcome, request } => {
                Step::Ended(proto::TaskEnded { outcome: outcome.put(), request: request.put() })
            }
        };
        proto::TaskStep { step: Some(step) }
    }

    fn take(field: proto::TaskStep) -> Decoded<Self> {
        Ok(match field.step {
            Some(Step::Confirmed(proto::NoDetail {})) => Self::Confirmed,
            Some(Step::Cancelling(proto::NoDetail {})) => Self::Cancelling,
            Some(Step::Restarted(request)) => {
                Self::Restarted { request: TaskRequest::take(request).at("restarted")? }
            }
            Some(Step::Requeued(request)) => {
                Self::Requeued { request: TaskRequest::take(request).at("requeued")? }
            }
            Some(Step::Waited(proto::NoDetail {})) => Self::Waited,
            Some(Step::Ended(proto::TaskEnded { outcome, request })) => Self::Ended {
                outcome: Field::take(outcome).at("outcome")?,
                request: Field::take(request).at("request")?,
            },
            Some(Step::Measured(proto::Amounts { amounts })) => {
                Self::Measured { resources: Amounts::take(amounts).at("measured")? }
            }
            None => return Err(Fault::new(What::UnknownKind)),
        })
    }
}
message!(TaskStep = proto::TaskStep);

impl Field<proto::TaskChange> for TaskChange {
    fn put(&self) -> proto::TaskChange {
        let change = match self {
            Self::Confirm => Change::Confirm(proto::NoDetail {}),
            Self::End { succeeded, request } => {
                Change::End(proto::TaskEnd { succeeded: *succeeded, request: request.put() })
            }
            Self::Cancel => Change::Cancel(proto::NoDetail {}),
            Self::Resize { resources } => {
                Change::Resize(proto::Amounts { amounts: resources.put() })
            }
            Self::Rank { priority, deadline } => {
                Change::Rank(proto::TaskRank { priority: *priority, deadline: deadline.put() })
            }
            Self::Measure { resources } => {
                Change::Measure(proto::Amounts { amounts: resources.put() })
            }
        };
        proto::TaskChange { change: Some(change) }
    }

    fn take(field: proto::TaskChange) -> Decoded<Self> {
        Ok(match field.change {
            Some(Change::Confirm(proto::NoDetail {})) => Self::Confirm,
            Some(Change::End(proto::TaskEnd { succeeded, request })) => {
                Self::End { succeeded, request: Field::take(request).at("request")? }
            }
            Some(Change::Cancel(proto::NoDetail {})) => Self::Cancel,
            Some(Change::Resize(proto::Amounts { amounts })) => {
                Self::Resize { resources: Amounts::take(amounts).at("resize")? }
            }
            Some(Change::Rank(proto::TaskRank { priority, deadline })) => {
                Self::Rank { priority, deadline: Field::take(deadline).at("deadline")? }
            }
            Some(Change::Measure(proto::Amounts { amounts })) => {
                Self::Measure { resources: Amounts::take(amounts).at("measure")? }
            }
            None => return Err(Fault::new(What::UnknownKind)),
        })
    }
}
message!(TaskChange = proto::TaskChange);

#[cfg(test)]
mod tests {
    use headroom_core::books::{TaskOutcome, TaskRequest};
    use headroom_core::resource::Amounts;
    use headroom_core::{Name, TaskChange, TaskStep, Timestamp};

    use crate::wire::Field;

    #[test]
    fn every_step_and_change_comes_back_as_it_was() {
        let request = TaskRequest { key: Name::new("k"), digest: Name::new("0a") };
        let outcomes = [
            TaskOutcome::Succeeded,
            TaskOutcome::Failed,
            TaskOutcome::Cancelled,
            TaskOutcome::Evicted,
            TaskOutcome::Expired,
        ];
        let ended = outcomes.map(|outcome| TaskStep::Ended { outcome, request: request.clone() });
        let steps = [
            TaskStep::Confirmed,
            TaskStep::Cancelling,
            TaskStep::Restarted { request: request.clone() },
            TaskStep::Requeued { request: request.clone() },
            TaskStep::Waited,
            TaskStep::Measured { resources: Amounts::from([("vcore", 4)]) },
        ];
        for step in steps.into_iter().chain(ended) {
            let written: crate::proto::TaskStep = step.put();
            assert_eq!(TaskStep::take(written), Ok(step));
        }
        let deadline = Some(Timestamp::from_millis(5));
        let changes = [
            TaskChange::Confirm,
            TaskChange::End { succeeded: false, request },
            TaskChange::Cancel,
            TaskChange::Resize { resources: Amounts::from([("vcore", 4)]) },
            TaskChange::Rank { priority: Some(i32::MIN), deadline: None },
            TaskChange::Rank { priority: None, deadline },
            TaskChange::Measure { resources: Amounts::default() },
        ];
        for change in changes {
            let written: crate::proto::TaskChange = change.put();
            assert_eq!(TaskChange::take(written), Ok(change));
        }
    }
}
