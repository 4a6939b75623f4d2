//! Reading Alibaba GPU pod lists.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.

mod common;

use common::{errors, read, shown};
use expect_test::expect;
use headroom_sim::workload::{Format, ReadOptions};

const GOOD: &str = "\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,1000,,LS,Running,10,100,20
p1,500,1,0,0,,BE,Pending,0,50,
\"p2\",6000,12288,2,460,V100M16|V100M32,Burstable,Failed,10,40,40
p3,1,1,0,0,T4,Guaranteed,Running,11,,12
p4,1,1,0,0,,Silver,Running,,60,50
p5,1,1,0,0
";

#[test]
fn pods_become_jobs_of_one_task() {
    expect![[r#"
        p1 at 0 for 50000 by u1 of [] in None, 1 of {memory: 1048576 B, vcore: 500 m}, priority 0
        p4 at 0 for 10000 by u4 of [] in None, 1 of {memory: 1048576 B, vcore: 1 m}, priority 0
        p5 at 0 for 3600000 by u5 of [] in None, 1 of {memory: 1048576 B, vcore: 1 m}, priority 0
        p0 at 10000 for 80000 by u0 of [] in None, 1 of {memory: 17179869184 B, nvidia.com/gpu: 1, vcore: 12000 m}, priority 100
        p2 at 10000 for 0 by u2 of [] in None, 1 of {memory: 12884901888 B, nvidia.com/gpu: 2, vcore: 6000 m}, priority 50, label V100M16
        p3 at 11000 for 3600000 by u3 of [] in None, 1 of {memory: 1048576 B, vcore: 1 m}, priority 100, label T4
        remark: the workload has no users, so its rows are distributed among u{row%40}
        remark: 1 job: QoS class is none of LS, Guaranteed, Burstable, BE; priority 0 assumed
        remark: 2 jobs: no creation time; submission at 0 assumed
        remark: 2 jobs: no deletion time; a run of one hour assumed
        remark: 1 job: several GPU models requested; only the first is used
    "#]].assert_eq(&shown(read(
        Format::Openb,
        GOOD.as_bytes(),
        &ReadOptions::default(),
    )));
}

#[test]
fn shares_of_cards_are_amounts_of_gpu_milli_and_qos_is_a_field() {
    let options = ReadOptions {
        gpu_milli: true,
        users: Some("{qos}".parse().unwrap()),
        queue_of: Some("root.team{row%2}.jobs".parse().unwrap()),
        ..ReadOptions::default()
    };
    expect![[r#"
        p1 at 0 for 50000 by BE of [] in Some("root.team1.jobs"), 1 of {memory: 1048576 B, vcore: 500 m}, priority 0
        p4 at 0 for 10000 by Silver of [] in Some("root.team0.jobs"), 1 of {memory: 1048576 B, vcore: 1 m}, priority 0
        p5 at 0 for 3600000 by nobody of [] in Some("root.team1.jobs"), 1 of {memory: 1048576 B, vcore: 1 m}, priority 0
        p0 at 10000 for 80000 by LS of [] in Some("root.team0.jobs"), 1 of {gpu-milli: 1000, memory: 17179869184 B, vcore: 12000 m}, priority 100
        p2 at 10000 for 0 by Burstable of [] in Some("root.team0.jobs"), 1 of {gpu-milli: 920, memory: 12884901888 B, vcore: 6000 m}, priority 50, label V100M16
        p3 at 11000 for 3600000 by Guaranteed of [] in Some("root.team1.jobs"), 1 of {memory: 1048576 B, vcore: 1 m}, priority 100, label T4
        remark: 1 job: QoS class is none of LS, Guaranteed, Burstable, BE; priority 0 assumed
        remark: 2 jobs: no creation time; submission at 0 assumed
        remark: 2 jobs: no deletion time; a run of one hour assumed
        remark: 1 job: no field for the user template; user nobody assumed
        remark: 1 job: several GPU models requested; only the first is used
    "#]].assert_eq(&shown(read(Format::Openb, GOOD.as_bytes(), &options)));
}

#[test]
fn the_first_five_columns_are_enough() {
    let source = "\u{feff}name,cpu_milli,memory_mib,num_gpu,gpu_milli\r\np0,1,1,1,5\r\n";
    expect![[r#"
        p0 at 0 for 3600000 by u0 of [] in None, 1 of {memory: 1048576 B, nvidia.com/gpu: 1, vcore: 1 m}, priority 0
        remark: the workload has no users, so its rows are distributed among u{row%40}
        remark: 1 job: no creation time; submission at 0 assumed
        remark: 1 job: no deletion time; a run of one hour assumed
    "#]].assert_eq(&shown(read(
        Format::Openb,
        source.as_bytes(),
        &ReadOptions::default(),
    )));
}

#[test]
fn a_bad_line_names_its_column_what_is_there_and_what_was_expected() {
    let header = GOOD.lines().next().unwrap();
    let rows = [
        "p0,1,1,1",
        "p0,1,1,1,1,,LS,Running,1,2,3,4",
        ",1,1,1,1",
        "p0,-1,1,1,1",
        "p0,1,8796093022208,1,1",
        "p0,1,1,0.5,1",
        "p0,1,1,1,1001",
        "p0,1,1,1,1,,LS,Running,-1,2,1",
        "p0,1,1,1,1,,LS,Running,1,2,3",
        "\"p0,1,1,1,1",
        "p0,1,1,1,1\np0,1,1,1,1",
    ];
    let sources: Vec<String> = rows.iter().map(|row| format!("{header}\n{row}\n")).collect();
    let mut sources: Vec<&[u8]> = sources.iter().map(String::as_bytes).collect();
    sources.extend([b"".as_slice(), header.as_bytes(), b"sn,cpu_milli\n", b"name\n"]);
    expect![[r#"
        t:2: the line has 4 columns, expected 11 as in the header (at least the first 5)
        t:2: the line has 12 columns, expected 11 as in the header (at least the first 5)
        t:2: name is empty, expected a name
        t:2: cpu_milli is "-1", expected a whole number from 0 to 1000000000000
        t:2: memory_mib is "8796093022208", expected a whole number of MiB from 0 to 8796093022207
        t:2: num_gpu is "0.5", expected a whole number from 0 to 1000000
        t:2: gpu_milli is "1001", expected a whole number from 0 to 1000
        t:2: creation_time is "-1", expected seconds from 0 to 1000000000000
        t:2: deletion_time is "2", expected not before the start at 3
        t:2: a quotation mark is not closed within the line
        t:3: job p0 already occurs in line 2. Rename or remove one of the two jobs, or set --skip-bad-lines
        t contains no job to simulate: lines read: 0, no lines skipped
        t contains no job to simulate: lines read: 1, no lines skipped
        t:1: column 1 of the header is "sn", expected "name"; an openb pod list begins with name,cpu_milli,memory_mib,num_gpu,gpu_milli
        t:1: column 2 of the header is empty, expected "cpu_milli"; an openb pod list begins with name,cpu_milli,memory_mib,num_gpu,gpu_milli
    "#]].assert_eq(&errors(Format::Openb, &sources));
}

#[test]
fn a_wrong_header_is_never_skipped() {
    let options = ReadOptions { skip_bad_lines: true, ..ReadOptions::default() };
    expect![[r#"
        t:1: column 1 of the header is "p0", expected "name"; an openb pod list begins with name,cpu_milli,memory_mib,num_gpu,gpu_milli
    "#]].assert_eq(&shown(read(Format::Openb, b"p0,1,1,1,1\n", &options)));
}
