//! Stands in for a judge that is not written yet.

use anyhow::Result;
use serde_json::Value;

use super::{Judge, Verdict};

/// Judges nothing, so that the cases count as failed and are not forgotten.
pub(super) struct Unjudged;

impl Judge for Unjudged {
    fn judge(&self, _case: &Value) -> Result<Verdict> {
        Ok(Verdict::Unjudged)
    }
}
