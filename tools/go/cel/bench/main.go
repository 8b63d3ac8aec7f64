// Command bench times the CEL of k8s.io/apiserver for `cargo xtask bench cel`.
//
// The first line of stdin is the setup: {"object": …, "request": …, "expressions": [{"name": …, "text": …}]}. The
// answer holds what each expression gives: {"cases": {name: {"value": …, "cost": …}}}. Package contest has the
// rest.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/pratique/pratique/tools/go/contest"
)

type setup struct {
	Object      json.RawMessage `json:"object"`
	Expressions []expression    `json:"expressions"`
}

type expression struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func main() {
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func begin(given setup) (any, contest.Measure, error) {
	subjects, facts := map[string]*subject{}, map[string]any{}
	for _, e := range given.Expressions {
		s, err := newSubject(e.Text, given.Object)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		subjects[e.Name] = s
		if facts[e.Name], err = s.facts(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	measure := func(o contest.Order) (contest.Sample, error) {
		s, known := subjects[o.Case]
		if !known {
			return contest.Sample{}, fmt.Errorf("no expression is named %q", o.Case)
		}
		operation, err := s.operation(o.Measure)
		if err != nil {
			return contest.Sample{}, err
		}
		return contest.Operations(o.Length(), operation), nil
	}
	return map[string]any{"cases": facts}, measure, nil
}
