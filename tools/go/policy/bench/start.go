package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/pratique/pratique/tools/go/contest"
)

// start times the way from a directory to a plugin that can decide: read, decoded, defaulted, compiled; nothing is
// validated, see manifestLoaders.
func start(arguments []string) error {
	flags := flag.NewFlagSet("start", flag.ContinueOnError)
	times := flags.Int("n", 1, "how many `times` to start")
	processor := flags.Bool("processor", false, "count the time on a processor")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("usage: bench start [-processor] [-n TIMES] PLUGIN DIRECTORY")
	}
	var nanos []int64
	now := contest.Order{Processor: *processor}.Clock(contest.Thread)
	for range *times {
		began := now()
		p, err := newPlugin(flags.Arg(0), flags.Arg(1), "")
		if err != nil {
			return err
		}
		nanos = append(nanos, (now() - began).Nanoseconds())
		close(p.stop)
	}
	peak, err := kib("VmHWM")
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"nanos": nanos, "peak_kib": peak})
}

// keep says what a directory's policies keep, beyond what a small directory does, which is loaded first: the growth of the
// anonymous part of the resident set, after a collection and after all that is free was returned to the system, and the
// growth of the live heap.
func keep(arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("usage: bench keep PLUGIN SMALL DIRECTORY")
	}
	var plugins []*plugin
	var resident, heap [2]int64
	for i, directory := range arguments[1:] {
		p, err := newPlugin(arguments[0], directory, "")
		if err != nil {
			return err
		}
		plugins = append(plugins, p)
		// The second collection frees what finalizers of the first let go.
		runtime.GC()
		debug.FreeOSMemory()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		heap[i] = int64(stats.HeapAlloc)
		if resident[i], err = kib("RssAnon"); err != nil {
			return err
		}
	}
	runtime.KeepAlive(plugins)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"resident_kib": resident[1] - resident[0],
		"heap_kib":     (heap[1] - heap[0]) / 1024,
	})
}

// kib reads a number that the system keeps of this process.
func kib(name string) (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			return strconv.ParseInt(strings.Fields(value)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("no %s in /proc/self/status", name)
}
