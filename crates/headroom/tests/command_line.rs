//! What all commands have in common: how they end, and which Headroom they are.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

mod support;

use support::Folder;

/// 0: done. 1: it failed, and the reason is printed. 2: the command line is not valid.
#[test]
fn a_command_ends_with_what_became_of_it() {
    let folder = Folder::new("exit-codes");
    folder.write("bad.yaml", "partitions:\n- name: default\n");
    let nobody = "http://127.0.0.1:1";
    for (arguments, code) in [
        (&["--help"][..], 0),
        (&["--version"], 0),
        (&["version"], 0),
        (&["completions", "zsh"], 0),
        (&["simulate", "scenes"], 0),
        (&["token", "list", "--file", "none"], 1),
        (&["validate", "bad.yaml"], 1),
        (&["validate", "none.yaml"], 1),
        (&["journal", "verify", "none"], 1),
        (&["simulate", "--workload", "none.swf"], 1),
        (&["simulate", "compare", "none.json", "none.json"], 1),
        (&["serve", "--config", "none.yaml"], 1),
        (&["queues", "--server", nobody], 1),
        (&["apps", "--server", nobody], 1),
        (&["nodes", "--server", nobody], 1),
        (&["users", "--server", nobody], 1),
        (&["groups", "--server", nobody], 1),
        (&["events", "--server", nobody], 1),
        (&["tenants", "list", "--server", nobody], 1),
        (&["tasks", "list", "lab", "--server", nobody], 1),
        (&[], 2),
        (&["qeues"], 2),
        (&["queues", "--colour"], 2),
        (&["version", "-o", "xml"], 2),
        (&["journal", "repair"], 2),
        (&["tenants"], 2),
        (&["tasks", "submit", "lab"], 2),
        (&["token", "create", "ci", "--role", "king"], 2),
        (&["completions", "cmd"], 2),
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        // Data goes to standard output, everything else to standard error. What is wrong with a
        // queue file is what was asked for.
        let is_data = code == 0 || arguments == ["validate", "bad.yaml"];
        assert_eq!(ran.stderr.is_empty(), is_data, "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout.is_empty(), !is_data, "{arguments:?}: {}", ran.stdout);
    }
}

#[test]
fn the_version_is_told_for_people_and_programs() {
    let folder = Folder::new("version");
    let version = env!("CARGO_PKG_VERSION");
    let text = folder.succeed(&["version"]).stdout;
    assert!(text.starts_with(&format!("HEADROOM  {version}\n")), "{text}");
    let json = folder.succeed(&["version", "-o", "json"]).stdout;
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(told["version"], version);
    assert!(told["target"].as_str().unwrap().contains('-'), "{told}");
    assert!(matches!(told["profile"].as_str(), Some("debug" | "release")), "{told}");
    let features = told["features"].as_array().unwrap();
    assert_eq!(features.iter().any(|one| one == "otlp"), cfg!(feature = "otlp"), "{told}");
    // A commit that is not known is left out, and never made up.
    assert!(told.get("commit").is_none_or(|commit| commit.as_str().unwrap().len() >= 7), "{told}");
    for feature in features {
        assert!(text.contains(feature.as_str().unwrap()), "{text}");
    }
    let rows = folder.succeed(&["version", "-o", "csv"]).stdout;
    assert!(rows.contains("\ntarget,"), "{rows}");
    assert!(folder.succeed(&["version", "-o", "yaml"]).stdout.contains("version: "));
    let script = folder.succeed(&["completions", "bash"]).stdout;
    assert!(script.contains("headroom,version)"), "{script}");
}
