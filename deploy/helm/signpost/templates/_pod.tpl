{{/* The Deployment of a role: dict "root" $ "role" "api", "worker" or "all". */}}
{{- define "signpost.deployment" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $name := include "signpost.name" $root -}}
{{- $replicated := ne $role "all" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}{{ if $replicated }}-{{ $role }}{{ end }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "signpost.labels" $root | nindent 4 }}
    {{- if $replicated }}
    app.kubernetes.io/component: {{ $role }}
    {{- end }}
spec:
  {{- if $replicated }}
  replicas: {{ index $root.Values.replicas $role }}
  # A new replica is ready before an old one ends.
  strategy:
    type: RollingUpdate
    rollingUpdate: {maxUnavailable: 0, maxSurge: 1}
  {{- else }}
  replicas: 1
  # One process owns the data: the old one ends before the new one starts.
  strategy: {type: Recreate}
  {{- end }}
  selector:
    matchLabels:
      {{- include "signpost.selector" $root | nindent 6 }}
      {{- if $replicated }}
      app.kubernetes.io/component: {{ $role }}
      {{- end }}
  template:
    metadata:
      labels:
        {{- with $root.Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- include "signpost.selector" $root | nindent 8 }}
        {{- if $replicated }}
        app.kubernetes.io/component: {{ $role }}
        {{- end }}
      {{- $annotations := deepCopy $root.Values.podAnnotations }}
      {{- if include "signpost.hasSettings" $root }}
      {{- $_ := set $annotations "checksum/stores" (include (print $root.Template.BasePath "/stores.yaml") $root | sha256sum) }}
      {{- end }}
      {{- if include "signpost.hasAccess" $root }}
      {{- $_ := set $annotations "checksum/access" (include (print $root.Template.BasePath "/access.yaml") $root | sha256sum) }}
      {{- end }}
      {{- with $annotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- include "signpost.pod" . | nindent 6 }}
{{- end -}}

{{/* The pod of a role. */}}
{{- define "signpost.pod" -}}
{{- $root := .root -}}
{{- $role := .role -}}
serviceAccountName: {{ include "signpost.name" $root }}-server
automountServiceAccountToken: false
terminationGracePeriodSeconds: 60
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if ne $role "all" }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "signpost.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ $role }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
containers:
  - {{- include "signpost.container" . | nindent 4 }}
