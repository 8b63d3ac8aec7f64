// Command bench runs the admission plugins that are built into kube-apiserver, for `cargo xtask bench plugins`.
//
// The first line of stdin is the setup, a case of benches/data/plugins.json: {"plugins": NAMES or "default", "objects": …,
// "request": …}. The answer is what becomes of the request: {"allowed": …, "message": …, "object": …}. Each further line asks
// for a measurement, {"measure": …, "case": …, "nanoseconds": …, "processor": …}, and is answered by {"operations": …,
// "nanoseconds": …}.
//
// # What is fair
//
// The plugins get what an API server gives them: a decoded and defaulted object of the internal version, attributes, caches of
// informers that are in sync, a recorder of warnings and an audit context. What is timed are Admit and Validate, with the
// copy of the object that Validate gets in a server, in batches over objects that were copied before. The time on processors
// is that of the whole process: quotas are checked by workers of their own.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(nothing{})
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type nothing struct{}

func (nothing) Write(text []byte) (int, error) { return len(text), nil }

type order struct {
	Nanoseconds int64 `json:"nanoseconds"`
	Processor   bool  `json:"processor"`
}

type sample struct {
	Operations  int64 `json:"operations"`
	Nanoseconds int64 `json:"nanoseconds"`
}

func serve() error {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var given setup
	if err := in.Decode(&given); err != nil {
		return err
	}
	s, err := newSubject(&given)
	if err != nil {
		return err
	}
	found, err := s.facts()
	if err != nil {
		return err
	}
	if err := out.Encode(found); err != nil {
		return err
	}
	for in.More() {
		var o order
		if err := in.Decode(&o); err != nil {
			return err
		}
		if err := out.Encode(measure(s, time.Duration(o.Nanoseconds), o.Processor)); err != nil {
			return err
		}
	}
	return nil
}

// most is how many objects are copied at once: more would leave the caches of a processor.
const most = 64

// measure runs the plugins for about the time given, after a tenth of it to warm up, in batches that take about a hundredth
// of the time. The sample is the median batch: one in which something else had the processor tells nothing.
func measure(s *subject, length time.Duration, processor bool) sample {
	size, now := 1, clock(processor)
	for start := time.Now(); time.Since(start) < length/10; {
		if s.batch(size, now) < length/100 && size < most {
			size *= 2
		}
	}
	var batches []int64
	for start := time.Now(); len(batches) == 0 || time.Since(start) < length; {
		batches = append(batches, s.batch(size, now).Nanoseconds())
	}
	slices.Sort(batches)
	return sample{int64(size), batches[len(batches)/2]}
}

// clock is the wall's, or the time that this process has on processors.
func clock(processor bool) func() time.Duration {
	began := time.Now()
	if !processor {
		return func() time.Duration { return time.Since(began) }
	}
	return func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
			panic(err)
		}
		return time.Duration(now.Nano())
	}
}
