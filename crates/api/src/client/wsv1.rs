//! Routes of `/ws/v1`.

use reqwest::header::ACCEPT;

use super::Part::{Fixed, Once, Twice};
use super::{Client, ClientError, Lines, sending};
use crate::routes::Method;
use crate::wsv1::{
    Application, ApplicationHistory, Cluster, Config, ContainerHistory, EventBatch, GroupUsage,
    Health, Node, Partition, PartitionNodesUtilization, PlacementRule, Queue, SimulatedLimits,
    StateDump, UserLimits, UserLimitsSimulation, UserUsage, Validation,
};

/// The applications to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationList<'a> {
    /// Applications that are not completed, failed, or rejected. Optionally only those in one
    /// state, such as `running`.
    Active(Option<&'a str>),
    /// Completed and failed applications.
    Completed,
    /// Rejected applications.
    Rejected,
}

impl ApplicationList<'_> {
    fn state(self) -> &'static str {
        match self {
            Self::Active(_) => "active",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
        }
    }

    fn query(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Active(Some(status)) => vec![("status", status.to_owned())],
            _ => Vec::new(),
        }
    }
}

const PARTITION: super::Part<'static> = Fixed("ws/v1/partition");

/// # Errors
/// Every function fails with a [`ClientError`]. The table of routes lists the statuses of each
/// route.
#[expect(clippy::missing_errors_doc, reason = "documented once for all")]
impl Client {
    /// Gets the scheduler, once for each partition.
    pub async fn get_clusters(&self) -> Result<Vec<Cluster>, ClientError> {
        self.get(&[Fixed("ws/v1/clusters")], &[]).await
    }

    /// Gets metrics under the names of `YuniKorn`, in Prometheus format.
    pub async fn get_metrics(&self) -> Result<String, ClientError> {
        self.plain("ws/v1/metrics").await
    }

    /// Gets the active queue file.
    pub async fn get_config(&self) -> Result<Config, ClientError> {
        self.get(&[Fixed("ws/v1/config")], &[]).await
    }

    /// Gets the active queue file, as YAML.
    pub async fn get_config_yaml(&self) -> Result<String, ClientError> {
        let url = self.url(&[Fixed("ws/v1/config")])?;
        let request = self.http.get(url).timeout(self.timeout);
        self.text(request.header(ACCEPT, "application/x-yaml")).await
    }

    /// Validates a queue file. Applies nothing.
    pub async fn validate_config(&self, yaml: &str) -> Result<Validation, ClientError> {
        let request = self.request(Method::Post, self.url(&[Fixed("ws/v1/validate-conf")])?);
        self.json(sending(request, "application/x-yaml", yaml.as_bytes().to_vec())).await
    }

    /// Gets the number of running applications for each minute of the last day.
    pub async fn get_application_history(&self) -> Result<Vec<ApplicationHistory>, ClientError> {
        self.get(&[Fixed("ws/v1/history/apps")], &[]).await
    }

    /// Gets the number of allocations for each minute of the last day.
    pub async fn get_container_history(&self) -> Result<Vec<ContainerHistory>, ClientError> {
        self.get(&[Fixed("ws/v1/history/containers")], &[]).await
    }

    /// Lists the partitions.
    pub async fn get_partitions(&self) -> Result<Vec<Partition>, ClientError> {
        self.get(&[Fixed("ws/v1/partitions")], &[]).await
    }

