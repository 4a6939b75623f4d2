//! `headroom plan --against` and `headroom apply` on a running server.

use super::support::server::Server;
use super::support::{Folder, Ran};

fn file(cores: u32) -> String {
    format!(
        "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    \
         - name: sales\n      resources: {{max: {{vcore: {cores}}}}}\n"
    )
}

#[test]
fn a_file_is_planned_looked_at_and_taken_into_force() {
    let folder = Folder::new("serve-plan");
    folder.write("queues.yaml", file(3));
    folder.write("more.yaml", file(6));
    let server = Server::start(&folder, &[]);
    let url = format!("http://{}", server.address);
    let run = |line: &str| -> Ran {
        folder.run(&line.replace("URL", &url).split_whitespace().collect::<Vec<_>>())
    };
    let forced = run("apply queues.yaml --force --server URL");
    assert_eq!((forced.code, &*forced.stderr), (Some(0), ""), "{}", forced.stdout);
    assert!(forced.stdout.starts_with("queues.yaml is active with record "), "{}", forced.stdout);
    let same = run("plan queues.yaml --against URL");
    assert_eq!((same.code, &*same.stdout), (Some(0), "nothing changes\n"));
    let more = run("plan more.yaml --against URL");
    assert_eq!(more.code, Some(2), "{}", more.stderr);
    assert!(more.stdout.contains("resources.max.vcore: 3 -> 6"), "{}", more.stdout);
    let said = run("plan more.yaml --against URL --json");
    folder.write("plan.json", &said.stdout);
    let planned: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(planned["file"], "more.yaml");

    // Another file than the one that was planned.
    let other = run("apply queues.yaml --plan plan.json --server URL");
    assert_eq!(other.code, Some(1));
    assert!(
        other.stderr.contains("the checksum of queues.yaml is ")
            && other.stderr.contains("but the plan was made for a file with the checksum "),
        "{}",
        other.stderr
    );
    let done = run("apply --plan plan.json --server URL");
    assert_eq!((done.code, &*done.stderr), (Some(0), ""), "{}", done.stdout);
    assert_eq!(run("plan more.yaml --against URL").code, Some(0), "it is in force");
    // It is in force by now, so it does not do again what was announced.
    let again = run("apply --plan plan.json --server URL");
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    assert!(again.stderr.contains("the request expects plan"), "{}", again.stderr);
    let digest = planned["digest"].as_str().unwrap();
    let again = run(&format!("apply more.yaml --plan {digest} --server URL"));
    assert_eq!(again.code, Some(3), "{}", again.stderr);
    let nameless = run(&format!("apply --plan {digest} --server URL"));
    assert_eq!(nameless.code, Some(1));
    let expected = "Specify the queue file as the argument FILE";
    assert!(nameless.stderr.contains(expected), "{}", nameless.stderr);
    assert_eq!(run("apply more.yaml --server URL").code, Some(2), "neither plan nor force");
}

#[test]
fn whoever_applies_is_told_of_a_file_that_the_server_follows() {
    let folder = Folder::new("serve-apply-followed");
    folder.write("queues.yaml", file(3));
    folder.write("more.yaml", file(6));
    let server = Server::start(&folder, &["--queues", "queues.yaml"]);
    let url = format!("http://{}", server.address);
    let done = folder.run(&["apply", "more.yaml", "--force", "--server", &url]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("the server watches") && done.stderr.contains("queues.yaml"));
}

#[test]
fn what_was_applied_stays_in_force_after_a_restart_until_the_file_changes() {
    let folder = Folder::new("serve-apply-stays");
    folder.write("queues.yaml", file(3));
    folder.write("more.yaml", file(6));
    let end = |server: &mut Server| {
        server.signal("TERM");
        server.end();
    };
    let start = || Server::start(&folder, &["--queues", "queues.yaml"]);
    let in_force = |server: &Server, cores: u32| {
        let text = server.get("/ws/v1/config");
        assert!(text.contains(&format!("vcore: \"{cores}\"")), "{cores}: {text}");
    };
    let mut server = start();
    in_force(&server, 3);
    let url = format!("http://{}", server.address);
    let done = folder.run(&["apply", "more.yaml", "--force", "--server", &url]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    end(&mut server);

    let mut server = start();
    in_force(&server, 6);
    let log = folder.read("log");
    assert!(log.contains("the queue file at this path is not active"), "{log}");
    assert!(log.contains("resources.max.vcore") && log.contains("\"in_force\":\"6\""), "{log}");
    end(&mut server);

    folder.write("queues.yaml", file(4));
    let mut server = start();
    in_force(&server, 4);
    end(&mut server);
    in_force(&start(), 4);
}

#[test]
fn both_files_are_played_on_the_nodes_of_a_server() {
    let folder = Folder::new("serve-plan-hours");
    folder.write("queues.yaml", file(2));
    folder.write("more.yaml", file(6));
    let job = "{\"id\": \"1\", \"submit_ms\": 0, \"queue\": \"root.sales\", \"user\": \"ann\", \
               \"resources\": {\"vcore\": \"4\"}, \"run_ms\": 3600000}\n";
    folder.write("jobs.jsonl", job);
    let nodes = "2*{vcore: 8, memory: 8Gi}";
    let server = Server::start(&folder, &["--queues", "queues.yaml", "--demo-nodes", nodes]);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while server.get("/ws/v1/partition/default/nodes").matches("\"nodeID\"").count() < 2 {
        assert!(std::time::Instant::now() < until, "no nodes: {}", folder.read("log"));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let url = format!("http://{}", server.address);
    let line = ["plan", "more.yaml", "--against", &url, "--json", "--hours", "2"];
    let ran = folder.run(&[&line[..], &["--workload", "jobs.jsonl"]].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let jobs = |side: &str| plan["overTime"][side]["run"]["jobs"]["finished"].clone();
    assert_eq!((jobs("before"), jobs("after")), (0.into(), 1.into()));
    assert_eq!(plan["overTime"]["nodes"], 2);
}
