package cli

import (
	"errors"
	"os"
	"path/filepath"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/noise"
	"writ/internal/result"
	"writ/internal/verdict"
)

// noNoise is the value of --noise that leaves noise out.
const noNoise = "none"

// noiseDir is where calibrations are kept unless told otherwise.
func (a *app) noiseDir() string { return filepath.Join(a.dataDir(), "noise") }

// noiseOf are the conditions that noise has to be of to say anything about results.
func noiseOf(e result.Environment, r *result.Runner, p verdict.GatePolicy) noise.Conditions {
	if r == nil {
		r = &result.Runner{}
	}
	return noise.ConditionsOf(e, *r, p.Ref())
}

// sigma finds what is known of the noise under some conditions; nil when nothing is.
func (o judgeOptions) sigma(c noise.Conditions, context canon.Value, p verdict.GatePolicy) (func(verdict.Pair) (float64, bool), error) {
	const op = "read noise"
	if o.noise == noNoise {
		return nil, nil
	}
	files := []string{o.noise}
	if o.noise == "" {
		var err error
		if files, err = filepath.Glob(filepath.Join(o.noiseDir, "*.json")); err != nil {
			return nil, fault.Wrap(err, fault.Usage, op, "%s cannot be read", o.noiseDir)
		}
	}
	var best *noise.Document
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && o.noise == "" {
			continue // just removed
		}
		if err != nil {
			return nil, fault.Wrap(err, fault.Usage, op, "%s cannot be read", name).Help("name a file of writ calibrate, or none")
		}
		d, err := noise.Parse(raw)
		if err != nil {
			return nil, in(name, err)
		}
		switch {
		case d.Conditions.SameMachine(c):
			if best == nil || len(d.Suites) > len(best.Suites) {
				best = &d
			}
		case o.noise != "":
			return nil, fault.New(fault.Incomparable, op, "%s is of another machine, kernel, microcode or version of writ", name).
				Help("calibrate on the machine that the results are of")
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.Sigma(noise.PrecisionOf(context), p.Measure), nil
}

// replaceFile puts a whole file in the place of another: nobody ever sees a part of
// it, also when this process is killed or the machine loses power.
func replaceFile(path string, raw []byte) (err error) {
	defer func() {
		if err != nil {
			err = fault.Wrap(err, fault.Unavailable, "write file", "%s cannot be written", path)
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), ".writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when it was renamed
	if _, err = f.Write(raw); err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
