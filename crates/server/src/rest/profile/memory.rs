//! Memory in use, by mapping.

use std::collections::BTreeMap;

/// Returns resident bytes by mapped file. Source: `proc(5)`, `smaps`.
pub(super) fn mappings(maps: &str) -> BTreeMap<String, i64> {
    let mut all = BTreeMap::new();
    let mut name = String::new();
    for line in maps.lines() {
        if let Some(kilobytes) = line.strip_prefix("Rss:") {
            let number = kilobytes.trim().trim_end_matches(" kB").parse::<i64>().unwrap_or(0);
            *all.entry(name.clone()).or_insert(0) += number.saturating_mul(1_024);
        } else if line.as_bytes().first().is_some_and(u8::is_ascii_hexdigit)
            && line
                .split_once('-')
                .is_some_and(|(start, _)| start.bytes().all(|one| one.is_ascii_hexdigit()))
        {
            let path = line.split_ascii_whitespace().nth(5);
            path.unwrap_or("[anonymous]").clone_into(&mut name);
        }
    }
    all.retain(|_, bytes| *bytes > 0);
    all
}

#[cfg(test)]
mod tests {
    use super::mappings;

    #[test]
    fn mappings_of_one_name_are_added_up() {
        let maps = "\
00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/headroom
Size:                328 kB
Rss:                  64 kB
00651000-00652000 r--p 00051000 08:02 173521 /usr/bin/headroom
Rss:                   4 kB
7f00-7f01 rw-p 00000000 00:00 0
Rss:                  12 kB
7f02-7f03 rw-p 00000000 00:00 0 [heap]
Rss:                   0 kB
";
        let expected =
            [("/usr/bin/headroom".to_owned(), 69_632), ("[anonymous]".to_owned(), 12_288)];
        assert_eq!(mappings(maps), expected.into());
    }
}
