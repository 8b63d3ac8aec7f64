package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// question is a case: plugins with their configurations, a cluster, and a request or a sequence of them.
type question struct {
	Plugins    json.RawMessage   `json:"plugins"`
	Config     map[string]string `json:"config"`
	Flags      map[string]any    `json:"flags"`
	Backend    *script           `json:"backend"`
	Objects    []json.RawMessage `json:"objects"`
	Authorizer struct {
		Allow []rule `json:"allow"`
	} `json:"authorizer"`
	Request  *request  `json:"request"`
	Requests []request `json:"requests"`
	Times    int       `json:"times"`
}

// script is what the backend of image policies answers.
type script struct {
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
	Text   *string         `json:"text"`
	Down   bool            `json:"down"`
}

// request has the fields of an AdmissionRequest that do not follow from others; At is its time in a sequence, in seconds.
type request struct {
	At          *float64                    `json:"at"`
	UID         string                      `json:"uid"`
	Kind        metav1.GroupVersionKind     `json:"kind"`
	Resource    metav1.GroupVersionResource `json:"resource"`
	SubResource string                      `json:"subResource"`
	Name        string                      `json:"name"`
	Namespace   string                      `json:"namespace"`
	Operation   string                      `json:"operation"`
	UserInfo    struct {
		Username string              `json:"username"`
		UID      string              `json:"uid"`
		Groups   []string            `json:"groups"`
		Extra    map[string][]string `json:"extra"`
	} `json:"userInfo"`
	Object    json.RawMessage `json:"object"`
	OldObject json.RawMessage `json:"oldObject"`
	DryRun    bool            `json:"dryRun"`
	Options   json.RawMessage `json:"options"`
}

// expectation is what became of a request, or why the plugins do not start.
type expectation struct {
	LoadError        string            `json:"loadError,omitempty"`
	Allowed          *bool             `json:"allowed,omitempty"`
	Status           *status           `json:"status,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// The object as it is decoded, if that is another one than was sent.
	Defaulted any `json:"defaulted,omitempty"`
	// The object that is left, if that is another one than was decoded.
	Object  any      `json:"object,omitempty"`
	Booked  []booked `json:"booked,omitempty"`
	Created []string `json:"created,omitempty"`
}

type status struct {
	Code    int32                 `json:"code"`
	Reason  metav1.StatusReason   `json:"reason,omitempty"`
	Message string                `json:"message"`
	Details *metav1.StatusDetails `json:"details,omitempty"`
}

// booked is a quota whose status the request changed.
type booked struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Used      any    `json:"used"`
	Hard      any    `json:"hard,omitempty"`
}
