// Package contest is what the sides of `cargo xtask bench` that are written in Go share: they speak lines of JSON over stdin
// and stdout, as ours do.
//
// The first line of stdin is the setup, answered by what the side finds, which the sides must agree on. Each further line
// is an [Order], {"measure": …, "case": …, "nanoseconds": …, "processor": …}, answered by a [Sample],
// {"operations": …, "nanoseconds": …}.
package contest

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"
)

// Order is what is to be measured, and for how long about.
type Order struct {
	// Measure is the work, Case what it is done on.
	Measure     string `json:"measure"`
	Case        string `json:"case"`
	Nanoseconds int64  `json:"nanoseconds"`
	// Processor says whether the time on a processor counts.
	Processor bool `json:"processor"`
}

// Length is the time to spend.
func (o Order) Length() time.Duration { return time.Duration(o.Nanoseconds) }

// Sample is what was measured.
type Sample struct {
	// Operations is how often the work was done in a batch, Nanoseconds how long that took.
	Operations  int64 `json:"operations"`
	Nanoseconds int64 `json:"nanoseconds"`
}

// Measure answers an order.
type Measure func(Order) (Sample, error)

// Serve reads the setup, makes a side of it, and answers the orders that follow until they end. To begin gives what the side
// finds and what measures.
func Serve[S any](orders io.Reader, answers io.Writer, begin func(S) (any, Measure, error)) error {
	in, out := json.NewDecoder(bufio.NewReader(orders)), json.NewEncoder(answers)
	var given S
	if err := in.Decode(&given); err != nil {
		return err
	}
	found, measure, err := begin(given)
	if err != nil {
		return err
	}
	if err := out.Encode(found); err != nil {
		return err
	}
	for in.More() {
		var o Order
		if err := in.Decode(&o); err != nil {
			return err
		}
		measured, err := measure(o)
		if err != nil {
			return err
		}
		if err := out.Encode(measured); err != nil {
			return err
		}
	}
	return nil
}

// Batches runs batches of a size for about the time given, after a tenth of it to warm up; their size is such that they take
// about a hundredth of the time, and no more than most. The sample is the median batch: one in which something else had
// the processor tells nothing.
func Batches(length time.Duration, most int, batch func(size int) time.Duration) Sample {
	size := 1
	for start := time.Now(); time.Since(start) < length/10; {
		if batch(size) < length/100 && size < most {
			size *= 2
		}
	}
	var batches []int64
	for start := time.Now(); len(batches) == 0 || time.Since(start) < length; {
		batches = append(batches, batch(size).Nanoseconds())
	}
	slices.Sort(batches)
	return Sample{int64(size), batches[len(batches)/2]}
}

// Operations is [Batches] of an operation that needs nothing made for it.
func Operations(length time.Duration, operation func()) Sample {
	return Batches(length, math.MaxInt, func(size int) time.Duration {
		began := time.Now()
		for range size {
			operation()
		}
		return time.Since(began)
	})
}
