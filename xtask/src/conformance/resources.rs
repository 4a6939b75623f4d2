//! Judges quantity texts.

use anyhow::{Context as _, Result};
use headroom_core::resource::Quantity;
use serde_json::Value;

use super::case::{bool_of, text_of};
use super::{Judge, Verdict};

/// A text is a quantity for us when it is one for the reference, and of the same value.
pub(super) struct Resources;

impl Judge for Resources {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let (resource, text) = (text_of(case, "resource")?, text_of(case, "text")?);
        let expected = if bool_of(case, "ok")? {
            let value = case.get("value").and_then(Value::as_i64);
            Some(value.context("the field \"value\" must be there and be a whole number")?)
        } else {
            None
        };
        let answer = Quantity::parse(resource, text);
        if answer.ok().map(Quantity::get) == expected {
            return Ok(Verdict::Equal);
        }
        let expected = expected.map_or_else(|| "an error".to_owned(), |value| value.to_string());
        let what = format!("{resource} {text:?} is {answer:?}, recorded is {expected}");
        Ok(Verdict::Differs { step: 0, what })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn value_and_error_are_compared_and_texts_are_not() {
        for (case, equal) in [
            (json!({"resource": "vcore", "text": "1", "ok": true, "value": 1000}), true),
            (json!({"resource": "vcore", "text": "1", "ok": true, "value": 1}), false),
            (json!({"resource": "vcore", "text": "1", "ok": false, "error": "x"}), false),
            (json!({"resource": "vcore", "text": "x", "ok": false, "error": "x"}), true),
            (json!({"resource": "vcore", "text": "x", "ok": true, "value": 0}), false),
        ] {
            let verdict = Resources.judge(&case).unwrap();
            assert_eq!(verdict == Verdict::Equal, equal, "{case}");
        }
        let without_value = json!({"resource": "vcore", "text": "1", "ok": true});
        let missing = Resources.judge(&without_value).unwrap_err().to_string();
        assert_eq!(missing, "the field \"value\" must be there and be a whole number");
    }
}
