//! Whatever is wrong with the input: a message with file, line and reason, exit code 1 (2 where
//! the command line itself is wrong), nothing on standard output, and never a panic.

#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them")]
#![allow(clippy::too_many_lines, reason = "tests that hold tables")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::fmt::Write;

use expect_test::expect;
use support::Folder;
use support::wrong::{JOB, NODES, QUEUES, folder, said};

/// Returns the output for these values of `--nodes`.
fn nodes(folder: &Folder, values: &[&str]) -> String {
    let common = ["simulate", "--queues", "queues.yaml", "--workload", "jobs.jsonl", "--nodes"];
    values.iter().map(|value| said(folder, &[&common[..], &[value]].concat())).collect()
}

/// Returns the output for further arguments of a run that is valid without them.
fn further(folder: &Folder, arguments: &[&[&str]]) -> String {
    let common =
        ["simulate", "--queues", "queues.yaml", "--workload", "jobs.jsonl", "--nodes", NODES];
    arguments.iter().map(|more| said(folder, &[&common[..], more].concat())).collect()
}

/// Returns the output for these command lines, with only the first line of the help below it.
fn short(folder: &Folder, lines: &[&str]) -> String {
    let mut out = String::new();
    for line in lines {
        let arguments: Vec<&str> = line.split(' ').filter(|one| !one.is_empty()).collect();
        let text = said(folder, &arguments);
        writeln!(out, "{}", text.lines().next().unwrap()).unwrap();
    }
    out
}

