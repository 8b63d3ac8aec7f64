package main

import (
	"os"
	"path/filepath"
	"regexp"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
)

var gateName = regexp.MustCompile(`features\.([A-Z][A-Za-z0-9]+)`)

// gates has the state of each feature gate on which defaulting depends.
func gates() map[string]bool {
	found := map[string]bool{}
	for module, glob := range sources {
		files, err := filepath.Glob(filepath.Join(moduleDirectory(module), glob, "defaults.go"))
		must(err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			must(err)
			for _, match := range gateName.FindAllStringSubmatch(string(text), -1) {
				found[match[1]] = utilfeature.DefaultFeatureGate.Enabled(featuregate.Feature(match[1]))
			}
		}
	}
	return found
}
