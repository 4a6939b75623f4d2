//! The audit after random crashes: the process dies or the power goes, with the disk of the journal or of
//! the audit failing before, at any operation. What anybody could read stays as it was, byte by byte, all
//! that was answered is there, and the chain is whole and what the journal says.
//!
//! `HEADROOM_AUDIT_CRASHES` says how many; 100 if it is not set.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::config::tenant::WaitingStrategy;
use headroom_core::{Command, Millis, Timestamp};
use headroom_journal::disk::faulty::{Fault, Kept};

use crate::cluster::{START, default};
use crate::trail_scene::{
    Disks, Scene, by_ann, commands_of_task, furniture, in_order, lines_of, quota, release, set,
    versions,
};

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn kept(&mut self) -> Kept {
        [Kept::All, Kept::Half, Kept::Nothing][usize::try_from(self.below(3)).unwrap()]
    }

    fn fault(&mut self) -> Fault {
        let faults = [Fault::Fails, Fault::Short, Fault::Full, Fault::Gone];
        faults[usize::try_from(self.below(4)).unwrap()]
    }
}

/// What has to be there, whatever happens.
#[derive(Default)]
struct Known {
    /// Lines that somebody could read, by number.
    lines: BTreeMap<u64, String>,
    /// Records of the journal that were answered, and say something to the audit.
    answered: BTreeSet<u64>,
    tasks: u64,
    now: Timestamp,
    torn: u64,
    days: u64,
}

fn commands(chance: &mut Chance, known: &mut Known) -> (Vec<Command>, bool) {
    let tenant = format!("t{}", chance.below(3));
    match chance.below(10) {
        0..=2 => {
            let mut settings = quota(1 + i64::try_from(chance.below(50)).unwrap());
            if chance.one_in(2) {
                settings.waiting = Some(in_order(WaitingStrategy::Priority));
            }
            (vec![set(&tenant, settings)], false)
        }
        3..=6 => {
            known.tasks += 1;
            let vcores = 1 + i64::try_from(chance.below(4)).unwrap();
            (commands_of_task(&tenant, &format!("k{}", known.tasks), vcores).into(), true)
        }
        _ => {
            let task = format!("k{}", chance.below(known.tasks + 1));
            let application = task.as_str().into();
            let gone = Command::RemoveApplication { partition: default(), application };
            (vec![release(&task), gone], false)
        }
    }
}

/// Serve for a while; whether anybody has taken note that the journal failed.
async fn serve(disks: &Disks, chance: &mut Chance, known: &mut Known) {
    let Some(scene) = Scene::start(disks, known.now, 25) else { return };
    for _ in 0..chance.below(30) {
        let (commands, is_submission) = commands(chance, known);
        for (at, command) in commands.into_iter().enumerate() {
            let Ok(outcome) = scene.handle.submit(by_ann(command)).await else {
                return read(&scene, known);
            };
            if let Ok(accepted) = outcome
                && is_submission
                && at == 0
            {
                known.answered.insert(accepted.sequence);
            }
        }
        let by = if chance.one_in(40) {
            known.days += 1;
            Millis::from_secs(90_000 * (1 + chance.below(3)))
        } else {
            Millis::new(chance.below(2_000))
        };
        scene.clock.advance(by);
        known.now = Timestamp::from_millis(known.now.as_millis() + by.get());
        if chance.one_in(2) && scene.handle.step(u32::MAX).await.is_err() {
            return read(&scene, known);
        }
    }
    read(&scene, known);
    // Some end well.
    if chance.one_in(5) {
        let _ = scene.engine.stop().await;
    }
}

/// Whatever can be read has to stay.
fn read(scene: &Scene, known: &mut Known) {
    for (seq, _, line) in lines_of(scene.handle.audit()) {
        let before = known.lines.insert(seq, line.clone());
        assert!(before.is_none_or(|before| before == line), "record {seq} became {line}");
    }
}

async fn check(disks: &Disks, known: &mut Known, how: &str) {
    let torn = disks.judged(None);
    known.torn += u64::from(torn.faults_found > 0);
    let scene = Scene::start(disks, known.now, 25).unwrap_or_else(|| panic!("{how}: no start"));
    let warnings = &scene.engine.begin().warnings;
    assert!(warnings.is_empty(), "{how}: {warnings:?}");
    // What is old enough goes with the first flush.
    scene.handle.step(0).await.unwrap();
    let lines = lines_of(scene.handle.audit());
    let first = lines.first().map_or(u64::MAX, |(seq, ..)| *seq);
    let there: BTreeMap<u64, &String> = lines.iter().map(|(seq, _, line)| (*seq, line)).collect();
    for (seq, line) in known.lines.range(first..) {
        assert_eq!(there.get(seq), Some(&line), "{how}: record {seq}");
    }
    assert!(known.lines.is_empty() || first < u64::MAX, "{how}: all is gone");
    let versions = versions(&lines);
    let oldest = versions.first().copied().unwrap_or_default();
    let lost: Vec<_> =
        known.answered.range(oldest..).filter(|one| !versions.contains(one)).collect();
    assert!(lost.is_empty(), "{how}: nothing of the journal's records {lost:?}");
    scene.engine.stop().await.unwrap();
    let found = disks.verified();
    assert_eq!((found.faults, found.to_come), (vec![], 0), "{how}");
    assert_eq!(found.records, lines.len() as u64, "{how}");
}

#[tokio::test]
#[doc(alias = "TR-72")]
async fn the_chain_is_whole_and_the_same_after_random_crashes() {
    let crashes: u64 = std::env::var("HEADROOM_AUDIT_CRASHES")
        .map_or(100, |number| number.parse().expect("a number of crashes"));
    let mut chance = Chance(std::env::var("HEADROOM_SEED").map_or(1, |seed| seed.parse().unwrap()));
    let mut disks = Disks::default();
    let mut known = Known { now: START, ..Known::default() };
    let scene = Scene::start(&disks, START, 25).unwrap();
    for command in furniture() {
        scene.accept(command).await;
    }
    for tenant in ["t0", "t1", "t2"] {
        scene.accept(set(tenant, quota(10))).await;
    }
    scene.engine.stop().await.unwrap();
    for crash in 0..crashes {
        disks = disks.after_kill();
        let (at, fault) = (chance.below(60), chance.fault());
        let which = chance.below(4);
        match which {
            0 => disks.journal.fail_at(at, fault),
            1 => disks.audit.fail_at(at, fault),
            2 => {
                disks.journal.fail_at(at, fault);
                disks.audit.fail_at(chance.below(60), Fault::Gone);
            }
            _ => {}
        }
        serve(&disks, &mut chance, &mut known).await;
        let is_kill = chance.one_in(2);
        let how = format!("crash {crash}: disk {which} {fault:?} at {at}, kill {is_kill}");
        disks = if is_kill { disks.after_kill() } else { disks.after_power_loss(|| chance.kept()) };
        check(&disks, &mut known, &how).await;
    }
    let found = disks.verified();
    assert!(known.torn > 0 || crashes < 100, "no crash has torn anything");
    println!(
        "{crashes} crashes, {} of them with a torn audit, {} days passed: {} records read, {} kept in {} files, first {:?}",
        known.torn,
        known.days,
        known.lines.len(),
        found.records,
        found.files,
        found.first.map(|first| first.seq),
    );
}
