//! Frame of a record in a file: a header with the number of the record and its checksum.
//!
//! A header begins with a mark, so that records can be found in a file whose index is broken. The checksum covers the
//! sequence number, so a record under another key is detected. It also covers the checksum of the previous record, so
//! a record of another history is detected.

use xxhash_rust::xxh3::Xxh3;

use crate::error::Damage;
use crate::store::RECORD_BYTES_MAX;

/// First bytes of every header. The last byte is the version of the header.
pub(crate) const MARK: [u8; 8] = *b"\xf1HdrRec\x01";

/// Size of a header: mark, sequence, length, checksum of the previous record, checksum.
pub(crate) const HEAD_BYTES: usize = 8 + 8 + 4 + 8 + 8;

/// Checksum in the place of the previous record of record 1.
pub(crate) const BEGINNING: u64 = 0;

/// Content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) sequence: u64,
    pub(crate) length: usize,
    /// Checksum of the previous record.
    pub(crate) before: u64,
    /// Checksum of this record.
    pub(crate) checksum: u64,
}

/// Returns a record with its header, and the checksum of the record.
pub(crate) fn frame(sequence: u64, before: u64, bytes: &[u8]) -> (Vec<u8>, u64) {
    let length = u32::try_from(bytes.len()).expect("the store refuses larger records");
    let checksum = checksum(sequence, before, bytes);
    let mut framed = Vec::with_capacity(HEAD_BYTES + bytes.len());
    framed.extend(MARK);
    framed.extend(sequence.to_le_bytes());
    framed.extend(length.to_le_bytes());
    framed.extend(before.to_le_bytes());
    framed.extend(checksum.to_le_bytes());
    framed.extend(bytes);
    (framed, checksum)
}

fn checksum(sequence: u64, before: u64, bytes: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&sequence.to_le_bytes());
    hash.update(&before.to_le_bytes());
    hash.update(&(bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
    hash.digest()
}

impl Head {
    /// Returns the header at the start of these bytes. `None` if the bytes do not begin with a header.
    pub(crate) fn read(framed: &[u8]) -> Option<Self> {
        let head: &[u8; HEAD_BYTES] = framed.first_chunk()?;
        let number =
            |at: usize| u64::from_le_bytes(*head[at..].first_chunk().expect("in the head"));
        let length = u32::from_le_bytes(*head[16..].first_chunk().expect("in the head")) as usize;
        (head[..8] == MARK && length <= RECORD_BYTES_MAX).then(|| Self {
            sequence: number(8),
            length,
            before: number(20),
            checksum: number(28),
        })
    }

    /// Returns an error unless these are the bytes of the record.
    pub(crate) fn check(&self, bytes: &[u8]) -> Result<(), Damage> {
        let found = checksum(self.sequence, self.before, bytes);
        if found != self.checksum {
            return Err(Damage::Checksum { expected: self.checksum, found });
        }
        Ok(())
    }
}

/// Returns the record in this frame, and its checksum. The record must have this number, and must follow the record
/// with the checksum `before`.
pub(crate) fn unframe(
    framed: &[u8],
    sequence: u64,
    before: Option<u64>,
) -> Result<(&[u8], u64), Damage> {
    let head = Head::read(framed).ok_or(Damage::Shape("the header of the record is missing"))?;
    let bytes = &framed[HEAD_BYTES..];
    if head.length != bytes.len() {
        return Err(Damage::Shape("the length of the record does not match its header"));
    }
    head.check(bytes)?;
    if head.sequence != sequence {
        return Err(Damage::Shape(
            "the number of the record does not match its position in the index",
        ));
    }
    match before {
        Some(expected) if expected != head.before => {
            Err(Damage::Chain { expected, found: head.before })
        }
        _ => Ok((bytes, head.checksum)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_HEAD: Damage = Damage::Shape("the header of the record is missing");
    const OTHER_LENGTH: Damage =
        Damage::Shape("the length of the record does not match its header");

    #[test]
    fn any_flipped_bit_and_any_other_place_is_found() {
        let (framed, checksum) = frame(7, 99, b"what happened");
        assert_eq!(unframe(&framed, 7, Some(99)), Ok((&b"what happened"[..], checksum)));
        let elsewhere =
            Damage::Shape("the number of the record does not match its position in the index");
        assert_eq!(unframe(&framed, 8, Some(99)), Err(elsewhere));
        let chain = Damage::Chain { expected: 98, found: 99 };
        assert_eq!(unframe(&framed, 7, Some(98)), Err(chain));
        for bit in 0..framed.len() * 8 {
            let mut damaged = framed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let found = unframe(&damaged, 7, Some(99)).unwrap_err();
            let is_right = match bit {
                // Bits of the mark, or a length of at least 256 MiB, which no record has.
                0..64 | 156..160 => found == NO_HEAD,
                128..156 => found == OTHER_LENGTH,
                _ => matches!(found, Damage::Checksum { .. }),
            };
            assert!(is_right, "bit {bit}: {found}");
        }
        for length in 0..framed.len() {
            let expected = if length < HEAD_BYTES { NO_HEAD } else { OTHER_LENGTH };
            let found = unframe(&framed[..length], 7, Some(99));
            assert_eq!(found, Err(expected), "{length} bytes");
        }
    }
}
