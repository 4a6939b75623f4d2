//! Turns the journal's messages into types; needs no tool of the system.

use std::error::Error;
use std::path::{Path, PathBuf};

use protox::prost::Message as _;

const RECORD: &str = "headroom/journal/v1/record.proto";

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    println!("cargo:rerun-if-changed={}", root.join("headroom/journal").display());
    let files = protox::compile([RECORD], [&root])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), files.encode_to_vec())?;
    prost_build::Config::new()
        // Maps in one order, so that equal records are equal bytes.
        .btree_map(["."])
        .compile_fds(files)?;
    Ok(())
}
