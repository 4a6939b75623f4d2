//! What a stranger may send: the corpora of the fuzzer, and the seeds that they began with, made of
//! requests that the other tests send.
#![allow(clippy::unwrap_used, reason = "a test says what failed")]

use std::fs;
use std::path::PathBuf;

use headroom_api::routes;
use headroom_api::si::headroom::callback_reply::Answer as Verdicts;
use headroom_api::si::headroom::callback_rm_message::Content as Reply;
use headroom_api::si::headroom::rm_message::Content as Said;
use headroom_api::si::headroom::{
    CallbackReply, CallbackRmMessage, NodeVerdict, Ping, PredicatesVerdicts, RecoveryDone,
    RmMessage,
};
use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationRelease, AllocationReleasesRequest,
    AllocationRequest, ApplicationRequest, NodeInfo, NodeRequest, Quantity,
    RemoveApplicationRequest, Resource, UpdateConfigurationRequest, UserGroupInformation,
};
use headroom_server::testkit;
use prost::Message as _;

/// Play every file of a corpus. Its seeds are written where `UPDATE_EXPECT` is set, as other
/// expectations are.
#[expect(clippy::print_stdout, reason = "shown where one fails")]
fn replay(target: &str, seeds: &[(String, Vec<u8>)], exercise: fn(&[u8])) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    for (name, bytes) in seeds {
        let file = folder.join(name);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, bytes).unwrap();
        }
        assert!(fs::read(&file).is_ok_and(|found| found == *bytes), "{name} is another");
    }
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    files.sort();
    for file in files {
        println!("{}", file.display());
        exercise(&fs::read(&file).unwrap());
    }
}

fn seed(name: &str, parts: &[&[u8]]) -> (String, Vec<u8>) {
    (name.to_owned(), parts.concat())
}

/// The beginning of a body for an operation, of all that take one.
fn taken_by(operation: &str, rest: &[u8]) -> Vec<u8> {
    let mut takers = routes::all().filter(|route| route.request.is_some());
    let number = takers.position(|route| route.operation == operation).unwrap();
    [&[u8::try_from(number).unwrap()], rest].concat()
}

/// Every route with names that mean something, and other spellings and methods.
#[test]
fn any_path_is_answered_as_the_table_says() {
    let named = |path: &str| {
        let names = [
            ("{partition}", "default"),
            ("{queue}", "root.fair"),
            ("{application}", "app-1"),
            ("{node}", "n1"),
            ("{user}", "ann"),
            ("{group}", "dev"),
            ("{state}", "active"),
            ("{tenant}", "ours"),
        ];
        names.into_iter().fold(path.to_owned(), |path, (from, to)| path.replace(from, to))
    };
    let mut seeds: Vec<_> = routes::all()
        .filter(|route| !matches!(route.operation, "profile" | "getCpuProfile"))
        .enumerate()
        .map(|(number, route)| {
            let (who, method) = (u8::try_from(number % 10).unwrap(), route.method.as_str());
            let method = testkit::METHODS.iter().position(|one| *one == method).unwrap();
            let head = [who, u8::try_from(method).unwrap(), 0b0000_0101, 0];
            seed(route.operation, &[&head, named(route.path).as_bytes()])
        })
        .collect();
    seeds.extend([
        seed("escapes", &[b"\x00\x00\x01\x00/ws/v1/partition/default/queue/root.%66air?subtree"]),
        seed(
            "bad-escape",
            &[b"\x00\x00\x00\x00/ws/v1/partition/default/queue/root.%zz/applications"],
        ),
        seed("no-text", &[b"\x00\x00\x00\x00/ws/v1/partition/%ff/nodes"]),
        seed("filled", &[b"\x00\x00\x00\x00\x0edefault\x00root.fair\x00app-1\x00?a=b"]),
        seed("spelling", &[b"\x00\x00\x00\x00//WS/v1//Partitions/?x=1"]),
        seed("empty-name", &[b"\x00\x00\x00\x00/ws/v1/partition//nodes"]),
        seed("page", &[b"\x00\x00\x20\x00\"0\"\x00/page.css"]),
        seed("host", &[b"\x00\x00\x80\x00evil.org\x00/ws/v1/partitions"]),
        seed("origin", &[b"\x00\x02\x14\x00http://evil.org\x00/headroom/v1/log-level"]),
        seed("resume", &[b"\x00\x00\x40\x0012\x00/headroom/v1/events?kind=NODE&limit=2"]),
        seed(
            "page-of",
            &[b"\x00\x00\x02\x00/headroom/v1/events?from=2026-01-01T00:00:00Z&limit=3"],
        ),
        seed("batch", &[b"\x00\x00\x00\x00/ws/v1/events/batch?count=3&start=1"]),
        seed("stream", &[b"\x00\x00\x00\x00/ws/v1/events/stream?count=3"]),
        seed("options", &[b"\x01\x03\x08\x00/ws/v1/partitions"]),
        seed("star", &[b"\x00\x03\x00\x00*"]),
    ]);
    replay("rest_path", &seeds, testkit::rest_path);
}

