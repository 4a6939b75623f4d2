//! Snapshots: one value as bytes, compressed and checked, written and read as a stream.
//!
//! | bytes | |
//! | --- | --- |
//! | `HRSNAP\r\n` | what this is |
//! | four | [`FORMAT`], the lowest byte first |
//! | an LZ4 frame | the value as `MessagePack`, structs as arrays; each block with a checksum, and the whole with one |
//! | eight | how many bytes of `MessagePack` there are, the lowest first: without them the frame may have been cut short |
//!
//! Neither side holds more of the encoded form than a few blocks. What is read is damaged until
//! it has shown that it is not: no bytes, whatever they say, make [`read`] panic, go on for ever, or
//! reserve memory for a length that they do not have.

mod exercise;
mod stream;

use std::io::{self, BufReader, BufWriter, Read, Write};

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use exercise::exercise;
use stream::{Bounded, Counting};

/// The form of the bytes. A field appended with a default does not change it: what is older is
/// read with the default. What is newer is refused, for it may hold what we do not know.
pub const FORMAT: u32 = 1;

/// How deep content may nest: placement rules within each other as deep as a queue file may, in
/// the books around them. What nests deeper is damaged, and would use up the stack.
const DEPTH_MAX: usize = 600;

const MAGIC: [u8; 8] = *b"HRSNAP\r\n";

/// Bytes that are compressed together. Measured with a million allocations: larger ones save a
/// few hundredths and cost memory on both sides.
const BLOCK: BlockSize = BlockSize::Max256KB;

/// As much as one block, so that small values do not go through the compressor one by one.
const BUFFER: usize = 64 << 10;

/// Why a snapshot could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The sink took no more.
    #[error("cannot write the snapshot")]
    Write(#[source] io::Error),
    /// The value has no encoded form.
    #[error("cannot encode the snapshot")]
    Encode(#[source] rmp_serde::encode::Error),
    /// The source gave no more, or what it gave is not what was written.
    #[error(
        "cannot read the snapshot after byte {read} of its content. The snapshot is damaged or \
         truncated"
    )]
    Read {
        /// Bytes of content that were read before.
        read: u64,
        /// What is wrong.
        #[source]
        source: io::Error,
    },
    /// Something else than a snapshot.
    #[error(
        "the file is not a snapshot: it begins with {found:02x?}, but a snapshot begins with \
         {MAGIC:02x?}"
    )]
    NoSnapshot {
        /// The first bytes.
        found: [u8; 8],
    },
    /// Written by a version of Headroom that we do not know.
    #[error(
        "the snapshot has format {found}, but this version of Headroom reads format {FORMAT}. Use \
         the version that wrote the snapshot, or a newer version"
    )]
    OtherFormat {
        /// Its format.
        found: u32,
    },
    /// What was read is no value of the kind that is wanted.
    #[error("the snapshot has invalid data near byte {read} of its content")]
    Decode {
        /// Bytes of content that were read before, some of them ahead.
        read: u64,
        /// What is wrong.
        #[source]
        source: rmp_serde::decode::Error,
    },
    /// More content than the reader wants to take.
    #[error(
        "the snapshot has more than {limit} bytes of content. Raise the limit if the size is correct"
    )]
    TooLarge {
        /// The bytes that it may have.
        limit: u64,
    },
    /// There is something behind the value, or the length does not fit.
    #[error("the snapshot has {read} bytes of content, but its header declares {expected}")]
    Length {
        /// Bytes of content that were read.
        read: u64,
        /// Bytes of content that the end says there are.
        expected: u64,
    },
    /// There is something behind the end.
    #[error("data follows after the end of the snapshot")]
    Trailing,
}

