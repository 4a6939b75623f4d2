//! Routes of `/headroom/v1`.

use serde_json::{Map, Value};

use super::Part::{Fixed, Once};
use super::tenants::to_json;
use super::{Client, ClientError, Frames, JSON, sending, with_query};
use crate::headroomv1::{
    Event, Explanation, LogLevel, Page, PartitionSummary, Plan, QueueFileApplied, ServerHealth,
    StampedPartition, WaitingReasons, WouldRun,
};
use crate::routes::Method;

const YAML: &str = "application/x-yaml";

/// Which events. What is `None` lets all through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// From this time (RFC 3339) or sequence number on.
    pub from: Option<String>,
    /// Up to this time or sequence number.
    pub to: Option<String>,
    /// Of this kind.
    pub kind: Option<String>,
    /// Of what has this key, id, path or name.
    pub object: Option<String>,
    /// With this in the text.
    pub find: Option<String>,
}

impl EventFilter {
    fn query(&self) -> Vec<(&'static str, String)> {
        [
            ("from", &self.from),
            ("to", &self.to),
            ("kind", &self.kind),
            ("object", &self.object),
            ("find", &self.find),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)))
        .collect()
    }
}

/// What is looked for beside why something waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought<'a> {
    /// Kinds of remedies: `all`, or some with commas between.
    pub remedies: Option<&'a str>,
    /// Whether it is looked what becomes of it when those before it go first.
    pub in_turn: bool,
    /// Whether all that it waited for is read from the journal; not of what nobody has submitted.
    pub all_changes: bool,
}

impl Sought<'_> {
    fn query(&self) -> Vec<(&'static str, String)> {
        let remedies = self.remedies.map(|kinds| ("remedies", kinds.to_owned()));
        let in_turn = self.in_turn.then(|| ("inTurn", "true".to_owned()));
        let history = self.all_changes.then(|| ("history", "all".to_owned()));
        remedies.into_iter().chain(in_turn).chain(history).collect()
    }
}

/// # Errors
/// Every function fails as [`ClientError`] says; which statuses a route may answer, and what they
/// mean, stands in the table of routes.
#[expect(clippy::missing_errors_doc, reason = "said once for all")]
impl Client {
    /// Whether the process runs; a text for people.
    pub async fn get_live(&self) -> Result<String, ClientError> {
        self.plain("livez").await
    }

    /// Whether the server takes requests; a text for people. It is refused with 503 when it does
    /// not.
    pub async fn get_ready(&self) -> Result<String, ClientError> {
        self.plain("readyz").await
    }

    /// Metrics under our names and the reference's, as text for Prometheus.
    pub async fn get_all_metrics(&self) -> Result<String, ClientError> {
        self.plain("metrics").await
    }

    /// The `OpenAPI` document.
    pub async fn get_open_api(&self) -> Result<Map<String, Value>, ClientError> {
        self.get(&[Fixed("headroom/v1/openapi.json")], &[]).await
    }

    /// Which server this is, and how it fares.
    pub async fn get_health(&self) -> Result<ServerHealth, ClientError> {
        self.get(&[Fixed("headroom/v1/health")], &[]).await
    }

    /// The partitions at a glance, from the part on that `cursor` of the part before names.
    pub async fn list_partitions(
        &self,
        cursor: Option<&str>,
    ) -> Result<Page<PartitionSummary>, ClientError> {
        self.get(&[Fixed("headroom/v1/partitions")], &paging(cursor)).await
    }

    /// A partition at a glance.
    pub async fn get_partition(&self, partition: &str) -> Result<StampedPartition, ClientError> {
        let parts = [Fixed("headroom/v1/partitions"), Once(partition), Fixed("summary")];
        self.get(&parts, &[]).await
    }

    /// What waits in a partition, and why; with `queue`, only in that queue and below.
    pub async fn get_reasons(
        &self,
        partition: &str,
        queue: Option<&str>,
    ) -> Result<WaitingReasons, ClientError> {
        let parts = [Fixed("headroom/v1/partitions"), Once(partition), Fixed("reasons")];
        let query = queue.map(|queue| ("queue", queue.to_owned()));
        self.get(&parts, query.as_slice()).await
    }

