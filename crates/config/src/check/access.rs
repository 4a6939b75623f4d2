//! Access lists: `users groups`, each separated by commas.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Stage};
use crate::raw::{Queue, Text};

/// Checks both access lists of a queue.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    check_one("adminacl", &queue.admin_acl, report);
    check_one("submitacl", &queue.submit_acl, report);
}

fn check_one(key: &str, acl: &Text, report: &mut Report) {
    let words = acl.value.split_whitespace().count();
    if words > 2 {
        let message = format!(
            "`{key}` has {words} words, but at most two are allowed: a list of users and a list of \
             groups"
        );
        let fault = Diagnostic::error(Code::AclSpaces, acl.span, message).help(
            "separate names with commas, and users from groups with one space, such as `ann,bob \
             dev,ops`",
        );
        report.push(fault);
        return;
    }
    // The reference splits at every single space when it builds queues, but not when it validates.
    let spaces = acl.value.matches(' ').count();
    if spaces > 1 {
        let message = format!(
            "`{key}` has {spaces} spaces, but only one is allowed, between users and groups"
        );
        let fault = Diagnostic::error(Code::AclSpaces, acl.span, message)
            .at_stage(Stage::Building)
            .help("remove the other spaces");
        report.push(fault);
    }
}
