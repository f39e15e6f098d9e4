package emcopb

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// field is one field of a message as EMCO has it.
type field struct {
	number int
	name   string
	kind   protoreflect.Kind
}

const (
	text  = protoreflect.StringKind
	yesNo = protoreflect.BoolKind
	enum  = protoreflect.EnumKind
)

// wire is what EMCO and Signpost agree on: all messages, field by field.
func wire() map[proto.Message][]field {
	return map[proto.Message][]field{
		&ContextUpdateRequest{}:   {{1, "app_context", text}, {2, "intent_name", text}, {3, "update_from_appContext", text}},
		&ContextUpdateResponse{}:  {{1, "app_context_updated", yesNo}, {2, "app_context_update_message", text}},
		&TerminateRequest{}:       {{1, "app_context", text}},
		&TerminateResponse{}:      {{1, "app_context_terminated", yesNo}, {2, "app_context_terminated_message", text}},
		&PostEventRequest{}:       {{1, "app_context", text}, {2, "event_type", enum}},
		&PostEventResponse{}:      {{1, "success", yesNo}, {2, "post_event_message", text}},
		&InstallAppRequest{}:      {{1, "app_context", text}},
		&InstallAppResponse{}:     {{1, "app_context_installed", yesNo}, {2, "app_context_install_message", text}},
		&UninstallAppRequest{}:    {{1, "app_context", text}},
		&UninstallAppResponse{}:   {{1, "app_context_uninstalled", yesNo}, {2, "app_context_uninstall_message", text}},
		&ReadAppContextRequest{}:  {{1, "app_context", text}},
		&ReadAppContextResponse{}: {{1, "app_context_read_successful", yesNo}, {2, "app_context_read_message", text}},
		&UpdateAppRequest{}:       {{1, "update_from_appContext", text}, {2, "update_to_appContext", text}},
		&UpdateAppResponse{}:      {{1, "app_context_updated", yesNo}, {2, "app_context_update_message", text}},
		&RollbackAppRequest{}:     {{1, "rollback_from_appContext", text}, {2, "rollback_to_appContext", text}},
		&RollbackAppResponse{}:    {{1, "app_context_rolledback", yesNo}, {2, "app_context_rollback_message", text}},
		&Topic{}:                  {{1, "clientName", text}, {2, "appContext", text}},
		&Notification{}:           {{1, "clientName", text}, {2, "serverName", text}, {3, "appContext", text}, {4, "app", text}, {5, "cluster", text}},
		&UnsubscribeResponse{}:    nil,
	}
}

// TestMessagesAreEMCOsOnTheWire: the bytes are put together by hand, from field
// numbers and wire types.
func TestMessagesAreEMCOsOnTheWire(t *testing.T) {
	for message, fields := range wire() {
		name := string(message.ProtoReflect().Descriptor().Name())
		t.Run(name, func(t *testing.T) {
			require.Equal(t, name, string(message.ProtoReflect().Descriptor().FullName()), "there is no package")
			known := message.ProtoReflect().Descriptor().Fields()
			require.Equal(t, len(fields), known.Len())
			var want []byte
			for _, f := range fields {
				descriptor := known.ByName(protoreflect.Name(f.name))
				require.NotNil(t, descriptor, f.name)
				require.Equal(t, f.number, int(descriptor.Number()), f.name)
				require.Equal(t, f.kind, descriptor.Kind(), f.name)
				value, encoded := example(f)
				message.ProtoReflect().Set(descriptor, value)
				want = append(want, encoded...)
			}
			got, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

// example is a value of a field, and the field's bytes.
func example(f field) (value protoreflect.Value, encoded []byte) {
	const varint, length = 0, 2
	if f.kind == text {
		content := fmt.Sprintf("value %d", f.number)
		encoded = binary.AppendUvarint(nil, uint64(f.number<<3|length))
		encoded = binary.AppendUvarint(encoded, uint64(len(content)))
		return protoreflect.ValueOfString(content), append(encoded, content...)
	}
	encoded = binary.AppendUvarint(nil, uint64(f.number<<3|varint))
	if f.kind == yesNo {
		return protoreflect.ValueOfBool(true), append(encoded, 1)
	}
	return protoreflect.ValueOfEnum(2), append(encoded, 2)
}

func TestEventsHaveEMCOsNumbers(t *testing.T) {
	require.Equal(t, map[string]int32{"INSTANTIATE": 0, "TERMINATE": 1, "UPDATE": 2}, EventType_value)
}

// TestServicesHaveEMCOsPaths: a method is /service/Method, without a package.
func TestServicesHaveEMCOsPaths(t *testing.T) {
	var paths []string
	for _, file := range []protoreflect.FileDescriptor{
		File_contextupdate_proto, File_installapp_proto, File_updateapp_proto, File_readynotify_proto,
	} {
		require.Empty(t, file.Package())
		service := file.Services().Get(0)
		for i := range service.Methods().Len() {
			method := service.Methods().Get(i)
			require.False(t, method.IsStreamingClient())
			require.Equal(t, method.Name() == "Alert", method.IsStreamingServer(), method.Name())
			paths = append(paths, fmt.Sprintf("/%s/%s(%s) %s", service.FullName(), method.Name(), method.Input().FullName(), method.Output().FullName()))
		}
	}
	require.Equal(t, strings.Join([]string{
		"/contextupdate/UpdateAppContext(ContextUpdateRequest) ContextUpdateResponse",
		"/contextupdate/TerminateAppContext(TerminateRequest) TerminateResponse",
		"/contextupdate/PostEvent(PostEventRequest) PostEventResponse",
		"/installapp/InstallApp(InstallAppRequest) InstallAppResponse",
		"/installapp/UninstallApp(UninstallAppRequest) UninstallAppResponse",
		"/installapp/ReadAppContext(ReadAppContextRequest) ReadAppContextResponse",
		"/updateapp/UpdateApp(UpdateAppRequest) UpdateAppResponse",
		"/updateapp/RollbackApp(RollbackAppRequest) RollbackAppResponse",
		"/readyNotify/Alert(Topic) Notification",
		"/readyNotify/Unsubscribe(Topic) UnsubscribeResponse",
	}, "\n"), strings.Join(paths, "\n"))
}
