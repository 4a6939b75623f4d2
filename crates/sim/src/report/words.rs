//! Reason codes in plain words.

use crate::outcome::NOT_EXPLAINED;

/// What held a job back, as a phrase that can follow "waited for".
///
/// `code` is a reason code, `subject` what sets the bound. An unknown code is shown as it is:
/// better a bare code than a wrong sentence.
pub fn blocker(code: &str, subject: &str) -> String {
    match code {
        "QUEUE_MAX" => format!("room below the maximum of queue {subject}"),
        "ROOT_CAPACITY" => "room in the cluster: all of it was in use".to_owned(),
        "QUEUE_STATE" => format!("queue {subject} to be open again"),
        "ABS_USER_LIMIT" | "ABS_GROUP_LIMIT" | "USER_HARD_CAP" => {
            format!("room below the limit of {subject}")
        }
        "USER_SHARE" => format!("room in the fair share of {subject}"),
        "NO_NODE_FITS" => "a node with enough free room".to_owned(),
        "REQUIRED_NODE_FULL" => format!("room on {subject}, the only one that it may run on"),
        "REQUIRED_NODE_ABSENT" => "the only node that it may run on to be there".to_owned(),
        "GANG_INCOMPLETE" => format!("a placeholder of its gang ({subject})"),
        "BACKOFF" => format!("another try: too many asks of {subject} had found no node"),
        "BEHIND_HEAD" | "HELD_FOR_HEAD" => {
            format!("the first in line of queue {subject} to start")
        }
        "NO_NODES" => "any node: the cluster had none".to_owned(),
        NOT_EXPLAINED => "not explained".to_owned(),
        "GANG_AGAIN" => format!("{subject}: it was not complete in time"),
        "NODE_RESOURCES" => format!("free room on {subject}"),
        "PREEMPTION_PENDING" => format!("others to stop on {subject}"),
        "NODE_RESERVED" => format!("a node that is held for another job ({subject})"),
        "NODE_BLOCKED" | "NO_PARTITION_ACCESS" => format!("a node it may use ({subject})"),
        "DRIVER_LIMIT_QUEUE" | "DRIVER_LIMIT_USER" => {
            format!("an application to end: the drivers of {subject} have what they may")
        }
        "MAX_APPS" | "MAX_APPS_QUEUE" => {
            format!("an application of queue {subject} to end: it runs as many as it may")
        }
        "USER_APPS" | "GROUP_APPS" | "MAX_APPS_USER" => {
            format!("an application of {subject} to end: as many run as may")
        }
        "PARALLEL_LIMIT" => {
            format!("an application to end: as many of {subject} have started as may at once")
        }
        "AWAITING_RM" => "the resource manager's word on which nodes suit".to_owned(),
        _ if subject.is_empty() => code.to_owned(),
        _ => format!("{code}: {subject}"),
    }
}

/// The same in a few words, for a narrow column of the terminal.
pub(super) fn short(code: &str, subject: &str) -> String {
    match code {
        "QUEUE_MAX" => format!("maximum of {subject}"),
        "ROOT_CAPACITY" => "cluster full".to_owned(),
        "ABS_USER_LIMIT" | "ABS_GROUP_LIMIT" | "USER_HARD_CAP" => format!("limit of {subject}"),
        "USER_SHARE" => format!("share of {subject}"),
        "NO_NODE_FITS" => "no node with room".to_owned(),
        "REQUIRED_NODE_FULL" | "REQUIRED_NODE_ABSENT" => format!("only {subject}"),
        "GANG_INCOMPLETE" => "placeholder".to_owned(),
        "BACKOFF" => "left alone for a while".to_owned(),
        "BEHIND_HEAD" | "HELD_FOR_HEAD" => format!("first in line of {subject}"),
        "GANG_AGAIN" => "gang comes again".to_owned(),
        "NO_NODES" => "cluster without nodes".to_owned(),
        NOT_EXPLAINED => "not explained".to_owned(),
        "DRIVER_LIMIT_QUEUE" | "DRIVER_LIMIT_USER" => format!("drivers of {subject}"),
        "MAX_APPS" | "MAX_APPS_QUEUE" | "USER_APPS" | "GROUP_APPS" | "MAX_APPS_USER" => {
            format!("running jobs of {subject}")
        }
        _ if subject.is_empty() => code.to_owned(),
        _ => format!("{code} {subject}"),
    }
}

#[cfg(test)]
mod tests {
    use super::blocker;

    #[test]
    fn an_unknown_code_is_shown_as_it_is() {
        for (code, subject, expected) in [
            ("QUEUE_MAX", "root.a", "room below the maximum of queue root.a"),
            (
                "GANG_AGAIN",
                "the next submission of a gang",
                "the next submission of a gang: it was not complete in time",
            ),
            ("NEW_REASON", "root.a", "NEW_REASON: root.a"),
            ("NEW_REASON", "", "NEW_REASON"),
        ] {
            assert_eq!(blocker(code, subject), expected);
        }
    }
}
