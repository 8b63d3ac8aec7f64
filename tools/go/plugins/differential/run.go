package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/warning"
	testclock "k8s.io/utils/clock/testing"
)

// outcome runs a case once: an expectation, or a list of them for a sequence.
func (q *question) outcome() (json.RawMessage, error) {
	names, err := pluginNames(q.Plugins)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(q.Objects, q.Authorizer.Allow)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	given := configurations{}
	for name, text := range q.Config {
		given[name] = text
	}
	var service *backend
	if q.Backend != nil {
		if service, err = startBackend(q.Backend); err != nil {
			return nil, err
		}
		defer service.close()
		for name, text := range given {
			given[name] = strings.ReplaceAll(text, "$KUBECONFIG", service.kubeconfig)
		}
	}
	var clock *testclock.FakeClock
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	if q.Request == nil {
		clock = testclock.NewFakeClock(begin)
	}
	chain, err := register(clock).NewFromPlugins(names, given, c.initializers, nil)
	if err != nil {
		return plainJSON(expectation{LoadError: service.hidden(err.Error())})
	}
	c.start()
	if q.Request != nil {
		found, err := c.admit(chain, q.Request, service)
		if err != nil {
			return nil, err
		}
		return plainJSON(found)
	}
	all := []*expectation{}
	for i := range q.Requests {
		r := &q.Requests[i]
		if r.At != nil {
			clock.SetTime(begin.Add(time.Duration(*r.At * float64(time.Second))))
		}
		found, err := c.admit(chain, r, service)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		all = append(all, found)
		if slices.Contains(names, "ResourceQuota") {
			if err := c.settle(); err != nil {
				return nil, err
			}
		}
	}
	return plainJSON(all)
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

// admit puts one request through the chain.
func (c *cluster) admit(plugins admission.Interface, r *request, service *backend) (*expectation, error) {
	p, err := read(r)
	if err != nil {
		return nil, err
	}
	found := &expectation{}
	before, err := external(p.object, p.objectKind)
	if err != nil {
		return nil, err
	}
	if p.object != nil {
		sent, err := plain(r.Object)
		if err != nil {
			return nil, err
		}
		if !same(sent, before) {
			found.Defaulted = before
		}
	}
	quotas, err := c.quotas()
	if err != nil {
		return nil, err
	}
	c.client.ClearActions()
	heard := &recorder{}
	ctx := warning.WithWarningRecorder(audit.WithAuditContext(context.Background()), heard)
	event := audit.AuditContextFrom(ctx)
	if err := event.Init(audit.RequestAuditConfig{Level: auditinternal.LevelRequestResponse}, nil); err != nil {
		return nil, err
	}
	denied := p.pass(ctx, admission.WithAudit(plugins))
	allowed := denied == nil
	found.Allowed = &allowed
	found.Warnings = heard.texts
	found.AuditAnnotations = event.GetEventAnnotations()
	if denied != nil {
		answered := responsewriters.ErrorToAPIStatus(denied)
		found.Status = &status{answered.Code, answered.Reason, service.hidden(answered.Message), answered.Details}
	} else if p.object != nil {
		after, err := external(p.object, p.objectKind)
		if err != nil {
			return nil, err
		}
		if !same(before, after) {
			if found.Object, err = withoutRandom(after, string(r.Object)); err != nil {
				return nil, err
			}
		}
	}
	if found.Booked, err = c.bookedSince(quotas); err != nil {
		return nil, err
	}
	for _, action := range c.client.Actions() {
		made, is := action.(interface{ GetObject() runtime.Object })
		if !is || action.GetVerb() != "create" {
			continue
		}
		if accessor, err := meta.Accessor(made.GetObject()); err == nil {
			found.Created = append(found.Created, action.GetResource().Resource+"/"+accessor.GetName())
		}
	}
	return found, nil
}

// quotas are the statuses of all quotas, by namespace and name.
func (c *cluster) quotas() (map[string]booked, error) {
	stored, err := c.client.CoreV1().ResourceQuotas("").List(c.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := map[string]booked{}
	for _, quota := range stored.Items {
		used, err := plain(quota.Status.Used)
		if err != nil {
			return nil, err
		}
		hard, err := plain(quota.Status.Hard)
		if err != nil {
			return nil, err
		}
		all[quota.Namespace+"/"+quota.Name] = booked{quota.Namespace, quota.Name, used, hard}
	}
	return all, nil
}

// bookedSince are the quotas whose status is another one, with their limits where these are, too.
func (c *cluster) bookedSince(earlier map[string]booked) ([]booked, error) {
	now, err := c.quotas()
	if err != nil {
		return nil, err
	}
	var all []booked
	for key, quota := range now {
		old, is := earlier[key]
		isSame := same(old.Hard, quota.Hard)
		if !is || isSame && same(old.Used, quota.Used) {
			continue
		}
		if isSame {
			quota.Hard = nil
		}
		all = append(all, quota)
	}
	slices.SortFunc(all, func(one, other booked) int {
		return strings.Compare(one.Namespace+"/"+one.Name, other.Namespace+"/"+other.Name)
	})
	return all, nil
}

var generated = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}\b`)

// withoutRandom replaces the random name of the volume that ServiceAccount adds, unless the request has it.
func withoutRandom(object any, sent string) (any, error) {
	text, err := plainJSON(object)
	if err != nil {
		return nil, err
	}
	replaced := generated.ReplaceAllStringFunc(string(text), func(name string) string {
		if strings.Contains(sent, `"`+name+`"`) {
			return name
		}
		return "kube-api-access-xxxxx"
	})
	return plain(json.RawMessage(replaced))
}

// plain is a value as JSON has it, with numbers as they are written.
func plain(value any) (any, error) {
	text, err := plainJSON(value)
	if err != nil {
		return nil, err
	}
	var read any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return read, decoder.Decode(&read)
}

func same(one, other any) bool {
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(other)
	return bytes.Equal(a, b)
}
