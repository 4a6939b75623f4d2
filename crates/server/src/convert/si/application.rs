//! `ApplicationRequest` as commands.

use headroom_api::si::v1::{AddApplicationRequest, ApplicationRequest, RemoveApplicationRequest};
use headroom_core::books::GangStyle;
use headroom_core::placement::is_forced;
use headroom_core::{Command, Millis, Name, RejectApplication, Submit};
use headroom_engine::users::{Submitted, UserError, UserInfo};

use super::{Refusal, Step, amounts, partition};

/// Style of a gang that fails if it is not complete in time. Every other value means the other style.
const HARD: &str = "Hard";

/// The reference counts nanoseconds in 64 bits. A larger value counts as no timeout.
const TIMEOUT_MILLIS_MAX: i64 = i64::MAX / 1_000_000;

/// Content of a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applications {
    /// Applications to submit, before the removals.
    pub new: Vec<New>,
    /// Applications to remove, after the submissions.
    pub remove: Vec<Step>,
}

/// A submitted application, before the charged user is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// User and groups that the client sent.
    pub submitted: Submitted,
    /// The rest of the command, without user and groups.
    submit: Submit,
}

impl New {
    /// Returns the partition of the submission.
    pub const fn partition(&self) -> &Name {
        &self.submit.partition
    }

    /// Returns the command for the charged user, or the rejection.
    pub fn charged_to(self, user: Result<UserInfo, UserError>) -> Step {
        let Self { mut submit, .. } = self;
        let if_refused = Refusal::Application(submit.application.to_string());
        let command = match user {
            Ok(UserInfo { name, groups }) => {
                (submit.user, submit.groups) = (name, groups);
                Command::Submit(submit)
            }
            // The core also rejects an unknown partition, with the names of those that exist.
            Err(error) => Command::RejectApplication(Box::new(RejectApplication {
                partition: submit.partition,
                application: submit.application,
                queue: submit.queue,
                code: Name::new(error.code()),
                message: Name::new(error.to_string()),
                ..RejectApplication::default()
            })),
        };
        Step { command, if_refused }
    }
}

/// Returns the content of a request. Source: scheduler interface §6.2.
pub fn applications(request: ApplicationRequest) -> Applications {
    let ApplicationRequest { new, remove, .. } = request;
    let remove = remove.into_iter().map(removed);
    Applications { new: new.into_iter().map(added).collect(), remove: remove.collect() }
}

fn added(new: AddApplicationRequest) -> New {
    let tags: Vec<(Name, Name)> =
        new.tags.iter().map(|(key, value)| (Name::new(key), Name::new(value))).collect();
    let ugi = new.ugi.unwrap_or_default();
    let submitted = Submitted {
        user: Name::new(ugi.user),
        groups: ugi.groups.iter().map(Name::new).collect(),
        forced: is_forced(&tags),
    };
    let submit = Submit {
        partition: partition(&new.partition_name),
        application: Name::new(new.application_id),
        queue: Name::new(new.queue_name),
        tags,
        placeholder_ask: amounts(new.placeholder_ask.as_ref()),
        gang_style: if new.gang_scheduling_style == HARD {
            GangStyle::Hard
        } else {
            GangStyle::Soft
        },
        placeholder_timeout: timeout(new.execution_timeout_milli_seconds),
        ..Submit::default()
    };
    New { submitted, submit }
}

/// Returns the timeout of a gang. Zero, which means the default, if the value is not valid.
fn timeout(millis: i64) -> Millis {
    let sensible = (1..=TIMEOUT_MILLIS_MAX).contains(&millis);
    Millis::new(u64::try_from(millis).ok().filter(|_| sensible).unwrap_or(0))
}

fn removed(gone: RemoveApplicationRequest) -> Step {
    let partition = partition(&gone.partition_name);
    let application = Name::new(gone.application_id);
    Step::silent(Command::RemoveApplication { partition, application })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_that_is_none_leaves_the_default() {
        for (millis, expected) in [
            (0, 0),
            (-1, 0),
            (i64::MIN, 0),
            (1, 1),
            (TIMEOUT_MILLIS_MAX, 9_223_372_036_854),
            (TIMEOUT_MILLIS_MAX + 1, 0),
            (i64::MAX, 0),
        ] {
            assert_eq!(timeout(millis), Millis::new(expected), "{millis}");
        }
    }

    #[test]
    fn the_style_of_a_gang_is_soft_whatever_else_is_said() {
        for (word, style) in
            [("", GangStyle::Soft), ("Hard", GangStyle::Hard), ("hard", GangStyle::Soft)]
        {
            let new = AddApplicationRequest {
                gang_scheduling_style: word.into(),
                ..AddApplicationRequest::default()
            };
            assert_eq!(added(new).submit.gang_style, style, "{word:?}");
        }
    }

    #[test]
    fn an_application_without_a_user_is_rejected_and_remembered() {
        let new = added(AddApplicationRequest {
            application_id: "a".into(),
            queue_name: "root.q".into(),
            ..AddApplicationRequest::default()
        });
        let step = new.charged_to(Err(UserError::Empty));
        assert_eq!(step.if_refused, Refusal::Application("a".into()));
        let Command::RejectApplication(rejected) = step.command else {
            panic!("{:?}", step.command)
        };
        assert_eq!((&*rejected.partition, &*rejected.application), ("default", "a"));
        assert_eq!((&*rejected.queue, &*rejected.code), ("root.q", "U-EMPTY"));
    }
}
