//! A gRPC codec that limits the memory of decoded messages.
//!
//! An empty list entry takes two bytes on the wire and hundreds of bytes in memory. Therefore, the codec
//! estimates the memory of a message from its bytes before it decodes the message.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::Buf as _;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// What a decoded message may take, in bytes: 5,000 nodes with all their fields, and more
/// allocations.
const WEIGHT_MAX: usize = 96 << 20;
/// What an entry of a list takes at least, in bytes: all its fields have their place there already. Lists
/// of entries are at the top of a message, or in a message that is. Measured by the test below.
const ENTRY_WEIGHT: usize = 320;
/// What anything further down takes: a text, an entry of a map.
const PART_WEIGHT: usize = 120;
/// What a number takes.
const NUMBER_WEIGHT: usize = 8;
/// Messages in messages; the interface has six levels.
const DEPTH_MAX: usize = 8;

/// Encodes as usual, and decodes what is not too heavy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Bounded<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for Bounded<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = Weighed<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Weighed<U> {
        Weighed(ProstDecoder::default())
    }
}

/// Decodes what is not too heavy.
#[derive(Clone, Debug)]
pub(crate) struct Weighed<U>(ProstDecoder<U>);

impl<U: Message + Default> Decoder for Weighed<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // The whole message is there, in one piece.
        let weight = weigh(buffer.chunk(), 1).saturating_add(buffer.remaining());
        if weight > WEIGHT_MAX {
            return Err(Status::resource_exhausted(format!(
                "a message of {} bytes would take more than {WEIGHT_MAX} bytes in memory. Send its \
                 lists in several messages",
                buffer.remaining()
            )));
        }
        self.0.decode(buffer)
    }
}

/// What the fields of a message take in addition to their content, at least as far as it goes on as a message; no
/// further than too much. Texts are taken for messages as well, of which they seldom have a second
/// field.
fn weigh(mut bytes: &[u8], depth: usize) -> usize {
    let mut weight = 0;
    while !bytes.is_empty() && weight <= WEIGHT_MAX {
        let Some(key) = varint(&mut bytes) else { break };
        let taken = match key & 7 {
            0 => varint(&mut bytes).is_some(),
            1 => skip(&mut bytes, 8).is_some(),
            5 => skip(&mut bytes, 4).is_some(),
            2 => {
                let length = varint(&mut bytes).map(usize::try_from);
                let length = length.and_then(Result::ok).unwrap_or(usize::MAX);
                // One that is cut off is decoded up to there.
                let there = length.min(bytes.len());
                let content = skip(&mut bytes, there).unwrap_or_default();
                let parts = if depth < DEPTH_MAX { weigh(content, depth + 1) } else { 0 };
                let least = if depth <= 2 { ENTRY_WEIGHT } else { PART_WEIGHT };
                weight += least.max(PART_WEIGHT + parts);
                there == length
            }
            _ => false,
        };
        if !taken {
            break;
        }
        weight += NUMBER_WEIGHT;
    }
    weight
}

/// A number of variable length. Source: Protocol Buffers, "Encoding".
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(7 * place).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn skip<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (skipped, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(skipped)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::{DEPTH_MAX, ENTRY_WEIGHT, NUMBER_WEIGHT, PART_WEIGHT, WEIGHT_MAX, weigh};
    use crate::si::v1;

    #[test]
    fn no_entry_of_a_list_takes_more_than_it_weighs() {
        for (name, bytes) in [
            ("Allocation", size_of::<v1::Allocation>()),
            ("AllocationRelease", size_of::<v1::AllocationRelease>()),
            ("AddApplicationRequest", size_of::<v1::AddApplicationRequest>()),
            ("RemoveApplicationRequest", size_of::<v1::RemoveApplicationRequest>()),
            ("NodeInfo", size_of::<v1::NodeInfo>()),
        ] {
            assert!(bytes <= ENTRY_WEIGHT, "{name} takes {bytes}");
        }
        // One level further down in a session.
        assert!(size_of::<v1::AllocationRelease>() <= PART_WEIGHT);
    }

    #[test]
    fn what_is_small_on_the_wire_and_large_in_memory_is_weighed() {
        let text = ENTRY_WEIGHT + NUMBER_WEIGHT;
        let of_one = PART_WEIGHT + text;
        for (bytes, expected) in [
            (&b""[..], 0),
            (b"\x08\x01", NUMBER_WEIGHT),
            (b"\x22\x00", text),
            (b"\x22\x02\x0a\x00\x22\x00", of_one + NUMBER_WEIGHT + text),
            (b"\x22\x04\x0a\x02\x0a\x00", of_one + NUMBER_WEIGHT),
            // Cut off, or no message: as far as it goes.
            (b"\x22\x7f\x0a\x00", of_one),
            (b"\x22\x00\x07", text),
            (b"\xff", 0),
        ] {
            assert_eq!(weigh(bytes, 1), expected, "{bytes:?}");
        }
        assert_eq!(weigh(&[0x22, 0].repeat(100), DEPTH_MAX), 100 * (PART_WEIGHT + NUMBER_WEIGHT));
        assert!(weigh(&[0x22, 0].repeat(1 << 20), 1) > WEIGHT_MAX);
    }

    #[test]
    fn lists_as_long_as_the_interface_wants_them_are_taken() {
        let resource = |count: usize| {
            let one =
                |place| (format!("vendor.example.org/kind-{place}"), v1::Quantity { value: 1 });
            Some(v1::Resource { resources: (0..count).map(one).collect() })
        };
        let words =
            |count: usize| (0..count).map(|place| (format!("key.{place}"), "text".to_owned()));
        let node = v1::NodeInfo {
            node_id: "a-node-of-some-cluster".to_owned(),
            attributes: words(12).collect(),
            schedulable_resource: resource(5),
            ..v1::NodeInfo::default()
        };
        let ask = v1::Allocation {
            allocation_key: "0f8fad5b-d9cb-469f-a165-70867728950e".to_owned(),
            application_id: "spark-00001".to_owned(),
            allocation_tags: words(12).collect(),
            resource_per_alloc: resource(4),
            ..v1::Allocation::default()
        };
        let nodes = v1::NodeRequest { nodes: vec![node; 5_000], ..v1::NodeRequest::default() };
        let asks = vec![ask; 10_000];
        let asks = v1::AllocationRequest { allocations: asks, ..v1::AllocationRequest::default() };
        let config = "partitions: [{name: default, queues: [{name: root}]}]\n".repeat(10_000);
        let registration = v1::RegisterResourceManagerRequest { config, ..Default::default() };
        for bytes in [nodes.encode_to_vec(), asks.encode_to_vec(), registration.encode_to_vec()] {
            let weight = weigh(&bytes, 1) + bytes.len();
            assert!(weight < WEIGHT_MAX, "{weight} for {} bytes", bytes.len());
        }
    }
}
