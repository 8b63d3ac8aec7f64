package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
)

var serverFlags = func() *pflag.FlagSet {
	flags := pflag.NewFlagSet("server", pflag.ContinueOnError)
	defaulttolerationseconds.RegisterFlags(flags)
	return flags
}()

// setFlags sets the flags of a server, and returns what sets them back. It fails for a feature gate that the release has not, or has
// locked.
func setFlags(given map[string]any) (func(), error) {
	var undo []func()
	restore := func() {
		for _, each := range undo {
			each()
		}
	}
	for name, value := range given {
		var err error
		var back func()
		switch name {
		case "feature-gates":
			back, err = setGates(value)
		case "kubernetes-version":
			// The program is of one release: it is asked cases of this one only.
			back = func() {}
		default:
			back, err = setFlag(name, value)
		}
		if err != nil {
			restore()
			return nil, err
		}
		undo = append(undo, back)
	}
	return restore, nil
}

func setFlag(name string, value any) (func(), error) {
	flag := serverFlags.Lookup(name)
	if flag == nil {
		return nil, fmt.Errorf("no flag %q", name)
	}
	text := fmt.Sprint(value)
	if number, is := value.(float64); is {
		text = strconv.FormatFloat(number, 'f', -1, 64)
	}
	old := flag.Value.String()
	return func() { _ = flag.Value.Set(old) }, flag.Value.Set(text)
}

func setGates(value any) (func(), error) {
	given, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("feature-gates: %v is no object", value)
	}
	gates := utilfeature.DefaultMutableFeatureGate
	wanted, old := map[string]bool{}, map[string]bool{}
	for name, on := range given {
		if _, known := gates.GetAll()[featuregate.Feature(name)]; !known {
			return nil, fmt.Errorf("unrecognized feature gate: %s", name)
		}
		wanted[name], old[name] = on == true, gates.Enabled(featuregate.Feature(name))
	}
	back := func() {
		if err := gates.SetFromMap(old); err != nil {
			panic(err)
		}
	}
	if err := gates.SetFromMap(wanted); err != nil {
		_ = gates.SetFromMap(old)
		return nil, err
	}
	return back, nil
}
