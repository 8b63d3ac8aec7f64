// Command bench times the webhook plugins of k8s.io/apiserver for `cargo xtask bench webhook`.
//
// The first line of stdin is the setup: {"request": …, "namespace": …, "cases": {name: {"mutating": …, "validating": …}}}.
// The answer holds the labels that the object has after mutation: {"labels": {name: …}}. Each further line asks for a
// measurement, {"measure": …, "case": …, "nanoseconds": …}, and is answered by {"operations": …, "nanoseconds": …}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
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

type order struct {
	Measure     string `json:"measure"`
	Case        string `json:"case"`
	Nanoseconds int64  `json:"nanoseconds"`
}

type sample struct {
	Operations  int64 `json:"operations"`
	Nanoseconds int64 `json:"nanoseconds"`
}

func main() {
	klog.SetLogger(logr.Discard())
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(orders io.Reader, answers io.Writer) error {
	in, out := json.NewDecoder(bufio.NewReader(orders)), json.NewEncoder(answers)
	var given setup
	if err := in.Decode(&given); err != nil {
		return err
	}
	subjects, labels := map[string]*subject{}, map[string]any{}
	for name, c := range given.Cases {
		s, err := newSubject(given, c)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := s.validate(s.attributes()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if labels[name], err = s.labels(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		subjects[name] = s
	}
	if err := out.Encode(map[string]any{"labels": labels}); err != nil {
		return err
	}
	for in.More() {
		var o order
		if err := in.Decode(&o); err != nil {
			return err
		}
		s, known := subjects[o.Case]
		if !known {
			return fmt.Errorf("no case is named %q", o.Case)
		}
		measured, err := s.measure(o.Measure, time.Duration(o.Nanoseconds))
		if err != nil {
			return err
		}
		if err := out.Encode(measured); err != nil {
			return err
		}
	}
	return nil
}

func (s *subject) measure(what string, length time.Duration) (sample, error) {
	switch what {
	case "throughput":
		return s.atOnce(length)
	case "validate":
		return s.oneByOne(s.validate, length)
	case "mutate":
		return s.oneByOne(s.mutate, length)
	}
	return sample{}, fmt.Errorf("no work is named %q", what)
}

// oneByOne gives the median of how long the work takes. The request is there before the clock starts, as the API server
// has decoded it before.
func (s *subject) oneByOne(work func(admission.Attributes) error, length time.Duration) (sample, error) {
	var times []int64
	for start := time.Now(); len(times) == 0 || time.Since(start) < length; {
		attributes := s.attributes()
		began := time.Now()
		if err := work(attributes); err != nil {
			return sample{}, err
		}
		times = append(times, time.Since(began).Nanoseconds())
	}
	slices.Sort(times)
	return sample{1, times[len(times)/2]}, nil
}

// atOnce gives how often 16 workers validate, each its own request.
func (s *subject) atOnce(length time.Duration) (sample, error) {
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
		return sample{}, err
	}
	return sample{operations.Load(), elapsed.Nanoseconds()}, nil
}
