//! Snapshots: one value as bytes, compressed and checked, written and read as a stream.
//!
//! | bytes | |
//! | --- | --- |
//! | `HRSNAP\r\n` | identification of the format |
//! | four | [`FORMAT`], the lowest byte first |
//! | an LZ4 frame | the value as `MessagePack`, structs as arrays; with a checksum of each block, and one of the
//! whole |
//! | eight | number of bytes of `MessagePack`, the lowest first: without them a truncated frame might not be detected
//! |
//!
//! Reader and writer hold only a few blocks of the encoded form in memory. Input is not trusted until it is checked:
//! for any bytes, [`read`] does not panic, does not loop forever, and does not reserve memory for a length that the
//! input does not have.

mod exercise;
mod stream;

use std::io::{self, BufReader, BufWriter, Read, Write};

use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use exercise::exercise;
use stream::{Bounded, Counting};

/// Version of the encoding. Appending a field with a default does not change the version, because older data is read
/// with the default. Newer data is rejected, because it can contain fields that this version does not know.
pub const FORMAT: u32 = 1;

/// Deepest nesting of content: the deepest nesting of placement rules in a queue file, plus the levels of the books
/// around the rules. Deeper content is damaged, and would exhaust the stack.
const DEPTH_MAX: usize = 600;

const MAGIC: [u8; 8] = *b"HRSNAP\r\n";

/// Size of blocks that are compressed together. Measured with a million allocations: larger blocks save a few
/// percent, and need more memory in both directions.
const BLOCK: BlockSize = BlockSize::Max256KB;

/// Size of the buffer. Without a buffer, each small value would be compressed separately.
const BUFFER: usize = 64 << 10;

/// Reason why a snapshot could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The sink returned an error.
    #[error("cannot write the snapshot")]
    Write(#[source] io::Error),
    /// The value cannot be encoded.
    #[error("cannot encode the snapshot")]
    Encode(#[source] rmp_serde::encode::Error),
    /// The source returned an error, or different bytes than were written.
    #[error(
        "cannot read the snapshot after byte {read} of its content. The snapshot is damaged or \
         truncated"
    )]
    Read {
        /// Number of content bytes that were read before.
        read: u64,
        /// The error of the source.
        #[source]
        source: io::Error,
    },
    /// The source does not contain a snapshot.
    #[error(
        "the file is not a snapshot: it begins with {found:02x?}, but a snapshot begins with \
         {MAGIC:02x?}"
    )]
    NoSnapshot {
        /// First bytes of the source.
        found: [u8; 8],
    },
    /// A version of Headroom that this version does not know wrote the snapshot.
    #[error(
        "the snapshot has format {found}, but this version of Headroom reads format {FORMAT}. Use \
         the version that wrote the snapshot, or a newer version"
    )]
    OtherFormat {
        /// Format of the snapshot.
        found: u32,
    },
    /// The content is not a value of the requested type.
    #[error("the snapshot has invalid data near byte {read} of its content")]
    Decode {
        /// Number of content bytes that were read before the fault, including buffered bytes.
        read: u64,
        /// The error of the decoder.
        #[source]
        source: rmp_serde::decode::Error,
    },
    /// The content exceeds the limit of the reader.
    #[error(
        "the snapshot has more than {limit} bytes of content. Raise the limit if the size is correct"
    )]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// More content follows the value, or the length is wrong.
    #[error("the snapshot has {read} bytes of content, but its header declares {expected}")]
    Length {
        /// Number of content bytes that were read.
        read: u64,
        /// Number of content bytes according to the end of the snapshot.
        expected: u64,
    },
    /// More bytes follow the end.
    #[error("data follows after the end of the snapshot")]
    Trailing,
}

/// Writes a value.
///
/// Equal values produce equal bytes if their serialization is deterministic. The serialization of books is
/// deterministic.
///
/// # Errors
/// [`SnapshotError::Write`] if the sink fails, and [`SnapshotError::Encode`] if the value cannot be encoded.
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

/// Reads a value that [`write()`] wrote. The source must end after the value.
///
/// `limit` is the largest size of the content in bytes. A value needs a multiple of this size in memory, and up to a
/// hundred times for damaged content.
///
/// # Errors
/// See [`SnapshotError`]. The source is then read as far as possible.
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

/// Decodes a value, and checks that the content ends after the value.
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
