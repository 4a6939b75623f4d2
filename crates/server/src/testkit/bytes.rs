//! Bytes as choices and contents.

/// Bytes that are taken from the front. Where there are none left, every choice is 0 and every
/// content empty.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    /// All of these.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all are taken.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// One of these, by the next byte.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let place = usize::from(self.byte()).checked_rem(choices.len())?;
        choices.get(place)
    }

    /// As many of the next bytes as two of them say, the lower one first.
    pub fn part(&mut self) -> &'b [u8] {
        let length = u16::from_le_bytes([self.byte(), self.byte()]);
        let (part, rest) = self.0.split_at(self.0.len().min(usize::from(length)));
        self.0 = rest;
        part
    }

    /// All up to this byte, which is taken too; all if it does not come.
    pub fn until(&mut self, end: u8) -> &'b [u8] {
        let place = self.0.iter().position(|byte| *byte == end);
        let (part, rest) = self.0.split_at(place.unwrap_or(self.0.len()));
        self.0 = rest.split_first().map_or(&[], |(_, rest)| rest);
        part
    }

    /// All that are left.
    pub const fn rest(self) -> &'b [u8] {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn bytes_are_choices_and_contents_until_there_are_none() {
        let mut bytes = Bytes::new(b"\x05\x02\x00abcd\x00e\x09\x00f");
        assert_eq!(bytes.pick(&["a", "b", "c"]), Some(&"c"));
        assert_eq!((bytes.part(), bytes.until(0)), (&b"ab"[..], &b"cd"[..]));
        assert_eq!((bytes.byte(), bytes.part(), bytes.is_empty()), (b'e', &b"f"[..], true));
        assert_eq!((bytes.byte(), bytes.part(), bytes.until(7)), (0, &b""[..], &b""[..]));
        assert_eq!(bytes.pick::<u8>(&[]), None);
    }
}
