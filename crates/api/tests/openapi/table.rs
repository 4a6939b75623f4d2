//! The table of routes against the list of the reference, and who may use what.

use std::collections::BTreeSet;

use headroom_api::headroomv1::Role;
use headroom_api::routes::{self, Access, Method, Parameter, ParameterKind, Route, Shape};

/// The reference's routes: method, path, what a success holds, the refusals in the order of the
/// checks. In routes of `usage` the first refusal is ours: the partition must be there.
const REFERENCE: &str = "
    GET  /ws/v1/clusters [Cluster]
    GET  /ws/v1/metrics text
    GET  /ws/v1/config Config|object
    POST /ws/v1/validate-conf Validation
    GET  /ws/v1/history/apps [ApplicationHistory] 500
    GET  /ws/v1/history/containers [ContainerHistory] 500
    GET  /ws/v1/partitions [Partition]
    GET  /ws/v1/partition/{partition}/placementrules [PlacementRule] 404
    GET  /ws/v1/partition/{partition}/queues Queue 404
    GET  /ws/v1/partition/{partition}/queue/{queue} Queue 404 400 400 404
    GET  /ws/v1/partition/{partition}/nodes [Node] 404
    GET  /ws/v1/partition/{partition}/node/{node} Node 404 404
    GET  /ws/v1/partition/{partition}/queue/{queue}/applications [Application] 400 400 404 404
    GET  /ws/v1/partition/{partition}/queue/{queue}/application/{application} Application 400 404 400 404 404
    GET  /ws/v1/partition/{partition}/application/{application} Application 404 404
    GET  /ws/v1/partition/{partition}/applications/{state} [Application] 404 400
    GET  /ws/v1/partition/{partition}/queue/{queue}/applications/{state} [Application] 404 400 400 404 400
    GET  /ws/v1/partition/{partition}/usage/users [UserUsage] 404
    GET  /ws/v1/partition/{partition}/usage/user/{user} UserUsage 404 400 400 404
    GET  /ws/v1/partition/{partition}/usage/groups [GroupUsage] 404
    GET  /ws/v1/partition/{partition}/usage/group/{group} GroupUsage 404 400 400 404
    GET  /ws/v1/events/batch EventBatch 500 400
    GET  /ws/v1/events/stream StreamLine... 500 503 400
    GET  /ws/v1/scheduler/healthcheck Health 404
    GET  /ws/v1/scheduler/node-utilizations [PartitionNodesUtilization]
    GET  /ws/v1/stack 301
    GET  /ws/v1/fullstatedump 301
    GET  /debug/stack text
    GET  /debug/fullstatedump StateDump 500
    GET  /debug/pprof/ text
    GET  /debug/pprof/allocs bytes 501
    GET  /debug/pprof/block bytes 501
    GET  /debug/pprof/cmdline text
    GET  /debug/pprof/goroutine bytes 501
    GET  /debug/pprof/heap bytes|text 400
    GET  /debug/pprof/mutex bytes 501
    GET  /debug/pprof/profile bytes 400 429 500
    GET  /debug/pprof/symbol text
    GET  /debug/pprof/threadcreate bytes 501
    GET  /debug/pprof/trace bytes 501
";

/// A route as a line of the table above.
fn line(route: &Route) -> String {
    let mut words = vec![format!("{:4}", route.method.as_str()), route.path.to_owned()];
    for answer in route.own_answers {
        if answer.status != 200 {
            words.push(answer.status.to_string());
            continue;
        }
        let bodies = answer.bodies.iter().map(|body| match body.shape {
            Shape::One(name) => name.to_owned(),
            Shape::List(name) => format!("[{name}]"),
            Shape::Stream(name) => format!("{name}..."),
            Shape::Object => "object".to_owned(),
            Shape::Text => "text".to_owned(),
            Shape::Bytes => "bytes".to_owned(),
        });
        words.push(bodies.collect::<Vec<_>>().join("|"));
    }
    words.join(" ")
}

#[test]
fn the_routes_of_the_reference_are_there_and_no_others() {
    let ours = ["/headroom/v1/", "/livez", "/readyz", "/metrics", "/debug/profile"];
    let found: Vec<_> = routes::all()
        .filter(|route| !ours.iter().any(|prefix| route.path.starts_with(prefix)))
        // The reference has no user limits.
        .filter(|route| !route.path.contains("/userlimits"))
        .map(line)
        .collect();
    let expected: Vec<_> =
        REFERENCE.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(found, expected);
}

