//! Every function asks the route that it is named after, and reads what that answers.

use std::collections::BTreeSet;
use std::fmt::Debug;

use headroom_api::client::{ApplicationList, Client, ClientError, EventFilter, Sought};
use headroom_api::headroomv1::LogLevel;
use headroom_api::routes::{self, Route, Tag};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::tasks::tasks;
use super::tenants::tenants;
use super::{client, example};

/// Names with everything that has to be escaped, once or twice.
pub(super) const ONCE: &str = "a b/c?d#e%2Fé+";
const TWICE: &str = "root.a:b@c/d+e%f#g";

/// What is asked for, as the server sees it: names in the path decoded as the server does.
fn path_of(route: &Route) -> String {
    let mut path = route.path.to_owned();
    for name in route.path_parameters() {
        let value = match name {
            "queue" | "user" | "group" => "root.a:b@c%252Fd%252Be%2525f%23g",
            "state" => "active",
            _ => "a%20b%2Fc%3Fd%23e%252F%C3%A9+",
        };
        path = path.replace(&format!("{{{name}}}"), value);
    }
    path
}

pub(super) struct Asked {
    pub(super) server: MockServer,
    done: BTreeSet<String>,
}

impl Asked {
    /// Call a function and look at what the server was asked.
    pub(super) async fn check<T: Debug>(
        &mut self,
        operation: &str,
        body: &str,
        query: Option<&str>,
        call: impl AsyncFnOnce(Client) -> Result<T, ClientError>,
    ) -> T {
        let route = routes::all().find(|route| route.operation == operation).expect(operation);
        self.server.reset().await;
        let answer = ResponseTemplate::new(200).set_body_string(body);
        Mock::given(any()).respond_with(answer).mount(&self.server).await;
        let read = call(client(&self.server)).await;
        let requests: Vec<Request> = self.server.received_requests().await.unwrap();
        let [request] = &requests[..] else { panic!("{operation}: one request") };
        assert_eq!(request.method.as_str(), route.method.as_str(), "{operation}");
        assert_eq!(request.url.path(), path_of(route), "{operation}");
        assert_eq!(request.url.query(), query, "{operation}");
        self.done.insert(operation.to_owned());
        read.unwrap_or_else(|error| panic!("{operation}: {error:?}"))
    }
}

#[tokio::test]
async fn every_function_asks_its_route_and_reads_the_answer() {
    let mut asked = Asked { server: MockServer::start().await, done: BTreeSet::new() };
    scheduler(&mut asked).await;
    partition(&mut asked).await;
    applications(&mut asked).await;
    usage(&mut asked).await;
    events(&mut asked).await;
    server(&mut asked).await;
    tenants(&mut asked).await;
    tasks(&mut asked).await;

    let left: BTreeSet<_> = routes::all()
        .filter(|route| route.tag != Tag::Debug && !asked.done.contains(route.operation))
        .map(|route| route.operation)
        .collect();
    assert_eq!(left, BTreeSet::new());
}

async fn scheduler(asked: &mut Asked) {
    let body = example("wsv1/clusters");
    asked.check("getClusters", &body, None, async |c: Client| c.get_clusters().await).await;
    asked.check("getMetrics", "a 1\n", None, async |c: Client| c.get_metrics().await).await;
    let body = example("wsv1/config");
    asked.check("getConfig", &body, None, async |c: Client| c.get_config().await).await;
    let body = "partitions: []\n";
    let text = asked.check("getConfig", body, None, async |c: Client| c.get_config_yaml().await);
    assert_eq!(text.await, body);
    let body = example("wsv1/validate-conf-refused");
    let verdict = asked
        .check("validateConfig", &body, None, async |c: Client| c.validate_config("a: b").await);
    assert!(!verdict.await.allowed);
    let body = example("wsv1/history-apps");
    asked
        .check("getApplicationHistory", &body, None, async |c: Client| {
            c.get_application_history().await
        })
        .await;
    let body = example("wsv1/history-containers");
    asked
        .check("getContainerHistory", &body, None, async |c: Client| {
            c.get_container_history().await
        })
        .await;
    let body = example("wsv1/health");
    asked.check("getHealthCheck", &body, None, async |c: Client| c.get_health_check().await).await;
    let body = example("wsv1/node-utilizations");
    for (body, expected) in [(&*body, 2), ("null", 0)] {
        let all = asked.check("getNodeUtilizations", body, None, async |c: Client| {
            c.get_node_utilizations().await
        });
        assert_eq!(all.await.len(), expected);
    }
    asked.check("getStack", "main\n", None, async |c: Client| c.get_stack().await).await;
    let body = example("wsv1/state-dump");
    asked.check("getStateDump", &body, None, async |c: Client| c.get_state_dump().await).await;
}

