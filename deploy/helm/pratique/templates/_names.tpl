{{- define "pratique.name" -}}
{{- $own := .Release.Name -}}
{{- if not (contains "pratique" $own) -}}{{- $own = printf "%s-pratique" $own -}}{{- end -}}
{{- default $own .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "pratique.selector" -}}
app.kubernetes.io/name: pratique
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "pratique.labels" -}}
{{ include "pratique.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "pratique.image" -}}
{{- $repository := required "image.repository: name the image that you built by deploy/Containerfile" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{- define "pratique.service-account" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "pratique.name" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{- define "pratique.certificate" -}}
{{- if .Values.certificate.certManager.enabled -}}
{{ include "pratique.name" . }}-tls
{{- else -}}
{{ required "certificate.existingSecret: name a Secret, or enable certificate.certManager" .Values.certificate.existingSecret }}
{{- end -}}
{{- end }}

{{- define "pratique.validating" -}}
{{ default (printf "%s-validating" (include "pratique.name" .)) .Values.policies.existingConfigMaps.validating }}
{{- end }}

{{- define "pratique.mutating" -}}
{{ default (printf "%s-mutating" (include "pratique.name" .)) .Values.policies.existingConfigMaps.mutating }}
{{- end }}
