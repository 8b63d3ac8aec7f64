// Command load times how the Kubernetes API server loads a directory of static admission manifests.
//
// It loads the directory -n times with the server's own loader (reading, decoding, defaulting, validation with the
// compilation of all expressions, and the hash) and prints one line of JSON: the nanoseconds that each time took, how
// many objects there were, and the peak of the process's memory in KiB.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	policyloader "k8s.io/kubernetes/pkg/admission/plugin/policy/manifest/loader"
	webhookloader "k8s.io/kubernetes/pkg/admission/plugin/webhook/manifest/loader"
)

type report struct {
	Nanos   []int64 `json:"nanos"`
	Objects int     `json:"objects"`
	PeakKiB int64   `json:"peak_kib"`
}

func main() {
	times := flag.Int("n", 1, "how many `times` to load the directory")
	plugin := flag.String("plugin", "ValidatingAdmissionPolicy", "the `plugin` whose directory it is")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*plugin, flag.Arg(0), *times); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(plugin, directory string, times int) error {
	var r report
	for range times {
		start := time.Now()
		objects, err := load(plugin, directory)
		if err != nil {
			return err
		}
		r.Nanos = append(r.Nanos, time.Since(start).Nanoseconds())
		r.Objects = objects
	}
	peak, err := peakKiB()
	if err != nil {
		return err
	}
	r.PeakKiB = peak
	return json.NewEncoder(os.Stdout).Encode(r)
}

func load(plugin, directory string) (int, error) {
	switch plugin {
	case "ValidatingAdmissionPolicy":
		loaded, err := policyloader.LoadValidatingManifestsFromDirectory(directory)
		if err != nil {
			return 0, err
		}
		return len(loaded.Policies) + len(loaded.Bindings), nil
	case "MutatingAdmissionPolicy":
		loaded, err := policyloader.LoadMutatingManifestsFromDirectory(directory)
		if err != nil {
			return 0, err
		}
		return len(loaded.Policies) + len(loaded.Bindings), nil
	case "ValidatingAdmissionWebhook":
		loaded, err := webhookloader.LoadValidatingManifests(directory)
		if err != nil {
			return 0, err
		}
		return len(loaded.Configurations), nil
	case "MutatingAdmissionWebhook":
		loaded, err := webhookloader.LoadMutatingManifests(directory)
		if err != nil {
			return 0, err
		}
		return len(loaded.Configurations), nil
	}
	return 0, fmt.Errorf("no plugin %q", plugin)
}

// peakKiB is the largest resident set that the process has had.
func peakKiB() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("no VmHWM in /proc/self/status")
}
