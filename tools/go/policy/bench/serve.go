package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

type setup struct {
	Plugin    string `json:"plugin"`
	Directory string `json:"directory"`
	Request   string `json:"request"`
	Namespace string `json:"namespace"`
	OpenAPI   string `json:"openapi"`
}

type order struct {
	Measure     string `json:"measure"`
	Case        string `json:"case"`
	Nanoseconds int64  `json:"nanoseconds"`
	Processor   bool   `json:"processor"`
}

type sample struct {
	Operations  int64 `json:"operations"`
	Nanoseconds int64 `json:"nanoseconds"`
}

func serve(orders io.Reader, answers io.Writer) error {
	in, out := json.NewDecoder(bufio.NewReader(orders)), json.NewEncoder(answers)
	var given setup
	if err := in.Decode(&given); err != nil {
		return err
	}
	s, err := newSubject(given)
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

// measure judges for about the time given, after a tenth of it to warm up, in batches that take about a hundredth of the
// time. The sample is the median batch: one in which something else had the processor tells nothing.
func measure(s *subject, length time.Duration, processor bool) sample {
	size, now := 1, clock(processor)
	for start := time.Now(); time.Since(start) < length/10; {
		if s.batch(size, now) < length/100 {
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

// clock is the wall's, or the time that this goroutine's thread has on a processor. The latter leaves out the threads that
// collect garbage.
func clock(processor bool) func() time.Duration {
	began := time.Now()
	if !processor {
		return func() time.Duration { return time.Since(began) }
	}
	runtime.LockOSThread()
	return func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
			panic(err)
		}
		return time.Duration(now.Nano())
	}
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
