//! The checksum of a queue file.
//!
//! Source: FIPS 180-4, "Secure Hash Standard", 2015, sections 4.1.2, 5.1.1, 5.3.3 and 6.2.

use std::fmt::Write as _;

/// Cube roots of the first 64 primes: the first 32 bits behind the point.
const ROUND: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];

/// Square roots of the first 8 primes: the first 32 bits behind the point.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// SHA-256 of a queue file in upper-case hexadecimal digits, as `YuniKorn` reports it.
///
/// A token `checksum: ` with 64 such digits is left out, so that a file may carry its own.
/// It tells files apart; nothing secret depends on it.
pub fn checksum(text: &str) -> String {
    let digest = match own_checksum(text) {
        Some((start, end)) => {
            sha256(&[&text.as_bytes()[..start], &text.as_bytes()[end..]].concat())
        }
        None => sha256(text.as_bytes()),
    };
    let mut digits = String::with_capacity(64);
    for word in digest {
        // Writing into a string cannot fail.
        let _ = write!(digits, "{word:08X}");
    }
    digits
}

/// The range of the first `checksum: <64 digits>`.
fn own_checksum(text: &str) -> Option<(usize, usize)> {
    const KEY: &str = "checksum: ";
    const DIGITS: usize = 64;
    text.match_indices(KEY).find_map(|(start, _)| {
        let end = start + KEY.len() + DIGITS;
        let digits = text.as_bytes().get(start + KEY.len()..end)?;
        let is_digest = digits.iter().all(u8::is_ascii_hexdigit);
        is_digest.then_some((start, end))
    })
}

fn sha256(bytes: &[u8]) -> [u32; 8] {
    let mut state = START;
    let (blocks, rest) = bytes.as_chunks::<64>();
    for block in blocks {
        absorb(&mut state, block);
    }
    let mut padded = rest.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    let bits = (bytes.len() as u64).wrapping_mul(8);
    padded.extend_from_slice(&bits.to_be_bytes());
    for block in padded.as_chunks::<64>().0 {
        absorb(&mut state, block);
    }
    state
}

/// One block. The eight words go round by being renamed: moving them costs more than the sums.
fn absorb(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut schedule = [0_u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..64 {
        let (early, late) = (schedule[at - 15], schedule[at - 2]);
        let early = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let late = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        schedule[at] =
            schedule[at - 16].wrapping_add(early).wrapping_add(schedule[at - 7]).wrapping_add(late);
    }
    let mut work = *state;
    for (constant, word) in ROUND.iter().zip(schedule) {
        let [first, second, third, fourth, fifth, sixth, seventh, eighth] = work;
        let choice = (fifth & sixth) ^ (!fifth & seventh);
        let mixed = fifth.rotate_right(6) ^ fifth.rotate_right(11) ^ fifth.rotate_right(25);
        let one = eighth
            .wrapping_add(mixed)
            .wrapping_add(choice)
            .wrapping_add(*constant)
            .wrapping_add(word);
        let majority = (first & second) ^ (first & third) ^ (second & third);
        let two = (first.rotate_right(2) ^ first.rotate_right(13) ^ first.rotate_right(22))
            .wrapping_add(majority);
        let (front, middle) = (one.wrapping_add(two), fourth.wrapping_add(one));
        work = [front, first, second, third, middle, fifth, sixth, seventh];
    }
    for (word, change) in state.iter_mut().zip(work) {
        *word = word.wrapping_add(change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        for (text, expected) in [
            ("", "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"),
            ("abc", "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248D6A61D20638B8E5C026930C3E6039A33CE45964FF2167F6ECEDD419DB06C1",
            ),
        ] {
            assert_eq!(checksum(text), expected, "digest of {text:?}");
        }
    }

    #[test]
    fn a_file_may_carry_its_own_checksum() {
        let own = |digits: &str| format!("partitions: []\nchecksum: {digits}\n");
        let (one, other) = (own(&"A".repeat(64)), own(&"0".repeat(64)));
        assert_eq!(checksum(&one), checksum(&other));
        assert_ne!(checksum(&one), checksum(&own("A")));
    }
}
