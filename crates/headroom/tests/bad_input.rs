//! Whatever is wrong with the input: a message with file, line and reason, exit code 1 (2 where
//! the command line itself is wrong), nothing on standard output, and never a panic.

#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::fmt::Write;

use expect_test::expect;
use support::Folder;

const JOB: &str = r#"{"id":"j1","submit_ms":0,"run_ms":1000,"user":"u","queue":"root.a","resources":{"vcore":1}}"#;
const QUEUES: &str = "\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a
          - name: p
            queues:
              - name: b
";
const NODES: &str = "2*{vcore: 4}";
const SWF: &str = "1 0 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
const OPENB: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

/// A folder in which everything is right.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("queues.yaml", QUEUES);
    folder.write("jobs.jsonl", format!("{JOB}\n"));
    folder.succeed(&[
        "simulate",
        "--queues",
        "queues.yaml",
        "--nodes",
        NODES,
        "--workload",
        "jobs.jsonl",
    ]);
    folder
}

/// What is said, after the exit code.
fn said(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.stdout, "", "{arguments:?}");
    assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    format!("{} {}\n", ran.code.unwrap(), ran.stderr.trim_end())
}

/// What is said about workloads, each a file of this name and content.
fn workloads(folder: &Folder, files: &[(&str, &[u8])], more: &[&str]) -> String {
    let mut out = String::new();
    for (file, content) in files {
        folder.write(file, content);
        let mut arguments =
            vec!["simulate", "--queues", "queues.yaml", "--nodes", NODES, "--workload", file];
        arguments.extend(more);
        out += &said(folder, &arguments);
    }
    out
}

/// What is said about these values of `--nodes`.
fn nodes(folder: &Folder, values: &[&str]) -> String {
    let common = ["simulate", "--queues", "queues.yaml", "--workload", "jobs.jsonl", "--nodes"];
    values.iter().map(|value| said(folder, &[&common[..], &[value]].concat())).collect()
}

/// What is said about further arguments of a run that is right without them.
fn further(folder: &Folder, arguments: &[&[&str]]) -> String {
    let common =
        ["simulate", "--queues", "queues.yaml", "--workload", "jobs.jsonl", "--nodes", NODES];
    arguments.iter().map(|more| said(folder, &[&common[..], more].concat())).collect()
}

