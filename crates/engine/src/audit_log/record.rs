//! A record of the audit log, its line, and its hash.
//!
//! The hash is SHA-256 of the bytes of the line without the hash, so a reader can check a line with standard tools. The
//! bytes are never created again from a parsed record.

use std::collections::BTreeMap;

use headroom_core::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Old or new settings by name. The names are ordered, which makes the bytes reproducible.
pub type AuditFields = BTreeMap<String, Value>;

/// Type of a record. Source: tenants §3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditType {
    /// A tenant was created.
    TenantCreated,
    /// Settings of a tenant changed, other than its quota and the order of its tasks.
    TenantChanged,
    /// A tenant was deleted.
    TenantDeleted,
    /// A quota, or a setting of a quota, changed.
    QuotaChanged,
    /// A task was accepted.
    TaskSubmitted,
    /// A task waits, or the reason of its wait changed.
    TaskThrottled,
    /// A task, or a member of a task, was placed on a node.
    TaskStarted,
    /// A task, or a member of a task, released its resources.
    TaskEnded,
    /// A client reported that a task runs.
    TaskConfirmed,
    /// The actual usage of a task was measured.
    TaskMeasured,
    /// The size of a task, or of a member of a task, changed.
    TaskResized,
    /// The priority or deadline of a task changed.
    TaskRanked,
    /// A waiting task was cancelled.
    TaskCancelled,
    /// A task must stop, and another ask can then start.
    TaskEvicted,
    /// A task was rejected.
    TaskRejected,
    /// The order in which the tasks of a tenant start changed.
    OrderChanged,
    /// The usage of tenants was counted again.
    LedgerRebuilt,
    /// The counted usage of tenants was wrong.
    LedgerDrift,
}

impl AuditType {
    /// All types with their names.
    pub const ALL: [(&'static str, Self); 18] = [
        ("TENANT_CREATED", Self::TenantCreated),
        ("TENANT_CHANGED", Self::TenantChanged),
        ("TENANT_DELETED", Self::TenantDeleted),
        ("QUOTA_CHANGED", Self::QuotaChanged),
        ("TASK_SUBMITTED", Self::TaskSubmitted),
        ("TASK_THROTTLED", Self::TaskThrottled),
        ("TASK_STARTED", Self::TaskStarted),
        ("TASK_ENDED", Self::TaskEnded),
        ("TASK_CONFIRMED", Self::TaskConfirmed),
        ("TASK_MEASURED", Self::TaskMeasured),
        ("TASK_RESIZED", Self::TaskResized),
        ("TASK_RANKED", Self::TaskRanked),
        ("TASK_CANCELLED", Self::TaskCancelled),
        ("TASK_EVICTED", Self::TaskEvicted),
        ("TASK_REJECTED", Self::TaskRejected),
        ("ORDER_CHANGED", Self::OrderChanged),
        ("LEDGER_REBUILT", Self::LedgerRebuilt),
        ("LEDGER_DRIFT", Self::LedgerDrift),
    ];

    /// Returns the type with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Returns the name of the type.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// One record of the audit log, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditRecord {
    /// Number of the record. Records are counted from 1, without gaps.
    pub seq: u64,
    /// Time in UTC, in milliseconds.
    pub at: String,
    /// Authenticated identity. `scheduler` for decisions of the scheduler, and `headroom` for timers.
    pub actor: String,
    /// ID of the request, as in responses and logs.
    pub request_id: Option<String>,
    /// Type of the record.
    #[serde(rename = "type")]
    pub kind: AuditType,
    /// Tenant. `None` for changes that apply to all tenants.
    pub tenant: Option<String>,
    /// Task.
    pub task: Option<String>,
    /// Old values of the changed settings.
    pub before: AuditFields,
    /// New values.
    pub after: AuditFields,
    /// Reason, as a code that does not change.
    pub reason: Option<String>,
    /// Number of the journal record that caused the audit record.
    pub ledger_version: u64,
    /// Hash of the previous record.
    pub prev_hash: String,
    /// Hash of this record.
    pub hash: String,
}

/// A record without its hash: the hashed content. The fields and their order are the same as in [`AuditRecord`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    seq: u64,
    at: &'a str,
    actor: &'a str,
    request_id: Option<&'a str>,
    r#type: AuditType,
    tenant: Option<&'a str>,
    task: Option<&'a str>,
    before: &'a AuditFields,
    after: &'a AuditFields,
    reason: Option<&'a str>,
    ledger_version: u64,
    prev_hash: &'a str,
}

