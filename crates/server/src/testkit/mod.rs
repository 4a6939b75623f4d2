//! Arbitrary bytes as input of the server: for the fuzzer, and for the tests that replay its corpus.
//!
//! | function | meaning of the bytes |
//! | --- | --- |
//! | [`rest_path`] | method, path, query and headers of a request |
//! | [`rest_body`] | the body of a request that has one |
//! | [`protobuf`] | messages of a resource manager |
//! | [`token`] | tokens, their file, keys of an issuer, certificates, names of this server |
//!
//! Each input begins with a few bytes of [choices](Bytes), so that a fuzzer soon passes the first checks. Nothing
//! here uses a socket or a file.

mod bytes;
mod call;
mod judge;
mod panics;
mod rest;
mod rm;
mod world;

pub use crate::auth::exercise as token;
pub use bytes::Bytes;
pub use rest::{METHODS, rest_body, rest_path};
pub use rm::protobuf;

pub(crate) use panics::watched;
