//! Version and identity of this server.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::secret::{NoRandomNumbers, random};

/// Version and identity of this server. Constant for the lifetime of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Version of Headroom, such as `0.1.0`.
    pub version: &'static str,
    /// Properties of the build: `commit`, `date`, `target`, as far as known.
    pub build: BTreeMap<String, String>,
    /// Start of the process.
    pub started_at: Timestamp,
    /// A random UUID of the process. In another process, the numbers of watched records begin again.
    pub instance: String,
}

impl About {
    /// Returns the identity of this process, with the current time as its start.
    ///
    /// # Errors
    /// If the operating system provides no random numbers.
    pub fn this(build: BTreeMap<String, String>) -> Result<Self, NoRandomNumbers> {
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            build,
            started_at: Timestamp::now(),
            instance: uuid(random()?),
        })
    }
}

/// Returns a random UUID with these bytes. Source: RFC 9562, section 5.4.
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}
