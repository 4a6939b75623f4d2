//! Readings of quantities.

use serde_json::{Value, json};

use crate::quantity::Quantity;

use super::{Comparison, diff};

pub(super) fn compare(case: &Value) -> Result<Comparison, String> {
    let text = case["text"].as_str().ok_or("the case has no text")?;
    let computed = match text.parse::<Quantity>() {
        Ok(quantity) => {
            json!({ "ok": true, "value": quantity.value(), "milli": quantity.milli() })
        }
        Err(_) => json!({ "ok": false }),
    };
    let mut out = Vec::new();
    for part in ["ok", "value", "milli"] {
        diff(part, case.get(part), computed.get(part), &mut out);
    }
    Ok(Comparison { differences: out, ..Comparison::default() })
}
