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
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/pratique/pratique/tools/go/contest"
	"k8s.io/klog/v2"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(nothing{})
	if err := contest.Serve(os.Stdin, os.Stdout, begin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type nothing struct{}

func (nothing) Write(text []byte) (int, error) { return len(text), nil }

func begin(given setup) (any, contest.Measure, error) {
	s, err := newSubject(&given)
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

// most is how many objects are copied at once: more would leave the caches of a processor.
const most = 64