/// What is said about these command lines; of the help below it only the first line.
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
fn a_line_of_our_own_format() {
    let folder = folder("bad-jsonl");
    let with = |from: &str, to: &str| JOB.replace(from, to).into_bytes();
    let first_right = |second: &str| format!("{JOB}\n{second}\n").into_bytes();
    let files: &[(&str, Vec<u8>)] = &[
        ("malformed.jsonl", first_right("{\"id\":\"j2\",")),
        ("list.jsonl", first_right("[1, 2]")),
        ("twice.jsonl", first_right(JOB)),
        ("unknown-field.jsonl", with("\"user\"", "\"usr\"")),
        ("unknown-queue.jsonl", with("root.a", "root.x")),
        ("parent-queue.jsonl", with("root.a", "root.p")),
        ("root-queue.jsonl", with("root.a", "root")),
        ("no-queue.jsonl", with("\"queue\":\"root.a\",", "")),
        ("unknown-type.jsonl", with("vcore", "fpga")),
        ("negative.jsonl", with("\"vcore\":1", "\"vcore\":-1")),
        ("negative-text.jsonl", with("\"vcore\":1", "\"vcore\":\"-1\"")),
        ("overflow.jsonl", with("\"vcore\":1", "\"vcore\":99999999999999999999")),
        ("overflow-text.jsonl", with("\"vcore\":1", "\"vcore\":\"99999999999999999999\"")),
        ("overflow-cores.jsonl", with("\"vcore\":1", "\"vcore\":\"9223372036854775807\"")),
        ("decimal.jsonl", with("\"vcore\":1", "\"vcore\":1.5")),
        ("nothing.jsonl", with("\"vcore\":1", "\"vcore\":null")),
        ("no-tasks.jsonl", with("\"resources\"", "\"tasks\":0,\"resources\"")),
        ("many-tasks.jsonl", with("\"resources\"", "\"tasks\":1000001,\"resources\"")),
        ("late.jsonl", with("\"submit_ms\":0", "\"submit_ms\":9999999999999999")),
        ("early.jsonl", with("\"submit_ms\":0", "\"submit_ms\":-1")),
        ("long.jsonl", with("\"run_ms\":1000", "\"run_ms\":18446744073709551616")),
        ("nobody.jsonl", with("\"user\":\"u\"", "\"user\":\"\"")),
        ("control.jsonl", with("\"user\":\"u\"", "\"user\":\"a\\u001b[31mb\"")),
        ("no-text.jsonl", b"\xff\xfe{}\n".to_vec()),
        ("zero-byte.jsonl", b"{\"id\0\":1}\n".to_vec()),
        ("empty.jsonl", Vec::new()),
        ("blank.jsonl", b"\n\n".to_vec()),
        ("huge-line.jsonl", vec![b'{'; 2 << 20]),
    ];
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (*name, &text[..])).collect();
    expect![[r#"
        1 error: malformed.jsonl:2: column 11: EOF while parsing a value
        1 error: list.jsonl:2: the line is "[1, 2]", expected a JSON object, {…}
        1 error: twice.jsonl:2: job j1 stands in line 1 already; every job needs a name of its own: remove one, or leave such lines out with --skip-bad-lines
        1 error: unknown-field.jsonl:1: column 44: unknown field `usr`, expected one of `id`, `submit_ms`, `run_ms`, `user`, `groups`, `queue`, `priority`, `tasks`, `resources`, `nodeLabel`, `node_label`, `partition`, `qos`
        1 error: unknown-queue.jsonl:1: job j1 goes to queue root.x, which the queue file does not have; its leaf queues are: root.a, root.p.b
        1 error: parent-queue.jsonl:1: job j1 goes to queue root.p, which is a parent; applications go to leaves: root.a, root.p.b
        1 error: root-queue.jsonl:1: job j1 goes to queue root, which is a parent; applications go to leaves: root.a, root.p.b
        1 error: no-queue.jsonl:1: job j1 names no queue; say where jobs go, for instance --queue-of 'root.{group}'
        1 error: unknown-type.jsonl:1: job j1 asks for fpga, which no node has; node types are: vcore
        1 error: negative.jsonl:1: resources.vcore is "-1", expected an amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        1 error: negative-text.jsonl:1: resources.vcore is "-1", expected an amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        1 error: overflow.jsonl:1: column 109: resources.vcore is a number with decimals, an exponent or more than 19 digits, expected a whole number or text such as "500m"
        1 error: overflow-text.jsonl:1: resources.vcore is "99999999999999999999", expected an amount: it is larger than 9223372036854775807 in the smallest unit
        1 error: overflow-cores.jsonl:1: resources.vcore is "9223372036854775807", expected an amount: it is larger than 9223372036854775807 in the smallest unit
        1 error: decimal.jsonl:1: column 92: resources.vcore is a number with decimals, an exponent or more than 19 digits, expected a whole number or text such as "500m"
        1 error: nothing.jsonl:1: column 93: resources.vcore is null, expected an amount as text or number
        1 error: no-tasks.jsonl:1: tasks is "0", expected a whole number from 1 to 1000000
        1 error: many-tasks.jsonl:1: tasks is "1000001", expected a whole number from 1 to 1000000
        1 error: late.jsonl:1: submit_ms is "9999999999999999", expected at most 1000000000000000 ms
        1 error: early.jsonl:1: column 25: invalid value: integer `-1`, expected a whole number from 0
        1 error: long.jsonl:1: column 54: invalid type: floating point `1.8446744073709552e+19`, expected a whole number from 0
        1 error: nobody.jsonl:1: user is empty, expected a name
        1 error: control.jsonl:1: the user is "a\u{1b}[31mb", expected 1 to 1024 bytes without control characters
        1 error: no-text.jsonl:1: byte 1 is not valid UTF-8; expected text in UTF-8
        1 error: zero-byte.jsonl:1: byte 5 is NUL; the file is binary or damaged, expected text
        1 error: empty.jsonl holds no job to play: lines read: 0, none left out
        1 error: blank.jsonl holds no job to play: lines read: 2, none left out
        1 error: huge-line.jsonl:1: the line is longer than 1048576 bytes
    "#]].assert_eq(&workloads(&folder, &files, &[]));
}

#[test]
fn a_line_of_a_trace() {
    let folder = folder("bad-traces");
    let with = |from: &str, to: &str| format!("; Version: 2\n{SWF}{}", SWF.replacen(from, to, 1));
    let pod = |row: &str| format!("{OPENB}{row}\n");
    let files = [
        ("short.swf", with("1 0 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1", "2 0 -1")),
        ("submission.swf", with("1 0 -1", "2 noon -1")),
        ("negative.swf", with("1 0 -1", "2 -5 -1")),
        ("run.swf", with("1 0 -1 10", "2 0 -1 -10")),
        ("processors.swf", with("-1 -1 1 -1", "-1 -1 99999999999 -1")),
        ("memory.swf", with("1 -1 -1 1 1 1", "1 -1 99999999999999999999 1 1 1")),
        ("twice.swf", with("1 0 -1", "1 5 -1")),
        ("unknown-run.swf", SWF.replacen("10", "-1", 1)),
        ("empty.swf", String::new()),
        ("comments.swf", "; nothing\n".to_owned()),
        ("cpu.csv", pod("p1,many,1024,0,0,,LS,Running,0,10,5")),
        ("gpu.csv", pod("p1,1000,1024,-1,0,,LS,Running,0,10,5")),
        ("times.csv", pod("p1,1000,1024,0,0,,LS,Running,0,5,10")),
        ("columns.csv", pod("p1,1000")),
        ("quote.csv", pod("\"p1,1000,1024,0,0,,LS,Running,0,10,5")),
        ("header.csv", "name,cpu_milli,memory\np1,1,1\n".to_owned()),
        ("only-header.csv", OPENB.to_owned()),
        ("jobs.txt", "JobID|User\n1|ann\n".to_owned()),
        ("unknown.txt", "hello\n".to_owned()),
        ("empty", String::new()),
    ];
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    expect![[r#"
        1 error: short.swf:3: 3 columns, expected 18 or more
        1 error: submission.swf:3: column 2 (submission) is "noon", expected seconds from 0 to 1000000000000
        1 error: negative.swf:3: column 2 (submission) is "-5", expected seconds from 0 to 1000000000000
        1 error: run.swf:3: column 4 (run time) is "-10", expected seconds from 0 to 1000000000000, or -1 for unknown
        1 error: processors.swf:3: column 8 (requested processors) is "99999999999", expected a whole number from 0 to 1000000, or -1 for unknown
        1 error: memory.swf:3: column 10 (requested memory) is "99999999999999999999", expected a whole number of KB from 0 to 9007199254740991, or -1 for unknown
        1 error: twice.swf:3: job 1 stands in line 2 already; every job needs a name of its own: remove one, or leave such lines out with --skip-bad-lines
        1 error: unknown-run.swf holds no job to play: lines read: 1, 1 left out (run time unknown)
        1 error: empty.swf holds no job to play: lines read: 0, none left out
        1 error: comments.swf holds no job to play: lines read: 1, none left out
        1 error: cpu.csv:2: cpu_milli is "many", expected a whole number from 0 to 1000000000000
        1 error: gpu.csv:2: num_gpu is "-1", expected a whole number from 0 to 1000000
        1 error: times.csv:2: deletion_time is "5", expected not before the start at 10
        1 error: columns.csv:2: 2 columns, expected 11, as many as in the header (at least the first 5)
        1 error: quote.csv:2: a quotation mark is not closed within the line
        1 error: header.csv:1: column 3 of the header is "memory", expected "memory_mib"; an openb pod list begins with name,cpu_milli,memory_mib,num_gpu,gpu_milli
        1 error: only-header.csv holds no job to play: lines read: 1, none left out
        1 error: jobs.txt:1: the header "JobID|User" has no column for a submission; export with sacct --parsable2 --allocations --format=JobID,User,Account,Partition,QOS,Submit,ElapsedRaw,ReqCPUS,ReqMem,ReqTRES,NNodes,State, of which Submit is needed
        1 error: cannot tell the format of unknown.txt from its name or its first line; name it: --format swf, openb, sacct or jsonl
        1 error: cannot tell the format of empty from its name or its first line; name it: --format swf, openb, sacct or jsonl
    "#]].assert_eq(&workloads(&folder, &files, &["--queue-of", "root.a"]));
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
        1 error: twice.yaml:4: node a stands in twice.yaml:2 already; every node needs a name of its own
        1 error: zero.yaml:4: node b offers {vcore: 0 m}; at least one amount must be above zero
        1 error: negative.yaml:4: vcore is "-2", which is no amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        1 error: overflow.yaml:4: memory is "9999999Ei", which is no amount: it is larger than 9223372036854775807 in the smallest unit
        1 error: key.yaml:4: unknown field `nam`, expected one of name, resources, label, from_ms, to_ms
        1 error: absent.yaml:4: missing field `resources`
        1 error: type-twice.yaml:5: duplicate mapping key `a` is not allowed here
        1 error: times.yaml:2: to_ms is 9, expected a time after from_ms, 9
        1 error: syntax.yaml:1: unclosed bracket '['
        1 error: other.yaml:1: expected mapping start
        1 error: empty.yaml: the file is empty; expected `nodes:` and a list of nodes
        1 error: no node in none.yaml; expected at least one
        1 error: no-text.yaml:2: byte 5 is not valid UTF-8; expected text in UTF-8
        1 error: twice.csv:3: node n1 stands in twice.csv:2 already; every node needs a name of its own
        1 error: zero.csv:3: node n2 offers {memory: 0 B, vcore: 0 m}; at least one amount must be above zero
        1 error: negative.csv:3: cpu_milli is "-5", expected a whole number from 0 to 1000000000
        1 error: overflow.csv:3: cpu_milli is "99999999999999999999", expected a whole number from 0 to 1000000000
        1 error: columns.csv:3: 2 columns, expected 5 as in the header
        1 error: header.csv:1: column 1 of the header is "a", expected "sn"; a node list begins with sn,cpu_milli,memory_mib,gpu
        1 error: no node in empty.csv; expected at least one
        1 error: no-text.csv:1: byte 4 is not valid UTF-8; expected text in UTF-8
        1 error: cannot read the nodes of folder.csv: Is a directory (os error 21)
        1 error: notes.txt: neither a number of nodes alike nor a file of a known kind; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: cannot read the nodes of missing.csv: No such file or directory (os error 2)
        1 error: twice.csv@1/0: "1/0" is no thinning, 1/N with N from 1; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 0*{vcore: 1}: "0" is no number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 2*{vcore: 0}: node n0001 offers {vcore: 0 m}; at least one amount must be above zero
        1 error: 2*{}: node n0001 offers {}; at least one amount must be above zero
        1 error: 2*{vcore: -1}: vcore is "-1", which is no amount: it must be digits and an optional suffix: no sign, decimal point or exponent; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 2*{vcore: 99999999999999999999}: vcore is "99999999999999999999", which is no amount: it is larger than 9223372036854775807 in the smallest unit; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 2*{vcore: 1, vcore: 1}: vcore is named twice, expected once; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 9999999*{vcore: 1}: "9999999" is no number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 99999999999999999999*{vcore: 1}: "99999999999999999999" is no number of nodes from 1 to 1000000; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: 2*vcore: no braces around the amounts; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
        1 error: : neither a number of nodes alike nor a file of a known kind; expected N*{type: amount, …} such as '4*{vcore: 2, memory: 4Gi}', or a .csv, .yaml or .yml file, perhaps with @1/N behind it
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
        1 error[YAML-KEY]: a partition has no key `queue`
         --> key.yaml:3:5
          |
        3 |     queue:
          |     ^^^^^
          |
          = help: did you mean `queues`?
        1 error[R-SYNTAX]: `-1` is no amount of vcore: it must be digits and an optional suffix: no sign, decimal point or exponent
          --> negative.yaml:10:42
           |
        10 |                 resources: {max: {vcore: -1}}
           |                                          ^^
           |
           = help: write digits and at most one suffix: 500m of vcore, 16Gi of memory, 4
        1 error[R-SYNTAX]: `x` is no amount of vcore: it must be digits and an optional suffix: no sign, decimal point or exponent
          --> two.yaml:11:39
           |
        11 |                   guaranteed: {vcore: x}
           |                                       ^
           |
           = help: write digits and at most one suffix: 500m of vcore, 16Gi of memory, 4

        error[R-OVERFLOW]: `99999999999999999999` is no amount of vcore: it is larger than 9223372036854775807 in the smallest unit
          --> two.yaml:12:32
           |
        12 |                   max: {vcore: 99999999999999999999}
           |                                ^^^^^^^^^^^^^^^^^^^^
           |
           = help: write a smaller amount
        1 error[Q-DUP]: `root` has two children called `a`
         --> twice.yaml:7:19
          |
        6 |           - name: a
          |                   - first here
        7 |           - name: a
          |                   ^ again here
          |
          = help: give one of them another name; queue names are compared in lower case
        1 error[L-NOTHING]: the limit sets neither `maxresources` nor `maxapplications`
          --> limit.yaml:10:26
           |
        10 |                 limits: [{users: [u], maxresources: {}}]
           |                          ^
           |
           = help: set one of them, or remove the limit
        1 error: no-text.yaml:2: byte 11 is not valid UTF-8; expected text in UTF-8
        1 error: empty.yaml: the queue file has no partition; it needs `partitions:` with at least one entry
        1 error[YAML-TYPE]: a queue file must be a mapping
         --> other.yaml:1:1
          |
        1 | hello
          | ^^^^^ this is a text
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
        1 error: cannot make folder jobs.jsonl: File exists (os error 17)
        1 error: cannot make folder jobs.jsonl: File exists (os error 17)
        1 error: cannot make folder /dev/null: File exists (os error 17)
        1 error: --report and --json both name same; each needs a file
        1 error: jobs.jsonl:1: 1 columns, expected 18 or more
        1 error: jobs.jsonl:1: job j1 names no queue; say where jobs go, for instance --queue-of 'root.{group}'
        1 error: jobs.jsonl:1: job j1 goes to queue root.u, which the queue file does not have; its leaf queues are: root.a, root.p.b
        1 error: --nodes is missing: it says how large the cluster is, for instance --nodes '10*{vcore: 8, memory: 32Gi}'
        1 error: cannot open the workload missing.jsonl: No such file or directory (os error 2)
        1 error: cannot open the workload folder: Is a directory (os error 21)
        1 error: cannot open the workload missing: No such file or directory (os error 2)
    "#]].assert_eq(&out);
}

#[test]
fn values_of_options() {
    let folder = folder("bad-options");
    expect![[r#"
        2 error: invalid value 'nonsense' for '--until <TIME>': "nonsense" is not a time: a whole number and s, m, h or d, for instance 36h
        2 error: unexpected argument '-1' found
        2 error: invalid value '99999999999999999999d' for '--until <TIME>': "99999999999999999999d" is not a time: a whole number and s, m, h or d, for instance 36h
        2 error: invalid value 'arrivals=0' for '--stretch <FACTORS>': the stretch arrivals=0 must be a number from 0.000001 to 1000000, such as 0.5
        2 error: invalid value 'speed=2' for '--stretch <FACTORS>': the stretch "speed=2" is neither run=X nor arrivals=Y nor both with a comma between
        2 error: invalid value 'run=1e9' for '--stretch <FACTORS>': the stretch run=1000000000 must be a number from 0.000001 to 1000000, such as 0.5
        2 error: invalid value 'u{x}' for '--users <TEMPLATE>': the template "u{x}" names the field "x"; the fields are {user}, {group}, {queue}, {partition}, {job}, {qos}, {row} and {row%N} with N from 1
        2 error: invalid value '' for '--users <TEMPLATE>': the template is empty; expected text with fields, such as u{user}
        2 error: invalid value 'g{' for '--groups <TEMPLATE>': the template "g{" has a '{' without its partner
        2 error: invalid value 'root.{row%0}' for '--queue-of <TEMPLATE>': the template "root.{row%0}" names the field "row%0"; the fields are {user}, {group}, {queue}, {partition}, {job}, {qos}, {row} and {row%N} with N from 1
        2 error: invalid value 'yarn' for '--format <FORMAT>': "yarn" is no format of a workload; the formats are swf, openb, sacct and jsonl
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
        2 error: invalid value 'vcore' for '--per-processor <PER_PROCESSOR>': "vcore" is not type=amount
        2 error: invalid value 'vcore=-1' for '--per-processor <PER_PROCESSOR>': "vcore=-1": it must be digits and an optional suffix: no sign, decimal point or exponent
        2 error: invalid value 'vcore=1,vcore=2' for '--per-processor <PER_PROCESSOR>': vcore is given twice
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
        1 error: cannot compare empty.json: it is not JSON: EOF while parsing a value at line 1 column 0
        1 error: cannot compare other.json: it is JSON, but not a simulation report: its `format` is absent, expected "headroom-simulation/1"
        1 error: cannot compare list.json: it is JSON, but not a simulation report: its `format` is absent, expected "headroom-simulation/1"
        1 error: cannot compare newer.json: it is JSON, but not a simulation report: its `format` is "headroom-simulation/9", expected "headroom-simulation/1"
        1 error: cannot compare damaged.json: it is a simulation report, but a field is missing or malformed: missing field `header`
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
        note: left out: some.jsonl:2: column 1: EOF while parsing an object
        note: left out: 1 job (bad line)"#]]
    .assert_eq(&notes.join("\n"));
    let jobs = &folder.json("report.json")["summary"]["run"]["jobs"];
    assert_eq!((&jobs["finished"], &jobs["rejected"]), (&1.into(), &1.into()), "{jobs}");
}
