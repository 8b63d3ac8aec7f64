package main

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/kubeapiserver/options"
	"k8s.io/kubernetes/plugin/pkg/admission/eventratelimit"
	limits "k8s.io/kubernetes/plugin/pkg/admission/eventratelimit/apis/eventratelimit"
	"k8s.io/kubernetes/plugin/pkg/admission/eventratelimit/apis/eventratelimit/validation"
	testclock "k8s.io/utils/clock/testing"
)

// dynamic are the plugins for policies and webhooks.
var dynamic = sets.New("MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook")

// pluginNames gives the plugins of a case, in the server's order: those that are named, or those that a server runs without flags.
func pluginNames(given json.RawMessage) ([]string, error) {
	var names []string
	if string(given) != `"default"` {
		if err := json.Unmarshal(given, &names); err != nil {
			return nil, err
		}
		known := sets.New(options.AllOrderedPlugins...)
		for _, name := range names {
			if !known.Has(name) {
				return nil, fmt.Errorf("the release has no plugin %s", name)
			}
		}
		return names, nil
	}
	off := options.DefaultOffAdmissionPlugins()
	for _, name := range options.AllOrderedPlugins {
		if !off.Has(name) && !dynamic.Has(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Two plugins read the time. Each has a constructor that takes a clock and is not exported: what runs is the reference's own code.

//go:linkname newEventRateLimit k8s.io/kubernetes/plugin/pkg/admission/eventratelimit.newEventRateLimit
func newEventRateLimit(config *limits.Configuration, clock flowcontrol.Clock) (*eventratelimit.Plugin, error)

// register gives the plugins, two of them with the clock, if there is one.
func register(clock *testclock.FakeClock) *admission.Plugins {
	all := admission.NewPlugins()
	server.RegisterAllAdmissionPlugins(all)
	options.RegisterAllAdmissionPlugins(all)
	if clock == nil {
		return all
	}
	// A name cannot be registered twice.
	field := reflect.ValueOf(all).Elem().FieldByName("registry")
	factories := *(*map[string]admission.Factory)(unsafe.Pointer(field.UnsafeAddr()))
	factories[lifecycle.PluginName] = func(io.Reader) (admission.Interface, error) { return timedLifecycle(clock) }
	factories[eventratelimit.PluginName] = func(text io.Reader) (admission.Interface, error) {
		configuration, err := eventratelimit.LoadConfiguration(text)
		if err != nil {
			return nil, err
		}
		if configuration != nil {
			if errs := validation.ValidateConfiguration(configuration); len(errs) != 0 {
				return nil, errs.ToAggregate()
			}
		}
		return newEventRateLimit(configuration, clock)
	}
	return all
}

// configurations are the texts of plugins' configurations, by name.
type configurations map[string]string

func (c configurations) ConfigFor(name string) (io.Reader, error) {
	if text, is := c[name]; is {
		return strings.NewReader(text), nil
	}
	return nil, nil
}
