//! Reading and writing our own format.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.

mod common;

use common::{errors, read, shown};
use expect_test::expect;
use headroom_sim::workload::{Format, ReadOptions, write_jsonl};

const GOOD: &str = r#"
{"id":"a","submit_ms":5,"run_ms":1000,"user":"ada","groups":["phys","all"],"queue":"root.x","priority":-3,"tasks":4,"resources":{"vcore":"500m","memory":"2Gi","nvidia.com/gpu":1},"node_label":"a100"}
{"id":"b","submit_ms":2,"run_ms":0,"user":"bob","resources":{"vcore":2},"nodeLabel":"t4","qos":"high"}

{"id":"c","submit_ms":5,"run_ms":1,"user":"ümlaut \"q\"","resources":{}}
"#;

#[test]
fn jobs_are_read_with_their_defaults() {
    expect![[r#"
        b at 0 for 0 by bob of [] in None, 1 of {vcore: 2000 m}, priority 0, label t4
        a at 3 for 1000 by ada of ["phys", "all"] in Some("root.x"), 4 of {memory: 2147483648 B, nvidia.com/gpu: 1, vcore: 500 m}, priority -3, label a100
        c at 3 for 1 by ümlaut "q" of [] in None, 1 of {}, priority 0
    "#]].assert_eq(&shown(read(
        Format::Jsonl,
        GOOD.as_bytes(),
        &ReadOptions::default(),
    )));
}

#[test]
fn what_is_written_reads_back_the_same() {
    let options = ReadOptions::default();
    let first = read(Format::Jsonl, GOOD.as_bytes(), &options).unwrap();
    let mut text = Vec::new();
    write_jsonl(&first, &mut text).unwrap();
    expect![[r#"
        {"id":"b","submit_ms":0,"run_ms":0,"user":"bob","resources":{"vcore":"2"},"node_label":"t4"}
        {"id":"a","submit_ms":3,"run_ms":1000,"user":"ada","groups":["phys","all"],"queue":"root.x","priority":-3,"tasks":4,"resources":{"memory":"2Gi","nvidia.com/gpu":"1","vcore":"500m"},"node_label":"a100"}
        {"id":"c","submit_ms":3,"run_ms":1,"user":"ümlaut \"q\"","resources":{}}
    "#]].assert_eq(str::from_utf8(&text).unwrap());
    let mut back = read(Format::Jsonl, &text, &options).unwrap();
    // In a file without blank lines, and in order of submission.
    for (job, before) in back.jobs.iter_mut().zip(&first.jobs) {
        job.line = before.line;
    }
    assert_eq!(back, first);
}

/// Pieces of a good line, and what stands there instead.
const CHANGES: [(&str, &str); 23] = [
    ("\"user\"", "\"usr\""),
    ("\"user\":\"ada\",", ""),
    ("\"ada\"", "\"\""),
    ("\"a\"", "\"\""),
    ("\"a\"", "7"),
    ("\"ada\"", "\"\\u001b[31mada\""),
    ("\"tasks\":1", "\"queue\":\"\""),
    (":5", ":-5"),
    (":5", ":1.5"),
    (":5", ":99999999999999999999"),
    (":5", ":1000000000000001"),
    ("\"tasks\":1", "\"tasks\":0"),
    ("\"tasks\":1", "\"tasks\":1000001"),
    ("\"tasks\":1", "\"tasks\":1,\"tasks\":1"),
    ("{\"vcore\":1}", "{\"vcore\":1,\"vcore\":1}"),
    ("{\"vcore\":1}", "{\"vcore\":-1}"),
    ("{\"vcore\":1}", "{\"vcore\":1.5}"),
    ("{\"vcore\":1}", "{\"memory\":\"1m\"}"),
    ("{\"vcore\":1}", "{\"vcore\":\"9223372036854775807\"}"),
    ("{\"vcore\":1}", "{\"vcore\":null}"),
    ("{\"vcore\":1}", "[1]"),
    ("}}", "}"),
    ("}}", "}} x"),
];

#[test]
fn a_bad_line_names_its_field_what_is_there_and_what_was_expected() {
    let good =
        r#"{"id":"a","submit_ms":5,"run_ms":1,"user":"ada","tasks":1,"resources":{"vcore":1}}"#;
    let sources: Vec<String> =
        CHANGES.iter().map(|(from, to)| good.replacen(from, to, 1)).collect();
    let twice = format!("{good}\n{good}\n");
    let deep = "[".repeat(100_000);
    let mut sources: Vec<&[u8]> = sources.iter().map(String::as_bytes).collect();
    sources.extend([
        b"".as_slice(),
        twice.as_bytes(),
        b"null",
        b"[\"a\",5,1,\"ada\"]",
        deep.as_bytes(),
    ]);
    expect![[r#"
        t:1: column 40: unknown field `usr`, expected one of `id`, `submit_ms`, `run_ms`, `user`, `groups`, `queue`, `priority`, `may_preempt`, `preemptable`, `tasks`, `resources`, `more`, `master`, `nodeLabel`, `node_label`, `lifetime_s`, `tags`, `partition`, `qos`
        t:1: column 69: missing field `user`
        t:1: user is empty, expected a name
        t:1: id is empty, expected a name
        t:1: column 7: invalid type: integer `7`, expected a string
        t:1: the user is "\u{1b}[31mada", expected 1 to 1024 bytes without control characters
        t:1: the queue is empty, expected 1 to 1024 bytes without control characters
        t:1: column 24: invalid value: integer `-5`, expected a whole number from 0
        t:1: column 25: invalid type: floating point `1.5`, expected a whole number from 0
        t:1: column 42: invalid type: floating point `1e+20`, expected a whole number from 0
        t:1: submit_ms is "1000000000000001", expected at most 1000000000000000 ms
        t:1: tasks is "0", expected a whole number from 1 to 1000000
        t:1: tasks is "1000001", expected a whole number from 1 to 1000000
        t:1: column 65: duplicate field `tasks`
        t:1: resources.vcore is "1", expected each resource type once
        t:1: resources.vcore is "-1", expected an amount: it must be digits and an optional suffix: no sign, decimal point or exponent
        t:1: column 83: resources.vcore is a number with decimals, an exponent or more than 19 digits, expected a whole number or text such as "500m"
        t:1: resources.memory is "1m", expected an amount: the suffix is none of k M G T P E Ki Mi Gi Ti Pi Ei (and m, thousandths, for vcore only)
        t:1: resources.vcore is "9223372036854775807", expected an amount: it is larger than 9223372036854775807 in the smallest unit
        t:1: column 84: resources.vcore is null, expected an amount as text or number
        t:1: column 70: invalid type: sequence, expected an object of resource types and amounts
        t:1: column 81: EOF while parsing an object
        t:1: column 84: trailing characters
        t contains no job to simulate: lines read: 0, no lines skipped
        t:2: job a already occurs in line 1. Rename or remove one of the two jobs, or set --skip-bad-lines
        t:1: the line is "null", expected a JSON object, {…}
        t:1: the line is "[\"a\",5,1,\"ada\"]", expected a JSON object, {…}
        t:1: the line is "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…", expected a JSON object, {…}
    "#]].assert_eq(&errors(Format::Jsonl, &sources));
}