volumes:
  - name: secrets
    secret:
      secretName: {{ $root.Values.secret.name }}
      defaultMode: 0440 # Signpost refuses a key that everybody may read
      items:
        - {key: {{ $root.Values.secret.keys.tokens | quote }}, path: tokens}
        - {key: {{ $root.Values.secret.keys.secretKey | quote }}, path: secret.key}
  - name: data
    {{- if eq $role "all" }}
    persistentVolumeClaim: {claimName: {{ $root.Values.persistence.existingClaim | default (printf "%s-data" (include "signpost.name" $root)) }}}
    {{- else }}
    emptyDir: {}
    {{- end }}
  {{- if $root.Values.tls.enabled }}
  - name: tls
    secret: {secretName: {{ $root.Values.tls.secretName }}}
  {{- end }}
  {{- if $root.Values.policy.grants }}
  - name: access
    configMap:
      name: {{ include "signpost.name" $root }}-access
      items: [{key: policy.yaml, path: policy.yaml}]
  {{- end }}
  {{- with $root.Values.etcd.tls.secretName }}
  - name: etcd-tls
    secret: {secretName: {{ . }}, defaultMode: 0440}
  {{- end }}
  {{- with $root.Values.etcd.auth }}
  {{- if .user }}
  - name: etcd-auth
    secret:
      secretName: {{ .secretName }}
      defaultMode: 0440
      items: [{key: {{ .key | quote }}, path: password}]
  {{- end }}
  {{- end }}
  {{- with $root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The container of a role. */}}
{{- define "signpost.container" -}}
{{- $root := .root -}}
{{- $role := .role }}
name: signpost
image: {{ include "signpost.image" $root }}
{{- with $root.Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
args:
  - serve
  - --listen=0.0.0.0:9018
  - --grpc-listen=0.0.0.0:9048
  - --data-dir=/data
  - --token-file=/etc/signpost/tokens
  - --secret-key-file=/etc/signpost/secret.key
  - --log-format=json
{{- if include "signpost.hasSettings" $root }}
envFrom:
  - configMapRef: {name: {{ include "signpost.name" $root }}-stores}
{{- end }}
{{- with include "signpost.environment" . | trim }}
env:
  {{- . | nindent 2 }}
{{- end }}
ports:
  - {name: http, containerPort: 9018}
  {{- if ne $role "worker" }}
  - {name: grpc, containerPort: 9048}
  {{- end }}
{{- $scheme := ternary ", scheme: HTTPS" "" $root.Values.tls.enabled }}
startupProbe:
  httpGet: {path: /healthz, port: http{{ $scheme }}}
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: http{{ $scheme }}}
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: http{{ $scheme }}}
  periodSeconds: 5
  timeoutSeconds: 6
{{- if ne $role "worker" }}
# Requests go elsewhere before the server ends.
lifecycle:
  preStop: {sleep: {seconds: 5}}
{{- end }}
{{- with $root.Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: secrets, mountPath: /etc/signpost, readOnly: true}
  - {name: data, mountPath: /data}
  {{- if $root.Values.tls.enabled }}
  - {name: tls, mountPath: /etc/signpost-tls, readOnly: true}
  {{- end }}
  {{- if $root.Values.policy.grants }}
  - {name: access, mountPath: /etc/signpost-access, readOnly: true}
  {{- end }}
  {{- if $root.Values.etcd.tls.secretName }}
  - {name: etcd-tls, mountPath: /etc/signpost-etcd-tls, readOnly: true}
  {{- end }}
  {{- if $root.Values.etcd.auth.user }}
  - {name: etcd-auth, mountPath: /etc/signpost-etcd-auth, readOnly: true}
  {{- end }}
  {{- with $root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The environment of the container of a role. */}}
{{- define "signpost.environment" -}}
{{- $root := .root -}}
{{- if ne .role "all" }}
- {name: SIGNPOST_ROLE, value: {{ .role }}}
{{- end }}
{{- if and (ne .role "all") $root.Values.mongo.enabled }}
- name: SIGNPOST_MONGO_URI
  valueFrom:
    secretKeyRef: {name: {{ $root.Values.secret.name }}, key: {{ $root.Values.secret.keys.mongoURI | quote }}}
{{- end }}
{{- if $root.Values.tls.enabled }}
- {name: SIGNPOST_TLS_CERT, value: /etc/signpost-tls/tls.crt}
- {name: SIGNPOST_TLS_KEY, value: /etc/signpost-tls/tls.key}
- {name: SIGNPOST_GRPC_TLS_CERT, value: /etc/signpost-tls/tls.crt}
- {name: SIGNPOST_GRPC_TLS_KEY, value: /etc/signpost-tls/tls.key}
{{- end }}
{{- if $root.Values.policy.grants }}
- {name: SIGNPOST_POLICY_FILE, value: /etc/signpost-access/policy.yaml}
{{- end }}
{{- if $root.Values.oidc.issuer }}
- name: SIGNPOST_OIDC_ISSUER
  valueFrom:
    configMapKeyRef: {name: {{ include "signpost.name" $root }}-access, key: SIGNPOST_OIDC_ISSUER}
- name: SIGNPOST_OIDC_AUDIENCE
  valueFrom:
    configMapKeyRef: {name: {{ include "signpost.name" $root }}-access, key: SIGNPOST_OIDC_AUDIENCE}
{{- end }}
{{- with $root.Values.etcd }}
{{- if .tls.secretName }}
- {name: SIGNPOST_ETCD_CA_FILE, value: /etc/signpost-etcd-tls/ca.crt}
{{- if .tls.clientCertificate }}
- {name: SIGNPOST_ETCD_CERT_FILE, value: /etc/signpost-etcd-tls/tls.crt}
- {name: SIGNPOST_ETCD_KEY_FILE, value: /etc/signpost-etcd-tls/tls.key}
{{- end }}
{{- end }}
{{- if .auth.user }}
- {name: SIGNPOST_ETCD_USER, value: {{ .auth.user | quote }}}
- {name: SIGNPOST_ETCD_PASSWORD_FILE, value: /etc/signpost-etcd-auth/password}
{{- end }}
{{- end }}
{{- end -}}
