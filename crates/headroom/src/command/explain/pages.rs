//! The pages of `docs/errors/`: the meaning, cause, and remedy of each code.

use headroom_config::nearest;

/// Includes the pages in the program, so that the pages match its version.
macro_rules! pages {
    ($($code:literal,)*) => {
        &[$(($code, include_str!(concat!("../../../../../docs/errors/", $code, ".md"))),)*]
    };
}

/// All codes with their pages, sorted by code.
const PAGES: &[(&str, &str)] = pages! {
    "ABOVE_MAXIMUM_ALLOCATION",
    "ABS_GROUP_LIMIT",
    "ABS_USER_LIMIT",
    "ACCESS_LIST",
    "ANCESTOR_QUOTA",
    "ASK_SIZE",
    "AWAITING_RM",
    "BACKOFF",
    "BEHIND_GANG",
    "BEHIND_HEAD",
    "COMMAND_TOO_LARGE",
    "DEADLINE",
    "DRIVER_LIMIT_QUEUE",
    "DRIVER_LIMIT_USER",
    "DUPLICATE_APPLICATION",
    "DUPLICATE_KEY",
    "DUPLICATE_NODE",
    "DUPLICATE_PARTITION",
    "DUPLICATE_QUEUE",
    "EMPTY_NAME",
    "EXCEEDS_QUOTA_ALWAYS",
    "FORBIDDEN",
    "FOREIGN_SIZE",
    "GANG_INCOMPLETE",
    "GANG_ORDER",
    "GANG_SIZE",
    "GONE",
    "GROUP_APPS",
    "HELD",
    "HELD_FOR_HEAD",
    "IDEMPOTENCY_MISMATCH",
    "IMPOSSIBLE",
    "INTERNAL",
    "INVALID",
    "KEY_SPENT",
    "KEY_TAKEN",
    "LIFETIME",
    "LIFETIME_OVER",
    "LONG_NAME",
    "MALFORMED",
    "MANY_BLOCKED_NODES",
    "MANY_KEYS",
    "MAXIMUM_ALLOCATION_LOWERED",
    "MAX_APPS",
    "MAX_APPS_QUEUE",
    "MAX_APPS_USER",
    "MEASURED_BELOW_ZERO",
    "METHOD_NOT_ALLOWED",
    "MISDIRECTED",
    "NODE_BLOCKED",
    "NODE_CONSTRAINT",
    "NODE_NOT_ASKED",
    "NODE_RESERVED",
    "NODE_RESOURCES",
    "NODE_SIZE",
    "NOT_FOUND",
    "NO_NODES",
    "NO_NODE_FITS",
    "NO_PARTITION_ACCESS",
    "NO_TASK_GROUP",
    "ORDER_BEHIND",
    "OVER_QUOTA_AFTER_LOWERING",
    "PARALLEL_LIMIT",
    "PL-CREATE",
    "PL-NO-RULES",
    "PL-REJECTED",
    "PL-RULE-ERROR",
    "PLAN_MOVED",
    "PR-FGROUP",
    "PR-FUSER",
    "PR-RECOVERY",
    "PR-UNKNOWN",
    "PR-VALUE",
    "PRECONDITION_FAILED",
    "PRECONDITION_REQUIRED",
    "PREEMPTION_PENDING",
    "PRIORITY_BEHIND",
    "QUEUE_MAX",
    "QUEUE_STATE",
    "QUOTA",
    "RATE_LIMITED",
    "READ_ONLY",
    "RECOVERING",
    "REQUIRED_NODE_ABSENT",
    "REQUIRED_NODE_FULL",
    "REQUIRED_NODE_SIZE",
    "RESERVED_TYPE",
    "RM_AWAY",
    "ROOT_CAPACITY",
    "RUNS_BELOW_STOPPED",
    "SHARE_BEHIND",
    "SUM_TOO_LARGE",
    "TASK_AMOUNT",
    "TASK_ASK",
    "TASK_EXISTS",
    "TASK_MEMBERS",
    "TASK_MEMBERS_UNLIKE",
    "TASK_STATE",
    "TENANTS_IN_FORCE",
    "TENANTS_OFF",
    "TENANTS_ROOT",
    "TENANTS_TWICE",
    "TENANT_AMOUNT",
    "TENANT_BELOW_USE",
    "TENANT_CLOSED",
    "TENANT_CYCLE",
    "TENANT_DEFAULTS",
    "TENANT_DEPTH",
    "TENANT_DRAINING",
    "TENANT_EXISTS",
    "TENANT_GUARANTEE",
    "TENANT_HAS_TASKS",
    "TENANT_HAS_TENANTS",
    "TENANT_INSTANCES",
    "TENANT_LIMIT_TAKEN",
    "TENANT_MODE",
    "TENANT_NAME",
    "TENANT_PARENT",
    "TENANT_QUEUE",
    "TENANT_QUEUE_CLOSED",
    "TENANT_QUOTA",
    "TENANT_SUM",
    "TENANT_SUSPENDED",
    "TENANT_TYPE",
    "TENANT_USER",
    "TENANT_VERSION",
    "TOO_LARGE",
    "TOO_MANY",
    "TOO_MANY_QUEUES",
    "TOO_MANY_REQUESTS",
    "TOO_MANY_TENANTS",
    "TOO_MANY_TYPES",
    "TOO_SLOW",
    "TYPE_OF_LABEL",
    "U-EMPTY",
    "U-NAME",
    "U-UNRESOLVED",
    "UNAUTHENTICATED",
    "UNKNOWN_APPLICATION",
    "UNKNOWN_KEY",
    "UNKNOWN_NODE",
    "UNKNOWN_PARTITION",
    "UNKNOWN_QUESTION",
    "UNKNOWN_TASK",
    "UNKNOWN_TENANT",
    "UNSUPPORTED_MEDIA_TYPE",
    "USER_APPS",
    "USER_HARD_CAP",
    "USER_SHARE",
    "VICTIMS_NOT_ASKED",
    "WAITING_LIST_FULL",
};

