//! Random numbers as text, and comparing what nobody may guess.

use aws_lc_rs::{constant_time, rand};

/// The system has no random numbers to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system provides no random numbers")]
pub struct NoRandomNumbers;

/// So many random bytes.
pub(crate) fn random<const BYTES: usize>() -> Result<[u8; BYTES], NoRandomNumbers> {
    let mut bytes = [0; BYTES];
    rand::fill(&mut bytes).map_err(|_| NoRandomNumbers)?;
    Ok(bytes)
}

/// 256 random bits, in hexadecimal.
pub(crate) fn random_token() -> Result<String, NoRandomNumbers> {
    Ok(hex::encode(random::<32>()?))
}

/// Compare in a time that says nothing of where they differ.
pub(crate) fn same_secret(one: &[u8], other: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(one, other).is_ok()
}
