//! Bodies of `/headroom/v1`: one example of each, with every field.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use headroom_api::headroomv1::{
    AuditPage, Bye, Event, Explanation, Hello, LedgerVerified, Level, LogLevel, Page,
    PartitionSummary, Plan, Problem, QueueFileApplied, QuotaCheck, Role, ServerHealth,
    StampedPartition, Task, TaskMeasurement, TaskRank, TaskRelease, TaskResize, TaskSubmission,
    Tenant, TenantDefaults, TenantEvent, TenantQuota, TenantUsage, WaitingList, WaitingReasons,
    WaitingTask, WouldRun,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

type Read = fn(&str) -> serde_json::Result<String>;

/// Every example with the body that it is one of.
const EXAMPLES: [(&str, Read); 39] = [
    ("bye", again::<Bye>),
    ("events", again::<Page<Event>>),
    ("audit", again::<AuditPage>),
    ("events-first", again::<Page<Event>>),
    ("explanation", again::<Explanation>),
    ("explanation-rejected", again::<Explanation>),
    ("health", again::<ServerHealth>),
    ("hello", again::<Hello>),
    ("log-level", again::<LogLevel>),
    ("new-task", again::<TaskSubmission>),
    ("partition", again::<StampedPartition>),
    ("partitions", again::<Page<PartitionSummary>>),
    ("partitions-many", again::<Page<PartitionSummary>>),
    ("plan", again::<Plan>),
    ("plan-refused", again::<Plan>),
    ("problem", again::<Problem>),
    ("queue-file-applied", again::<QueueFileApplied>),
    ("reasons", again::<WaitingReasons>),
    ("task", again::<Task>),
    ("task-measurement", again::<TaskMeasurement>),
    ("task-rank", again::<TaskRank>),
    ("task-release", again::<TaskRelease>),
    ("task-resize", again::<TaskResize>),
    ("tasks", again::<Page<Task>>),
    ("tasks-many", again::<Page<Task>>),
    ("tenant", again::<Tenant>),
    ("tenant-defaults", again::<TenantDefaults>),
    ("tenant-quota", again::<TenantQuota>),
    ("ledger-verified", again::<LedgerVerified>),
    ("tenant-usage", again::<TenantUsage>),
    ("tenant-event", again::<TenantEvent>),
    ("tenant-event-resized", again::<TenantEvent>),
    ("tenant-event-quota", again::<TenantEvent>),
    ("tenants", again::<Page<Tenant>>),
    ("tenants-many", again::<Page<Tenant>>),
    ("quota-check", again::<QuotaCheck>),
    ("waiting", again::<WaitingList>),
    ("waiting-task", again::<WaitingTask>),
    ("would-run", again::<WouldRun>),
];

/// Read a body and write it.
fn again<T: DeserializeOwned + Serialize>(text: &str) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(&serde_json::from_str::<T>(text)?)? + "\n")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/headroomv1")
}

#[test]
fn every_example_is_written_as_it_was_read() {
    for (name, again) in EXAMPLES {
        let text = fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let written = again(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(written, text, "{name}");
    }
    let files: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, EXAMPLES.map(|(name, _)| format!("{name}.json")).into());
}

#[test]
fn a_field_that_nobody_knows_is_refused_in_what_clients_send() {
    let read = serde_json::from_str::<LogLevel>(r#"{"level": "info", "target": {}}"#);
    assert!(read.unwrap_err().to_string().contains("target"));
    let read = serde_json::from_str::<LogLevel>(r#"{"level": "loud"}"#);
    assert!(read.unwrap_err().to_string().contains("loud"));
    let read: LogLevel = serde_json::from_str(r#"{"level": "warn"}"#).unwrap();
    assert_eq!(read, LogLevel { level: Level::Warn, ..LogLevel::default() });
}

#[test]
fn levels_are_ordered_and_roles_have_the_names_of_their_page() {
    let levels = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];
    assert!(levels.is_sorted());
    let names: Vec<_> = Role::ALL.iter().map(|role| serde_json::to_value(role).unwrap()).collect();
    let expected = [
        "admin",
        "operator",
        "viewer",
        "submitter",
        "queue-admin",
        "tenant-admin",
        "tenant-viewer",
        "rm",
    ];
    assert_eq!(names, expected);
}
