package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/pratique/pratique/tools/go/contest"
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
		now := o.Clock(contest.Thread)
		batch := func(size int) time.Duration { return s.batch(size, now) }
		return contest.Batches(o.Length(), math.MaxInt, batch), nil
	}
	return found, measure, err
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
