package contest

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Work is what runs on processors for a measure.
type Work int32

const (
	// Thread is the thread of the goroutine that asks, which it keeps from then on: what collects garbage is left out.
	Thread Work = unix.CLOCK_THREAD_CPUTIME_ID
	// Process is all of this process.
	Process Work = unix.CLOCK_PROCESS_CPUTIME_ID
)

// Clock is the wall's, or the time that work has on processors if the order is to count that.
func (o Order) Clock(work Work) func() time.Duration {
	began := time.Now()
	if !o.Processor {
		return func() time.Duration { return time.Since(began) }
	}
	if work == Thread {
		runtime.LockOSThread()
	}
	return func() time.Duration {
		var now unix.Timespec
		if err := unix.ClockGettime(int32(work), &now); err != nil {
			panic(err)
		}
		return time.Duration(now.Nano())
	}
}
