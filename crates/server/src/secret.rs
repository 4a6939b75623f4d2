//! Random numbers as text, and comparison of secrets.

use aws_lc_rs::{constant_time, rand};

/// The operating system provides no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provides no random numbers")]
pub struct NoRandomNumbers;

/// Returns `BYTES` random bytes.
pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], NoRandomNumbers> {
    let mut bytes = [0; BYTES];
    rand::fill(&mut bytes).map_err(|_| NoRandomNumbers)?;
    Ok(bytes)
}

/// Returns 256 random bits in hexadecimal.
pub(crate) fn random_token() -> Result<String, NoRandomNumbers> {
    Ok(hex::encode(random::<32>()?))
}

/// Compares two secrets in a time that does not depend on the position of their difference.
pub(crate) fn same_secret(one: &[u8], other: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(one, other).is_ok()
}