/// Returns the page of a code. Ignores case.
pub(super) fn page(code: &str) -> Option<&'static str> {
    let code = code.to_ascii_uppercase();
    let place = PAGES.binary_search_by_key(&code.as_str(), |(code, _)| code).ok()?;
    Some(PAGES[place].1)
}

/// Returns the most similar code, if one is similar enough.
pub(super) fn near(code: &str) -> Option<&'static str> {
    let codes: Vec<String> = PAGES.iter().map(|(code, _)| code.to_ascii_lowercase()).collect();
    let lower: Vec<&str> = codes.iter().map(String::as_str).collect();
    let near = nearest(code, &lower)?;
    PAGES.iter().map(|(code, _)| *code).find(|code| code.eq_ignore_ascii_case(near))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use headroom_api::headroomv1::Code;
    use headroom_core::{RefusalCode, WaitCode};
    use headroom_engine::users::UserError;

    use super::{PAGES, near, page};

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn every_page_is_in_the_program_in_order() {
        assert!(PAGES.is_sorted_by(|one, next| one.0 < next.0));
        let known: BTreeSet<String> = PAGES.iter().map(|(code, _)| (*code).to_owned()).collect();
        let files = fs::read_dir(root().join("docs/errors")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let found: BTreeSet<String> =
            names.map(|name| name.trim_end_matches(".md").to_owned()).collect();
        assert_eq!(known, found);
    }

    #[test]
    fn every_code_has_a_page_with_its_meaning_its_cause_and_what_helps() {
        let waits = WaitCode::ALL.into_iter().map(WaitCode::as_str);
        let problems = Code::ALL.into_iter().map(Code::as_str);
        let refusals = RefusalCode::ALL.into_iter().map(RefusalCode::as_str);
        let all = waits.chain(problems).chain(refusals).chain(UserError::CODES);
        let all: BTreeSet<&str> = all.collect();
        assert!(all.len() > 100, "{}", all.len());
        for code in &all {
            let page = page(code).unwrap_or_else(|| panic!("docs/errors/{code}.md is missing"));
            assert!(page.starts_with(&format!("# {code}\n\n")), "{code}");
            for part in ["**Cause.** ", "**What helps.** ", "\n\n**Example.** "] {
                assert!(page.contains(part), "{code} has no {part}");
            }
        }
        let unknown = PAGES.iter().find(|(code, _)| !all.contains(*code));
        assert_eq!(unknown, None, "a page of a code that nobody says");
    }

    /// `tests/explained` compares the printed text with the program.
    #[test]
    fn the_page_of_a_reason_to_wait_has_an_example() {
        for code in WaitCode::ALL.map(WaitCode::as_str) {
            let example = page(code).and_then(|page| page.split_once("\n\n**Example.** "));
            let (before, example) = example.unwrap_or_else(|| panic!("{code} has no example"));
            assert!(before.contains("**What helps.** "), "{code}: the example is last");
            let shown = "```console\n$ headroom explain ";
            assert!(example.contains(shown), "{code}: the example shows what is printed");
        }
    }

    #[test]
    fn a_code_is_found_in_any_case_and_what_is_alike_is_named() {
        assert!(page("queue_max").unwrap().starts_with("# QUEUE_MAX"));
        assert_eq!(page("QUEUE_MAXIMUM"), None);
        assert_eq!(near("queue_maxx"), Some("QUEUE_MAX"));
        assert_eq!(near("zzz"), None);
    }
}
