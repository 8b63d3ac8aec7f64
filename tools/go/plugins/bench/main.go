// Command bench runs the admission plugins that are built into kube-apiserver, for `cargo xtask bench plugins`.
//
// The first line of stdin is the setup, a case of benches/data/plugins.json: {"plugins": NAMES or "default", "objects": …,
// "request": …}. The answer is what becomes of the request: {"allowed": …, "message": …, "object": …}. Package
// contest has the rest.
//
// # What is fair
//
// The plugins get what an API server gives them: a decoded and defaulted object of the internal version, attributes, caches of
// informers that are in sync, a recorder of warnings and an audit context. What is timed are Admit and Validate, with the
// copy of the object that Validate gets in a server, in batches over objects that were copied before. The time on processors
// is that of the whole process: quotas are checked by workers of their own.
//
// With "whole", the request is a POST: the server's handler reads and decodes the body, runs the plugins, prepares and validates the
// object, and writes the answer. Nothing is stored, and nobody asks who manages which fields. With a "directory", its policies are
// among the plugins.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/pratique/pratique/tools/go/contest"
	"k8s.io/klog/v2"
)

func main() {
	klog.SetLogger(logr.Discard())
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func begin(given setup) (any, contest.Measure, error) {
	s, err := newWork(&given)
	if err != nil {
		return nil, nil, err
	}
	found, err := s.facts()
	measure := func(o contest.Order) (contest.Sample, error) {
		now := o.Clock(contest.Process)
		batch := func(size int) time.Duration { return s.batch(size, now) }
		return contest.Batches(o.Length(), most, batch), nil
	}
	return found, measure, err
}

// work is what is measured.
type work interface {
	// facts is what becomes of the request.
	facts() (map[string]any, error)
	// batch does the work so many times, one after another, and gives the time it takes.
	batch(size int, now func() time.Duration) time.Duration
}

func newWork(given *setup) (work, error) {
	if given.Whole {
		return newHandled(given)
	}
	return newSubject(given)
}

// most is how many objects are copied at once: more would leave the caches of a processor.
const most = 64