    /// Lists the active placement rules, in order.
    pub async fn get_placement_rules(
        &self,
        partition: &str,
    ) -> Result<Vec<PlacementRule>, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("placementrules")], &[]).await
    }

    /// Gets the root queue, with all queues below it. Trees of more than 60 levels cannot be read.
    /// Get their queues one by one.
    pub async fn get_queues(&self, partition: &str) -> Result<Queue, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("queues")], &[]).await
    }

    /// Gets a queue, with or without the queues below it.
    pub async fn get_queue(
        &self,
        partition: &str,
        queue: &str,
        subtree: bool,
    ) -> Result<Queue, ClientError> {
        let query = [("subtree", String::new())];
        let query = if subtree { &query[..] } else { &[] };
        self.get(&[PARTITION, Once(partition), Fixed("queue"), Twice(queue)], query).await
    }

    /// Lists the nodes.
    pub async fn get_nodes(&self, partition: &str) -> Result<Vec<Node>, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("nodes")], &[]).await
    }

    /// Gets a node.
    pub async fn get_node(&self, partition: &str, node: &str) -> Result<Node, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("node"), Once(node)], &[]).await
    }

    /// Lists the active applications of a leaf.
    pub async fn get_queue_applications(
        &self,
        partition: &str,
        queue: &str,
    ) -> Result<Vec<Application>, ClientError> {
        let parts =
            [PARTITION, Once(partition), Fixed("queue"), Twice(queue), Fixed("applications")];
        self.get(&parts, &[]).await
    }

    /// Gets an active application of a queue.
    pub async fn get_queue_application(
        &self,
        partition: &str,
        queue: &str,
        application: &str,
    ) -> Result<Application, ClientError> {
        let queue = [PARTITION, Once(partition), Fixed("queue"), Twice(queue)];
        let application = [Fixed("application"), Once(application)];
        self.get(&[&queue[..], &application].concat(), &[]).await
    }

    /// Gets an active application.
    pub async fn get_application(
        &self,
        partition: &str,
        application: &str,
    ) -> Result<Application, ClientError> {
        let parts = [PARTITION, Once(partition), Fixed("application"), Once(application)];
        self.get(&parts, &[]).await
    }

    /// Lists the applications that are active, completed, or rejected.
    pub async fn get_applications(
        &self,
        partition: &str,
        which: ApplicationList<'_>,
    ) -> Result<Vec<Application>, ClientError> {
        let parts = [PARTITION, Once(partition), Fixed("applications"), Fixed(which.state())];
        self.get(&parts, &which.query()).await
    }

    /// Lists the active applications of a queue. Optionally only those in one state, such as
    /// `running`.
    pub async fn get_queue_applications_by_state(
        &self,
        partition: &str,
        queue: &str,
        status: Option<&str>,
    ) -> Result<Vec<Application>, ClientError> {
        let which = ApplicationList::Active(status);
        let queue = [PARTITION, Once(partition), Fixed("queue"), Twice(queue)];
        let list = [Fixed("applications"), Fixed(which.state())];
        self.get(&[&queue[..], &list].concat(), &which.query()).await
    }

    /// Gets the user limits of a leaf.
    pub async fn get_user_limits(
        &self,
        partition: &str,
        queue: &str,
    ) -> Result<UserLimits, ClientError> {
        let parts = [PARTITION, Once(partition), Fixed("queue"), Twice(queue), Fixed("userlimits")];
        self.get(&parts, &[]).await
    }

    /// Predicts user limits for hypothetical numbers. Changes nothing.
    pub async fn simulate_user_limits(
        &self,
        partition: &str,
        queue: &str,
        simulation: &UserLimitsSimulation,
    ) -> Result<SimulatedLimits, ClientError> {
        let queue = [PARTITION, Once(partition), Fixed("queue"), Twice(queue)];
        let url = self.url(&[&queue[..], &[Fixed("userlimits/simulate")]].concat())?;
        let body = serde_json::to_vec(simulation).expect("bodies have texts for keys");
        self.json(sending(self.request(Method::Post, url), super::JSON, body)).await
    }

    /// Lists usage and limits of users.
    pub async fn get_users(&self, partition: &str) -> Result<Vec<UserUsage>, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("usage/users")], &[]).await
    }

    /// Gets usage and limits of a user.
    pub async fn get_user(&self, partition: &str, user: &str) -> Result<UserUsage, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("usage/user"), Twice(user)], &[]).await
    }

    /// Lists usage and limits of groups.
    pub async fn get_groups(&self, partition: &str) -> Result<Vec<GroupUsage>, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("usage/groups")], &[]).await
    }

    /// Gets usage and limits of a group.
    pub async fn get_group(&self, partition: &str, group: &str) -> Result<GroupUsage, ClientError> {
        self.get(&[PARTITION, Once(partition), Fixed("usage/group"), Twice(group)], &[]).await
    }

    /// Lists events from this ID on, at most `count` if given.
    pub async fn get_events(
        &self,
        start: u64,
        count: Option<u64>,
    ) -> Result<EventBatch, ClientError> {
        let start = Some(("start", start.to_string()));
        let count = count.map(|count| ("count", count.to_string()));
        let query: Vec<_> = start.into_iter().chain(count).collect();
        self.get(&[Fixed("ws/v1/events/batch")], &query).await
    }

    /// Streams events, after this many past events.
    pub async fn stream_events(&self, count: u64) -> Result<Lines, ClientError> {
        let mut url = self.url(&[Fixed("ws/v1/events/stream")])?;
        url.query_pairs_mut().append_pair("count", &count.to_string());
        Ok(Lines::new(self.send(self.http.get(url)).await?))
    }

    /// Gets the last health check.
    pub async fn get_health_check(&self) -> Result<Health, ClientError> {
        self.get(&[Fixed("ws/v1/scheduler/healthcheck")], &[]).await
    }

    /// Gets the distribution of nodes by utilization, by partition.
    pub async fn get_node_utilizations(
        &self,
    ) -> Result<Vec<PartitionNodesUtilization>, ClientError> {
        let all: Option<Vec<_>> =
            self.get(&[Fixed("ws/v1/scheduler/node-utilizations")], &[]).await?;
        // The reference sends `null` where there are no partitions.
        Ok(all.unwrap_or_default())
    }

    /// Gets the state of each thread of the server, as text.
    pub async fn get_stack(&self) -> Result<String, ClientError> {
        self.plain("debug/stack").await
    }

    /// Gets the complete scheduler state.
    pub async fn get_state_dump(&self) -> Result<StateDump, ClientError> {
        self.get(&[Fixed("debug/fullstatedump")], &[]).await
    }
}
