//! Parses amounts in the format of Slurm: trackable resources and requested memory.

use super::super::error::Fault;
use super::super::number::{PROCESSORS_MAX, whole};

/// Amounts of a list of trackable resources, such as `billing=4,cpu=4,gres/gpu=1,mem=16G,node=1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tres {
    pub(super) cpus: Option<i64>,
    /// Memory in bytes.
    pub(super) memory: Option<i64>,
    pub(super) gpus: Option<i64>,
}

impl Tres {
    /// Parses a list. Ignores unused types, whatever their amounts.
    pub(super) fn parse(column: &str, text: &str) -> Result<Self, Fault> {
        let most = i64::try_from(PROCESSORS_MAX).unwrap_or(i64::MAX);
        let mut found = Self::default();
        let mut typed_gpus = None;
        for entry in text.split(',') {
            let (name, amount) =
                entry.split_once('=').ok_or_else(|| Fault::value(column, entry, "type=amount"))?;
            let field = || format!("{column} {name}");
            match name.trim() {
                "cpu" => found.cpus = Some(whole(field(), amount, 0, most, "")?),
                "mem" => found.memory = Some(memory(&field(), amount)?),
                "gres/gpu" => found.gpus = Some(whole(field(), amount, 0, most, "")?),
                // Recorded in addition to `gres/gpu`, or instead of it.
                name if name.starts_with("gres/gpu:") => {
                    let more = whole(field(), amount, 0, most, "")?;
                    typed_gpus = Some((typed_gpus.unwrap_or(0) + more).min(most));
                }
                _ => {}
            }
        }
        found.gpus = found.gpus.or(typed_gpus);
        Ok(found)
    }
}

/// Returns the bytes of the whole job: `16G` for the job, `4000Mc` per processor, `16Gn` per node. `None` for `0`,
/// which means the memory of the node, and for `?`.
pub(super) fn requested_memory(
    column: &str,
    text: &str,
    cpus: i64,
    nodes: i64,
) -> Result<Option<i64>, Fault> {
    let (amount, factor) = match text.as_bytes() {
        [.., b'c'] => (&text[..text.len() - 1], cpus),
        [.., b'n'] => (&text[..text.len() - 1], nodes),
        _ => (text, 1),
    };
    if amount == "?" {
        return Ok(None);
    }
    let bytes = memory(column, amount)?;
    match bytes.checked_mul(factor) {
        Some(0) => Ok(None),
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Fault::value(column, text, "less than 8 EiB for the whole job")),
    }
}

/// Parses bytes: a number with optional decimals, and a suffix K M G T P E by 1,024. Without a suffix, the unit is
/// MiB.
fn memory(column: &str, text: &str) -> Result<i64, Fault> {
    bytes_of(text)
        .ok_or_else(|| Fault::value(column, text, "memory such as 4000M or 2.50G, below 8 EiB"))
}

fn bytes_of(text: &str) -> Option<i64> {
    let number = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let bits = match &text[number.len()..] {
        "K" => 10,
        "" | "M" => 20,
        "G" => 30,
        "T" => 40,
        "P" => 50,
        "E" => 60,
        _ => return None,
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || decimals.len() > 9 {
        return None;
    }
    let unit = 1_i128 << bits;
    let scale = 10_i128.pow(u32::try_from(decimals.len()).ok()?);
    let whole = i128::from(whole.parse::<u64>().ok()?) * unit;
    let part = decimals.parse::<i128>().ok()? * unit / scale;
    i64::try_from(whole + part).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: i64 = 1 << 30;
    const MEMORY: &str = "memory such as 4000M or 2.50G, below 8 EiB";

    #[test]
    fn memory_is_for_the_job_a_processor_or_a_node() {
        for (text, expected) in [
            ("16G", Ok(Some(16 * GIB))),
            ("2.50G", Ok(Some(5 * GIB / 2))),
            ("512", Ok(Some(GIB / 2))),
            ("4Gc", Ok(Some(16 * GIB))),
            ("4Gn", Ok(Some(8 * GIB))),
            ("0", Ok(None)),
            ("0n", Ok(None)),
            ("?", Ok(None)),
            ("7Ec", Err("less than 8 EiB for the whole job")),
            ("8E", Err(MEMORY)),
            ("-1G", Err(MEMORY)),
            ("lots", Err(MEMORY)),
            ("1.G", Err(MEMORY)),
        ] {
            let found = requested_memory("ReqMem", text, 4, 2);
            let expected = expected.map_err(|expected| Fault::value("ReqMem", text, expected));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn trackable_resources_name_processors_memory_and_cards() {
        let tres = |text| Tres::parse("ReqTRES", text);
        assert_eq!(
            tres(
                "billing=4,cpu=4,energy=9999999999999999999999,gres/gpu=2,gres/gpu:a100=2,mem=16G"
            ),
            Ok(Tres { cpus: Some(4), memory: Some(16 * GIB), gpus: Some(2) })
        );
        assert_eq!(tres("gres/gpu:a=1,gres/gpu:b=2").map(|tres| tres.gpus), Ok(Some(3)));
        assert_eq!(tres("cpu"), Err(Fault::value("ReqTRES", "cpu", "type=amount")));
        let most = i64::try_from(PROCESSORS_MAX).unwrap();
        assert_eq!(
            tres("cpu=-4"),
            Err(whole("ReqTRES cpu".to_owned(), "-4", 0, most, "").unwrap_err())
        );
    }
}
