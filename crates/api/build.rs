//! Generates the messages and services of `proto/`, without any tool of the system.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use protox::prost::Message as _;

const FOLDER: &str = "../../proto";
const FILES: [&str; 3] =
    ["si/v1/si.proto", "headroom/si/v1/callbacks.proto", "headroom/si/v1/session.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let descriptors = protox::compile(FILES, [FOLDER])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        // Maps in the order of their keys: the same message gives the same bytes.
        .btree_map(".")
        // Whoever connects brings a channel; the contract needs no transport.
        .build_transport(false)
        // What a message takes in memory is judged before it is decoded.
        .codec_path("crate::codec::Bounded")
        .compile_fds(descriptors)?;
    Ok(())
}
