//! What a table says of a message, an enumeration or a service, and what the descriptors say.

use std::collections::{BTreeMap, BTreeSet};

use headroom_api::si::DESCRIPTORS;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// The file of this package; `headroom.si.v1` has two, which are put together.
pub(crate) fn package(name: &str) -> FileDescriptorProto {
    let set = FileDescriptorSet::decode(DESCRIPTORS).expect("descriptors are readable");
    let mut files = set.file.into_iter().filter(|file| file.package() == name);
    let mut whole = files.next().expect("the package is there");
    for file in files {
        whole.message_type.extend(file.message_type);
        whole.enum_type.extend(file.enum_type);
        whole.service.extend(file.service);
    }
    assert_eq!(whole.syntax(), "proto3");
    whole
}

/// `message # name type`, one line for each field, and `message - number name` for what is
/// reserved.
pub(crate) fn fields(file: &FileDescriptorProto) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for message in &file.message_type {
        if message.field.is_empty() {
            lines.insert(format!("{} empty", message.name()));
        }
        for field in &message.field {
            let oneof = field
                .oneof_index
                .map(|index| &message.oneof_decl[usize::try_from(index).unwrap()])
                .map(|oneof| format!(" of {}", oneof.name()))
                .unwrap_or_default();
            lines.insert(format!(
                "{} {} {} {}{oneof}",
                message.name(),
                field.number(),
                field.name(),
                type_of(message, field),
            ));
        }
        for range in &message.reserved_range {
            for number in range.start()..range.end() {
                lines.insert(format!("{} - {number}", message.name()));
            }
        }
        for name in &message.reserved_name {
            lines.insert(format!("{} - {name}", message.name()));
        }
    }
    lines
}

fn type_of(message: &DescriptorProto, field: &prost_types::FieldDescriptorProto) -> String {
    let repeated = field.label() == Label::Repeated;
    let name = match field.r#type() {
        Type::Message => {
            let own = format!(".{}", field.type_name().rsplit('.').next().unwrap());
            let entry = message.nested_type.iter().find(|one| {
                one.options.as_ref().is_some_and(prost_types::MessageOptions::map_entry)
                    && own[1..] == *one.name()
            });
            if let Some(entry) = entry {
                let key = type_of(entry, &entry.field[0]);
                let value = type_of(entry, &entry.field[1]);
                return format!("map<{key},{value}>");
            }
            field.type_name().trim_start_matches('.').to_owned()
        }
        Type::Enum => field.type_name().trim_start_matches('.').to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    if repeated { format!("rep {name}") } else { name }
}

/// All enumerations by name, those within messages as `Message.Name`.
pub(crate) fn enumerations(file: &FileDescriptorProto) -> BTreeMap<String, EnumDescriptorProto> {
    let outer = file.enum_type.iter().map(|one| (one.name().to_owned(), one.clone()));
    let inner = file.message_type.iter().flat_map(|message| {
        message
            .enum_type
            .iter()
            .map(|one| (format!("{}.{}", message.name(), one.name()), one.clone()))
    });
    outer.chain(inner).collect()
}

/// `Service.Method request -> response`, with `stream` where there is one.
pub(crate) fn methods(file: &FileDescriptorProto) -> BTreeSet<String> {
    let stream = |streaming: bool| if streaming { "stream " } else { "" };
    file.service
        .iter()
        .flat_map(|service| {
            service.method.iter().map(move |method| {
                format!(
                    "{}.{} {}{} -> {}{}",
                    service.name(),
                    method.name(),
                    stream(method.client_streaming()),
                    method.input_type().trim_start_matches('.'),
                    stream(method.server_streaming()),
                    method.output_type().trim_start_matches('.'),
                )
            })
        })
        .collect()
}

/// The lines of a table, without what is empty.
pub(crate) fn lines(table: &str) -> BTreeSet<String> {
    table.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}
