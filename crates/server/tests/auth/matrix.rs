//! Every route with every role. A route of the table without a row here fails the test.

use std::collections::BTreeMap;

use headroom_api::headroomv1::Role;
use headroom_api::routes::{self, Method};
use headroom_config::process::ROLES;
use headroom_server::auth::{Secret, TokenEntry, TokenFile};
use jiff::Timestamp;

use crate::support::{Folder, call, client, start};

/// Who may use which operations, as it was decided, whatever the table says.
const ROWS: [(&[&str], &[&str]); 8] = [
    (&ANYBODY, &["getHealthCheck", "getLive", "getReady"]),
    (&WITH_IDENTITY, &["getOpenApi", "validateConfig"]),
    (
        &[
            "admin",
            "operator",
            "viewer",
            "submitter",
            "queue-admin",
            "tenant-admin",
            "tenant-viewer",
        ],
        &[
            "explainApplication",
            "explainAsk",
            "explainPod",
            "explainWouldRun",
            "getApplication",
            "getApplications",
            "getGroup",
            "getGroups",
            "getPartition",
            "getPartitions",
            "getQueue",
            "getQueueApplication",
            "getQueueApplications",
            "getQueueApplicationsByState",
            "getQueues",
            "getReasons",
            "getUser",
            "getUserLimits",
            "getUsers",
            "listPartitions",
            "simulateUserLimits",
        ],
    ),
    (
        &["admin", "operator", "viewer"],
        &[
            "getAllMetrics",
            "getApplicationHistory",
            "getClusters",
            "getConfig",
            "getContainerHistory",
            "getEvents",
            "getHealth",
            "getLogLevel",
            "getMetrics",
            "getNode",
            "getNodeUtilizations",
            "getNodes",
            "getPlacementRules",
            "listEvents",
            "streamEvents",
        ],
    ),
    (
        &["admin", "operator", "viewer", "tenant-admin", "tenant-viewer"],
        &[
            "checkQuota",
            "getAudit",
            "getTask",
            "getTenant",
            "getTenantAudit",
            "getTenantDefaults",
            "getTenantQuota",
            "getTenantUsage",
            "getWaiting",
            "listTasks",
            "listTenants",
            "listWaiting",
            "watchTenant",
        ],
    ),
    (
        &["admin", "tenant-admin"],
        &[
            "cancelTask",
            "confirmTask",
            "createTenant",
            "deleteTenant",
            "measureTask",
            "patchTenant",
            "putTenant",
            "putTenantQuota",
            "rankTask",
            "releaseTask",
            "resizeTask",
            "submitTask",
        ],
    ),
    (&["admin", "operator"], &["planConfig", "verifyLedger"]),
    (
        &["admin"],
        &[
            "applyConfig",
            "getAllocationProfile",
            "getBlockProfile",
            "getCommandLine",
            "getCpuProfile",
            "getHeapProfile",
            "getMutexProfile",
            "getProfiles",
            "getStack",
            "getStackOld",
            "getStateDump",
            "getStateDumpOld",
            "getSymbols",
            "getThreadCreationProfile",
            "getThreadProfile",
            "getTrace",
            "profile",
            "putTenantDefaults",
            "setLogLevel",
        ],
    ),
];

/// No role, but an identity; no identity.
const NONE: &str = "none";
const NOBODY: &str = "nobody";
const ANYBODY: [&str; 10] = [
    "admin",
    "operator",
    "viewer",
    "submitter",
    "queue-admin",
    "tenant-admin",
    "tenant-viewer",
    "rm",
    NONE,
    NOBODY,
];
const WITH_IDENTITY: [&str; 9] = [
    "admin",
    "operator",
    "viewer",
    "submitter",
    "queue-admin",
    "tenant-admin",
    "tenant-viewer",
    "rm",
    NONE,
];

/// A token for each role, and one without any.
fn tokens(folder: &Folder) -> BTreeMap<&'static str, String> {
    let mut tokens = BTreeMap::new();
    let with_roles = ROLES.into_iter().zip(Role::ALL.map(|role| vec![role]));
    for (name, roles) in with_roles.chain([(NONE, Vec::new())]) {
        let secret = Secret::random().unwrap();
        let entry = TokenEntry {
            name: name.to_owned(),
            sha256: secret.sha256(),
            user: name.to_owned(),
            groups: Vec::new(),
            roles,
            created: Timestamp::now(),
            expires: None,
        };
        TokenFile::update(&folder.path("tokens"), |file| file.add(entry)).unwrap();
        tokens.insert(name, secret.reveal().to_owned());
    }
    tokens
}

#[tokio::test]
async fn every_route_with_every_role() {
    let folder = Folder::new();
    let tokens = tokens(&folder);
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    let server = start(&file).await;
    let client = client();
    let mut wrong = Vec::new();
    for route in routes::all() {
        let row = ROWS.iter().find(|(_, operations)| operations.contains(&route.operation));
        let Some((allowed, _)) = row else {
            wrong.push(format!("{} has no row", route.operation));
            continue;
        };
        let path = route.path.replace(['{', '}'], "");
        for who in ANYBODY {
            let url = server.url(&path);
            let mut request = match route.method {
                Method::Get => client.get(url),
                Method::Post => client.post(url).body("a"),
                Method::Put => client.put(url).body("a"),
                Method::Patch => client.patch(url).body("a"),
                Method::Delete => client.delete(url),
            };
            if let Some(token) = tokens.get(who) {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.unwrap();
            let expected = match (allowed.contains(&who), who) {
                (true, _) => 200,
                (false, NOBODY) => 401,
                (false, _) => 403,
            };
            let challenge = response.headers().contains_key("www-authenticate");
            if response.status() != expected || challenge != (expected == 401) {
                wrong.push(format!("{} as {who}: {}", route.operation, response.status()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let rows = ROWS.iter().map(|(_, operations)| operations.len()).sum::<usize>();
    assert_eq!(rows, routes::all().count(), "a row has no route");
}

#[tokio::test]
async fn the_scheduler_interface_is_for_rms() {
    let folder = Folder::new();
    let tokens = tokens(&folder);
    let file = format!("auth: {{tokens: {}}}", folder.path("tokens").display());
    let server = start(&file).await;
    for who in ANYBODY {
        let token = tokens.get(who).map(String::as_str);
        let expected = match who {
            "rm" | "admin" => None,
            NOBODY => Some(16),
            _ => Some(7),
        };
        let method = "/si.v1.Scheduler/RegisterResourceManager";
        assert_eq!(call(&server, method, token).await, expected, "{who}");
        assert_eq!(call(&server, "/grpc.health.v1.Health/Check", token).await, None, "{who}");
    }
}
