//! Reading Standard Workload Format.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.

mod common;

use common::{errors, read, shown};
use expect_test::expect;
use headroom_sim::workload::{Format, ReadOptions, TimeScale};

const GOOD: &str = "\
; Version: 2.2
;

 7  100  5  60   4 59.5 -1  4 90 2048  1 3 1 -1 -1 1 -1 -1
 8  100 -1  -1   4   -1 -1  4 90   -1  0 3 1 -1 -1 1 -1 -1
 9   90  5   0   2   -1 -1 -1 90    0  1 4 2 -1  5 2 -1 -1
10  100  5 1.5  -1   -1 -1  0 90   -1  1 -1 -1 -1 -1 -1 -1 -1
11  101  5  10   2   -1 -1  2 90   -1  1 3 1 -1 -1 1 -1 -1 {node a;node b} long select=1:ncpus=2
";

#[test]
fn jobs_are_read_with_stated_defaults_and_sorted_by_submission() {
    expect![[r#"
        9 at 0 for 0 by u4 of ["g2"] in Some("5"), 2 of {vcore: 1000 m}, priority 0
        7 at 10000 for 60000 by u3 of ["g1"] in None, 4 of {memory: 2097152 B, vcore: 1000 m}, priority 0
        10 at 10000 for 1500 by nobody of [] in None, 1 of {vcore: 1000 m}, priority 0
        11 at 11000 for 10000 by u3 of ["g1"] in None, 2 of {vcore: 1000 m}, priority 0
        skipped 1: run time unknown
        remark: 1 job: no field for the user template; user nobody assumed
        remark: 1 job: no processors requested or used; one processor assumed
        remark: 1 job: no processors requested; the used processors are taken
    "#]].assert_eq(&shown(read(
        Format::Swf,
        GOOD.as_bytes(),
        &ReadOptions::default(),
    )));
}

