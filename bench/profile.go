package main

import (
	"os"
	"runtime/pprof"
)

// startProfile writes a CPU profile of this process, which holds the appends in
// process, until stop is called. An empty path writes none.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