    /// What another queue file would change.
    pub async fn plan_config(&self, yaml: &str) -> Result<Plan, ClientError> {
        let request = self.request(Method::Post, self.url(&[Fixed("headroom/v1/plan")])?);
        self.json(sending(request, YAML, yaml.as_bytes().to_vec())).await
    }

    /// Take a queue file into force if it still does what the plan with this digest announced; without one,
    /// whatever it does.
    pub async fn apply_config(
        &self,
        yaml: &str,
        plan: Option<&str>,
    ) -> Result<QueueFileApplied, ClientError> {
        let condition = match plan {
            Some(digest) => ("plan", digest.to_owned()),
            None => ("force", "true".to_owned()),
        };
        let url = with_query(self.url(&[Fixed("headroom/v1/apply")])?, &[condition]);
        let request = self.request(Method::Post, url);
        self.json(sending(request, YAML, yaml.as_bytes().to_vec())).await
    }

    /// Why the first ask of an application waits; and what would start it, as far as that is sought.
    pub async fn explain_application(
        &self,
        partition: &str,
        application: &str,
        sought: Sought<'_>,
    ) -> Result<Explanation, ClientError> {
        let parts = [
            Fixed("headroom/v1/partitions"),
            Once(partition),
            Fixed("explain/applications"),
            Once(application),
        ];
        self.get(&parts, &sought.query()).await
    }

    /// Why an ask waits; and what would start it, as far as that is sought.
    pub async fn explain_ask(
        &self,
        partition: &str,
        (application, ask): (&str, &str),
        sought: Sought<'_>,
    ) -> Result<Explanation, ClientError> {
        let parts = [
            Fixed("headroom/v1/partitions"),
            Once(partition),
            Fixed("explain/asks"),
            Once(application),
            Once(ask),
        ];
        self.get(&parts, &sought.query()).await
    }

    /// What would become of something, were it submitted now; and what would start it, as far as that is sought.
    pub async fn explain_would_run(
        &self,
        partition: &str,
        wanted: &WouldRun,
        sought: Sought<'_>,
    ) -> Result<Explanation, ClientError> {
        let parts = [Fixed("headroom/v1/partitions"), Once(partition), Fixed("explain")];
        let query = Sought { all_changes: false, ..sought }.query();
        let request = self.request(Method::Post, with_query(self.url(&parts)?, &query));
        self.json(sending(request, JSON, to_json(wanted))).await
    }

    /// What happened, from the part on that `cursor` of the part before names.
    pub async fn list_events(
        &self,
        filter: &EventFilter,
        cursor: Option<&str>,
    ) -> Result<Page<Event>, ClientError> {
        let query = [filter.query(), paging(cursor)].concat();
        self.get(&[Fixed("headroom/v1/events")], &query).await
    }

    /// What happens, behind the record with this number if one is given.
    pub async fn watch_events(
        &self,
        filter: &EventFilter,
        after: Option<u64>,
    ) -> Result<Frames, ClientError> {
        let url = with_query(self.url(&[Fixed("headroom/v1/events")])?, &filter.query());
        self.frames(url, after).await
    }

    /// How much is logged.
    pub async fn get_log_level(&self) -> Result<LogLevel, ClientError> {
        self.get(&[Fixed("headroom/v1/log-level")], &[]).await
    }

    /// Log more or less, until the process ends. Answers with what is in force then.
    pub async fn set_log_level(&self, level: &LogLevel) -> Result<LogLevel, ClientError> {
        let request = self.request(Method::Put, self.url(&[Fixed("headroom/v1/log-level")])?);
        let body = serde_json::to_vec(level).expect("its keys are texts");
        self.json(sending(request, JSON, body)).await
    }
}

fn paging(cursor: Option<&str>) -> Vec<(&'static str, String)> {
    cursor.map(|cursor| ("cursor", cursor.to_owned())).into_iter().collect()
}