#[test]
fn templates_stretch_and_end_apply_to_every_job() {
    let options = ReadOptions {
        users: Some("p{partition}-{row%2}".parse().unwrap()),
        groups: Some("all".parse().unwrap()),
        queue_of: Some("root.q{queue}".parse().unwrap()),
        stretch: TimeScale::new(2.0, 0.55).unwrap(),
        until_ms: Some(5_500),
        ..ReadOptions::default()
    };
    expect![[r#"
        9 at 0 for 0 by p2-0 of ["all"] in Some("root.q5"), 2 of {vcore: 1000 m}, priority 0
        7 at 5500 for 120000 by p1-0 of ["all"] in None, 4 of {memory: 2097152 B, vcore: 1000 m}, priority 0
        10 at 5500 for 3000 by nobody of ["all"] in None, 1 of {vcore: 1000 m}, priority 0
        skipped 1: run time unknown
        skipped 1: submitted after the end
        remark: 1 job: no field for the user template; user nobody assumed
        remark: 1 job: no processors requested or used; one processor assumed
        remark: 1 job: no processors requested; the used processors are taken
    "#]].assert_eq(&shown(read(Format::Swf, GOOD.as_bytes(), &options)));
}

/// A good line with one column replaced.
fn line(column: usize, text: &str) -> Vec<u8> {
    let good = "7 100 5 60 4 59.5 -1 4 90 2048 1 3 1 -1 -1 1 -1 -1";
    let mut columns: Vec<&str> = good.split(' ').collect();
    columns[column - 1] = text;
    columns.join(" ").into_bytes()
}

#[test]
fn a_bad_line_names_its_column_what_is_there_and_what_was_expected() {
    let long = vec![b'1'; 2 << 20];
    let sources: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b"; only comments\n".to_vec(),
        b"1 2 3\n".to_vec(),
        line(1, "x"),
        line(2, "-1"),
        line(2, "99999999999999999999"),
        line(4, "-5"),
        line(4, "1e3"),
        line(5, "4.5"),
        line(8, "1000001"),
        line(8, "-2"),
        line(10, "9223372036854775807"),
        line(12, "ada\u{1b}[31m"),
        line(13, &"z".repeat(200)),
        b"1 2\0 3".to_vec(),
        b"1 \xff 3".to_vec(),
        long,
        [line(3, "5"), b"\n".to_vec(), line(4, "6")].concat(),
        line(4, "-1"),
    ];
    let sources: Vec<&[u8]> = sources.iter().map(Vec::as_slice).collect();
    expect![[r#"
        t contains no job to simulate: lines read: 0, no lines skipped
        t contains no job to simulate: lines read: 1, no lines skipped
        t:1: the line has 3 columns, expected 18 or more
        t:1: column 1 (job) is "x", expected a whole number from 0 to 9223372036854775807
        t:1: column 2 (submission) is "-1", expected seconds from 0 to 1000000000000
        t:1: column 2 (submission) is "99999999999999999999", expected seconds from 0 to 1000000000000
        t:1: column 4 (run time) is "-5", expected seconds from 0 to 1000000000000, or -1 for unknown
        t:1: column 4 (run time) is "1e3", expected seconds from 0 to 1000000000000, or -1 for unknown
        t:1: column 5 (used processors) is "4.5", expected a whole number from 0 to 1000000, or -1 for unknown
        t:1: column 8 (requested processors) is "1000001", expected a whole number from 0 to 1000000, or -1 for unknown
        t:1: column 8 (requested processors) is "-2", expected a whole number from 0 to 1000000, or -1 for unknown
        t:1: column 10 (requested memory) is "9223372036854775807", expected a whole number of KB from 0 to 9007199254740991, or -1 for unknown
        t:1: column 12 (user) is "ada\u{1b}[31m", expected a whole number from 0 to 9223372036854775807, or -1 for unknown
        t:1: column 13 (group) is "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz…", expected a whole number from 0 to 9223372036854775807, or -1 for unknown
        t:1: byte 4 is NUL, so the file is binary or damaged; expected text
        t:1: byte 3 is not valid UTF-8; expected text in UTF-8
        t:1: the line is longer than 1048576 bytes
        t:2: job 7 already occurs in line 1. Rename or remove one of the two jobs, or set --skip-bad-lines
        t contains no job to simulate: lines read: 1, 1 skipped (run time unknown)
    "#]].assert_eq(&errors(Format::Swf, &sources));
}

#[test]
fn bad_lines_are_skipped_and_counted_on_demand() {
    let mut source = GOOD.as_bytes().to_vec();
    for _ in 0..4 {
        source.extend(line(4, "soon"));
        source.push(b'\n');
    }
    source.extend(b"\0\n\xff\n");
    source.extend(line(1, "7"));
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    expect![[r#"
        9 at 0 for 0 by u4 of ["g2"] in Some("5"), 2 of {vcore: 1000 m}, priority 0
        7 at 10000 for 60000 by u3 of ["g1"] in None, 4 of {memory: 2097152 B, vcore: 1000 m}, priority 0
        10 at 10000 for 1500 by nobody of [] in None, 1 of {vcore: 1000 m}, priority 0
        11 at 11000 for 10000 by u3 of ["g1"] in None, 2 of {vcore: 1000 m}, priority 0
        skipped 7: bad line
        skipped 1: run time unknown
        remark: 1 job: no field for the user template; user nobody assumed
        remark: 1 job: no processors requested or used; one processor assumed
        remark: 1 job: no processors requested; the used processors are taken
        remark: skipped: t:9: column 4 (run time) is "soon", expected seconds from 0 to 1000000000000, or -1 for unknown
        remark: skipped: t:10: column 4 (run time) is "soon", expected seconds from 0 to 1000000000000, or -1 for unknown
        remark: skipped: t:11: column 4 (run time) is "soon", expected seconds from 0 to 1000000000000, or -1 for unknown
        remark: skipped: t:12: column 4 (run time) is "soon", expected seconds from 0 to 1000000000000, or -1 for unknown
        remark: skipped: t:13: byte 1 is NUL, so the file is binary or damaged; expected text
    "#]].assert_eq(&shown(read(Format::Swf, &source, &options)));
}

#[test]
fn a_stretched_time_out_of_bounds_is_an_error() {
    let options =
        ReadOptions { stretch: TimeScale::new(1e6, 1e6).unwrap(), ..ReadOptions::default() };
    let far = [line(4, "1"), b"\n".to_vec(), line(2, "1000000000000")].concat();
    let far = String::from_utf8(far).unwrap().replace("\n7 ", "\n8 ");
    let found = [line(4, "1000000001"), far.replace(" 60 ", " 1 ").into_bytes()]
        .map(|source| shown(read(Format::Swf, &source, &options)));
    expect![[r#"
        t:1: the run time is "1000000001000 ms before --stretch", expected at most 1000000000000000 ms after --stretch
        t:2: the submission is "999999999900000 ms after the first submission, before --stre…", expected at most 1000000000000000 ms after --stretch
    "#]].assert_eq(&found.concat());
}

#[test]
fn types_that_no_node_has_are_dropped_and_remarked() {
    let mut workload = read(Format::Swf, GOOD.as_bytes(), &ReadOptions::default()).unwrap();
    let dropped = workload.drop_missing_types(&["vcore".into()]);
    assert_eq!(dropped.into_iter().collect::<Vec<_>>(), [("memory".into(), 1)]);
    expect![[r#"
        1 job: no field for the user template; user nobody assumed
        1 job: no processors requested or used; one processor assumed
        1 job: no processors requested; the used processors are taken
        1 job: memory is ignored, because no node has memory"#]]
    .assert_eq(&workload.remarks.join("\n"));
    assert!(workload.jobs.iter().all(|job| job.per_processor.len() == 1));
}
