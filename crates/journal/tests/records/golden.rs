//! What was ever written stays readable: one sample of every variant, as bytes and as text.
//!
//! `UPDATE_EXPECT=1` writes samples of new variants, those of a new format, and texts that have changed,
//! never bytes that are there: records of old journals have them.

use std::fs;
use std::path::PathBuf;

use headroom_journal::{FORMAT, Record, proto};
use prost::Message as _;

use crate::samples;

fn folder_of(format: u32) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(format!("format-{format}"))
}

/// Bytes as hex digits, then the record as text.
fn file_of(name: &str) -> PathBuf {
    folder_of(FORMAT).join(name).with_extension("txt")
}

/// 32 bytes on a line.
fn lines_of(bytes: &[u8]) -> String {
    bytes.chunks(32).map(|chunk| hex::encode(chunk) + "\n").collect()
}

fn bytes_of(lines: &str) -> Vec<u8> {
    hex::decode(lines.replace('\n', "")).unwrap()
}

#[test]
fn a_sample_of_every_variant_is_read_as_ever_and_written_as_ever() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for (name, sample) in samples::samples() {
        let path = file_of(&name);
        let text = format!("{sample:#?}\n");
        let Ok(file) = fs::read_to_string(&path) else {
            assert!(update, "{name} has no sample yet; write it with UPDATE_EXPECT=1");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, lines_of(&sample.encode().unwrap()) + "\n" + &text).unwrap();
            continue;
        };
        let (digits, expected) = file.split_once("\n\n").expect("an empty line between");
        let bytes = bytes_of(digits);
        let read = Record::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(format!("{read:?}"), format!("{sample:?}"), "{name} is read otherwise");
        let written = lines_of(&sample.encode().unwrap());
        assert_eq!(written, lines_of(&bytes), "{name} is written otherwise");
        if update {
            fs::write(&path, format!("{digits}\n\n{text}")).unwrap();
        } else {
            assert_eq!(text, expected, "{name} reads otherwise as text; UPDATE_EXPECT=1 if it may");
        }
    }
}

/// Formats before 5 have the ask of each member, of which the first stands for all.
const SHORTER: &str = "command-submit-task";

#[test]
fn samples_of_earlier_formats_are_read_as_what_they_were() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for format in 1..FORMAT {
        let mut count = 0;
        for entry in fs::read_dir(folder_of(format)).unwrap() {
            let path = entry.unwrap().path();
            let file = fs::read_to_string(&path).unwrap();
            let (digits, expected) = file.split_once("\n\n").expect("an empty line between");
            let record = Record::decode(&bytes_of(digits))
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // What came later takes no byte where it is absent.
            let message = proto::Record { format, ..record.to_message() };
            let written = (lines_of(&message.encode_to_vec()), lines_of(&bytes_of(digits)));
            let is_shorter = format < 5 && path.file_stem().is_some_and(|name| name == SHORTER);
            assert_eq!(
                written.0 == written.1,
                !is_shorter,
                "{} is written otherwise",
                path.display()
            );
            assert_eq!(Record::decode(&record.encode().unwrap()), Ok(record.clone()));
            let text = format!("{record:#?}\n");
            if update {
                fs::write(&path, format!("{digits}\n\n{text}")).unwrap();
            } else {
                assert_eq!(text, expected, "{} reads otherwise as text", path.display());
            }
            count += 1;
        }
        assert!(count > 60, "format {format} has {count} samples");
    }
}

#[test]
fn every_variant_has_one_sample_and_every_file_a_variant() {
    let mut expected = samples::names();
    let mut made: Vec<String> = samples::samples().into_iter().map(|(name, _)| name).collect();
    let folder = fs::read_dir(file_of("x").parent().unwrap()).unwrap();
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut found: Vec<String> = folder.map(|entry| stem(entry.unwrap().path())).collect();
    expected.sort();
    made.sort();
    found.sort();
    assert_eq!(made, expected);
    assert_eq!(found, expected);
}
