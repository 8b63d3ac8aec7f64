// Command bench times the webhook plugins of k8s.io/apiserver for `cargo xtask bench webhook`.
//
// The first line of stdin is the setup: {"request": …, "namespace": …, "cases": {name: {"mutating": …, "validating": …}}}.
// The answer holds the labels that the object has after mutation: {"labels": {name: …}}. Package contest has the rest.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/pratique/pratique/tools/go/contest"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"
)

type setup struct {
	Request   json.RawMessage           `json:"request"`
	Namespace json.RawMessage           `json:"namespace"`
	Cases     map[string]configurations `json:"cases"`
}

type configurations struct {
	Mutating   json.RawMessage `json:"mutating"`
	Validating json.RawMessage `json:"validating"`
}

func main() {
	klog.SetLogger(logr.Discard())
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func begin(given setup) (any, contest.Measure, error) {
	subjects, labels := map[string]*subject{}, map[string]any{}
	for name, c := range given.Cases {
		s, err := newSubject(given, c)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := s.validate(s.attributes()); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		if labels[name], err = s.labels(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		subjects[name] = s
	}
	measure := func(o contest.Order) (contest.Sample, error) {
		s, known := subjects[o.Case]
		if !known {
			return contest.Sample{}, fmt.Errorf("no case is named %q", o.Case)
		}
		return s.measure(o.Measure, o.Length())
	}
	return map[string]any{"labels": labels}, measure, nil
}

func (s *subject) measure(what string, length time.Duration) (contest.Sample, error) {
	switch what {
	case "throughput":
		return s.atOnce(length)
	case "validate":
		return s.oneByOne(s.validate, length)
	case "mutate":
		return s.oneByOne(s.mutate, length)
	}
	return contest.Sample{}, fmt.Errorf("no work is named %q", what)
}

// oneByOne gives the median of how long the work takes. The request is there before the clock starts, as the API server
// has decoded it before.
func (s *subject) oneByOne(work func(admission.Attributes) error, length time.Duration) (contest.Sample, error) {
	var times []int64
	for start := time.Now(); len(times) == 0 || time.Since(start) < length; {
		attributes := s.attributes()
		began := time.Now()
		if err := work(attributes); err != nil {
			return contest.Sample{}, err
		}
		times = append(times, time.Since(began).Nanoseconds())
	}
	slices.Sort(times)
	return contest.Sample{Operations: 1, Nanoseconds: times[len(times)/2]}, nil
}

// atOnce gives how often 16 workers validate, each its own request.
func (s *subject) atOnce(length time.Duration) (contest.Sample, error) {
	var operations atomic.Int64
	var failed atomic.Value
	var workers sync.WaitGroup
	start := time.Now()
	for range 16 {
		attributes := s.attributes()
		workers.Go(func() {
			for time.Since(start) < length {
				if err := s.validate(attributes); err != nil {
					failed.Store(err)
					return
				}
				operations.Add(1)
			}
		})
	}
	workers.Wait()
	elapsed := time.Since(start)
	if err, _ := failed.Load().(error); err != nil {
		return contest.Sample{}, err
	}
	return contest.Sample{Operations: operations.Load(), Nanoseconds: elapsed.Nanoseconds()}, nil
}
