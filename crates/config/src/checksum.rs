//! The checksum of a queue file, as `YuniKorn` reports it.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of a queue file in upper-case hexadecimal digits, as `YuniKorn` reports it.
///
/// A token `checksum: ` with 64 such digits is excluded, so that a file can contain its own checksum. The checksum
/// identifies files. It is not used for security.
pub fn checksum(text: &str) -> String {
    let digest = match own_checksum(text) {
        Some((start, end)) => {
            let bytes = text.as_bytes();
            Sha256::new().chain_update(&bytes[..start]).chain_update(&bytes[end..]).finalize()
        }
        None => Sha256::digest(text),
    };
    hex::encode_upper(digest)
}

/// Returns the range of the first `checksum: <64 digits>`.
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