/// Text before the hash in a line. `BEHIND_HASH` is the text after the hash.
const BEFORE_HASH: &str = ",\"hash\":\"";
const BEHIND_HASH: &str = "\"}";

/// Number of hexadecimal digits of a hash.
const DIGITS: usize = 64;

/// End of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the last record. 0 for an empty chain.
    pub seq: u64,
    /// Hash of its last record.
    pub hash: String,
}

/// An empty chain.
impl Default for Head {
    fn default() -> Self {
        Self { seq: 0, hash: "0".repeat(DIGITS) }
    }
}

/// A fact of the journal for the audit log.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) kind: AuditType,
    pub(crate) tenant: Option<Name>,
    pub(crate) task: Option<Name>,
    pub(crate) before: AuditFields,
    pub(crate) after: AuditFields,
    pub(crate) reason: Option<String>,
}

/// The record of the journal that caused facts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause<'a> {
    pub(crate) sequence: u64,
    pub(crate) time: Timestamp,
    pub(crate) actor: &'a str,
    pub(crate) request_id: &'a str,
    /// Whether the command applied to any version.
    pub(crate) any_version: bool,
}

/// Reason of a change whose sender specified no version.
const UNCONDITIONAL: &str = "UNCONDITIONAL";

impl Fact {
    /// Returns the reason. For a change without its own reason, the result depends on whether the sender specified a
    /// version.
    fn reason(&self, cause: &Cause<'_>) -> Option<&str> {
        use AuditType::{OrderChanged, QuotaChanged, TenantChanged, TenantDeleted};
        let is_change =
            matches!(self.kind, OrderChanged | QuotaChanged | TenantChanged | TenantDeleted);
        let by_version = || (cause.any_version && is_change).then_some(UNCONDITIONAL);
        self.reason.as_deref().or_else(by_version)
    }
}

/// Returns a time as text of constant length. The texts have the same order as the times.
pub fn written_time(time: Timestamp) -> String {
    let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.3}")
}

impl Head {
    /// Returns the line of the next record, without the line break. Advances the chain.
    pub(crate) fn line(&mut self, cause: Cause<'_>, fact: &Fact) -> String {
        let body = Body {
            seq: self.seq + 1,
            at: &written_time(cause.time),
            actor: cause.actor,
            request_id: Some(cause.request_id).filter(|id| !id.is_empty()),
            r#type: fact.kind,
            tenant: fact.tenant.as_deref(),
            task: fact.task.as_deref(),
            before: &fact.before,
            after: &fact.after,
            reason: fact.reason(&cause),
            ledger_version: cause.sequence,
            prev_hash: &self.hash,
        };
        // The fields are only texts, numbers, and objects, so the conversion to JSON does not fail.
        let mut line = serde_json::to_string(&body).unwrap_or_default();
        let hash = hash_of(&line);
        line.truncate(line.len().saturating_sub(1));
        line.extend([BEFORE_HASH, &hash, BEHIND_HASH]);
        *self = Self { seq: self.seq + 1, hash };
        line
    }
}

fn hash_of(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

/// Reason why a line is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoRecord {
    /// The line cannot be parsed.
    Unreadable(String),
    /// The record was changed: its hash does not match its bytes.
    Changed { seq: u64, found: String, expected: String },
}

impl AuditRecord {
    /// Parses a line without its line break, and checks its hash.
    pub(crate) fn read(line: &[u8]) -> Result<Self, NoRecord> {
        let unreadable = |why: String| NoRecord::Unreadable(why);
        let text = std::str::from_utf8(line).map_err(|error| unreadable(error.to_string()))?;
        let record: Self =
            serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        let body = text
            .strip_suffix(BEHIND_HASH)
            .and_then(|text| text.split_at_checked(text.len().checked_sub(DIGITS)?));
        let body = body.and_then(|(body, _)| body.strip_suffix(BEFORE_HASH));
        let body = body.ok_or_else(|| {
            unreadable("the hash of the record does not match its content".into())
        })?;
        let expected = hash_of(&format!("{body}}}"));
        if record.hash != expected {
            let (seq, found) = (record.seq, record.hash);
            return Err(NoRecord::Changed { seq, found, expected });
        }
        Ok(record)
    }

    /// Returns the end of the chain after this record.
    pub(crate) fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash.clone() }
    }
}