async fn partition(asked: &mut Asked) {
    let body = example("wsv1/partitions");
    asked.check("getPartitions", &body, None, async |c: Client| c.get_partitions().await).await;
    let body = example("wsv1/placementrules");
    asked
        .check("getPlacementRules", &body, None, async |c: Client| {
            c.get_placement_rules(ONCE).await
        })
        .await;
    let body = example("wsv1/queues");
    asked.check("getQueues", &body, None, async |c: Client| c.get_queues(ONCE).await).await;
    for (subtree, query) in [(false, None), (true, Some("subtree="))] {
        asked
            .check("getQueue", &body, query, async |c: Client| {
                c.get_queue(ONCE, TWICE, subtree).await
            })
            .await;
    }
    let body = example("wsv1/nodes");
    asked.check("getNodes", &body, None, async |c: Client| c.get_nodes(ONCE).await).await;
    let body = example("wsv1/node");
    asked.check("getNode", &body, None, async |c: Client| c.get_node(ONCE, ONCE).await).await;
}

async fn applications(asked: &mut Asked) {
    let body = example("wsv1/applications");
    asked
        .check("getQueueApplications", &body, None, async |c: Client| {
            c.get_queue_applications(ONCE, TWICE).await
        })
        .await;
    for (status, query) in [(None, None), (Some("running"), Some("status=running"))] {
        asked
            .check("getApplications", &body, query, async |c: Client| {
                c.get_applications(ONCE, ApplicationList::Active(status)).await
            })
            .await;
        asked
            .check("getQueueApplicationsByState", &body, query, async |c: Client| {
                c.get_queue_applications_by_state(ONCE, TWICE, status).await
            })
            .await;
    }
    let body = example("wsv1/application");
    asked
        .check("getQueueApplication", &body, None, async |c: Client| {
            c.get_queue_application(ONCE, TWICE, ONCE).await
        })
        .await;
    asked
        .check("getApplication", &body, None, async |c: Client| c.get_application(ONCE, ONCE).await)
        .await;
}

async fn usage(asked: &mut Asked) {
    let body = example("wsv1/users");
    asked.check("getUsers", &body, None, async |c: Client| c.get_users(ONCE).await).await;
    let body = example("wsv1/user");
    asked.check("getUser", &body, None, async |c: Client| c.get_user(ONCE, TWICE).await).await;
    let body = example("wsv1/groups");
    asked.check("getGroups", &body, None, async |c: Client| c.get_groups(ONCE).await).await;
    let body = example("wsv1/group");
    asked.check("getGroup", &body, None, async |c: Client| c.get_group(ONCE, TWICE).await).await;
    for (body, enabled) in [("wsv1/user-limits", true), ("wsv1/user-limits-off", false)] {
        let body = example(body);
        let limits = asked.check("getUserLimits", &body, None, async |c: Client| {
            c.get_user_limits(ONCE, TWICE).await
        });
        assert_eq!(limits.await.enabled, enabled);
    }
    let body = example("wsv1/simulated-limits");
    let sent = serde_json::from_str(&example("wsv1/user-limits-simulation")).unwrap();
    let limits = asked.check("simulateUserLimits", &body, None, async |c: Client| {
        c.simulate_user_limits(ONCE, TWICE, &sent).await
    });
    assert_eq!(limits.await.users.len(), 2);
}

