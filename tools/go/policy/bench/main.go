// Command bench runs the admission policy plugins of k8s.io/apiserver for `cargo xtask bench`.
//
// Without arguments it evaluates one request again and again. The first line of stdin is the setup, {"plugin": …,
// "directory": …, "request": …, "namespace": …, "openapi": …}: the plugin's name, its directory of static manifests, an
// AdmissionRequest, the namespace that it is in, and the file of the OpenAPI document of core/v1, which mutations need.
// The answer is what came of the request: {"allowed": …, "message": …, "object": …}. Package contest has the rest.
//
// `bench start [-processor] [-n TIMES] PLUGIN DIRECTORY` times the way from a directory to a plugin that can decide, `bench keep PLUGIN
// SMALL DIRECTORY` says what memory a directory's policies keep; see start.go. `bench scan DIRECTORY NAMESPACES OBJECTS` evaluates
// the creation of each object of a file; see scan.go. `bench listen PORT CERTIFICATES DIRECTORY NAMESPACE` serves reviews of Pods; see
// listen.go.
//
// # What is fair
//
// The plugin gets what an API server gives it: the object decoded into its Go type, its attributes made, namespaces in an
// informer's cache. Neither decoding the request nor copying the object for the next mutation is timed. Conversion to the
// version that a policy asks for, which an API server has generated code for that shares most of the object, costs a
// shallow copy here. There is no audit context, no log and no warning recorder to feed. Costs are those of the plugin:
// matching, making the variables, evaluating with cost tracking, applying patches, and the error that tells of denials.
package main

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/pratique/pratique/tools/go/contest"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return contest.Serve(os.Stdin, os.Stdout, begin)
	}
	switch what, rest := arguments[0], arguments[1:]; what {
	case "start":
		return start(rest)
	case "keep":
		return keep(rest)
	case "scan":
		return scan(rest, os.Stdout)
	case "listen":
		return listen(rest)
	default:
		return fmt.Errorf("no work is named %q", what)
	}
}
