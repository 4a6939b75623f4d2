//! `simulate scenes` end to end: its outputs, and the numbers in its JSON.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use serde_json::Value;
use support::Folder;

const ALL: [&str; 6] =
    ["simulate", "scenes", "--json", "out/scenes.json", "--report", "out/scenes.html"];

#[test]
#[doc(alias = "SD-41")]
fn rows_of_scene_1_before_and_after_what_bounds_them() {
    let folder = Folder::new("scenes-rows");
    folder.succeed(&ALL);
    let document = folder.json("out/scenes.json");
    let rows = document["tables"]["scene_1"].as_array().unwrap();
    assert_eq!(rows.len(), 13);
    for (row, used) in rows.iter().zip((0..).step_by(8)) {
        let number = |path: &str| row.pointer(path).and_then(Value::as_i64).unwrap();
        assert_eq!(number("/used"), used);
        // 40 below the guarantee of 40, then what is used and 8; not more than the cluster has.
        let raw = if used < 40 { 40 } else { used + 8 };
        for formula in ["yarn27", "smooth"] {
            assert_eq!(number(&format!("/{formula}/raw")), raw, "{formula} at {used}");
            assert_eq!(number(&format!("/{formula}/capped")), raw.min(100), "{formula} at {used}");
            let left = (raw - used).min(100 - used);
            assert_eq!(number(&format!("/{formula}/headroom")), left, "{formula} at {used}");
        }
        // The floor of 30 percent, then a step more than is used.
        let yarn3 = 12.max(used + 1);
        assert_eq!(number("/yarn3/raw"), yarn3, "at {used}");
        assert_eq!(number("/yarn3/headroom"), yarn3 - used, "at {used}");
        let next = if used == 96 { "no-queue-max" } else { "yes" };
        assert_eq!(row["next"], next, "at {used}");
    }
}

#[test]
fn the_scenes_give_the_same_bytes_everywhere() {
    let (one, other) = (Folder::new("scenes"), Folder::new("scenes-elsewhere"));
    one.succeed(&ALL);
    let mut command = other.command(&ALL);
    command.env_clear().env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8").env("COLUMNS", "40");
    let output = command.output().unwrap();
    assert!(output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "report: out/scenes.html\nJSON: out/scenes.json\n");
    for file in ["out/scenes.json", "out/scenes.html"] {
        assert!(one.read(file) == other.read(file), "{file} differs");
    }
    assert_eq!(one.json("out/scenes.json")["format"], "headroom-scenes/1");
}

#[test]
fn two_outputs_cannot_be_one_file() {
    let folder = Folder::new("scenes-one-file");
    let arguments = ["simulate", "scenes", "--json", "a.html", "--report", "a.html"];
    let output = folder.command(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("--report and --json both name a.html"), "{told}");
}
