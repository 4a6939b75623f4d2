//! Prometheus' own opinion.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::scrape::busy;
use crate::users::sharing;

/// What the reference's names are blamed for: they stay, because dashboards know them.
const BLAMED: &str = "
yunikorn_root_a_queue_container
yunikorn_scheduler_application_total
yunikorn_scheduler_memory_node_usage_total
yunikorn_scheduler_scheduling_cycle_milliseconds
yunikorn_scheduler_scheduling_latency_milliseconds
yunikorn_scheduler_vcore_node_usage_total
";

/// Runs the tool with this input. `None` if it is missing and not required. `cargo xtask test` requires it, where it
/// could be installed.
fn promtool(arguments: &[&str], folder: &Path, input: &str) -> Option<Output> {
    let named = std::env::var_os("HEADROOM_PROMTOOL");
    let binary = named.clone().unwrap_or_else(|| OsString::from("promtool"));
    let mut command = Command::new(&binary);
    command.args(arguments).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            println!("promtool is missing; on Debian: apt-get install prometheus");
            return None;
        }
        Err(error) => panic!("{}: {error}", binary.display()),
    };
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

fn text(output: &Output) -> String {
    let all = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8(all).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_well_formed_and_ours_are_named_as_they_should_be() {
    let server = busy().await;
    for path in ["/metrics", "/ws/v1/metrics"] {
        let scrape = server.text(path).await;
        let Some(output) = promtool(&["check", "metrics"], Path::new("."), &scrape) else { return };
        let said = text(&output);
        let mut blamed: Vec<&str> =
            said.lines().filter_map(|line| line.split_whitespace().next()).collect();
        blamed.dedup();
        let expected: Vec<&str> = BLAMED.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(blamed, expected, "{path}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_of_user_limits_are_named_as_they_should_be() {
    let scrape = sharing().await.text("/metrics").await;
    assert!(scrape.contains("headroom_user_limit_headroom{"), "{scrape}");
    let Some(output) = promtool(&["check", "metrics"], Path::new("."), &scrape) else { return };
    let said = text(&output);
    assert!(!said.contains("headroom_"), "{said}");
}

#[test]
fn alerts_fire_when_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/prometheus");
    for arguments in
        [["check", "rules", "headroom.rules.yaml"], ["test", "rules", "headroom.rules.test.yaml"]]
    {
        let Some(output) = promtool(&arguments, &folder, "") else { return };
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
    }
}
