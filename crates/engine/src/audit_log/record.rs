//! One record of the audit, its line and its hash.
//!
//! The hash is SHA-256 over the bytes of the line without itself, so anybody who has a line can check it
//! with tools that know nothing of Headroom; these bytes are never made again from what was read.

use std::collections::BTreeMap;

use headroom_core::{Name, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Settings before or after, by name; names in order, so that bytes are the same always.
pub type AuditFields = BTreeMap<String, Value>;

/// What happened. Source: tenants §3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditType {
    /// A tenant is there.
    TenantCreated,
    /// Settings of a tenant changed, other than its quota and the order of its tasks.
    TenantChanged,
    /// A tenant is gone.
    TenantDeleted,
    /// A quota, or what belongs to it, is another.
    QuotaChanged,
    /// A task was taken in.
    TaskSubmitted,
    /// A task waits, or waits for another reason.
    TaskThrottled,
    /// A task, or a member of it, was given a node.
    TaskStarted,
    /// A task, or a member of it, gave its room back.
    TaskEnded,
    /// A client reported that a task runs.
    TaskConfirmed,
    /// What a task really uses was measured.
    TaskMeasured,
    /// A task, or a member of it, has another size.
    TaskResized,
    /// A task has another priority or deadline.
    TaskRanked,
    /// A task that waited was withdrawn.
    TaskCancelled,
    /// A task is to stop for the sake of others.
    TaskEvicted,
    /// A task was not taken in.
    TaskRejected,
    /// The tasks of a tenant start in another order.
    OrderChanged,
    /// What tenants use was counted again.
    LedgerRebuilt,
    /// What tenants use was not what was counted.
    LedgerDrift,
}

impl AuditType {
    /// All, as they are written.
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

    /// The one that is written so.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// One record of the audit, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditRecord {
    /// Counts records from 1, without gaps.
    pub seq: u64,
    /// When, in UTC, to the millisecond.
    pub at: String,
    /// Who: as authenticated; `scheduler` where it moved by itself, `headroom` for what is done by the clock.
    pub actor: String,
    /// The request that it comes from, as responses and logs name it.
    pub request_id: Option<String>,
    /// What.
    #[serde(rename = "type")]
    pub kind: AuditType,
    /// Which tenant; none for what holds for all.
    pub tenant: Option<String>,
    /// Which task.
    pub task: Option<String>,
    /// What was so before, as far as it is another now.
    pub before: AuditFields,
    /// What is so from then on.
    pub after: AuditFields,
    /// Why, by a code that does not change.
    pub reason: Option<String>,
    /// The number of the record of the journal that it follows from.
    pub ledger_version: u64,
    /// The hash of the record before.
    pub prev_hash: String,
    /// Its own.
    pub hash: String,
}

/// A record without its own hash: what that is of. The same fields in the same order.
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

/// What stands before the hash in a line, and behind it.
const BEFORE_HASH: &str = ",\"hash\":\"";
const BEHIND_HASH: &str = "\"}";

/// Digits of a hash.
const DIGITS: usize = 64;

/// How far a chain is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of its last record; 0 if it has none.
    pub seq: u64,
    /// The hash of that.
    pub hash: String,
}

/// A chain without a record.
impl Default for Head {
    fn default() -> Self {
        Self { seq: 0, hash: "0".repeat(DIGITS) }
    }
}

/// What a record of the journal says to the audit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) kind: AuditType,
    pub(crate) tenant: Option<Name>,
    pub(crate) task: Option<Name>,
    pub(crate) before: AuditFields,
    pub(crate) after: AuditFields,
    pub(crate) reason: Option<String>,
}

/// Of which record of the journal facts are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cause<'a> {
    pub(crate) sequence: u64,
    pub(crate) time: Timestamp,
    pub(crate) actor: &'a str,
    pub(crate) request_id: &'a str,
    /// Whether the change was requested for any version.
    pub(crate) any_version: bool,
}

/// Why something was changed that nobody had read in this version.
const UNCONDITIONAL: &str = "UNCONDITIONAL";

impl Fact {
    /// Why, by the cause as well: with a version, or without.
    fn reason(&self, cause: &Cause<'_>) -> Option<&str> {
        use AuditType::{OrderChanged, QuotaChanged, TenantChanged, TenantDeleted};
        let is_change =
            matches!(self.kind, OrderChanged | QuotaChanged | TenantChanged | TenantDeleted);
        let by_version = || (cause.any_version && is_change).then_some(UNCONDITIONAL);
        self.reason.as_deref().or_else(by_version)
    }
}

/// A time as it is written: always as long, so that texts are in the order of times.
pub fn written_time(time: Timestamp) -> String {
    let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    format!("{time:.3}")
}

impl Head {
    /// The line of the next record, without its end; the chain is one longer then.
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
        // Texts, numbers and names of fields: nothing that JSON cannot have.
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

/// Why a line is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoRecord {
    /// It cannot be read.
    Unreadable(String),
    /// It is another than was written: its hash is not that of its bytes.
    Changed { seq: u64, found: String, expected: String },
}

impl AuditRecord {
    /// Read a line, without its end, and judge it by its own hash.
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

    /// The chain that ends with it.
    pub(crate) fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash.clone() }
    }
}
