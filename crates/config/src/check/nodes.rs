//! The node sorting policy.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Partition;

/// Checks the name and the weights of the policy.
pub(super) fn check(partition: &Partition, report: &mut Report) {
    let policy = &partition.node_sort.policy;
    if !matches!(policy.value.as_str(), "" | "fair" | "binpacking") {
        let message = format!("the node sorting policy `{}` does not exist", policy.value);
        let fault = Diagnostic::error(Code::NodePolicy, policy.span, message)
            .about(&policy.value)
            .help("set `type` to `fair` or `binpacking`, in lower case");
        report.push(fault);
    }
    for (name, weight) in &partition.node_sort.weights {
        if weight.value < 0.0 {
            let message = format!(
                "the weight of {} is {}, but it must be 0 or more",
                name.value, weight.value
            );
            let fault = Diagnostic::error(Code::NodeWeight, weight.span, message)
                .help("write 0 to ignore this type in the score");
            report.push(fault);
        } else if !weight.value.is_finite() {
            let message = format!("the weight of {} is not a number, so 1 is used", name.value);
            let warning = Diagnostic::warning(Code::YamlLenient, weight.span, message);
            report.push(warning.help("write a number"));
        }
    }
}