/// Bodies that are taken, and others.
#[test]
fn any_body_is_answered_as_the_table_says() {
    let levels = br#"{"level":"info","targets":{"headroom_server":"debug"}}"#;
    let queues = b"partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n";
    let simulation = br#"{"Q":{"vcore":9},"users":[{"user":"u","used":{"gpu":1}}],"p":30,"f":-1}"#;
    let tenant = br#"{"id":"more","quota":{"resources":{"vcore":"4"},"instances":2}}"#;
    let quota = br#"{"resources":{"memory":"1Gi"},"maxWaiting":9}"#;
    let deep = b"[".repeat(2_000);
    let validate = &taken_by("validateConfig", b"\x00\x03\x01\xff\x00\x00");
    let set = &taken_by("setLogLevel", b"\x00\x01\x01\xff\x04\x00");
    let simulate = &taken_by("simulateUserLimits", b"\x00\x01\x01\xff\x00\x00");
    let seeds = vec![
        seed("queues", &[validate, queues]),
        seed("queues-broken-off", &[&taken_by("validateConfig", b"\x00\x03\x04\x07\x00\x00"), queues]),
        seed(
            "queues-compressed",
            &[&taken_by("validateConfig", b"\x00\x03\x03\x07\x01\x00"), b"\x1f\x8b\x08\x00", queues],
        ),
        seed("queues-of-one", &[&taken_by("validateConfig", b"\x01\x03\x01\x00\x00\x00"), queues]),
        seed(
            "queues-too-large",
            &[&taken_by("validateConfig", b"\x01\x03\x00\x63\x00\x00"), &queues.repeat(20)],
        ),
        seed("deep", &[validate, &deep]),
        seed("plan", &[&taken_by("planConfig", b"\x00\x03\x01\xff\x00\x00"), queues]),
        seed("plan-deep", &[&taken_by("planConfig", b"\x00\x03\x01\xff\x00\x00"), &deep]),
        seed("apply", &[&taken_by("applyConfig", b"\x00\x03\x01\xff\x00\x00"), queues]),
        seed("simulation", &[simulate, simulation]),
        seed("simulation-empty", &[simulate, b"{}"]),
        seed(
            "simulation-large",
            &[simulate, br#"{"U":{"vcore":9223372036854775807},"r":{"":-1},"f":1e999}"#],
        ),
        seed("levels", &[set, levels]),
        seed("levels-utf-16", &[&taken_by("setLogLevel", b"\x00\x04\x01\xff\x04\x00"), levels]),
        seed("levels-no-json", &[&taken_by("setLogLevel", b"\x00\x05\x01\xff\x04\x00"), levels]),
        seed("levels-deep", &[set, &deep]),
        seed(
            "levels-from-elsewhere",
            &[&taken_by("setLogLevel", b"\x00\x01\x01\xff\x14\x00http://evil.org\x00"), levels],
        ),
        seed("levels-of-one", &[&taken_by("setLogLevel", b"\x01\x01\x01\x03\x00\x00"), levels]),
        seed("levels-unknown", &[set, br#"{"level":"loud","x":[1e999,"\ud800"]}"#]),
        seed("tenant", &[&taken_by("createTenant", b"\x00\x01\x01\xff\x04\x00"), tenant]),
        seed("tenant-deep", &[&taken_by("createTenant", b"\x00\x01\x01\xff\x04\x00"), &deep]),
        seed("quota", &[&taken_by("putTenantQuota", b"\x00\x01\x01\xff\x04\x01\"1\"\x00"), quota]),
        seed("quota-any", &[&taken_by("putTenantQuota", b"\x00\x01\x01\xff\x04\x01*\x00"), quota]),
        seed("quota-of-none", &[&taken_by("putTenantQuota", b"\x00\x01\x01\xff\x04\x00"), quota]),
        seed("quota-large", &[
            &taken_by("putTenantQuota", b"\x00\x01\x01\xff\x04\x01*\x00"),
            br#"{"resources":{"vcore":"9e999","":-1,"memory":"9223372036854775808"},"instances":-1}"#,
        ]),
        seed("patch", &[
            &taken_by("patchTenant", b"\x00\x01\x01\xff\x04\x01*\x00"),
            br#"{"quota":null,"waiting":{"strategy":"urgency"},"parent":"ours"}"#,
        ]),
        seed("would-run", &[
            &taken_by("explainWouldRun", b"\x00\x01\x01\xff\x04\x00"),
            br#"{"queue":"root.fair","user":"ann","resources":{"vcore":"1"},"members":9,"gang":true}"#,
        ]),
        seed("would-run-of-a-tenant", &[
            &taken_by("explainWouldRun", b"\x00\x01\x01\xff\x04\x00"),
            br#"{"tenant":"ours","resources":{"vcore":"500m","memory":1},"members":1000}"#,
        ]),
        seed("would-run-of-anybody", &[
            &taken_by("explainWouldRun", b"\x01\x01\x01\xff\x04\x00"),
            br#"{"queue":"root.x.\u0000","user":"eve","resources":{"":-1},"tags":{"headroom/lifetime":"1e9"}}"#,
        ]),
    ];
    replay("rest_body", &seeds, testkit::rest_body);
}

fn vcores(vcores: i64) -> Resource {
    let quantity = Quantity { value: vcores * 1_000 };
    Resource { resources: [("vcore".to_owned(), quantity)].into() }
}

fn node(id: &str, action: i32) -> NodeRequest {
    let (node_id, schedulable_resource) = (id.to_owned(), Some(vcores(8)));
    let node = NodeInfo { node_id, action, schedulable_resource, ..NodeInfo::default() };
    NodeRequest { nodes: vec![node], rm_id: "rm".to_owned() }
}

fn application(id: &str, queue: &str) -> ApplicationRequest {
    let new = AddApplicationRequest {
        application_id: id.to_owned(),
        queue_name: queue.to_owned(),
        ugi: Some(UserGroupInformation { user: "ann".to_owned(), groups: vec!["dev".to_owned()] }),
        placeholder_ask: Some(vcores(2)),
        gang_scheduling_style: "Hard".to_owned(),
        execution_timeout_milli_seconds: 1_000,
        ..AddApplicationRequest::default()
    };
    ApplicationRequest { new: vec![new], rm_id: "rm".to_owned(), ..ApplicationRequest::default() }
}

fn ask(application: &str, key: &str, node: &str) -> AllocationRequest {
    let ask = Allocation {
        allocation_key: key.to_owned(),
        application_id: application.to_owned(),
        node_id: node.to_owned(),
        resource_per_alloc: Some(vcores(1)),
        placeholder: key.starts_with('p'),
        task_group_name: "tg".to_owned(),
        ..Allocation::default()
    };
    AllocationRequest { allocations: vec![ask], rm_id: "rm".to_owned(), releases: None }
}

fn release(application: &str, key: &str, termination_type: i32) -> AllocationRequest {
    let release = AllocationRelease {
        application_id: application.to_owned(),
        allocation_key: key.to_owned(),
        termination_type,
        ..AllocationRelease::default()
    };
    let releases = AllocationReleasesRequest { allocations_to_release: vec![release] };
    AllocationRequest {
        releases: Some(releases),
        rm_id: "rm".to_owned(),
        ..AllocationRequest::default()
    }
}

/// A message, as the input has it.
fn part(kind: u8, message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap().to_le_bytes();
    [&[kind], &length[..], message].concat()
}

fn said(content: Said) -> Vec<u8> {
    part(3, &RmMessage { content: Some(content), ..RmMessage::default() }.encode_to_vec())
}

/// A day of a resource manager, in both profiles.
#[test]
fn any_message_leaves_the_books_in_balance() {
    let (n1, app) = (node("n1", 1), application("app", "root.a"));
    let remove = RemoveApplicationRequest {
        application_id: "app".to_owned(),
        partition_name: "[rm]default".to_owned(),
    };
    let (remove, rm_id) = (vec![remove], "rm".to_owned());
    let remove = ApplicationRequest { remove, rm_id, ..ApplicationRequest::default() };
    let configuration = UpdateConfigurationRequest {
        rm_id: "rm".to_owned(),
        config: "partitions: [{name: default, queues: [{name: root, submitacl: '*'}]}]".to_owned(),
        ..UpdateConfigurationRequest::default()
    };
    let time = part(7, &[0, 10, 0]);
    let day = [
        part(0, &n1.encode_to_vec()),
        part(1, &app.encode_to_vec()),
        part(2, &ask("app", "p1", "").encode_to_vec()),
        part(2, &ask("app", "a1", "").encode_to_vec()),
        time.clone(),
        part(2, &release("app", "p1", 5).encode_to_vec()),
        part(2, &release("app", "a1", 1).encode_to_vec()),
        part(0, &node("n1", 3).encode_to_vec()),
        part(6, &configuration.encode_to_vec()),
        part(1, &remove.encode_to_vec()),
        part(0, &node("n1", 5).encode_to_vec()),
        time.clone(),
    ]
    .concat();
    let verdict = NodeVerdict { node_id: "n1".to_owned(), ok: true, ..NodeVerdict::default() };
    let verdicts = PredicatesVerdicts { nodes: vec![verdict] };
    let reply = CallbackReply { id: 1, answer: Some(Verdicts::PredicatesBatch(verdicts)) };
    let answered = CallbackRmMessage { content: Some(Reply::Reply(reply.clone())) };
    let session = [
        said(Said::Node(n1.clone())),
        said(Said::RecoveryDone(RecoveryDone {})),
        said(Said::Application(app.clone())),
        said(Said::Allocation(ask("app", "a1", ""))),
        said(Said::Allocation(ask("", "foreign", "n1"))),
        time.clone(),
        said(Said::Ping(Ping { id: 7 })),
        said(Said::CallbackReply(reply)),
        said(Said::Configuration(configuration.clone())),
        said(Said::Allocation(release("app", "a1", 1))),
        said(Said::Application(remove.clone())),
    ]
    .concat();
    let asked = [
        part(0, &n1.encode_to_vec()),
        part(1, &application("app", "root.fair").encode_to_vec()),
        part(2, &ask("app", "a1", "").encode_to_vec()),
        time,
        part(4, &answered.encode_to_vec()),
        part(5, &[]),
    ]
    .concat();
    let framed = |message: &[u8]| {
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&[0], &length[..], message].concat()
    };
    let (small, huge) = (part(0, &framed(&n1.encode_to_vec())), part(1, b"\x00\xff\xff\xff\xffx"));
    let seeds = vec![
        seed("day", &[b"\x00\x00", &day]),
        seed("day-unknown", &[b"\x03\x00", &day]),
        seed("asked", &[b"\x01\x00", &asked]),
        seed("session", &[b"\x02\x00", &session]),
        seed("frames", &[b"\x00\x01", &small, &small, &huge, &part(2, b"\x01\x00\x00\x00\x01x")]),
    ];
    replay("protobuf", &seeds, testkit::protobuf);
}

/// A certificate for `CN=ann, O=ops` with alternative names.
fn certificate() -> Vec<u8> {
    let mut parameters = rcgen::CertificateParams::new(vec!["ann.example.org".to_owned()]).unwrap();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "ann");
    parameters.distinguished_name.push(rcgen::DnType::OrganizationName, "ops");
    let key = rcgen::KeyPair::generate().unwrap();
    parameters.self_signed(&key).unwrap().der().to_vec()
}

/// What callers say of themselves.
#[test]
fn nobody_is_let_in_by_chance() {
    let claims = br#"{"iss":"https://login.example.org","aud":["headroom"],"exp":4000000000,"sub":"ann","groups":["ops",7],"roles":["viewer","king"]}"#;
    let keys = br#"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","use":"sig","alg":"ES256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"},{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    let file = concat!(
        r#"{"name":"ci","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","#,
        r#""user":"ann","groups":["dev"],"roles":["submitter","queue-admin"],"#,
        r#""created":"2026-01-01T00:00:00Z","expires":"2026-02-01T00:00:00Z"}"#,
        "\n\n",
        r#"{"name":"cd","sha256":"E3","roles":[],"created":"2026-01-01T00:00:00Z"}"#,
    );
    let first = file.lines().next().unwrap();
    let jwt = b"Bearer eyJhbGciOiJFUzI1NiIsImtpZCI6ImEifQ.eyJzdWIiOiJhbm4ifQ.AAAA\0";
    let seeds = vec![
        seed("ours", &[b"\x00\x05Bearer \x00http://localhost:1\x00localhost:1\x00"]),
        seed("ours-twice", &[b"\x00\x06bearer \x00BEARER  \x00"]),
        seed("nothing", &[b"\x00\x00http://evil.org\x00localhost\x00"]),
        seed("jwt", &[b"\x00\x01", jwt]),
        seed("basic", &[b"\x00\x01Basic YTpi\x00null\x00localhost\x00"]),
        seed("claims", &[b"\x01\x02", claims]),
        seed("claims-without-key", &[b"\x01\x00", claims]),
        seed("keys", &[b"\x02\x01", keys]),
        seed("file", &[b"\x03", first.as_bytes()]),
        seed("file-wrong", &[b"\x03", file.as_bytes()]),
    ];
    replay("token", &seeds, testkit::token);
    testkit::token(&[&[4], &certificate()[..]].concat());
}