#[test]
fn nodes_that_are_none() {
    let folder = folder("bad-nodes");
    let list = "nodes:\n  - name: a\n    resources: {vcore: 1}\n";
    let csv = "sn,cpu_milli,memory_mib,gpu,model\nn1,1000,1024,0,\n";
    for (name, content) in [
        ("twice.yaml", format!("{list}  - name: a\n    resources: {{vcore: 1}}\n")),
        ("zero.yaml", format!("{list}  - name: b\n    resources: {{vcore: 0}}\n")),
        ("negative.yaml", format!("{list}  - name: b\n    resources: {{vcore: -2}}\n")),
        ("overflow.yaml", format!("{list}  - name: b\n    resources: {{memory: 9999999Ei}}\n")),
        ("key.yaml", format!("{list}  - nam: b\n")),
        ("absent.yaml", format!("{list}  - name: b\n")),
        ("type-twice.yaml", format!("{list}  - name: b\n    resources: {{a: 1, a: 2}}\n")),
        ("times.yaml", format!("{list}    from_ms: 9\n    to_ms: 9\n")),
        ("syntax.yaml", "nodes: [a\n".to_owned()),
        ("other.yaml", "hello\n".to_owned()),
        ("empty.yaml", String::new()),
        ("none.yaml", "nodes: []\n".to_owned()),
        ("twice.csv", format!("{csv}n1,1000,1024,0,\n")),
        ("zero.csv", format!("{csv}n2,0,0,0,\n")),
        ("negative.csv", format!("{csv}n2,-5,0,0,\n")),
        ("overflow.csv", format!("{csv}n2,99999999999999999999,0,0,\n")),
        ("columns.csv", format!("{csv}n2,1\n")),
        ("header.csv", "a,b\n".to_owned()),
        ("empty.csv", String::new()),
        ("notes.txt", "hello\n".to_owned()),
    ] {
        folder.write(name, content);
    }
    folder.write("no-text.yaml", b"nodes:\n  - \xff\n");
    folder.write("no-text.csv", b"sn,\xff\n");
    folder.write("folder.csv/file", "");
    let values = [
        "twice.yaml",
        "zero.yaml",
        "negative.yaml",
        "overflow.yaml",
        "key.yaml",
        "absent.yaml",
        "type-twice.yaml",
        "times.yaml",
        "syntax.yaml",
        "other.yaml",
        "empty.yaml",
        "none.yaml",
        "no-text.yaml",
        "twice.csv",
        "zero.csv",
        "negative.csv",
        "overflow.csv",
        "columns.csv",
        "header.csv",
        "empty.csv",
        "no-text.csv",
        "folder.csv",
        "notes.txt",
        "missing.csv",
        "twice.csv@1/0",
        "0*{vcore: 1}",
        "2*{vcore: 0}",
        "2*{}",
        "2*{vcore: -1}",
        "2*{vcore: 99999999999999999999}",
        "2*{vcore: 1, vcore: 1}",
        "9999999*{vcore: 1}",
        "99999999999999999999*{vcore: 1}",
        "2*vcore",
        "",
    ];
    expect![[r#"
        1 error: twice.yaml:4: node a already occurs in twice.yaml:2. Give every node a different name
        1 error: zero.yaml:4: node b has {vcore: 0 m}, but at least one amount must be above 0
        1 error: negative.yaml:4: vcore is "-2", which is not an amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        1 error: overflow.yaml:4: memory is "9999999Ei", which is not an amount: it is larger than 9223372036854775807 in the smallest unit
        1 error: key.yaml:4: unknown field `nam`, expected one of name, resources, label, from_ms, to_ms
        1 error: absent.yaml:4: missing field `resources`
        1 error: type-twice.yaml:5: duplicate mapping key `a` is not allowed here
        1 error: times.yaml:2: to_ms is 9, expected a time after from_ms, 9
        1 error: syntax.yaml:1: unclosed bracket '['
        1 error: other.yaml:1: expected mapping start
        1 error: empty.yaml: the file is empty; expected `nodes:` and a list of nodes
        1 error: there are no nodes in none.yaml; expected at least one node
        1 error: no-text.yaml:2: byte 5 is not valid UTF-8; expected text in UTF-8
        1 error: twice.csv:3: node n1 already occurs in twice.csv:2. Give every node a different name
        1 error: zero.csv:3: node n2 has {memory: 0 B, vcore: 0 m}, but at least one amount must be above 0
        1 error: negative.csv:3: cpu_milli is "-5", expected a whole number from 0 to 1000000000
        1 error: overflow.csv:3: cpu_milli is "99999999999999999999", expected a whole number from 0 to 1000000000
        1 error: columns.csv:3: the line has 2 columns, expected 5 as in the header
        1 error: header.csv:1: column 1 of the header is "a", expected "sn"; a node list begins with sn,cpu_milli,memory_mib,gpu
        1 error: there are no nodes in empty.csv; expected at least one node
        1 error: no-text.csv:1: byte 4 is not valid UTF-8; expected text in UTF-8
        1 error: cannot read the node list folder.csv: Is a directory (os error 21)
        1 error: --nodes notes.txt: this is neither a number of equal nodes nor a file of a known kind; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: cannot read the node list missing.csv: No such file or directory (os error 2)
        1 error: --nodes twice.csv@1/0: "1/0" is not a fraction 1/N with N of at least 1; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 0*{vcore: 1}: "0" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: 2*{vcore: 0}: node n0001 has {vcore: 0 m}, but at least one amount must be above 0
        1 error: 2*{}: node n0001 has {}, but at least one amount must be above 0
        1 error: --nodes 2*{vcore: -1}: vcore is "-1", which is not an amount: it must be digits and an optional suffix: no sign, decimal point or exponent; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 2*{vcore: 99999999999999999999}: vcore is "99999999999999999999", which is not an amount: it is larger than 9223372036854775807 in the smallest unit; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 2*{vcore: 1, vcore: 1}: vcore occurs twice, expected once; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 9999999*{vcore: 1}: "9999999" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 99999999999999999999*{vcore: 1}: "99999999999999999999" is not a number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes 2*vcore: the braces around the amounts are missing; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
        1 error: --nodes : this is neither a number of equal nodes nor a file of a known kind; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, optionally followed by @1/N
    "#]].assert_eq(&nodes(&folder, &values));
}

#[test]
fn queue_files_show_the_line() {
    let folder = folder("bad-queues");
    let with = |from: &str, to: &str| QUEUES.replacen(from, to, 1).into_bytes();
    let mut out = String::new();
    for (name, content) in [
        ("syntax.yaml", b"partitions: [a\n".to_vec()),
        ("key.yaml", with("queues", "queue")),
        (
            "negative.yaml",
            with("name: b", "name: b\n                resources: {max: {vcore: -1}}"),
        ),
        (
            "two.yaml",
            with(
                "name: b",
                "name: b\n                resources:\n                  guaranteed: {vcore: x}\n                  max: {vcore: 99999999999999999999}",
            ),
        ),
        ("twice.yaml", with("name: p", "name: a")),
        (
            "limit.yaml",
            with("name: b", "name: b\n                limits: [{users: [u], maxresources: {}}]"),
        ),
        ("no-text.yaml", b"partitions:\n  - name: \xff\n".to_vec()),
        ("empty.yaml", Vec::new()),
        ("other.yaml", b"hello\n".to_vec()),
    ] {
        folder.write(name, content);
        let common = ["simulate", "--nodes", NODES, "--workload", "jobs.jsonl", "--queues"];
        out += &said(&folder, &[&common[..], &[name]].concat());
    }
    folder.write("folder/file", "");
    for name in ["folder", "missing.yaml"] {
        out += &short(
            &folder,
            &[&format!("simulate --nodes 1*{{vcore:1}} --workload jobs.jsonl --queues {name}")],
        );
    }
    expect![[r#"
        1 error[YAML]: unclosed bracket '['
         --> syntax.yaml:1:13
          |
        1 | partitions: [a
          |             ^
          |
          = help: check the indentation, quotes, and brackets in this line and in the previous line
        1 error[YAML-KEY]: a partition has no key `queue`
         --> key.yaml:3:5
          |
        3 |     queue:
          |     ^^^^^
          |
          = help: did you mean `queues`?
        1 error[R-SYNTAX]: `-1` is not a valid amount of vcore: it must be digits and an optional suffix: no sign, decimal point or exponent
          --> negative.yaml:10:42
           |
        10 |                 resources: {max: {vcore: -1}}
           |                                          ^^
           |
           = help: write digits and at most one suffix, such as 500m for vcore, 16Gi for memory, or 4
        1 error[R-SYNTAX]: `x` is not a valid amount of vcore: it must be digits and an optional suffix: no sign, decimal point or exponent
          --> two.yaml:11:39
           |
        11 |                   guaranteed: {vcore: x}
           |                                       ^
           |
           = help: write digits and at most one suffix, such as 500m for vcore, 16Gi for memory, or 4

        error[R-OVERFLOW]: `99999999999999999999` is not a valid amount of vcore: it is larger than 9223372036854775807 in the smallest unit
          --> two.yaml:12:32
           |
        12 |                   max: {vcore: 99999999999999999999}
           |                                ^^^^^^^^^^^^^^^^^^^^
           |
           = help: write a smaller amount
        1 error[Q-DUP]: queue `root` has two child queues with the name `a`
         --> twice.yaml:7:19
          |
        6 |           - name: a
          |                   - first entry
        7 |           - name: a
          |                   ^ second entry
          |
          = help: rename one of the queues; queue names ignore case
        1 error[L-NOTHING]: the limit sets neither `maxresources` nor `maxapplications`
          --> limit.yaml:10:26
           |
        10 |                 limits: [{users: [u], maxresources: {}}]
           |                          ^
           |
           = help: set `maxresources` or `maxapplications`, or remove the limit
        1 error: no-text.yaml:2: byte 11 is not valid UTF-8; expected text in UTF-8
        1 error: empty.yaml: the queue file has no partition. Add `partitions:` with at least one entry.
        1 error[YAML-TYPE]: a queue file must be a mapping
         --> other.yaml:1:1
          |
        1 | hello
          | ^^^^^ this is a text
          |
          = help: write the value after the key, or indented below it
        1 error: cannot read the queue file folder: Is a directory (os error 21)
        1 error: cannot read the queue file missing.yaml: No such file or directory (os error 2)
    "#]].assert_eq(&out);
}

#[test]
fn parts_that_are_missing_or_in_the_way() {
    let folder = folder("bad-files");
    folder.write("folder/file", "");
    let mut out = further(
        &folder,
        &[
            &["--report", "folder"],
            &["--json", "jobs.jsonl/report.json"],
            &["--csv", "jobs.jsonl"],
            &["--report", "/dev/null/report.html"],
            &["--json", "same", "--report", "same"],
            &["--format", "swf"],
            &["--queue-of", "root.{group}"],
            &["--queue-of", "root.{user}"],
        ],
    );
    out += &said(&folder, &["simulate", "--queues", "queues.yaml", "--workload", "jobs.jsonl"]);
    for workload in ["missing.jsonl", "folder", "missing"] {
        let common = ["simulate", "--queues", "queues.yaml", "--nodes", NODES, "--workload"];
        out += &said(&folder, &[&common[..], &[workload]].concat());
    }
    expect![[r#"
        1 error: cannot write folder: Is a directory (os error 21)
        1 error: cannot create folder jobs.jsonl: File exists (os error 17)
        1 error: cannot create folder jobs.jsonl: File exists (os error 17)
        1 error: cannot create folder /dev/null: File exists (os error 17)
        1 error: --report and --json both name same. Choose a different file for each.
        1 error: jobs.jsonl:1: the line has 1 columns, expected 18 or more
        1 error: jobs.jsonl:1: job j1 has no queue. Set a queue, for example with --queue-of 'root.{group}'
        1 error: jobs.jsonl:1: job j1 has queue root.u, but the queue file does not define this queue. Use one of the leaves of the file: root.a, root.p.b
        1 error: --nodes is missing. Set the size of the cluster, such as --nodes '10*{vcore: 8, memory: 32Gi}'
        1 error: cannot open the workload missing.jsonl: No such file or directory (os error 2)
        1 error: cannot open the workload folder: Is a directory (os error 21)
        1 error: cannot open the workload missing: No such file or directory (os error 2)
    "#]].assert_eq(&out);
}

#[test]
fn faults_and_priorities_that_are_none() {
    let folder = folder("bad-faults");
    let lose = "faults:\n  - {at_ms: 5, kind: lose, node: nowhere, for_ms: 9}\n";
    folder.write("nowhere.yaml", lose);
    folder.write("kind.yaml", lose.replace("lose", "explode"));
    folder.write("empty.yaml", "");
    let values: [&[&str]; 9] = [
        &["--faults", "nowhere.yaml"],
        &["--faults", "kind.yaml"],
        &["--faults", "empty.yaml"],
        &["--faults", "missing.yaml"],
        &["--faults", "random:"],
        &["--faults", "random:-1"],
        &["--shape", "ring"],
        &["--priority-of", "p{row}"],
        &["--priority-of", "9999999999"],
    ];
    expect![[r#"
        1 error: --faults names node nowhere, which is not one of the 2 nodes of the cluster. The first node is n0001
        1 error: kind.yaml:2: unknown variant `explode`, expected one of lose, drain, reconnect, recover, release-unknown, late, twice
        1 error: empty.yaml: the file is empty; expected `faults:` and a list of faults
        1 error: cannot read the faults of --faults missing.yaml; expected a YAML file, or random:SEED: No such file or directory (os error 2)
        1 error: --faults random: has no valid seed: the seed must be a whole number from 0 to 18446744073709551615, such as random:7
        1 error: --faults random:-1 has no valid seed: the seed must be a whole number from 0 to 18446744073709551615, such as random:7
        2 error: invalid value 'ring' for '--shape <SHAPE>'
          [possible values: single, tasks, gang]

          tip: a similar value exists: 'single'

        For more information, try '--help'.
        1 error: jobs.jsonl:1: the priority is "p0", expected a whole number from -2147483648 to 2147483647
        1 error: jobs.jsonl:1: the priority is "9999999999", expected a whole number from -2147483648 to 2147483647
    "#]]
    .assert_eq(&further(&folder, &values));
}

#[test]
fn values_of_options() {
    let folder = folder("bad-options");
    expect![[r#"
        2 error: invalid value 'nonsense' for '--until <TIME>': "nonsense" is not a time. Use a whole number and s, m, h, or d, such as 36h
        2 error: unexpected argument '-1' found
        2 error: invalid value '99999999999999999999d' for '--until <TIME>': "99999999999999999999d" is not a time. Use a whole number and s, m, h, or d, such as 36h
        2 error: invalid value 'arrivals=0' for '--stretch <FACTORS>': --stretch has arrivals=0; expected a number from 0.000001 to 1000000, such as 0.5
        2 error: invalid value 'speed=2' for '--stretch <FACTORS>': --stretch is "speed=2"; expected run=X, arrivals=Y, or both separated by a comma
        2 error: invalid value 'run=1e9' for '--stretch <FACTORS>': --stretch has run=1000000000; expected a number from 0.000001 to 1000000, such as 0.5
        2 error: invalid value 'u{x}' for '--users <TEMPLATE>': the template "u{x}" has the field "x", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
        2 error: invalid value '' for '--users <TEMPLATE>': the template is empty; expected text with fields, such as u{user}
        2 error: invalid value 'g{' for '--groups <TEMPLATE>': the template "g{" has an unmatched '{'. Add or remove a brace
        2 error: invalid value 'root.{row%0}' for '--queue-of <TEMPLATE>': the template "root.{row%0}" has the field "row%0", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
        2 error: invalid value 'yarn' for '--format <FORMAT>': "yarn" is not a workload format. Use swf, openb, sacct, jsonl or yarn-sls
        2 error: invalid value 'round' for '--shape <SHAPE>'
        2 error: invalid value 'minus' for '--seed <SEED>': invalid digit found in string
        2 error: unexpected argument '--bogus' found
        2 error: unrecognized subcommand 'extra'
        2 error: unrecognized subcommand 'nonsense'
        2 error: invalid value 'nonsense' for '<SHELL>'
        2 error: the following required arguments were not provided:
        2 error: invalid value 'bogus' for '<MODEL>'
        1 error: jobs is 0, expected a whole number from 1 to 10000000
        1 error: jobs is 99999999999, expected a whole number from 1 to 10000000
        1 error: users is 0, expected a whole number from 1 to 10000000
        1 error: groups is 99999999999, expected a whole number from 0 to 10000000
        1 error: load is 0, expected a number from 0.001 to 1000
        1 error: load is -1, expected a number from 0.001 to 1000
        1 error: load is NaN, expected a number from 0.001 to 1000
        1 error: processors is 0, expected a whole number from 1 to 1000000
        2 error: invalid value 'x' for '--seed <SEED>': invalid digit found in string
        2 error: a value is required for '--queues <QUEUES>' but none was supplied
        2 error: invalid value 'vcore' for '--per-processor <PER_PROCESSOR>': "vcore" is not of the form type=amount
        2 error: invalid value 'vcore=-1' for '--per-processor <PER_PROCESSOR>': "vcore=-1": it must be digits and an optional suffix: no sign, decimal point or exponent
        2 error: invalid value 'vcore=1,vcore=2' for '--per-processor <PER_PROCESSOR>': the type vcore occurs twice. Specify the type once
        2 error: invalid value 'vcore=99999999999999999999' for '--per-processor <PER_PROCESSOR>': "vcore=99999999999999999999": it is larger than 9223372036854775807 in the smallest unit
        2 error: invalid value '0' for '--run-seconds <RUN_SECONDS>': 0 is not in 1..=1000000000
        2 error: invalid value '99999999999999999' for '--run-seconds <RUN_SECONDS>': 99999999999999999 is not in 1..=1000000000
        2 error: invalid value '99999999999999999' for '--period-seconds <PERIOD_SECONDS>': 99999999999999999 is not in 0..=1000000000
        1 error: cohorts is 0, expected a whole number from 1 to 1000
        2 error: invalid value '0' for '--cohort-queues <COHORT_QUEUES>': 0 is not in 1..=10
    "#]].assert_eq(&short(
        &folder,
        &[
            "simulate --until nonsense",
            "simulate --until -1h",
            "simulate --until 99999999999999999999d",
            "simulate --stretch arrivals=0",
            "simulate --stretch speed=2",
            "simulate --stretch run=1e9",
            "simulate --users u{x}",
            "simulate --users=",
            "simulate --groups g{",
            "simulate --queue-of root.{row%0}",
            "simulate --format yarn",
            "simulate --shape round",
            "simulate --seed minus",
            "simulate --bogus",
            "simulate extra",
            "nonsense",
            "completions nonsense",
            "simulate generate",
            "simulate generate bogus",
            "simulate generate lublin --jobs 0",
            "simulate generate lublin --jobs 99999999999",
            "simulate generate lublin --users 0",
            "simulate generate lublin --groups 99999999999",
            "simulate generate lublin --load 0",
            "simulate generate lublin --load -1",
            "simulate generate lublin --load nan",
            "simulate generate lublin --processors 0",
            "simulate generate lublin --seed x",
            "simulate generate lublin --queues ,",
            "simulate generate lublin --per-processor vcore",
            "simulate generate lublin --per-processor vcore=-1",
            "simulate generate lublin --per-processor vcore=1,vcore=2",
            "simulate generate lublin --per-processor vcore=99999999999999999999",
            "simulate generate uniform --run-seconds 0",
            "simulate generate uniform --run-seconds 99999999999999999",
            "simulate generate uniform --period-seconds 99999999999999999",
            "simulate generate kueue --cohorts 0",
            "simulate generate kueue --cohort-queues 0",
        ],
    ));
}

#[test]
fn reports_of_others_cannot_be_compared() {
    let folder = folder("bad-compare");
    folder.write("empty.json", "");
    folder.write("other.json", "{\"a\": 1}");
    folder.write("list.json", "[1]");
    folder.write("newer.json", "{\"format\": \"headroom-simulation/9\"}");
    folder.write("damaged.json", "{\"format\": \"headroom-simulation/1\"}");
    folder.write("no-text.json", b"\xff");
    folder.write("folder/file", "");
    let mut out = String::new();
    for name in [
        "empty.json",
        "other.json",
        "list.json",
        "newer.json",
        "damaged.json",
        "no-text.json",
        "folder",
        "missing.json",
    ] {
        out += &said(&folder, &["simulate", "compare", name, name]);
    }
    out += &short(&folder, &["simulate compare", "simulate compare other.json"]);
    expect![[r#"
        1 error: cannot compare empty.json: the file is not JSON: EOF while parsing a value at line 1 column 0
        1 error: cannot compare other.json: the file is JSON, but not a simulation report: `format` is absent, expected "headroom-simulation/1"
        1 error: cannot compare list.json: the file is JSON, but not a simulation report: `format` is absent, expected "headroom-simulation/1"
        1 error: cannot compare newer.json: the file is JSON, but not a simulation report: `format` is "headroom-simulation/9", expected "headroom-simulation/1"
        1 error: cannot compare damaged.json: the file is a simulation report, but a field is missing or malformed: missing field `header`
        1 error: cannot read no-text.json: stream did not contain valid UTF-8
        1 error: cannot read folder: Is a directory (os error 21)
        1 error: cannot read missing.json: No such file or directory (os error 2)
        2 error: the following required arguments were not provided:
        2 error: the following required arguments were not provided:
    "#]].assert_eq(&out);
}

#[test]
fn bad_lines_can_be_left_out_and_are_counted() {
    let folder = folder("skipped");
    let unknown = JOB.replace("j1", "j2").replace("root.a", "root.x");
    folder.write("some.jsonl", format!("{JOB}\n{{\n{unknown}\n"));
    let ran = folder.succeed(&[
        "simulate",
        "--queues",
        "queues.yaml",
        "--nodes",
        NODES,
        "--workload",
        "some.jsonl",
        "--skip-bad-lines",
        "--json",
        "report.json",
    ]);
    let notes: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("note:")).collect();
    expect![[r#"
        note: skipped: some.jsonl:2: column 1: EOF while parsing an object
        note: skipped: 1 job (bad line)"#]]
    .assert_eq(&notes.join("\n"));
    let jobs = &folder.json("report.json")["summary"]["run"]["jobs"];
    assert_eq!((&jobs["finished"], &jobs["rejected"]), (&1.into(), &1.into()), "{jobs}");
}

#[cfg(feature = "kubernetes")]
#[test]
fn keys_without_meaning_on_kubernetes_are_refused() {
    let folder = folder("bad-kubernetes");
    let lines = [
        "kubernetes --queues queues.yaml",
        "kubernetes --journal-path folder",
        "kubernetes --journal-snapshot-every 1",
    ];
    expect![[r#"
        1 error: `queues` has no effect here: the queue file is in the config map `yunikorn-configs`, and after a restart, all state comes from the API server. Remove `--queues`, `HEADROOM_QUEUES`, or the key in the file.
        1 error: `journal.path` has no effect here: the queue file is in the config map `yunikorn-configs`, and after a restart, all state comes from the API server. Remove `--journal-path`, `HEADROOM_JOURNAL_PATH`, or the key in the file.
        1 error: `journal.snapshotEvery` has no effect here: the queue file is in the config map `yunikorn-configs`, and after a restart, all state comes from the API server. Remove `--journal-snapshot-every`, `HEADROOM_JOURNAL_SNAPSHOT_EVERY`, or the key in the file.
    "#]].assert_eq(&short(&folder, &lines));
}
