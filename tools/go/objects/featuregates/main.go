// Command featuregates writes the feature gates of kube-apiserver as JSON. `cargo xtask codegen` makes a table from it.
//
//	go run ./featuregates > gates.json
//	go run ./featuregates answer 1.37.2 < flags.txt > answers.txt
//
// With `answer` it reads values of `--feature-gates`, one a line, and writes what the server says of each, and of each of its gates
// in the state that it is not in by default.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	metricsfeatures "k8s.io/component-base/metrics/features"
	"k8s.io/klog/v2"

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

func main() {
	// As cmd/kube-apiserver/app/server.go and apiserver/pkg/server/config.go do; all others are registered by the packages
	// that have them.
	must(logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate))
	must(metricsfeatures.AddFeatureGates(utilfeature.DefaultMutableFeatureGate))
	if len(os.Args) == 3 && os.Args[1] == "answer" {
		answer(os.Args[2])
		return
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	must(encoder.Encode(gates()))
}

func gates() []gate {
	all := []gate{}
	dependencies := map[featuregate.Feature][]featuregate.Feature{}
	// Since 1.35 gates need others.
	if gates, ok := any(utilfeature.DefaultMutableFeatureGate).(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); ok {
		dependencies = gates.Dependencies()
	}
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

// answer writes a file of `crates/pratique-schema/testdata`.
func answer(version string) {
	fmt.Printf("# Values of --feature-gates, each with the answer of kube-apiserver %s in the line below. Made by `tools/go/objects/featuregates`.\n", version)
	// The server also warns of gates that it will remove.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	lines := bufio.NewScanner(os.Stdin)
	values := []string{}
	for lines.Scan() {
		values = append(values, lines.Text())
	}
	for _, gate := range gates() {
		values = append(values, fmt.Sprintf("%s=%t", gate.Name, !gate.Default))
	}
	for _, value := range values {
		if answer := ask(value); isSteady(value, answer) {
			fmt.Printf("%s\n%s\n", value, answer)
		}
	}
}

// isSteady says whether the server gives the same answer each time: it goes through maps, and tells the first of several unknown gates.
func isSteady(value, answer string) bool {
	for range 20 {
		if ask(value) != answer {
			return false
		}
	}
	return true
}

// ask says what a server does with a value of its flag: `=` and the gates that are not as by default, or `!` and the error.
func ask(value string) string {
	gates := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	registry := basecompatibility.NewComponentGlobalsRegistry()
	must(registry.Register(basecompatibility.DefaultKubeComponent, compatibility.DefaultBuildEffectiveVersion(), gates))
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	registry.AddFlags(flags)
	err := flags.Set("feature-gates", value)
	if err == nil {
		err = registry.Set()
	}
	if err != nil {
		return "!" + sorted(err).Error()
	}
	changed := []string{}
	for name, spec := range gates.GetAll() {
		if gates.Enabled(name) != spec.Default {
			changed = append(changed, string(name))
		}
	}
	sort.Strings(changed)
	return "=" + strings.Join(changed, " ")
}

// sorted has several errors in an order of their own: the server goes through maps.
func sorted(err error) error {
	if several, ok := err.(utilerrors.Aggregate); ok {
		errs := several.Errors()
		for i := range errs {
			errs[i] = sorted(errs[i])
		}
		sort.Slice(errs, func(i, j int) bool { return errs[i].Error() < errs[j].Error() })
		return utilerrors.NewAggregate(errs)
	}
	return err
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