/// Write a value.
///
/// Equal values make equal bytes if they serialise alike, which books do.
///
/// # Errors
/// [`SnapshotError::Write`] when the sink fails, [`SnapshotError::Encode`] when the value cannot be
/// encoded.
pub fn write<T: Serialize>(value: &T, sink: &mut dyn Write) -> Result<(), SnapshotError> {
    sink.write_all(&MAGIC).map_err(SnapshotError::Write)?;
    sink.write_all(&FORMAT.to_le_bytes()).map_err(SnapshotError::Write)?;
    let frame = FrameInfo::new()
        .block_size(BLOCK)
        .block_mode(BlockMode::Independent)
        .block_checksums(true)
        .content_checksum(true);
    let mut content = Counting::new(FrameEncoder::with_frame_info(frame, &mut *sink));
    let mut buffer = BufWriter::with_capacity(BUFFER, &mut content);
    match value.serialize(&mut rmp_serde::Serializer::new(&mut buffer)) {
        Ok(()) => {}
        Err(rmp_serde::encode::Error::InvalidValueWrite(error)) => {
            return Err(SnapshotError::Write(error.into()));
        }
        Err(error) => return Err(SnapshotError::Encode(error)),
    }
    buffer.flush().map_err(SnapshotError::Write)?;
    drop(buffer);
    let (mut frame, written) = content.into_parts();
    frame.try_finish().map_err(|error| SnapshotError::Write(error.into()))?;
    drop(frame);
    sink.write_all(&written.to_le_bytes()).map_err(SnapshotError::Write)?;
    sink.flush().map_err(SnapshotError::Write)
}

/// Read a value that [`write()`] wrote, and everything up to the end of the source.
///
/// `limit` is how many bytes of content are taken at most. A value takes a multiple of its content
/// in memory, up to a hundred times for what is damaged.
///
/// # Errors
/// See [`SnapshotError`]; the source is read as far as it makes sense.
pub fn read<T: DeserializeOwned>(source: &mut dyn Read, limit: u64) -> Result<T, SnapshotError> {
    let mut source = BufReader::with_capacity(BUFFER, source);
    let mut magic = [0; MAGIC.len()];
    let failed = |read| move |source| SnapshotError::Read { read, source };
    source.read_exact(&mut magic).map_err(failed(0))?;
    if magic != MAGIC {
        return Err(SnapshotError::NoSnapshot { found: magic });
    }
    let mut format = [0; 4];
    source.read_exact(&mut format).map_err(failed(0))?;
    if format != FORMAT.to_le_bytes() {
        return Err(SnapshotError::OtherFormat { found: u32::from_le_bytes(format) });
    }
    let content = Bounded::new(FrameDecoder::new(source), limit);
    let (value, content) = decode(content)?;
    let read = content.read();
    let mut source = content.into_inner().into_inner();
    let mut length = [0; 8];
    source.read_exact(&mut length).map_err(failed(read))?;
    let expected = u64::from_le_bytes(length);
    if expected != read {
        return Err(SnapshotError::Length { read, expected });
    }
    match source.read(&mut [0]).map_err(failed(read))? {
        0 => Ok(value),
        _ => Err(SnapshotError::Trailing),
    }
}

/// Read a value, and the end of the content behind it.
fn decode<T: DeserializeOwned, R: Read>(
    content: Bounded<R>,
) -> Result<(T, Bounded<R>), SnapshotError> {
    let buffer = BufReader::with_capacity(BUFFER, content);
    let mut decoder = rmp_serde::Deserializer::new(buffer);
    decoder.set_max_depth(DEPTH_MAX);
    let value = T::deserialize(&mut decoder);
    let mut buffer = decoder.into_inner();
    let value = value.map_err(|error| match error {
        rmp_serde::decode::Error::InvalidMarkerRead(source)
        | rmp_serde::decode::Error::InvalidDataRead(source) => failed(buffer.get_ref(), source),
        _ if buffer.get_ref().is_exceeded() => too_large(buffer.get_ref()),
        source => SnapshotError::Decode { read: buffer.get_ref().read(), source },
    })?;
    let behind = buffer.read(&mut [0]).map_err(|source| failed(buffer.get_ref(), source))?;
    if behind > 0 {
        let read = buffer.get_ref().read();
        let expected = read - buffer.buffer().len() as u64 - behind as u64;
        return Err(SnapshotError::Length { read, expected });
    }
    Ok((value, buffer.into_inner()))
}

fn failed<R: Read>(content: &Bounded<R>, source: io::Error) -> SnapshotError {
    if content.is_exceeded() {
        return too_large(content);
    }
    SnapshotError::Read { read: content.read(), source }
}

const fn too_large<R: Read>(content: &Bounded<R>) -> SnapshotError {
    SnapshotError::TooLarge { limit: content.limit() }
}
