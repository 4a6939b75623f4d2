//! Server reflection: the descriptors of all services, by file, symbol, and extension.
//!
//! Owns the index and the answers. `router` serves the answers under `grpc.reflection.v1` and `v1alpha`, whose messages
//! are equal on the wire. An unknown name in a request is answered with `error_response`, and the stream continues.
//! Source: `reflection.proto`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use headroom_api::si::DESCRIPTORS;
use prost::Message as _;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, OneofDescriptorProto,
};
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_reflection::pb;
use tonic_reflection::server::{v1, v1alpha};

/// Path under which clients import the file of the health service.
const HEALTH_FILE: &str = "grpc/health/v1/health.proto";

/// Index of all descriptors.
#[derive(Debug, Default)]
pub(super) struct Index {
    services: BTreeSet<String>,
    files: BTreeMap<String, Arc<[u8]>>,
    /// Files by the full names of their declarations.
    symbols: BTreeMap<String, Arc<[u8]>>,
    /// Messages, which can have extensions.
    messages: BTreeSet<String>,
    /// Files by the extended message and the number of the extension.
    extensions: BTreeMap<(String, i32), Arc<[u8]>>,
}

/// Unknown name: the sentence of an `error_response`.
#[derive(Debug, PartialEq, Eq)]
struct Unknown(String);

impl Index {
    /// Returns the index of all services on the port.
    ///
    /// # Errors
    /// If a descriptor is damaged.
    pub(super) fn of_server() -> Result<Self, prost::DecodeError> {
        let mut index = Self::default();
        let sets = [
            DESCRIPTORS,
            tonic_health::pb::FILE_DESCRIPTOR_SET,
            pb::v1::FILE_DESCRIPTOR_SET,
            pb::v1alpha::FILE_DESCRIPTOR_SET,
        ];
        for set in sets {
            // The files in field 1 of a set are stored as raw bytes, so that options that this program does not know
            // are preserved.
            let raw = RawSet::decode(set)?;
            let read = FileDescriptorSet::decode(set)?;
            for (bytes, file) in raw.file.into_iter().zip(read.file) {
                index.add(file, bytes);
            }
        }
        Ok(index)
    }

    fn add(&mut self, mut file: FileDescriptorProto, mut bytes: Vec<u8>) {
        // The library uses its own path for this file, but clients import it by the published one.
        if file.package() == "grpc.health.v1" {
            file.name = Some(HEALTH_FILE.to_owned());
            bytes = file.encode_to_vec();
        }
        if self.files.contains_key(file.name()) {
            return;
        }
        let bytes: Arc<[u8]> = bytes.into();
        self.files.insert(file.name().to_owned(), Arc::clone(&bytes));
        let package = file.package();
        for message in &file.message_type {
            self.add_message(&bytes, package, message);
        }
        for one in &file.enum_type {
            self.add_enum(&bytes, package, one);
        }
        for service in &file.service {
            let name = joined(package, service.name());
            for method in &service.method {
                self.symbols.insert(joined(&name, method.name()), Arc::clone(&bytes));
            }
            self.symbols.insert(name.clone(), Arc::clone(&bytes));
            self.services.insert(name);
        }
        self.add_extensions(&bytes, package, &file.extension);
    }

    fn add_message(&mut self, file: &Arc<[u8]>, scope: &str, message: &DescriptorProto) {
        let name = joined(scope, message.name());
        let fields = message.field.iter().map(FieldDescriptorProto::name);
        for member in fields.chain(message.oneof_decl.iter().map(OneofDescriptorProto::name)) {
            self.symbols.insert(joined(&name, member), Arc::clone(file));
        }
        for nested in &message.nested_type {
            self.add_message(file, &name, nested);
        }
        for one in &message.enum_type {
            self.add_enum(file, &name, one);
        }
        self.add_extensions(file, &name, &message.extension);
        self.symbols.insert(name.clone(), Arc::clone(file));
        self.messages.insert(name);
    }

    fn add_enum(&mut self, file: &Arc<[u8]>, scope: &str, one: &EnumDescriptorProto) {
        let name = joined(scope, one.name());
        for value in &one.value {
            // Enum values belong to the scope around their enum, as in C++. Clients use both names.
            self.symbols.insert(joined(scope, value.name()), Arc::clone(file));
            self.symbols.insert(joined(&name, value.name()), Arc::clone(file));
        }
        self.symbols.insert(name, Arc::clone(file));
    }

    fn add_extensions(&mut self, file: &Arc<[u8]>, scope: &str, all: &[FieldDescriptorProto]) {
        for one in all {
            let extended = one.extendee().trim_start_matches('.').to_owned();
            self.extensions.insert((extended, one.number()), Arc::clone(file));
            self.symbols.insert(joined(scope, one.name()), Arc::clone(file));
        }
    }

