//! Cutting off behind a record, with a copy of what was there.

use std::sync::Arc;

use headroom_journal::disk::Disk;
use headroom_journal::disk::faulty::FaultyDisk;
use headroom_journal::{ReadStore, repair};

use super::kit::{append, chain, open, recover, snapshot};

fn disk() -> FaultyDisk {
    let disk = FaultyDisk::default();
    let mut store = open(&disk).unwrap();
    append(&mut store, 6).unwrap();
    snapshot(&mut store).unwrap();
    for count in [1, 4, 3] {
        append(&mut store, count).unwrap();
    }
    drop(store);
    disk.after_kill()
}

fn cut(disk: &FaultyDisk, to: u64) -> Result<String, String> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    repair(&disk, to).map_err(|error| chain(&error))
}

#[test]
fn records_behind_are_cut_off_and_the_journal_goes_on() {
    for to in [0, 3, 5, 6, 7, 10, 13, 14] {
        let disk = disk();
        let before: Vec<_> = disk.list().unwrap();
        let prefix = cut(&disk, to).unwrap();
        for name in before.iter().filter(|name| *name != "lock") {
            let copy = disk.bytes(&format!("{prefix}{name}"));
            assert!(copy.is_some() && copy == self::disk().bytes(name), "{name} was copied");
        }
        let mut store = open(&disk).unwrap_or_else(|error| panic!("{to}: {}", chain(&error)));
        assert_eq!(recover(&store).unwrap(), to, "up to {to}");
        assert_eq!(store.snapshots().unwrap().len(), usize::from(to >= 6));
        append(&mut store, 5).unwrap();
        drop(store);
        assert_eq!(recover(&open(&disk).unwrap()).unwrap(), to + 5);
        assert_eq!(cut(&disk, to).unwrap(), "before-repair-2.");
    }
}

#[test]
fn a_broken_index_loses_no_record_and_a_broken_record_only_what_follows() {
    let name = "log-00000000000000000007.redb";
    let good = disk().bytes(name).unwrap();
    // All of the library's own head: no page is found any more.
    let disk = disk();
    let mut bytes = good.clone();
    bytes[..320].fill(0);
    disk.set_bytes(name, bytes);
    let told = chain(&open(&disk).unwrap_err());
    assert!(told.contains("the records are complete"), "{told}");
    cut(&disk, 14).unwrap();
    assert_eq!(recover(&open(&disk).unwrap()).unwrap(), 14);
    // Every copy of record 11.
    let mut bytes = good.clone();
    for start in 0..bytes.len() - 10 {
        if bytes[start..].starts_with(b"record 11 ") {
            bytes[start] = b'R';
        }
    }
    disk.set_bytes(name, bytes);
    let told = chain(&open(&disk).unwrap_err());
    assert!(
        told.contains("record 11") && told.contains("checksum") && told.contains("byte"),
        "{told}"
    );
    let refused = cut(&disk, 12).unwrap_err();
    let expected = "cannot keep records up to 12: record 11 is incomplete. Set `--to 10` to keep \
                    all records before the incomplete record";
    assert_eq!(refused, expected);
    cut(&disk, 10).unwrap();
    assert_eq!(recover(&open(&disk).unwrap()).unwrap(), 10);
}