async fn events(asked: &mut Asked) {
    let body = example("wsv1/events-batch");
    for (count, query) in [(None, "start=7"), (Some(3), "start=7&count=3")] {
        asked
            .check("getEvents", &body, Some(query), async |c: Client| c.get_events(7, count).await)
            .await;
    }
    asked
        .check("streamEvents", "", Some("count=5"), async |c: Client| {
            c.stream_events(5).await?.next().await
        })
        .await;
    let body = example("headroomv1/events");
    let filter = EventFilter { kind: Some("a&b".into()), ..EventFilter::default() };
    asked
        .check("listEvents", &body, Some("kind=a%26b&cursor=x"), async |c: Client| {
            c.list_events(&filter, Some("x")).await
        })
        .await;
    let filter = EventFilter::default();
    asked
        .check("listEvents", "", None, async |c: Client| {
            c.watch_events(&filter, Some(7)).await?.next().await
        })
        .await;
    let request = asked.server.received_requests().await.unwrap().remove(0);
    assert_eq!(request.headers["last-event-id"], "7");
    assert_eq!(request.headers["accept"], "text/event-stream");
}

async fn server(asked: &mut Asked) {
    asked.check("getLive", "ok\n", None, async |c: Client| c.get_live().await).await;
    asked.check("getReady", "ok\n", None, async |c: Client| c.get_ready().await).await;
    asked.check("getAllMetrics", "a 1\n", None, async |c: Client| c.get_all_metrics().await).await;
    asked.check("getOpenApi", "{}", None, async |c: Client| c.get_open_api().await).await;
    let body = example("headroomv1/health");
    asked.check("getHealth", &body, None, async |c: Client| c.get_health().await).await;
    let body = example("headroomv1/partitions");
    asked
        .check("listPartitions", &body, Some("cursor=x"), async |c: Client| {
            c.list_partitions(Some("x")).await
        })
        .await;
    let body = example("headroomv1/partition");
    asked.check("getPartition", &body, None, async |c: Client| c.get_partition(ONCE).await).await;
    let body = example("headroomv1/reasons");
    for (queue, query) in [(None, None), (Some("root.a b"), Some("queue=root.a+b"))] {
        asked
            .check("getReasons", &body, query, async |c: Client| c.get_reasons(ONCE, queue).await)
            .await;
    }
    let body = example("headroomv1/explanation");
    let all = Sought { remedies: Some("all"), in_turn: true, preemption: true, all_changes: true };
    let query = "remedies=all&inTurn=true&preemption=true";
    let with_history = "remedies=all&inTurn=true&preemption=true&history=all";
    for (kinds, all) in [(Sought::default(), false), (all, true)] {
        let (query, of_new) = (all.then_some(with_history), all.then_some(query));
        asked
            .check("explainApplication", &body, query, async |c: Client| {
                c.explain_application(ONCE, ONCE, kinds).await
            })
            .await;
        asked
            .check("explainAsk", &body, query, async |c: Client| {
                c.explain_ask(ONCE, (ONCE, ONCE), kinds).await
            })
            .await;
        asked
            .check("explainPod", &body, query, async |c: Client| {
                c.explain_pod(ONCE, (ONCE, ONCE), kinds).await
            })
            .await;
        let wanted = serde_json::from_str(&example("headroomv1/would-run")).unwrap();
        asked
            .check("explainWouldRun", &body, of_new, async |c: Client| {
                c.explain_would_run(ONCE, &wanted, kinds).await
            })
            .await;
    }
    let body = example("headroomv1/plan");
    let plan =
        asked.check("planConfig", &body, None, async |c: Client| c.plan_config("a: b").await).await;
    assert!(plan.effects.is_some());
    let body = example("headroomv1/queue-file-applied");
    for (plan, query) in [(Some("AB12"), "plan=AB12"), (None, "force=true")] {
        asked
            .check("applyConfig", &body, Some(query), async |c: Client| {
                c.apply_config("a: b", plan).await
            })
            .await;
    }
    let body = example("headroomv1/log-level");
    let level: LogLevel = serde_json::from_str(&body).unwrap();
    asked.check("getLogLevel", &body, None, async |c: Client| c.get_log_level().await).await;
    let set = asked
        .check("setLogLevel", &body, None, async |c: Client| c.set_log_level(&level).await)
        .await;
    assert_eq!(set, level);
    let request = asked.server.received_requests().await.unwrap().remove(0);
    assert_eq!(serde_json::from_slice::<LogLevel>(&request.body).unwrap(), level);
}
