// Command featuregates writes the feature gates of kube-apiserver as JSON. `cargo xtask codegen` makes a table from it.
//
//	go run ./featuregates > gates.json
//	go run ./featuregates answer < flags.json
//
// With `answer` it reads a JSON list of tests, each a list of values of `--feature-gates`, and writes what the server
// says of each.
package main

import (
	"encoding/json"
	"os"
	"sort"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	metricsfeatures "k8s.io/component-base/metrics/features"

	_ "k8s.io/apiextensions-apiserver/pkg/features"
	_ "k8s.io/kubernetes/pkg/features"
)

// gate is a feature gate.
type gate struct {
	Name      string   `json:"name"`
	Stage     string   `json:"stage"`
	Default   bool     `json:"default"`
	Locked    bool     `json:"locked"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// answer is what a server says of values of its flag.
type answer struct {
	Flags []string `json:"flags"`
	Error string   `json:"error,omitempty"`
	// Changed has the gates that are not as by default.
	Changed map[string]bool `json:"changed,omitempty"`
}

func main() {
	// As cmd/kube-apiserver/app/server.go and apiserver/pkg/server/config.go do; all others are registered by the packages
	// that have them.
	must(logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate))
	must(metricsfeatures.AddFeatureGates(utilfeature.DefaultMutableFeatureGate))
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	if len(os.Args) > 1 && os.Args[1] == "answer" {
		var tests [][]string
		must(json.NewDecoder(os.Stdin).Decode(&tests))
		answers := []answer{}
		for _, flags := range tests {
			answers = append(answers, ask(flags))
		}
		must(encoder.Encode(answers))
		return
	}
	must(encoder.Encode(gates()))
}

func gates() []gate {
	all := []gate{}
	dependencies := utilfeature.DefaultMutableFeatureGate.Dependencies()
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		stage := string(spec.PreRelease)
		if spec.PreRelease == featuregate.GA {
			stage = "GA"
		}
		entry := gate{Name: string(name), Stage: stage, Default: spec.Default, Locked: spec.LockToDefault}
		for _, dependency := range dependencies[name] {
			entry.DependsOn = append(entry.DependsOn, string(dependency))
		}
		all = append(all, entry)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

func ask(values []string) answer {
	out := answer{Flags: values}
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	registry := basecompatibility.NewComponentGlobalsRegistry()
	must(registry.Register(basecompatibility.DefaultKubeComponent, compatibility.DefaultBuildEffectiveVersion(), gates))
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	registry.AddFlags(flags)
	arguments := []string{}
	for _, value := range values {
		arguments = append(arguments, "--feature-gates="+value)
	}
	err := flags.Parse(arguments)
	if err == nil {
		err = registry.Set()
	}
	if err != nil {
		out.Error = err.Error()
		return out
	}
	out.Changed = map[string]bool{}
	for name, spec := range gates.GetAll() {
		if on := gates.Enabled(name); on != spec.Default {
			out.Changed[string(name)] = on
		}
	}
	return out
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
