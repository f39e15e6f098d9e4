package orchestrate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// TestAGenericClientFindsAndCallsTheService is what grpcurl does with the
// program: it knows no protos, asks by reflection for them, and calls what it
// has found.
func TestAGenericClientFindsAndCallsTheService(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	connection, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer connection.Close()

	health := grpc_health_v1.NewHealthClient(connection)
	for _, service := range []string{"", "contextupdate"} {
		answer, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		require.NoError(t, err, service)
		require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus(), service)
	}
	service := reflected(t, connection, "contextupdate")
	fields := map[string]string{}
	for i := range service.Methods().Len() {
		method := service.Methods().Get(i)
		for kind, message := range map[string]protoreflect.MessageDescriptor{" asks ": method.Input(), " answers ": method.Output()} {
			for j := range message.Fields().Len() {
				field := message.Fields().Get(j)
				fields[string(method.FullName())+kind+string(field.Name())] = string(rune('0'+field.Number())) + " " + field.Kind().String()
			}
		}
	}
	require.Equal(t, map[string]string{
		"contextupdate.UpdateAppContext asks app_context":                          "1 string",
		"contextupdate.UpdateAppContext asks intent_name":                          "2 string",
		"contextupdate.UpdateAppContext asks update_from_appContext":               "3 string",
		"contextupdate.UpdateAppContext answers app_context_updated":               "1 bool",
		"contextupdate.UpdateAppContext answers app_context_update_message":        "2 string",
		"contextupdate.TerminateAppContext asks app_context":                       "1 string",
		"contextupdate.TerminateAppContext answers app_context_terminated":         "1 bool",
		"contextupdate.TerminateAppContext answers app_context_terminated_message": "2 string",
		"contextupdate.PostEvent asks app_context":                                 "1 string",
		"contextupdate.PostEvent asks event_type":                                  "2 enum",
		"contextupdate.PostEvent answers success":                                  "1 bool",
		"contextupdate.PostEvent answers post_event_message":                       "2 string",
	}, fields)

	for _, name := range []string{"UpdateAppContext", "TerminateAppContext", "PostEvent"} {
		method := service.Methods().ByName(protoreflect.Name(name))
		request := dynamicpb.NewMessage(method.Input())
		request.Set(method.Input().Fields().ByNumber(1), protoreflect.ValueOfString("4611686018427387999"))
		if intent := method.Input().Fields().ByName("intent_name"); intent != nil {
			request.Set(intent, protoreflect.ValueOfString("front"))
		}
		err := connection.Invoke(t.Context(), "/contextupdate/"+name, request, dynamicpb.NewMessage(method.Output()))
		require.Equal(t, codes.NotFound, status.Code(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "app context 4611686018427387999", name)
	}
}

// reflected is what a server says of one of its services.
func reflected(t *testing.T, connection *grpc.ClientConn, name string) protoreflect.ServiceDescriptor {
	t.Helper()
	stream, err := reflection.NewServerReflectionClient(connection).ServerReflectionInfo(t.Context())
	require.NoError(t, err)
	ask := func(request *reflection.ServerReflectionRequest) *reflection.ServerReflectionResponse {
		require.NoError(t, stream.Send(request))
		answer, err := stream.Recv()
		require.NoError(t, err)
		return answer
	}
	var services []string
	listed := ask(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
	for _, service := range listed.GetListServicesResponse().GetService() {
		services = append(services, service.GetName())
	}
	require.True(t, slices.Contains(services, name), services)
	found := ask(&reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name},
	}).GetFileDescriptorResponse().GetFileDescriptorProto()
	files := &descriptorpb.FileDescriptorSet{}
	for _, raw := range found {
		file := &descriptorpb.FileDescriptorProto{}
		require.NoError(t, proto.Unmarshal(raw, file))
		files.File = append(files.File, file)
	}
	registry, err := protodesc.NewFiles(files)
	require.NoError(t, err)
	descriptor, err := registry.FindDescriptorByName(protoreflect.FullName(name))
	require.NoError(t, err)
	service, ok := descriptor.(protoreflect.ServiceDescriptor)
	require.True(t, ok, "%T", descriptor)
	return service
}