#[test]
fn names_and_paths_are_unique() {
    let names: BTreeSet<_> = routes::all().map(|route| route.operation).collect();
    let paths: BTreeSet<_> = routes::all().map(|route| (route.method, route.path)).collect();
    assert_eq!(names.len(), routes::all().count());
    assert_eq!(paths.len(), routes::all().count());
}

#[test]
fn only_health_is_told_to_anybody() {
    let open: Vec<_> = routes::all()
        .filter(|route| route.access == Access::Open)
        .map(|route| route.path)
        .collect();
    assert_eq!(open, ["/ws/v1/scheduler/healthcheck", "/livez", "/readyz"]);
}

#[test]
fn roles_may_what_their_page_says() {
    use Access::{Admin, Identity, Open, Operator, TenantAdmin, TenantViewer, Viewer, Visible};
    for (role, expected) in [
        (None, &[Open][..]),
        (
            Some(Role::Admin),
            &[Open, Identity, Visible, TenantViewer, TenantAdmin, Viewer, Operator, Admin],
        ),
        (Some(Role::Operator), &[Open, Identity, Visible, TenantViewer, Viewer, Operator]),
        (Some(Role::Viewer), &[Open, Identity, Visible, TenantViewer, Viewer]),
        (Some(Role::Submitter), &[Open, Identity, Visible]),
        (Some(Role::QueueAdmin), &[Open, Identity, Visible]),
        (Some(Role::TenantAdmin), &[Open, Identity, Visible, TenantViewer, TenantAdmin]),
        (Some(Role::TenantViewer), &[Open, Identity, Visible, TenantViewer]),
        (Some(Role::Rm), &[Open, Identity]),
    ] {
        let may: Vec<_> = Access::ALL.into_iter().filter(|access| access.allows(role)).collect();
        assert_eq!(may, expected, "{role:?}");
    }
}

#[test]
fn what_changes_something_needs_a_right() {
    for route in routes::all().filter(|route| route.method != Method::Get) {
        let expected = match route.operation {
            // Judging a queue file changes nothing and tells nothing of the server.
            "validateConfig" => Access::Identity,
            // Asking what would be changes nothing, and tells what may be seen.
            "simulateUserLimits" | "explainWouldRun" => Access::Visible,
            "checkQuota" => Access::TenantViewer,
            // Which tenant it is decides about the rest.
            "createTenant" | "putTenant" | "patchTenant" | "deleteTenant" | "putTenantQuota" => {
                Access::TenantAdmin
            }
            "submitTask" | "confirmTask" | "resizeTask" | "releaseTask" | "cancelTask"
            | "measureTask" | "rankTask" => Access::TenantAdmin,
            // These routes change nothing, but only an operator uses them.
            "planConfig" | "verifyLedger" => Access::Operator,
            _ => Access::Admin,
        };
        assert_eq!(route.access, expected, "{}", route.operation);
    }
}

#[test]
fn whoever_may_be_refused_finds_the_refusal_in_the_table() {
    for route in routes::all() {
        let statuses: BTreeSet<_> =
            route.answers().into_iter().map(|answer| answer.status).collect();
        let open = route.access == Access::Open;
        assert_eq!(statuses.contains(&401), !open, "{}", route.operation);
        let any = open || route.access == Access::Identity;
        assert_eq!(statuses.contains(&403), !any, "{}", route.operation);
        assert_eq!(statuses.contains(&413), route.request.is_some(), "{}", route.operation);
        // Before the journal is read, one alone answers.
        assert_eq!(statuses.contains(&503), route.operation != "getLive", "{}", route.operation);
        assert_eq!(statuses.contains(&429), !open, "{}", route.operation);
    }
}

#[test]
fn a_number_that_may_be_wrong_may_be_refused() {
    for route in routes::all() {
        let statuses: Vec<_> = route.own_answers.iter().map(|answer| answer.status).collect();
        let is_read = |one: &Parameter| !matches!(one.kind, ParameterKind::Text);
        if route.query.iter().any(is_read) && !statuses.contains(&501) {
            assert!(statuses.contains(&400), "{}", route.operation);
        }
    }
}
