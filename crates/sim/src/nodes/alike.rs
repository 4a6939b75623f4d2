//! Equal nodes on the command line: `120*{vcore: 2, memory: 4Gi}`.

use headroom_core::resource::Amounts;

use super::{NODES_MAX, NodesError, amounts};

/// Returns the number of nodes, and the resources of each.
pub(super) fn parse(argument: &str) -> Result<(u64, Amounts), NodesError> {
    let wrong = |problem: String| NodesError::Argument { argument: argument.to_owned(), problem };
    let (count, braces) = argument
        .split_once('*')
        .ok_or_else(|| wrong("the * between number and amounts is missing".to_owned()))?;
    let count = count.trim();
    let count = match count.parse::<u64>() {
        Ok(count) if (1..=NODES_MAX as u64).contains(&count) => count,
        _ => {
            return Err(wrong(format!("{count:?} is not a number of nodes from 1 to {NODES_MAX}")));
        }
    };
    let inside = braces
        .trim()
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .ok_or_else(|| wrong("the braces around the amounts are missing".to_owned()))?;
    let mut entries = Vec::new();
    for entry in inside.split(',').filter(|entry| !entry.trim().is_empty()) {
        // Names of types can contain a colon. Amounts never do.
        let (resource, text) = entry
            .rsplit_once(':')
            .ok_or_else(|| wrong(format!("{:?} is not of the form type: amount", entry.trim())))?;
        entries.push((unquoted(resource), unquoted(text)));
    }
    let amounts = amounts(entries.into_iter()).map_err(wrong)?;
    Ok((count, amounts))
}

/// Removes quotation marks around a type or an amount, as in YAML.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .into_iter()
        .find_map(|mark| text.strip_prefix(mark)?.strip_suffix(mark))
        .unwrap_or(text)
}
