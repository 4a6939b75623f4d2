//! Texts of reason codes.

use headroom_core::WaitCode;

use crate::outcome::{GANG_AGAIN, NOT_EXPLAINED};

/// Returns the reason of a wait, as a phrase that can follow "waited for".
///
/// `code` is a reason code, and `subject` is the object that has the limit. An unknown code is shown unchanged,
/// because a wrong sentence would be worse.
pub fn blocker(code: &str, subject: &str) -> String {
    match (WaitCode::of_text(code), code) {
        (Some(code), _) => code.awaited(subject),
        (None, GANG_AGAIN) => format!("{subject}: it was not complete in time"),
        (None, _) => bare(code, subject, ": "),
    }
}

/// Returns the reason in a few words, for a narrow column of the terminal.
pub(super) fn short(code: &str, subject: &str) -> String {
    match (WaitCode::of_text(code), code) {
        (Some(code), _) => code.awaited_short(subject),
        (None, GANG_AGAIN) => "gang is submitted again".to_owned(),
        (None, _) => bare(code, subject, " "),
    }
}

fn bare(code: &str, subject: &str, between: &str) -> String {
    if code == NOT_EXPLAINED {
        "not explained".to_owned()
    } else if subject.is_empty() {
        code.to_owned()
    } else {
        format!("{code}{between}{subject}")
    }
}

#[cfg(test)]
mod tests {
    use super::blocker;

    #[test]
    fn an_unknown_code_is_shown_as_it_is() {
        for (code, subject, expected) in [
            ("QUEUE_MAX", "root.a", "capacity within the maximum of queue root.a"),
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
