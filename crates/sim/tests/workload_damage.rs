//! Damaged sources give errors, never a panic, in any format.

mod common;

use common::{read, shown};
use headroom_sim::workload::{Format, ReadOptions};
use rand::Rng;
use rand_pcg::Pcg64;

const SOURCES: [(Format, &str); 5] = [
    (
        Format::Swf,
        "; x\n7 100 5 60 4 59.5 -1 4 90 2048 1 3 1 -1 -1 1 -1 -1\n8 9 5 60 4 59.5 -1 4 90 -1 1 3 1 2 3 1 -1 -1 {a}\n",
    ),
    (
        Format::Openb,
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\"p0\",12000,16384,1,1000,A|B,LS,Running,10,100,20\n",
    ),
    (
        Format::Sacct,
        "JobID|User|Submit|Start|End|ReqCPUS|ReqMem|ReqTRES|NNodes|State\n1|ada|2025-03-01T10:00:00|2025-03-01T10:00:00|2025-03-01T11:00:00|4|1.5Gc|cpu=4,gres/gpu=3,mem=6G|2|COMPLETED\n",
    ),
    (
        Format::YarnSls,
        "{\"job.start.ms\":5,\"job.id\":\"a\",\n\"job.tasks\":[{\"count\":2,\"duration.ms\":7,\"container.vcores\":2}]} {\"job.count\":2,\"job.tasks\":[{\"container.start.ms\":1,\"container.end.ms\":3}]}\n",
    ),
    (
        Format::Jsonl,
        "{\"id\":\"a\",\"submit_ms\":5,\"run_ms\":1000,\"user\":\"ada\",\"groups\":[\"g\"],\"tasks\":4,\"resources\":{\"vcore\":\"500m\",\"memory\":2}}\n",
    ),
];

/// What damage often looks like.
const PIECES: [&[u8]; 12] = [
    b"-1",
    b"-",
    b"9223372036854775807",
    b"99999999999999999999",
    b"\0",
    b"\xff",
    b"\n",
    b"|",
    b",",
    b"\"",
    b"{",
    b"1e308",
];

#[test]
fn damaged_sources_never_panic() {
    let mut random = Pcg64::new(1, 1);
    let mut below = |bound: usize| usize::try_from(random.next_u64() % bound as u64).unwrap();
    let mut good = 0;
    for round in 0..40_000 {
        let (format, source) = SOURCES[round % SOURCES.len()];
        let mut bytes = source.as_bytes().to_vec();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            let end = (at + below(4)).min(bytes.len());
            bytes.splice(at..end, PIECES[below(PIECES.len())].iter().copied());
        }
        let options = ReadOptions {
            skip_bad_lines: round % 8 < 4,
            gpu_milli: true,
            ..ReadOptions::default()
        };
        let found = read(format, &bytes, &options);
        good += usize::from(found.is_ok());
        assert!(!shown(found).is_empty());
    }
    // Damage to a comment or a name is none, so some sources must still be read.
    assert!(good > 1_000, "{good}");
}
