// Command bench times the CEL of k8s.io/apiserver for `cargo xtask bench cel`.
//
// The first line of stdin is the setup: {"object": …, "request": …, "expressions": [{"name": …, "text": …}]}. The
// answer holds what each expression gives: {"cases": {name: {"value": …, "cost": …}}}. Each further line asks for a
// measurement, {"measure": …, "case": …, "nanoseconds": …}, and is answered by {"operations": …, "nanoseconds": …}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

type setup struct {
	Object      json.RawMessage `json:"object"`
	Expressions []expression    `json:"expressions"`
}

type expression struct {
	Name string `json:"name"`
	Text string `json:"text"`
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
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	lines := bufio.NewReader(os.Stdin)
	in, out := json.NewDecoder(lines), json.NewEncoder(os.Stdout)
	var given setup
	if err := in.Decode(&given); err != nil {
		return err
	}
	subjects, facts := map[string]*subject{}, map[string]any{}
	for _, e := range given.Expressions {
		s, err := newSubject(e.Text, given.Object)
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		subjects[e.Name] = s
		if facts[e.Name], err = s.facts(); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	if err := out.Encode(map[string]any{"cases": facts}); err != nil {
		return err
	}
	for in.More() {
		var o order
		if err := in.Decode(&o); err != nil {
			return err
		}
		s, known := subjects[o.Case]
		if !known {
			return fmt.Errorf("no expression is named %q", o.Case)
		}
		operation, err := s.operation(o.Measure)
		if err != nil {
			return err
		}
		if err := out.Encode(measure(operation, time.Duration(o.Nanoseconds))); err != nil {
			return err
		}
	}
	return nil
}

// measure repeats an operation for about the time given, after a tenth of it to warm up, in batches that take about a
// hundredth of the time. The sample is the median batch: one in which something else had the processor tells nothing.
func measure(operation func(), length time.Duration) sample {
	batch := int64(1)
	for start := time.Now(); time.Since(start) < length/10; {
		began := time.Now()
		for range batch {
			operation()
		}
		if time.Since(began) < length/100 {
			batch *= 2
		}
	}
	var batches []int64
	for start := time.Now(); len(batches) == 0 || time.Since(start) < length; {
		began := time.Now()
		for range batch {
			operation()
		}
		batches = append(batches, time.Since(began).Nanoseconds())
	}
	slices.Sort(batches)
	return sample{batch, batches[len(batches)/2]}
}
