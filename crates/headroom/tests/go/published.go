package main

import (
	"cmp"
	"slices"

	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
)

// servedIsPublished compares what the server says of its messages with the published module: the
// same messages, enumerations, services, fields, numbers and reservations, no more and no less.
func servedIsPublished(s *server) {
	published := protodesc.ToFileDescriptorProto(si.File_yunikorn_scheduler_interface_si_proto)
	served := s.describe("si.v1.Scheduler")
	equal("package", served.GetPackage(), published.GetPackage())
	compare("message", byName(served.MessageType), byName(published.MessageType))
	compare("enumeration", byName(served.EnumType), byName(published.EnumType))
	compare("service", byName(served.Service), byName(published.Service))
	compare("extension", byName(served.Extension), byName(published.Extension))
}

// describe asks the server for the file that has this name.
func (s *server) describe(symbol string) *descriptorpb.FileDescriptorProto {
	client := reflection.NewServerReflectionClient(s.connection)
	stream := must(client.ServerReflectionInfo(s.context()))
	request := &reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{
			FileContainingSymbol: symbol,
		},
	}
	if err := stream.Send(request); err != nil {
		fail("%v", err)
	}
	answer := must(stream.Recv())
	for _, bytes := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(bytes, file); err != nil {
			fail("%v", err)
		}
		if file.GetPackage() == "si.v1" {
			return file
		}
	}
	fail("no file has %s: %v", symbol, answer)
	return nil
}

// named is whatever of a file has a name.
type named interface {
	proto.Message
	GetName() string
}

func byName[T named](all []T) map[string]T {
	found := map[string]T{}
	for _, one := range all {
		found[one.GetName()] = one
	}
	return found
}

func compare[T named](kind string, served, published map[string]T) {
	for name, want := range published {
		got, ok := served[name]
		if !ok {
			fail("%s %s is not served", kind, name)
		}
		plain(got.ProtoReflect().Interface())
		plain(want.ProtoReflect().Interface())
		if !proto.Equal(got, want) {
			fail("%s %s: served %s, published %s", kind, name,
				prototext.Format(got), prototext.Format(want))
		}
	}
	for name := range served {
		if _, ok := published[name]; !ok {
			fail("%s %s is not published", kind, name)
		}
	}
}

// plain takes out what makes no difference on the wire: the order of what is written, names in
// JSON that follow from the names, and options.
func plain(one proto.Message) {
	switch one := one.(type) {
	case *descriptorpb.DescriptorProto:
		for _, field := range one.Field {
			field.JsonName, field.Options = nil, nil
		}
		for _, nested := range one.NestedType {
			plain(nested)
		}
		for _, nested := range one.EnumType {
			plain(nested)
		}
		slices.SortFunc(one.Field, func(a, b *descriptorpb.FieldDescriptorProto) int {
			return cmp.Compare(a.GetNumber(), b.GetNumber())
		})
		slices.SortFunc(one.NestedType, func(a, b *descriptorpb.DescriptorProto) int {
			return cmp.Compare(a.GetName(), b.GetName())
		})
		slices.SortFunc(one.ReservedRange, func(a, b *descriptorpb.DescriptorProto_ReservedRange) int {
			return cmp.Compare(a.GetStart(), b.GetStart())
		})
		slices.Sort(one.ReservedName)
	case *descriptorpb.EnumDescriptorProto:
		slices.SortFunc(one.Value, func(a, b *descriptorpb.EnumValueDescriptorProto) int {
			return cmp.Compare(a.GetNumber(), b.GetNumber())
		})
		slices.Sort(one.ReservedName)
	case *descriptorpb.FieldDescriptorProto:
		one.JsonName = nil
	case *descriptorpb.ServiceDescriptorProto:
		for _, method := range one.Method {
			method.Options = nil
		}
	}
}
