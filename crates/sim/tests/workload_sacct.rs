//! Reading the text of `sacct`.

#![allow(clippy::needless_raw_string_hashes)] // `expect!` writes them.

mod common;

use common::{errors, read, shown};
use expect_test::expect;
use headroom_sim::workload::{Format, ReadOptions};

const GOOD: &str = "\
JobID|User|Group|Account|Partition|QOS|Submit|Start|End|Elapsed|ReqCPUS|ReqMem|AllocTRES|NNodes|State
101|ada|users|phys|batch|normal|2025-03-01T10:00:00|2025-03-01T10:05:00|2025-03-01T11:05:00|01:00:00|4|16G|billing=4,cpu=4,mem=16G,node=1|1|COMPLETED
101.batch||||||2025-03-01T10:05:00|2025-03-01T10:05:00|2025-03-01T11:05:00|01:00:00|4||cpu=4,mem=16G,node=1|1|COMPLETED
101.0||||||2025-03-01T10:05:00|2025-03-01T10:05:00|2025-03-01T11:05:00|01:00:00|4||cpu=4,mem=16G,node=1|1|COMPLETED
102_[1-9]|bob||math|batch|normal|2025-03-01T10:00:00|Unknown|Unknown|00:00:00|1|0||1|PENDING
103_2|bob||math|gpu|high|2025-03-01T09:59:59|2025-03-01T10:00:00|2025-03-02T10:00:00|1-00:00:00|16|4Gc|cpu=16,gres/gpu=2,gres/gpu:a100=2,mem=64G,node=2|2|TIMEOUT
104|bob||math|batch|normal|2025-03-01T10:00:00|None|2025-03-01T10:00:01|00:00:00|1|1Gn||1|CANCELLED by 1000
105+1|eve||||normal|2025-03-01T10:00:00|2025-03-01T10:00:00|Unknown|00:10:00|3|4000M||1|RUNNING
";

#[test]
fn jobs_are_read_and_their_steps_passed_over() {
    expect![[r#"
        103_2 at 0 for 86400000 by bob of ["math"] in Some("gpu"), 2 of {memory: 34359738368 B, nvidia.com/gpu: 1, vcore: 8000 m}, priority 0
        101 at 1000 for 3600000 by ada of ["users"] in Some("batch"), 4 of {memory: 4294967296 B, vcore: 1000 m}, priority 0
        105+1 at 1000 for 600000 by eve of [] in None, 3 of {memory: 1398101334 B, vcore: 1000 m}, priority 0
        skipped 2: never started
        remark: 1 job: still running; the run time so far is used
    "#]].assert_eq(&shown(read(
        Format::Sacct,
        GOOD.as_bytes(),
        &ReadOptions::default(),
    )));
}

#[test]
fn other_columns_tell_the_same() {
    let source = "\
JobIDRaw|Account|Start|End|ReqTRES|
7|phys|1740823500|1740827100|cpu=2,mem=1.5G,node=1|
8|phys|Unknown|Unknown|cpu=2,mem=1.5G,node=1|
9|phys|1740823501|1740827100||
";
    let options = ReadOptions { users: Some("{group}".parse().unwrap()), ..ReadOptions::default() };
    expect![[r#"
        7 at 0 for 3600000 by phys of ["phys"] in None, 2 of {memory: 805306368 B, vcore: 1000 m}, priority 0
        9 at 1000 for 3599000 by phys of ["phys"] in None, 1 of {vcore: 1000 m}, priority 0
        skipped 1: never started
        remark: 1 job: no processor count; assumed 1
    "#]]
    .assert_eq(&shown(read(Format::Sacct, source.as_bytes(), &options)));
}

#[test]
fn a_bad_line_names_its_column_what_is_there_and_what_was_expected() {
    let header = "JobID|User|Submit|ElapsedRaw|ReqCPUS|ReqMem|ReqTRES|Elapsed";
    let rows = [
        "1|ada|2025-03-01T10:00:00|60|1|1G|",
        "1|ada|2025-03-01T10:00:00|60|1|1G|cpu=1||",
        "|ada|2025-03-01T10:00:00|60|1|1G||",
        "1|ada|Unknown|60|1|1G||",
        "1|ada|March 1st|60|1|1G||",
        "1|ada|2025-03-01T10:00:00|-60|1|1G||",
        "1|ada|2025-03-01T10:00:00|60|1K|1G||",
        "1|ada|2025-03-01T10:00:00|60|99999999|1G||",
        "1|ada|2025-03-01T10:00:00|60|1|1X||",
        "1|ada|2025-03-01T10:00:00|60|1000000|100Tc||",
        "1|ada|2025-03-01T10:00:00|60|1|1G|cpu:4|",
        "1|ada|2025-03-01T10:00:00|60|1|1G|gres/gpu=some|",
        "1|ada|2025-03-01T10:00:00||1|1G||1 day",
        "1|ada|2025-03-01T10:00:00|60|1|1G||\n1|ada|2025-03-01T10:00:00|60|1|1G||",
    ];
    let sources: Vec<String> = rows.iter().map(|row| format!("{header}\n{row}\n")).collect();
    let mut sources: Vec<&[u8]> = sources.iter().map(String::as_bytes).collect();
    sources.extend([b"".as_slice(), b"JobID|User|Submit\n", b"User|Submit|Elapsed\n"]);
    expect![[r#"
        t:2: the line has 7 columns, expected 8 as in the header. If a job name contains a bar, export without JobName
        1 at 0 for 60000 by ada of [] in None, 1 of {memory: 1073741824 B, vcore: 1000 m}, priority 0
        t:2: JobID is empty, expected a job number
        t:2: Submit is empty, expected a time such as 2025-01-31T12:00:00
        t:2: Submit is "March 1st", expected a time such as 2025-01-31T12:00:00 or 2025-01-31T12:00:00+01:00, or seconds since 1970
        t:2: ElapsedRaw is "-60", expected seconds from 0 to 1000000000000
        t:2: ReqCPUS is "1K", expected a whole number from 0 to 1000000
        t:2: ReqCPUS is "99999999", expected a whole number from 0 to 1000000
        t:2: ReqMem is "1X", expected memory such as 4000M or 2.50G, below 8 EiB
        t:2: ReqMem is "100Tc", expected less than 8 EiB for the whole job
        t:2: ReqTRES is "cpu:4", expected type=amount
        t:2: ReqTRES gres/gpu is "some", expected a whole number from 0 to 1000000
        t:2: Elapsed is "1 day", expected a time span such as 2-03:04:05, days-hours:minutes:seconds
        t:3: job 1 already occurs in line 2. Rename or remove one of the two jobs, or set --skip-bad-lines
        t contains no job to simulate: lines read: 0, no lines skipped
        t:1: the header "JobID|User|Submit" has no column ElapsedRaw for a run time. Export with sacct --parsable2 --allocations --format=JobID,User,Account,Partition,QOS,Submit,Start,ElapsedRaw,ReqCPUS,ReqMem,ReqTRES,NNodes,State
        t:1: the header "User|Submit|Elapsed" has no column JobID for a name. Export with sacct --parsable2 --allocations --format=JobID,User,Account,Partition,QOS,Submit,Start,ElapsedRaw,ReqCPUS,ReqMem,ReqTRES,NNodes,State
    "#]].assert_eq(&errors(Format::Sacct, &sources));
}
