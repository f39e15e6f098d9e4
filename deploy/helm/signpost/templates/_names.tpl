{{/* The name of all objects: the release's, with "signpost" in it. */}}
{{- define "signpost.name" -}}
{{- if contains "signpost" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-signpost" (.Release.Name | trunc 41 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the pods of this release. */}}
{{- define "signpost.selector" -}}
app.kubernetes.io/name: signpost
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The labels of all objects. */}}
{{- define "signpost.labels" -}}
{{ include "signpost.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The image, by its digest if there is one. */}}
{{- define "signpost.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default (printf "v%s" $.Chart.AppVersion) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* "true" if the release has the ConfigMap of etcd and of other settings. */}}
{{- define "signpost.hasSettings" -}}
{{- if or (eq .Values.mode "replicated") .Values.settings -}}true{{- end -}}
{{- end -}}

{{/* "true" if the release has the ConfigMap of the issuer and of the policy. */}}
{{- define "signpost.hasAccess" -}}
{{- if or .Values.oidc.issuer .Values.policy.grants -}}true{{- end -}}
{{- end -}}

{{/* Fails if values contradict each other. */}}
{{- define "signpost.check" -}}
{{- if and (eq .Values.mode "replicated") (not .Values.etcd.endpoints) -}}
{{- fail "mode replicated needs an etcd cluster: set etcd.endpoints, as in http://etcd-0.etcd:2379" -}}
{{- end -}}
{{- if and (eq .Values.mode "standalone") .Values.etcd.endpoints -}}
{{- fail "mode standalone has an embedded etcd: set mode to replicated, or remove etcd.endpoints" -}}
{{- end -}}
{{- if and .Values.etcd.auth.user (not .Values.etcd.auth.secretName) -}}
{{- fail "etcd.auth.user needs a password: set etcd.auth.secretName" -}}
{{- end -}}
{{- if and .Values.etcd.tls.clientCertificate (not .Values.etcd.tls.secretName) -}}
{{- fail "etcd.tls.clientCertificate needs a Secret with tls.crt and tls.key: set etcd.tls.secretName" -}}
{{- end -}}
{{- if and .Values.oidc.issuer (not .Values.oidc.audience) -}}
{{- fail "oidc.issuer needs the name of Signpost at the issuer: set oidc.audience" -}}
{{- end -}}
{{- if and .Values.oidc.audience (not .Values.oidc.issuer) -}}
{{- fail "oidc.audience needs an issuer: set oidc.issuer" -}}
{{- end -}}
{{- if and .Values.policy.grants (not .Values.oidc.issuer) (not (get .Values.settings "SIGNPOST_CLIENT_CA")) -}}
{{- fail "policy.grants needs subjects from an issuer or from certificates: set oidc.issuer" -}}
{{- end -}}
{{- end -}}
