package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/pratique/pratique/tools/go/contest"
	"golang.org/x/sys/unix"
)

type setup struct {
	Plugin    string `json:"plugin"`
	Directory string `json:"directory"`
	Request   string `json:"request"`
	Namespace string `json:"namespace"`
	OpenAPI   string `json:"openapi"`
}

func begin(given setup) (any, contest.Measure, error) {
	s, err := newSubject(given)
	if err != nil {
		return nil, nil, err
	}
	found, err := s.facts()
	measure := func(o contest.Order) (contest.Sample, error) {
		now := clock(o.Processor)
		batch := func(size int) time.Duration { return s.batch(size, now) }
		return contest.Batches(o.Length(), math.MaxInt, batch), nil
	}
	return found, measure, err
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
