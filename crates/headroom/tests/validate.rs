//! `headroom validate` as people and programs meet it.

#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use expect_test::{Expect, expect};
use headroom_config::{Severity, review_bytes};
use serde_json::Value;
use support::{EXAMPLES, Folder, Ran};

const BROKEN: &str = "\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: sales
            maxApplications: 5
            resources:
              guaranteed: {memory: 20Gi}
              max: {memory: 10Gi, cpu: 4}
";

/// A file without findings.
const GOOD: &str = "\
partitions:
  - name: default
    gangs: {placement: whole}
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: sales
";

/// What a run left behind, in one text.
fn check(ran: &Ran, expected: &Expect) {
    let code = ran.code.unwrap();
    let Ran { stdout, stderr, .. } = ran;
    expected.assert_eq(&format!("exit code {code}\n--- stdout\n{stdout}--- stderr\n{stderr}"));
}

#[test]
fn a_file_with_several_faults_shows_them_all() {
    let folder = Folder::new("validate-broken");
    folder.write("queues.yaml", BROKEN);
    check(
        &folder.run(&["validate", "queues.yaml"]),
        &expect![[r#"
        exit code 1
        --- stdout
        error[YAML-KEY]: a queue has no key `maxApplications`
         --> queues.yaml:8:13
          |
        8 |             maxApplications: 5
          |             ^^^^^^^^^^^^^^^
          |
          = help: write `maxapplications`; keys are lower case

        error[Q-G>M]: queue `sales` has a guarantee of 20Gi of memory, but its own maximum is 10Gi of memory
          --> queues.yaml:10:36
           |
        10 |               guaranteed: {memory: 20Gi}
           |                                    ^^^^ too much
        11 |               max: {memory: 10Gi, cpu: 4}
           |                             ---- the maximum: 10Gi of memory
           |
           = help: write 10Gi or less, or raise the maximum

        warning[R-TYPE]: `cpu` is a separate resource type, different from `vcore`
          --> queues.yaml:11:35
           |
        11 |               max: {memory: 10Gi, cpu: 4}
           |                                   ^^^
           |
           = help: write `vcore`, in cores, unless nodes report `cpu`

        queues.yaml: 2 errors, 1 warning
        --- stderr
    "#]],
    );
}

#[test]
fn of_several_files_each_has_its_verdict() {
    let folder = Folder::new("validate-several");
    folder.write("good.yaml", GOOD);
    folder.write("late.yaml", GOOD.replace("'*'", "' ann dev'"));
    folder.write("empty.yaml", "");
    folder.write("two.yaml", format!("{GOOD}{}", &GOOD[12..].replace("default", "gpu")));
    folder.write("image.yaml", [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 0, 0]);
    folder.write("folder/file", "");
    let files =
        ["good.yaml", "two.yaml", "empty.yaml", "late.yaml", "image.yaml", "folder", "none.yaml"];
    let ran = folder.run(&[&["validate"], &files[..]].concat());
    check(
        &ran,
        &expect![[r#"
            exit code 1
            --- stdout
            good.yaml: accepted, 2 queues, 0 limits

            two.yaml: accepted, 2 partitions, 4 queues, 0 limits

            empty.yaml: rejected, because the file has no partition. YuniKorn loads such a file and uses its built-in queues. Add `partitions:` with at least one entry

            error[A-SPACES]: `submitacl` has 2 spaces, but only one is allowed, between users and groups
             --> late.yaml:6:20
              |
            6 |         submitacl: ' ann dev'
              |                    ^^^^^^^^^^
              |
              = help: remove the other spaces

            late.yaml: 1 error. YuniKorn accepts the file in validation, and then fails to load the file

            error[FILE]: byte 0x89 is not valid UTF-8, but a queue file must be UTF-8 text
             --> image.yaml:1:1
              |
            1 | �PNG␍
              | ^
              |
              = help: save the file as UTF-8, or specify another file

            image.yaml: 1 error
            --- stderr
            error: cannot read folder: Is a directory (os error 21)
            error: cannot read none.yaml: No such file or directory (os error 2)
        "#]],
    );
    for (file, code) in files.into_iter().zip([0, 0, 1, 1, 1, 1, 1]) {
        assert_eq!(folder.run(&["validate", file]).code, Some(code), "{file}");
        assert_eq!(folder.run(&["validate", "--json", file]).code, Some(code), "{file}");
    }
}

#[test]
fn standard_input_is_a_file_too() {
    let folder = Folder::new("validate-stdin");
    let mut command = folder.command(&["validate", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(GOOD.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "standard input: accepted, 2 queues, 0 limits\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_wrong_command_line_is_another_exit_code() {
    let folder = Folder::new("validate-usage");
    assert_eq!(folder.run(&["validate"]).code, Some(2));
    assert_eq!(folder.run(&["validate", "--yaml", "a"]).code, Some(2));
}

#[test]
fn the_examples_of_queue_files_are_accepted() {
    let folder = Folder::new("validate-examples").with_examples();
    for name in ["campus.yaml", "hpc2n.yaml", "openb.yaml"] {
        assert!(Path::new(EXAMPLES).join(name).is_file());
        let ran = folder.succeed(&["validate", &format!("examples/{name}")]);
        assert!(ran.stdout.contains(&format!("examples/{name}: accepted, ")), "{}", ran.stdout);
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn a_stock_file_gets_recommendations_after_its_warnings_and_is_accepted_as_before() {
    let folder = Folder::new("validate-recommended").with_examples();
    folder.write(
        "queues.yaml",
        "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    - name: sales\n      \
         resources: {max: {cpu: 4}}\n",
    );
    check(
        &folder.run(&["validate", "queues.yaml"]),
        &expect![[r#"
            exit code 0
            --- stdout
            warning[R-TYPE]: `cpu` is a separate resource type, different from `vcore`
             --> queues.yaml:8:25
              |
            8 |       resources: {max: {cpu: 4}}
              |                         ^^^
              |
              = help: write `vcore`, in cores, unless nodes report `cpu`

            recommendation[S-OFF]: a large ask can wait forever while small asks start, because the partition has no `starvation.after`
             --> queues.yaml:2:9
              |
            2 | - name: default
              |         ^^^^^^^
              |
              = help: set `starvation: {after: 5m}` in the partition; its queues then hold capacity for an ask that has waited this long

            recommendation[G-MEMBERS]: two gangs can each hold what the other needs, because `gangs.placement` is `members`
             --> queues.yaml:2:9
              |
            2 | - name: default
              |         ^^^^^^^
              |
              = help: set `gangs: {placement: whole}` in the partition; at most one incomplete gang then holds capacity

            queues.yaml: accepted, 2 queues, 0 limits, 1 warning, 2 recommendations
            --- stderr
        "#]],
    );
    // A file of YuniKorn's own page has no warning, and keeps its verdict.
    let ran = folder.run(&["validate", "--json", "examples/static-queues.yaml"]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &object["accepted"]), (Some(0), &true.into()));
    assert_eq!(
        (&object["warnings"], &object["warningsTotal"]),
        (&serde_json::json!([]), &0.into())
    );
    assert_eq!(object["recommendationsTotal"], 3);
    let shown = object["recommendations"].as_array().unwrap();
    let rows: Vec<_> = shown.iter().map(|one| (&one["code"], &one["severity"])).collect();
    let severity = &"recommendation".into();
    let codes = ["S-OFF", "R-OFF", "G-MEMBERS"].map(Value::from);
    assert_eq!(rows, codes.each_ref().map(|code| (code, severity)));
}

#[test]
fn the_json_has_a_stable_shape() {
    let folder = Folder::new("validate-json");
    folder.write("queues.yaml", BROKEN);
    let ran = folder.run(&["validate", "--json", "queues.yaml"]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    expect![[r#"
        {
          "accepted": false,
          "checksum": "2DF4BEFB2D1A024DF7C32D491E0C5FB18123F8572718307B0DB467AF6FDB6AF3",
          "errors": [
            {
              "code": "YAML-KEY",
              "column": 13,
              "endColumn": 28,
              "endLine": 8,
              "help": "write `maxapplications`; keys are lower case",
              "label": null,
              "line": 8,
              "message": "a queue has no key `maxApplications`",
              "related": [],
              "severity": "error",
              "stage": "validation"
            },
            {
              "code": "Q-G>M",
              "column": 36,
              "endColumn": 40,
              "endLine": 10,
              "help": "write 10Gi or less, or raise the maximum",
              "label": "too much",
              "line": 10,
              "message": "queue `sales` has a guarantee of 20Gi of memory, but its own maximum is 10Gi of memory",
              "related": [
                {
                  "column": 29,
                  "endColumn": 33,
                  "endLine": 11,
                  "label": "the maximum: 10Gi of memory",
                  "line": 11
                }
              ],
              "severity": "error",
              "stage": "validation"
            }
          ],
          "errorsTotal": 2,
          "file": "queues.yaml",
          "limits": null,
          "partitions": null,
          "queues": null,
          "recommendations": [],
          "recommendationsTotal": 0,
          "warnings": [
            {
              "code": "R-TYPE",
              "column": 35,
              "endColumn": 38,
              "endLine": 11,
              "help": "write `vcore`, in cores, unless nodes report `cpu`",
              "label": null,
              "line": 11,
              "message": "`cpu` is a separate resource type, different from `vcore`",
              "related": [],
              "severity": "warning",
              "stage": "validation"
            }
          ],
          "warningsTotal": 1
        }"#]].assert_eq(&format!("{object:#}"));
}

#[test]
fn the_json_of_every_file_has_the_same_keys() {
    let folder = Folder::new("validate-json-keys");
    folder.write("broken.yaml", BROKEN);
    folder.write("queues.yaml", GOOD);
    let ran = folder.run(&["validate", "--json", "broken.yaml", "queues.yaml", "missing.yaml"]);
    let objects: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&objects[0]), keys(&objects[1]));
    assert_eq!(keys(&objects[0]), keys(&objects[2]));
    let missing = &objects[2]["errors"][0];
    assert_eq!((&missing["code"], &missing["line"]), (&"FILE".into(), &Value::Null));
    assert_eq!(keys(missing), keys(&objects[0]["errors"][0]));
    assert_eq!(ran.code, Some(1));
}

#[test]
fn the_json_of_every_example_of_a_code_says_what_the_library_says() {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/tests/cases");
    let mut files: Vec<PathBuf> =
        fs::read_dir(cases).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    // The command reads what is inside of this one; the library refuses it.
    files.retain(|file| !file.ends_with("yaml-configmap.yaml"));
    assert!(files.len() > 60);
    let folder = Folder::new("validate-cases");
    for file in files {
        let review = review_bytes(&fs::read(&file).unwrap());
        let ran = folder.run(&["validate", "--json", file.to_str().unwrap()]);
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        let codes = |key: &str| -> BTreeSet<String> {
            let list = object[key].as_array().unwrap().iter();
            list.map(|one| one["code"].as_str().unwrap().to_owned()).collect()
        };
        let of = |severity| -> BTreeSet<String> {
            let all = review.diagnostics.iter().chain(review.diagnostics.recommendations());
            let all = all.filter(|one| one.severity == severity);
            all.map(|one| one.code.to_string()).collect()
        };
        assert_eq!(codes("errors"), of(Severity::Error), "{}", file.display());
        assert_eq!(codes("warnings"), of(Severity::Warning), "{}", file.display());
        let recommended = codes("recommendations");
        assert_eq!(recommended, of(Severity::Recommendation), "{}", file.display());
        let accepted = review.configuration.is_some();
        assert_eq!(object["accepted"], accepted, "{}", file.display());
        assert_eq!(object["checksum"], review.checksum, "{}", file.display());
        assert_eq!(ran.code, Some(i32::from(!accepted)), "{}", file.display());
        assert_eq!(ran.stderr, "");
    }
}

#[test]
fn completions_know_the_command() {
    let folder = Folder::new("validate-completions");
    for shell in ["bash", "zsh", "fish"] {
        let ran = folder.succeed(&["completions", shell]);
        assert!(ran.stdout.contains("validate"), "{shell}");
    }
}

/// A text as the value of a key, indented by so much.
fn indented(text: &str, by: usize) -> String {
    let blanks = " ".repeat(by);
    let lines: Vec<String> = text.lines().map(|line| format!("{blanks}{line}")).collect();
    lines.join("\n") + "\n"
}

/// What `kubectl create configmap` makes of a queue file that was packed.
fn packed(text: &str) -> String {
    use base64::Engine as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    base64::engine::general_purpose::STANDARD.encode(gzip.finish().unwrap())
}

/// The ways in which queue files come, each with this one in it.
fn wrapped(text: &str) -> Vec<(&'static str, String)> {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yunikorn-configs}\n";
    let json = serde_json::json!({"kind": "ConfigMap", "data": {"queues.yaml": text}});
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- kind: ConfigMap\n  data:\n    queues.yaml: |\n{}",
        indented(text, 6)
    );
    let data = |key: &str| {
        format!("{map}data:\n  service.policyGroup: group-01\n  {key}: |\n{}", indented(text, 4))
    };
    let values = format!(
        "image:\n  tag: scheduler-1.6.0\nyunikornDefaults:\n  log.level: INFO\n  queues.yaml: |\n{}",
        indented(text, 4)
    );
    vec![
        ("data", data("queues.yaml")),
        ("group", data("group-01.yaml")),
        ("binary", format!("{map}binaryData:\n  queues.yaml.gz: {}\n", packed(text))),
        ("list", list),
        ("json", json.to_string()),
        ("umbrella", format!("global: {{}}\nyunikorn:\n{}", indented(&values, 2))),
        ("values", values),
        ("old-values", format!("replicaCount: 1\nconfiguration: |\n{}", indented(text, 2))),
        ("fragment", format!("queues.yaml: |\n{}", indented(text, 2))),
        ("data-alone", format!("data:\n  queues.yaml: |\n{}", indented(text, 4))),
        ("second-document", format!("kind: Service\nspec: {{}}\n---\n{}", data("queues.yaml"))),
    ]
}

#[test]
fn a_queue_file_within_something_else_is_read_as_it_is() {
    let folder = Folder::new("validate-wrapped");
    for (name, text) in wrapped(GOOD) {
        let file = format!("{name}.yaml");
        folder.write(&file, &text);
        let ran = folder.run(&["validate", &file]);
        let told = format!("{name}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(0), "{told}");
        assert!(ran.stdout.contains("): accepted, 2 queues, 0 limits"), "{told}");
        // The command that other errors name works on it.
        let taken = folder.run(&["convert", "configmap", &file]);
        assert_eq!(
            (taken.code, taken.stdout.as_str()),
            (Some(0), GOOD),
            "{name}: {}",
            taken.stderr
        );
    }
    for (name, text) in wrapped(BROKEN) {
        let file = format!("broken-{name}.yaml");
        folder.write(&file, &text);
        let ran = folder.run(&["validate", &file]);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.stdout);
        assert!(
            ran.stdout.contains("error[Q-G>M]: queue `sales` has a guarantee of 20Gi"),
            "{name}: {}",
            ran.stdout
        );
    }
    let first = folder.run(&["validate", "data.yaml"]).stdout;
    assert_eq!(
        first,
        "data.yaml (data, queues.yaml, whose line 1 is line 7): accepted, 2 queues, 0 limits\n"
    );
}

#[test]
fn what_holds_no_queue_file_or_a_damaged_one_is_refused() {
    let folder = Folder::new("validate-unwrapped");
    for (name, text, told) in [
        (
            "none",
            "kind: ConfigMap\ndata: {log.level: INFO}\n",
            "the keys of the file are log.level",
        ),
        ("base64", "kind: ConfigMap\nbinaryData: {queues.yaml.gz: '###'}\n", "is not base64"),
        (
            "gzip",
            "kind: ConfigMap\nbinaryData: {queues.yaml.gz: aGVsbG8=}\n",
            "is not compressed with gzip",
        ),
        (
            "plain",
            "kind: ConfigMap\nbinaryData: {queues.yaml: aGVsbG8=}\n",
            "Rename the key to queues.yaml.gz",
        ),
        ("null", "null\n", "the file has no partition"),
        ("empty", "", "the file has no partition"),
        ("tilde", "~\n", "the file has no partition"),
        ("braces", "{}\n", "the file has no partition"),
        ("list", "partitions: []\n", "the file has no partition"),
    ] {
        let file = format!("{name}.yaml");
        folder.write(&file, text);
        let ran = folder.run(&["validate", &file]);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(1), "{name}: {all}");
        assert!(all.contains(told), "{name}: {all}");
        let json = folder.run(&["validate", "--json", &file]).stdout;
        let object: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&object["accepted"], object["errorsTotal"].as_u64()),
            (&Value::Bool(false), Some(1)),
            "{json}"
        );
    }
}

#[test]
fn a_map_with_two_queue_files_has_a_verdict_for_each() {
    let folder = Folder::new("validate-two-groups");
    let text = format!(
        "kind: ConfigMap\ndata:\n  queues.yaml: |\n{}  group-01.yaml: |\n{}",
        indented(GOOD, 4),
        indented(BROKEN, 4)
    );
    folder.write("map.yaml", text);
    let ran = folder.run(&["validate", "map.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("map.yaml (data, queues.yaml, whose line 1 is line 4): accepted"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("map.yaml (data, group-01.yaml, "), "{}", ran.stdout);
    let unclear = folder.run(&["convert", "configmap", "map.yaml"]);
    assert_eq!(unclear.code, Some(1));
    assert!(
        unclear.stderr.contains("queues.yaml, group-01.yaml. Choose one with --key"),
        "{}",
        unclear.stderr
    );
    let chosen = folder.run(&["convert", "configmap", "map.yaml", "--key", "queues.yaml"]);
    assert_eq!(chosen.stdout, GOOD);
}

#[test]
fn another_command_says_how_to_take_the_queue_file_out() {
    let folder = Folder::new("validate-elsewhere");
    folder.write(
        "values.yaml",
        format!("yunikornDefaults:\n  queues.yaml: |\n{}", indented(GOOD, 4)),
    );
    let ran = folder.run(&["simulate", "--queues", "values.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("headroom convert configmap FILE > queues.yaml"), "{}", ran.stderr);
}
