//! Judges queue files.

use anyhow::Result;
use serde_json::Value;

use super::case::{bool_of, text_of};
use super::{Judge, Verdict};

/// A queue file is valid for us when it is valid for the reference.
pub(super) struct Config;

impl Judge for Config {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let (yaml, valid) = (text_of(case, "yaml")?, bool_of(case, "valid")?);
        let ours = is_valid(yaml);
        if ours == valid {
            return Ok(Verdict::Equal);
        }
        let what = format!("valid is {ours}, recorded is {valid}");
        Ok(Verdict::Differs { step: 0, what })
    }
}

/// Our own verdict on a queue file, as the reference's `validate-conf` gives it: faults that
/// show only when queues are built do not count.
fn is_valid(yaml: &str) -> bool {
    headroom_config::read(yaml).err().is_none_or(|faults| !faults.refused_by_validation())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_case_needs_a_file_and_a_verdict() {
        let case = json!({"yaml": "partitions: []", "valid": true});
        assert_eq!(Config.judge(&case).unwrap(), Verdict::Equal);
        for (case, expected) in [
            (json!({"yaml": ""}), "the field \"valid\" must be there and be true or false"),
            (json!({"valid": true}), "the field \"yaml\" must be there and be a text"),
            (json!({"yaml": 1, "valid": true}), "the field \"yaml\" must be there and be a text"),
        ] {
            assert_eq!(Config.judge(&case).unwrap_err().to_string(), expected, "{case}");
        }
    }
}
