package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"
)

// request has the fields of an AdmissionRequest that do not follow from others.
type request struct {
	// Nothing depends on it.
	UID string `json:"uid"`

	Kind        meta.GroupVersionKind     `json:"kind"`
	Resource    meta.GroupVersionResource `json:"resource"`
	SubResource string                    `json:"subResource"`
	Name        string                    `json:"name"`
	Namespace   string                    `json:"namespace"`
	Operation   admission.Operation       `json:"operation"`
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

// outcome is what came of a request.
type outcome struct {
	Allowed          bool              `json:"allowed"`
	Status           *meta.Status      `json:"status,omitempty"`
	Warnings         []string          `json:"warnings,omitempty"`
	AuditAnnotations map[string]string `json:"auditAnnotations,omitempty"`
	// The object, if mutation left another one.
	Object json.RawMessage `json:"object,omitempty"`
}

// admit takes a request through both phases, as the API server's handlers do.
func (c *cluster) admit(r *request) (*outcome, error) {
	found, err := c.try(r)
	// What needs a schema is refused until the plugin has read which there are.
	for try := 0; err == nil && found.Status != nil && found.Status.Code == 503 && c.describes(r) && try < 20; try++ {
		time.Sleep(5 * time.Millisecond)
		found, err = c.try(r)
	}
	return found, err
}

// describes tells whether there is a document of a version that policies see a request in.
func (c *cluster) describes(r *request) bool {
	for _, path := range r.paths() {
		if _, is := c.schemas.paths[path]; is {
			return true
		}
	}
	return false
}

// paths are those of the documents of the request's version, and of the group's v1, which policies match instead.
func (r *request) paths() []string {
	prefix := "apis/"
	if r.Kind.Group == "" {
		prefix = "api/"
	}
	own := schema.GroupVersionKind(r.Kind).GroupVersion()
	return []string{prefix + own.String(), prefix + schema.GroupVersion{Group: own.Group, Version: "v1"}.String()}
}

func (c *cluster) try(r *request) (*outcome, error) {
	kind := schema.GroupVersionKind(r.Kind)
	object, err := decodeAs(r.Object, kind)
	if err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	old, err := decodeAs(r.OldObject, kind)
	if err != nil {
		return nil, fmt.Errorf("oldObject: %w", err)
	}
	options, err := decodeOptions(r.Options)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	before, err := encodeAs(object, kind)
	if err != nil {
		return nil, err
	}
	who := &user.DefaultInfo{Name: r.UserInfo.Username, UID: r.UserInfo.UID, Groups: r.UserInfo.Groups, Extra: r.UserInfo.Extra}
	attributes := admission.NewAttributesRecord(object, old, kind, r.Namespace, r.Name,
		schema.GroupVersionResource(r.Resource), r.SubResource, r.Operation, options, r.DryRun, who)
	heard := &recorder{}
	ctx := audit.WithAuditContext(warning.WithWarningRecorder(context.Background(), heard))
	event := audit.AuditContextFrom(ctx)
	if err := event.Init(audit.RequestAuditConfig{Level: auditinternal.LevelRequestResponse}, nil); err != nil {
		return nil, err
	}
	denied := c.pass(ctx, attributes, c.custom.interfaces(kind, c.equivalent))
	found := &outcome{Allowed: denied == nil, Warnings: heard.texts, AuditAnnotations: event.GetEventAnnotations()}
	if denied != nil {
		found.Status = responsewriters.ErrorToAPIStatus(denied)
		return found, nil
	}
	after, err := encodeAs(attributes.GetObject(), kind)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(before, after) {
		found.Object = after
	}
	return found, nil
}

func (c *cluster) pass(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetOperation() == admission.Delete {
		return rest.AdmissionToValidateObjectDeleteFunc(c.chain, a, o)(ctx, a.GetOldObject())
	}
	if mutates, does := c.chain.(admission.MutationInterface); does && mutates.Handles(a.GetOperation()) {
		if err := mutates.Admit(ctx, a, o); err != nil {
			return err
		}
	}
	switch a.GetOperation() {
	case admission.Create:
		return rest.AdmissionToValidateObjectFunc(c.chain, a, o)(ctx, a.GetObject())
	case admission.Update:
		return rest.AdmissionToValidateObjectUpdateFunc(c.chain, a, o)(ctx, a.GetObject(), a.GetOldObject())
	default:
		if validates, does := c.chain.(admission.ValidationInterface); does && validates.Handles(a.GetOperation()) {
			return validates.Validate(ctx, a, o)
		}
		return nil
	}
}

func decodeOptions(text json.RawMessage) (runtime.Object, error) {
	if isNull(text) {
		return nil, nil
	}
	var of meta.TypeMeta
	if err := json.Unmarshal(text, &of); err != nil {
		return nil, err
	}
	known := map[string]runtime.Object{
		"CreateOptions": &meta.CreateOptions{},
		"UpdateOptions": &meta.UpdateOptions{},
		"PatchOptions":  &meta.PatchOptions{},
		"DeleteOptions": &meta.DeleteOptions{},
	}
	into, is := known[of.Kind]
	if !is {
		return nil, fmt.Errorf("no options are of the kind %q", of.Kind)
	}
	return into, json.Unmarshal(text, into)
}

// recorder keeps warnings, each as often as it was given.
type recorder struct {
	lock  sync.Mutex
	texts []string
}

func (r *recorder) AddWarning(_, text string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.texts = append(r.texts, text)
}

// rule allows the checks that equal each of its fields that is not empty; with an error they fail with it.
type rule struct {
	Verb        string `json:"verb"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Path        string `json:"path"`
	User        string `json:"user"`
	Reason      string `json:"reason"`
	Error       string `json:"error"`
}

// rules are an authorizer: the first that fits counts, and there is no opinion on the rest.
type rules []rule

func (r rules) Authorize(_ context.Context, check authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, rule := range r {
		if !rule.fits(check) {
			continue
		}
		if rule.Error != "" {
			return authorizer.DecisionNoOpinion, rule.Reason, errors.New(rule.Error)
		}
		return authorizer.DecisionAllow, rule.Reason, nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func (r rule) fits(check authorizer.Attributes) bool {
	wanted := []string{r.Verb, r.Group, r.Version, r.Resource, r.Subresource, r.Namespace, r.Name, r.Path, r.User}
	given := []string{check.GetVerb(), check.GetAPIGroup(), check.GetAPIVersion(), check.GetResource(), check.GetSubresource(),
		check.GetNamespace(), check.GetName(), check.GetPath(), check.GetUser().GetName()}
	for i := range wanted {
		if wanted[i] != "" && wanted[i] != given[i] {
			return false
		}
	}
	return true
}
