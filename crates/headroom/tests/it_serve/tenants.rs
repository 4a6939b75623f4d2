//! `headroom tenants` and `headroom tasks` against a server.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::server::Server;
use super::support::{Folder, Ran};

const QUEUES: &str = "
partitions:
  - name: default
    queues: [{name: root, submitacl: '*'}]
    tenants: {enabled: true}
";

/// A server with a node of 128 cores, and who asks it.
struct Asked {
    folder: Folder,
    server: Server,
    url: String,
}

impl Asked {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        folder.write("queues.yaml", QUEUES);
        let nodes = "1*{vcore: 128, memory: 256G}";
        let server = Server::start(&folder, &["--queues", "queues.yaml", "--demo-nodes", nodes]);
        super::wait_for_a_node(&server, &folder);
        let url = format!("http://{}", server.address);
        Self { folder, server, url }
    }

    fn run(&self, line: &str) -> Ran {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        words.extend(["--server", &self.url]);
        self.folder.run(&words)
    }

    fn shown(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}");
        ran.stdout
    }

    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.shown(&format!("{line} -o json"))).unwrap()
    }

    /// What a line is refused with.
    fn refused(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{line}");
        ran.stderr
    }
}

/// The cells of a row, by two blanks or more.
fn cells(row: &str) -> Vec<&str> {
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn tenants_are_made_shown_and_changed_in_the_version_that_was_read() {
    let asked = Asked::new("cli-tenants");
    asked.shown("tenants create dept --kind department --quota vcore=120");
    let made = asked.shown(
        "tenants create lab --parent dept --quota vcore=100,memory=200G,instances=500 --max-waiting 9 \
         --order priority --aging-interval 60 --label team=x",
    );
    let row = cells(made.lines().nth(1).unwrap());
    let quota = "vcore 100, memory 200G, instances 500, maxWaiting 9";
    assert_eq!(row, ["lab", "project", "dept", "active", quota, "priority", "1"], "{made}");
    let said = asked.json("tenants show lab");
    assert_eq!(said["quota"]["resources"]["memory"], 200_000_000_000_u64, "{said}");
    assert_eq!(
        (&said["waiting"]["agingIntervalSeconds"], &said["labels"]["team"]),
        (&60.into(), &"x".into())
    );
    assert_eq!(asked.shown("tenants list --parent dept -o csv").lines().count(), 2);
    assert_eq!(asked.json("tenants list").as_array().unwrap().len(), 2);

    let set = asked.shown("tenants set lab --on-lower refuse --label team=none");
    assert!(set.starts_with("lab: changed from version 1 to version 2\n"), "{set}");
    let said = asked.json("tenants show lab");
    assert_eq!(
        (&said["onLower"]["action"], said.get("labels")),
        (&"refuse".into(), None),
        "{said}"
    );
    for (line, state) in [("tenants suspend lab", "suspended"), ("tenants resume lab", "active")] {
        assert!(asked.shown(line).contains(state), "{line}");
    }
    // What is not named stays, and `none` takes a bound away.
    asked.shown("tenants quota lab vcore=80 instances=none");
    let quota = asked.json("tenants quota lab");
    assert_eq!(quota["resources"]["vcore"], 80_000, "{quota}");
    assert_eq!(quota["resources"]["memory"], 200_000_000_000_u64, "{quota}");
    assert_eq!((quota.get("instances"), &quota["maxWaiting"]), (None, &9.into()), "{quota}");
    asked.shown("tenants quota lab --default");
    assert_eq!(asked.json("tenants quota lab").get("resources"), None);

    let defaults = asked.shown("tenants defaults --quota vcore=10 --order fifo-backfill");
    assert!(
        defaults.starts_with("defaults: changed from version ")
            && defaults.contains("vcore 10  fifo-backfill"),
        "{defaults}"
    );
    assert_eq!(asked.json("tenants defaults")["quota"]["resources"]["vcore"], 10_000);
    assert_eq!(asked.shown("tenants delete lab"), "lab: deleted\n");
    let gone = asked.refused("tenants show lab");
    assert!(gone.contains("404 UNKNOWN_TENANT"), "{gone}");
}

#[test]
fn what_happens_to_a_tenant_is_watched_until_it_goes() {
    let asked = Asked::new("cli-watch");
    asked.shown("tenants create lab --quota vcore=100");
    let created = asked.json("tenants usage lab")["ledgerVersion"].as_u64().unwrap();
    asked.refused("tasks submit lab vcore=101 --id never");
    let line = format!("tenants watch lab --after {created}");
    let watched = std::thread::scope(|scope| {
        let watches = scope.spawn(|| asked.run(&line));
        let until = Instant::now() + Duration::from_secs(20);
        while !asked.server.get("/headroom/v1/health").contains("\"streams\":1") {
            assert!(Instant::now() < until, "nobody watches");
            std::thread::sleep(Duration::from_millis(20));
        }
        asked.shown("tenants quota lab vcore=60");
        asked.shown("tenants delete lab");
        watches.join().unwrap()
    });
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    assert_eq!(watched.stderr, "the server ended the stream: gone\n");
    let rows: Vec<Vec<&str>> =
        watched.stdout.lines().map(|line| cells(line)[2..].to_vec()).collect();
    assert_eq!(rows[0][..3], ["applicationRejected", "lab", "never"], "{}", watched.stdout);
    assert!(rows[0][3].starts_with("EXCEEDS_QUOTA_ALWAYS: "), "{}", watched.stdout);
    assert_eq!(rows[1..], [["tenantSet", "lab"], ["tenantRemoved", "lab"]]);
}

#[test]
fn a_stale_version_is_refused_with_the_rule_and_what_to_do() {
    let asked = Asked::new("cli-versions");
    asked.shown("tenants create lab --quota vcore=100");
    asked.shown("tenants set lab --label a=1 --if-version 1");
    for line in [
        "tenants set lab --label a=2",
        "tenants quota lab vcore=5",
        "tenants suspend lab",
        "tenants delete lab",
    ] {
        let stale = asked.refused(&format!("{line} --if-version 1"));
        assert!(
            stale.contains("412 PRECONDITION_FAILED") && stale.contains("at version \"2\""),
            "{line}: {stale}"
        );
        assert!(stale.contains("read it again, and retry with its version"), "{line}: {stale}");
    }
    assert_eq!(asked.json("tenants show lab")["version"], 2);
    let stale = asked.refused("tenants defaults --order urgency --if-version 99");
    assert!(stale.contains("412 PRECONDITION_FAILED"), "{stale}");
    asked.shown("tenants set lab --label a=3 --if-version any");
    assert_eq!(asked.json("tenants show lab")["labels"]["a"], "3");
    let taken = asked.refused("tenants create lab");
    assert!(
        taken.contains("409 TENANT_EXISTS") && taken.contains("resolve the conflict first"),
        "{taken}"
    );
    for line in [
        "tenants quota lab vcore",
        "tenants set lab --if-version x",
        "tenants create a --limit-in root.x",
    ] {
        assert_eq!(asked.run(line).code, Some(2), "{line}");
    }
}

/// Checks predictions for tasks next to one of 90 cores.
fn foresee(asked: &Asked) {
    let check = asked.shown("tenants check lab vcore=20 --priority -3");
    let row = cells(check.lines().nth(1).unwrap());
    assert_eq!(row[..3], ["no", "1 of 1", "TENANT_QUOTA"], "{check}");
    assert_eq!(asked.json("tenants check lab vcore=10 memory=20G")["fits"], true);
}

/// The actual usage of a task is shown next to its size, and the size is what counts.
fn measured(asked: &Asked) {
    assert_eq!(asked.json("tasks confirm t-1")["state"], "RUNNING");
    let measured = asked.shown("tasks measured t-1 vcore=3500m");
    assert_eq!(cells(measured.lines().nth(1).unwrap())[5], "vcore 3500m", "{measured}");
    let usage = asked.shown("tenants usage lab");
    let vcore = usage.lines().find(|line| line.starts_with("vcore")).unwrap();
    assert_eq!(cells(vcore), ["vcore", "100", "90", "3500m", "10", "20"], "{usage}");
    let waits = asked.refused("tasks measured t-2 vcore=1");
    assert!(waits.contains("409 TASK_STATE"), "{waits}");
    let verified = asked.shown("tenants verify");
    assert!(verified.contains("the recorded usage equals the sum of the tasks\n"), "{verified}");
    assert_eq!(asked.json("tenants verify")["drift"], serde_json::json!([]));
}

#[test]
fn tasks_are_submitted_followed_and_ended_and_one_that_waits_says_why() {
    let asked = Asked::new("cli-tasks");
    asked.shown("tenants create lab --quota vcore=100,memory=200G --order priority");
    let first = asked.shown("tasks submit lab vcore=90 memory=180G --id t-1 --key k-1");
    assert_eq!(
        cells(first.lines().nth(1).unwrap())[3..5],
        ["STARTING", "vcore 90, memory 180G, instances 1"],
        "{first}"
    );
    // Under the same key it is the same task.
    assert_eq!(asked.json("tasks submit lab vcore=90 memory=180G --id t-1 --key k-1")["id"], "t-1");
    foresee(&asked);
    let waits = asked.shown("tasks submit lab vcore=20 --id t-2 --user ann --priority -3");
    let head = waits.lines().next().unwrap();
    assert!(head.starts_with("the task waits at position 1 of 1: "), "{waits}");
    assert!(head.contains("20") && head.contains("100") && head.contains("vcore"), "{waits}");

    let listed = asked.shown("tenants waiting lab");
    let row = cells(listed.lines().nth(1).unwrap());
    assert_eq!(
        (row[0], row[1], row[2], row[3], row[6]),
        ("1", "t-2", "vcore 20, instances 1", "-3", "TENANT_QUOTA"),
        "{listed}"
    );
    let one = asked.json("tenants waiting lab t-2");
    assert_eq!(one["reason"]["types"][0]["short"], 10_000, "{one}");
    let usage = asked.shown("tenants usage lab");
    assert!(
        usage.starts_with("tenant lab, as of record ")
            && usage.contains(": 1 task has waited for "),
        "{usage}"
    );
    let vcore = usage.lines().find(|line| line.starts_with("vcore")).unwrap();
    assert_eq!(cells(vcore), ["vcore", "100", "90", "10", "20"], "{usage}");
    let lowered = asked.shown("tenants quota lab vcore=60 --dry-run");
    assert!(lowered.starts_with("the quota of lab would change at version 1\n"), "{lowered}");
    let vcore = lowered.lines().find(|line| line.starts_with("vcore")).unwrap();
    assert_eq!(cells(vcore)[..3], ["vcore", "60", "30"], "{lowered}");
    assert_eq!(asked.json("tenants quota lab")["resources"]["vcore"], 100_000);

    assert_eq!(asked.json("tasks rank lab t-2 --priority 7")["priority"], 7);
    measured(&asked);
    let grown = asked.refused("tasks resize t-1 vcore=101 memory=180G");
    assert!(grown.contains("422 EXCEEDS_QUOTA_ALWAYS"), "{grown}");
    assert_eq!(asked.json("tasks resize t-1 vcore=80 memory=180G")["resources"]["vcore"], 80_000);
    // What was given back starts it, without anybody asking for it.
    let until = Instant::now() + Duration::from_secs(20);
    while asked.json("tasks show t-2")["state"] != "STARTING" {
        assert!(Instant::now() < until, "it does not start");
    }
    assert_eq!(asked.json("tasks cancel t-2")["state"], "CANCELLING");
    assert_eq!(asked.json("tasks release t-2 --failed")["state"], "CANCELLED");
    assert_eq!(asked.json("tasks release t-1 --key e-1")["state"], "SUCCEEDED");
    let ended = asked.shown("tasks list lab --state succeeded -o csv");
    assert!(ended.lines().nth(1).unwrap().starts_with("t-1,lab,"), "{ended}");
    assert_eq!(asked.json("tasks list lab").as_array().unwrap().len(), 2);
    let never = asked.refused("tasks submit lab vcore=101");
    assert!(
        never.contains("422 EXCEEDS_QUOTA_ALWAYS")
            && never.contains("101")
            && never.contains("100"),
        "{never}"
    );
    let none = asked.refused("tasks submit lab vcore=none");
    assert!(none.contains("Omit vcore"), "{none}");
    let unknown = asked.refused("tasks show t-9");
    assert!(unknown.contains("404 UNKNOWN_TASK"), "{unknown}");
    for line in ["tasks submit lab", "tasks rank lab t-2", "tasks list lab --state ended"] {
        assert_eq!(asked.run(line).code, Some(2), "{line}");
    }
}

#[test]
fn what_has_ended_is_known_by_the_same_id_everywhere() {
    let asked = Asked::new("cli-ended");
    asked.shown("tenants create lab --quota vcore=8");
    asked.shown("tasks submit lab vcore=4 memory=8Gi --id done --user ann --members 2");
    let live = asked.json("tasks show done");
    assert_eq!((&live["state"], &live["nodes"][1]), (&"STARTING".into(), &live["node"]), "{live}");
    asked.shown("tasks release done");
    asked.shown("tasks submit lab vcore=8 --id holds --user ann");
    asked.shown("tasks submit lab vcore=2 --id gone --user ann");
    asked.shown("tasks cancel gone");

    // Size, node and times are those that it had.
    let ended = asked.json("tasks show done");
    assert_eq!(ended["state"], "SUCCEEDED", "{ended}");
    for field in ["resources", "node", "nodes", "startedAt", "members"] {
        assert_eq!(ended[field], live[field], "{field}: {ended}");
    }
    assert!(ended["endedAt"].is_string(), "{ended}");
    let never = asked.json("tasks show gone");
    assert_eq!(never["resources"]["vcore"], 2_000, "{never}");
    assert_eq!((never.get("node"), never.get("startedAt")), (None, None), "{never}");

    for (id, state) in [("done", "Completed"), ("holds", "Running"), ("gone", "Completed")] {
        let shown = asked.shown(&format!("apps {id}"));
        let head = format!("{id} of ann in root.tenants.lab: {state}, submitted ");
        assert!(shown.starts_with(&head), "{shown}");
        assert_eq!(shown.contains(", ended "), id != "holds", "{shown}");
        let explained = asked.json(&format!("explain {id}"));
        assert_eq!(explained["application"], id, "{explained}");
        assert_eq!(explained["state"] == "ended", id != "holds", "{explained}");
    }
    let explained = asked.shown("explain done");
    let line = explained.lines().next().unwrap();
    assert!(line.starts_with("ended: SUCCEEDED at ") && line.contains(", ran on "), "{explained}");
    let node = live["node"].as_str().unwrap();
    assert!(explained.contains("vcore 8, memory 16Gi") && line.contains(node), "{explained}");
    for command in ["apps nobody", "explain nobody"] {
        assert!(asked.refused(command).contains("check the name"), "{command}");
    }
}
