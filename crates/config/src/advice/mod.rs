use crate::check::Tree;
use crate::diagnostic::Report;
pub(crate) fn advise(_trees: &[Tree], _report: &mut Report) {}
