//! Whatever is wrong with a workload: a message with file, line and reason, exit code 1, nothing
//! on standard output, and never a panic.

#![allow(clippy::needless_raw_string_hashes, reason = "`expect!` writes them")]
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use expect_test::expect;
use support::Folder;
use support::wrong::{JOB, NODES, folder, said};

const SWF: &str = "1 0 -1 10 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1\n";
const OPENB: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n";

/// Returns the output for workloads, each a file with this name and content.
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
        1 error: twice.jsonl:2: job j1 already occurs in line 1. Rename or remove one of the two jobs, or set --skip-bad-lines
        1 error: unknown-field.jsonl:1: column 44: unknown field `usr`, expected one of `id`, `submit_ms`, `run_ms`, `user`, `groups`, `queue`, `priority`, `may_preempt`, `preemptable`, `tasks`, `resources`, `more`, `master`, `nodeLabel`, `node_label`, `lifetime_s`, `tags`, `partition`, `qos`
        1 error: unknown-queue.jsonl:1: job j1 has queue root.x, but the queue file does not define this queue. Use one of the leaves of the file: root.a, root.p.b
        1 error: parent-queue.jsonl:1: job j1 has queue root.p, but this queue is a parent. Use a leaf: root.a, root.p.b
        1 error: root-queue.jsonl:1: job j1 has queue root, but this queue is a parent. Use a leaf: root.a, root.p.b
        1 error: no-queue.jsonl:1: job j1 has no queue. Set a queue, for example with --queue-of 'root.{group}'
        1 error: unknown-type.jsonl:1: job j1 requests fpga, which no node has. The nodes have: vcore
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
        1 error: zero-byte.jsonl:1: byte 5 is NUL, so the file is binary or damaged; expected text
        1 error: empty.jsonl contains no job to simulate: lines read: 0, no lines skipped
        1 error: blank.jsonl contains no job to simulate: lines read: 2, no lines skipped
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
        1 error: short.swf:3: the line has 3 columns, expected 18 or more
        1 error: submission.swf:3: column 2 (submission) is "noon", expected seconds from 0 to 1000000000000
        1 error: negative.swf:3: column 2 (submission) is "-5", expected seconds from 0 to 1000000000000
        1 error: run.swf:3: column 4 (run time) is "-10", expected seconds from 0 to 1000000000000, or -1 for unknown
        1 error: processors.swf:3: column 8 (requested processors) is "99999999999", expected a whole number from 0 to 1000000, or -1 for unknown
        1 error: memory.swf:3: column 10 (requested memory) is "99999999999999999999", expected a whole number of KB from 0 to 9007199254740991, or -1 for unknown
        1 error: twice.swf:3: job 1 already occurs in line 2. Rename or remove one of the two jobs, or set --skip-bad-lines
        1 error: unknown-run.swf contains no job to simulate: lines read: 1, 1 skipped (run time unknown)
        1 error: empty.swf contains no job to simulate: lines read: 0, no lines skipped
        1 error: comments.swf contains no job to simulate: lines read: 1, no lines skipped
        1 error: cpu.csv:2: cpu_milli is "many", expected a whole number from 0 to 1000000000000
        1 error: gpu.csv:2: num_gpu is "-1", expected a whole number from 0 to 1000000
        1 error: times.csv:2: deletion_time is "5", expected not before the start at 10
        1 error: columns.csv:2: the line has 2 columns, expected 11 as in the header (at least the first 5)
        1 error: quote.csv:2: a quotation mark is not closed within the line
        1 error: header.csv:1: column 3 of the header is "memory", expected "memory_mib"; an openb pod list begins with name,cpu_milli,memory_mib,num_gpu,gpu_milli
        1 error: only-header.csv contains no job to simulate: lines read: 1, no lines skipped
        1 error: jobs.txt:1: the header "JobID|User" has no column Submit for a submission. Export with sacct --parsable2 --allocations --format=JobID,User,Account,Partition,QOS,Submit,Start,ElapsedRaw,ReqCPUS,ReqMem,ReqTRES,NNodes,State
        1 error: the format of unknown.txt is not clear from its name or first line. Set --format to swf, openb, sacct, jsonl or yarn-sls
        1 error: the format of empty is not clear from its name or first line. Set --format to swf, openb, sacct, jsonl or yarn-sls
    "#]].assert_eq(&workloads(&folder, &files, &["--queue-of", "root.a"]));
}
