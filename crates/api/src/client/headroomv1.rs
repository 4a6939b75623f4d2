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

/// A filter of events. `None` matches all events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Events at or after this time (RFC 3339) or sequence number.
    pub from: Option<String>,
    /// Events up to this time (RFC 3339) or sequence number.
    pub to: Option<String>,
    /// Events of this kind.
    pub kind: Option<String>,
    /// Events about the object with this key, ID, path, or name.
    pub object: Option<String>,
    /// Events whose text contains this.
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

/// Optional parts of an explanation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sought<'a> {
    /// Kinds of remedies: `all`, or a comma-separated list.
    pub remedies: Option<&'a str>,
    /// Whether to predict the outcome if the asks ahead start first.
    pub in_turn: bool,
    /// Whether to predict what preemption would do.
    pub preemption: bool,
    /// Whether to read the complete wait history from the journal. Not for hypothetical asks.
    pub all_changes: bool,
}

impl Sought<'_> {
    fn query(&self) -> Vec<(&'static str, String)> {
        let remedies = self.remedies.map(|kinds| ("remedies", kinds.to_owned()));
        let in_turn = self.in_turn.then(|| ("inTurn", "true".to_owned()));
        let history = self.all_changes.then(|| ("history", "all".to_owned()));
        let preemption = self.preemption.then(|| ("preemption", "true".to_owned()));
        remedies.into_iter().chain(in_turn).chain(preemption).chain(history).collect()
    }
}

/// # Errors
/// Every function fails with a [`ClientError`]. The table of routes lists the statuses of each
/// route.
#[expect(clippy::missing_errors_doc, reason = "documented once for all")]
impl Client {
    /// Checks whether the process is running. Returns text for people.
    pub async fn get_live(&self) -> Result<String, ClientError> {
        self.plain("livez").await
    }

    /// Checks whether the server accepts requests. Returns text for people, or fails with status
    /// 503.
    pub async fn get_ready(&self) -> Result<String, ClientError> {
        self.plain("readyz").await
    }

    /// Gets all metrics, under the names of Headroom and of `YuniKorn`, in Prometheus format.
    pub async fn get_all_metrics(&self) -> Result<String, ClientError> {
        self.plain("metrics").await
    }

    /// Gets the `OpenAPI` document.
    pub async fn get_open_api(&self) -> Result<Map<String, Value>, ClientError> {
        self.get(&[Fixed("headroom/v1/openapi.json")], &[]).await
    }

    /// Gets the version, state, and health of the server.
    pub async fn get_health(&self) -> Result<ServerHealth, ClientError> {
        self.get(&[Fixed("headroom/v1/health")], &[]).await
    }

    /// Lists partition summaries, from the page of `cursor` on.
    pub async fn list_partitions(
        &self,
        cursor: Option<&str>,
    ) -> Result<Page<PartitionSummary>, ClientError> {
        self.get(&[Fixed("headroom/v1/partitions")], &paging(cursor)).await
    }

    /// Gets the summary of a partition.
    pub async fn get_partition(&self, partition: &str) -> Result<StampedPartition, ClientError> {
        let parts = [Fixed("headroom/v1/partitions"), Once(partition), Fixed("summary")];
        self.get(&parts, &[]).await
    }

    /// Counts the asks that wait in a partition, by wait reason. With `queue`, only those in that
    /// queue and below.
    pub async fn get_reasons(
        &self,
        partition: &str,
        queue: Option<&str>,
    ) -> Result<WaitingReasons, ClientError> {
        let parts = [Fixed("headroom/v1/partitions"), Once(partition), Fixed("reasons")];
        let query = queue.map(|queue| ("queue", queue.to_owned()));
        self.get(&parts, query.as_slice()).await
    }

    /// Previews what a queue file changes.
    pub async fn plan_config(&self, yaml: &str) -> Result<Plan, ClientError> {
        let request = self.request(Method::Post, self.url(&[Fixed("headroom/v1/plan")])?);
        self.json(sending(request, YAML, yaml.as_bytes().to_vec())).await
    }

    /// Applies a queue file if its effect matches the plan with this digest. Without a digest,
    /// applies it always.
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

    /// Explains why the first ask of an application waits, with the requested parts.
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

    /// Explains why a pod of Kubernetes waits, with the requested parts.
    pub async fn explain_pod(
        &self,
        partition: &str,
        (namespace, pod): (&str, &str),
        sought: Sought<'_>,
    ) -> Result<Explanation, ClientError> {
        let parts = [
            Fixed("headroom/v1/partitions"),
            Once(partition),
            Fixed("explain/pods"),
            Once(namespace),
            Once(pod),
        ];
        self.get(&parts, &sought.query()).await
    }

    /// Explains why an ask waits, with the requested parts.
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

    /// Predicts the outcome of a hypothetical ask, with the requested parts.
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

    /// Lists events, from the page of `cursor` on.
    pub async fn list_events(
        &self,
        filter: &EventFilter,
        cursor: Option<&str>,
    ) -> Result<Page<Event>, ClientError> {
        let query = [filter.query(), paging(cursor)].concat();
        self.get(&[Fixed("headroom/v1/events")], &query).await
    }

    /// Streams events, after the record with this number if given.
    pub async fn watch_events(
        &self,
        filter: &EventFilter,
        after: Option<u64>,
    ) -> Result<Frames, ClientError> {
        let url = with_query(self.url(&[Fixed("headroom/v1/events")])?, &filter.query());
        self.frames(url, after).await
    }

    /// Gets the log level.
    pub async fn get_log_level(&self) -> Result<LogLevel, ClientError> {
        self.get(&[Fixed("headroom/v1/log-level")], &[]).await
    }

    /// Sets the log level until the process ends. Returns the new level.
    pub async fn set_log_level(&self, level: &LogLevel) -> Result<LogLevel, ClientError> {
        let request = self.request(Method::Put, self.url(&[Fixed("headroom/v1/log-level")])?);
        let body = serde_json::to_vec(level).expect("its keys are texts");
        self.json(sending(request, JSON, body)).await
    }
}

fn paging(cursor: Option<&str>) -> Vec<(&'static str, String)> {
    cursor.map(|cursor| ("cursor", cursor.to_owned())).into_iter().collect()
}
