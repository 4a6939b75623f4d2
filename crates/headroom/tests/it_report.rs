//! Reports of real runs in a real browser: the campus example's, and where the traces are at
//! hand those of HPC2N and of the compressed openb list.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

#[allow(dead_code, reason = "other pages are looked at in other ways")]
#[path = "../../sim/tests/browser/mod.rs"]
mod browser;
#[path = "../../sim/tests/browser/look.rs"]
mod look;
mod support;

use browser::Browser;
use support::{Folder, trace};

/// The widths of a screen and of a phone, px.
const WIDTHS: [u32; 2] = [1_440, 390];

#[test]
fn reports_of_real_runs_draw_what_their_json_says() {
    let folder = Folder::new("browser").with_examples();
    let mut browser = Browser::start();
    check(&mut browser, &folder, &[]);
    let (Some(swf), Some(pods), Some(nodes)) = (
        trace("hpc2n/hpc2n.swf"),
        trace("openb/openb_pod_list_default.csv"),
        trace("openb/openb_node_list_all_node.csv"),
    ) else {
        return;
    };
    let hpc2n = ["--queues", "examples/hpc2n.yaml", "--nodes", "120*{vcore: 2}", "--workload"];
    let dealt = ["--queue-of", "root.division{row%3}.project{row%12}", "--shape", "tasks"];
    check(&mut browser, &folder, &[&hpc2n[..], &[&swf], &dealt].concat());
    let openb = ["--queues", "examples/openb.yaml", "--nodes", &nodes, "--workload", &pods];
    let dealt = ["--users", "u{row%40}", "--queue-of", "root.dept{row%5}.team{row%20}"];
    check(&mut browser, &folder, &[&openb[..], &dealt].concat());
    let compressed = ["--stretch", "arrivals=0.005"];
    check(&mut browser, &folder, &[&openb[..], &dealt, &compressed].concat());
}

fn check(browser: &mut Browser, folder: &Folder, arguments: &[&str]) {
    let outputs = ["simulate", "--report", "report.html", "--json", "report.json"];
    folder.succeed(&[&outputs[..], arguments].concat());
    let report = folder.json("report.json");
    for width in WIDTHS {
        look::check(browser, &folder.path("report.html"), width, &report["summary"]);
    }
}