    fn file(&self, name: &str) -> Result<&[u8], Unknown> {
        let file = self.files.get(name);
        file.map(|file| &**file).ok_or_else(|| Unknown(format!("file {name:?} does not exist")))
    }

    fn symbol(&self, name: &str) -> Result<&[u8], Unknown> {
        let file = self.symbols.get(name.trim_start_matches('.'));
        file.map(|file| &**file).ok_or_else(|| Unknown(format!("symbol {name:?} does not exist")))
    }

    fn extension(&self, message: &str, number: i32) -> Result<&[u8], Unknown> {
        let file = self.extensions.get(&(message.trim_start_matches('.').to_owned(), number));
        let unknown = || Unknown(format!("{message:?} has no extension {number}"));
        file.map(|file| &**file).ok_or_else(unknown)
    }

    /// Returns the numbers of a message's extensions, ascending.
    fn extension_numbers(&self, message: &str) -> Result<Vec<i32>, Unknown> {
        let name = message.trim_start_matches('.');
        let all = self.extensions.keys().filter(|(extended, _)| extended == name);
        let numbers: Vec<i32> = all.map(|(_, number)| *number).collect();
        // A message that only other files extend is known only from those.
        if numbers.is_empty() && !self.messages.contains(name) {
            return Err(Unknown(format!("message type {message:?} does not exist")));
        }
        Ok(numbers)
    }
}

fn joined(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

/// A `FileDescriptorSet` with undecoded files.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

/// The reflection service in both versions.
#[derive(Clone, Debug)]
pub(super) struct Reflection(pub(super) Arc<Index>);

/// Maximum number of answers of one stream that wait to be read.
const WAITING: usize = 1;

/// Implements a version of the service. The versions differ only in the package of their messages.
macro_rules! version {
    ($version:ident) => {
        const _: () = {
            use pb::$version::server_reflection_request::MessageRequest;
            use pb::$version::server_reflection_response::MessageResponse;
            use pb::$version::{
                ErrorResponse, ExtensionNumberResponse, FileDescriptorResponse,
                ListServiceResponse, ServerReflectionRequest, ServerReflectionResponse,
                ServiceResponse,
            };

            fn answer(index: &Index, asked: &MessageRequest) -> MessageResponse {
                let described = |file: Result<&[u8], Unknown>| {
                    file.map(|file| {
                        let file_descriptor_proto = vec![file.to_vec()];
                        MessageResponse::FileDescriptorResponse(FileDescriptorResponse {
                            file_descriptor_proto,
                        })
                    })
                };
                let answer = match asked {
                    MessageRequest::FileByFilename(name) => described(index.file(name)),
                    MessageRequest::FileContainingSymbol(name) => described(index.symbol(name)),
                    MessageRequest::FileContainingExtension(one) => {
                        described(index.extension(&one.containing_type, one.extension_number))
                    }
                    MessageRequest::AllExtensionNumbersOfType(name) => {
                        index.extension_numbers(name).map(|extension_number| {
                            let base_type_name = name.clone();
                            MessageResponse::AllExtensionNumbersResponse(ExtensionNumberResponse {
                                base_type_name,
                                extension_number,
                            })
                        })
                    }
                    MessageRequest::ListServices(_) => {
                        let names = index.services.iter().cloned();
                        let service = names.map(|name| ServiceResponse { name }).collect();
                        Ok(MessageResponse::ListServicesResponse(ListServiceResponse { service }))
                    }
                };
                answer.unwrap_or_else(|Unknown(error_message)| {
                    MessageResponse::ErrorResponse(ErrorResponse {
                        error_code: Code::NotFound.into(),
                        error_message,
                    })
                })
            }

            #[tonic::async_trait]
            impl $version::ServerReflection for Reflection {
                type ServerReflectionInfoStream =
                    ReceiverStream<Result<ServerReflectionResponse, Status>>;

                async fn server_reflection_info(
                    &self,
                    request: Request<Streaming<ServerReflectionRequest>>,
                ) -> Result<Response<Self::ServerReflectionInfoStream>, Status> {
                    let mut asked = request.into_inner();
                    let (answers, taken) = tokio::sync::mpsc::channel(WAITING);
                    let index = Arc::clone(&self.0);
                    tokio::spawn(async move {
                        while let Some(Ok(request)) = asked.next().await {
                            let answer = match &request.message_request {
                                Some(question) => Ok(ServerReflectionResponse {
                                    valid_host: request.host.clone(),
                                    message_response: Some(answer(&index, question)),
                                    original_request: Some(request),
                                }),
                                // Go's implementation also ends the stream.
                                None => {
                                    Err(Status::invalid_argument("`message_request` is not set"))
                                }
                            };
                            let ends = answer.is_err();
                            if answers.send(answer).await.is_err() || ends {
                                return;
                            }
                        }
                    });
                    Ok(Response::new(ReceiverStream::new(taken)))
                }
            }
        };
    };
}

version!(v1);
version!(v1alpha);
