//! Interprets bytes as choices and contents.

/// Bytes that are consumed from the front. After the last byte, every choice is 0 and every content is empty.
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    /// Returns a source of these bytes.
    pub const fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether all bytes are consumed.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Returns one of the choices, selected by the next byte.
    pub fn pick<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        let place = usize::from(self.byte()).checked_rem(choices.len())?;
        choices.get(place)
    }

    /// Returns a content with its length in the first two bytes, the lower byte first.
    pub fn part(&mut self) -> &'b [u8] {
        let length = u16::from_le_bytes([self.byte(), self.byte()]);
        let (part, rest) = self.0.split_at(self.0.len().min(usize::from(length)));
        self.0 = rest;
        part
    }

    /// Returns all bytes up to `end`, which is consumed too. Returns all remaining bytes if there is none.
    pub fn until(&mut self, end: u8) -> &'b [u8] {
        let place = self.0.iter().position(|byte| *byte == end);
        let (part, rest) = self.0.split_at(place.unwrap_or(self.0.len()));
        self.0 = rest.split_first().map_or(&[], |(_, rest)| rest);
        part
    }

    /// Returns all remaining bytes.
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
