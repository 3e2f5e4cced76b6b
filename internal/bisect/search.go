package bisect

// Outcome is what a search has come to.
type Outcome string

// The outcomes.
const (
	Open         Outcome = "open"          // there is more to try
	Culprit      Outcome = "culprit"       // the first bad commit follows a good one
	Range        Outcome = "range"         // it is one of several, and no trial can tell which
	NoRegression Outcome = "no-regression" // the bad commit was not shown to be slower than the good one
)

// Found is the state of a search.
type Found struct {
	Outcome Outcome
	// Good is the last commit that is good, and Bad the first that is bad; the one
	// that made the difference is after Good and no later than Bad.
	Good, Bad string
	Suspects  []string // after Good, up to Bad; one when Outcome is Culprit
	Left      int      // trials that are left at most, when Open
}

// trial finds the trial of a commit.
func (s Search) trial(commit string) (Trial, bool) {
	for _, t := range s.Trials {
		if t.Commit == commit {
			return t, true
		}
	}
	return Trial{}, false
}

// bounds are the places of the last good commit before the first bad one, and of
// that. With no bad commit known both ends stand.
func (s Search) bounds() (good, bad int) {
	bad = len(s.Commits) - 1
	for i := bad; i > 0; i-- {
		if t, ok := s.trial(s.Commits[i]); ok && t.Mark == Bad {
			bad = i
		}
	}
	for i := bad - 1; i > 0; i-- {
		if t, ok := s.trial(s.Commits[i]); ok && t.Mark == Good {
			return i, bad
		}
	}
	return 0, bad
}

// Next is the commit to try; ok is false when the search has ended. The bad commit
// is the first, then the one that lies farthest from everything that is known: the
// middle, and, where that cannot be told, the middles of both halves.
func (s Search) Next() (commit string, ok bool) {
	last := len(s.Commits) - 1
	if t, tried := s.trial(s.Commits[last]); !tried {
		return s.Commits[last], true
	} else if t.Mark != Bad {
		return "", false
	}
	good, bad := s.bounds()
	best, far := 0, 0
	for i := good + 1; i < bad; i++ {
		if d := s.distance(i, good, bad); d > far {
			best, far = i, d
		}
	}
	if far == 0 {
		return "", false
	}
	return s.Commits[best], true
}

// distance is how many commits lie between a place and the nearest one that is
// known, plus one; 0 when it is known itself.
func (s Search) distance(at, good, bad int) int {
	for d := 0; ; d++ {
		for _, i := range []int{at - d, at + d} {
			if i <= good || i >= bad {
				return d
			}
			if _, tried := s.trial(s.Commits[i]); tried {
				return d
			}
		}
	}
}

// Found says what the search has come to.
func (s Search) Found() Found {
	good, bad := s.bounds()
	f := Found{Outcome: Open, Good: s.Commits[good], Bad: s.Commits[bad], Suspects: s.Commits[good+1 : bad+1]}
	if _, more := s.Next(); more {
		for i := good + 1; i <= bad; i++ {
			if _, tried := s.trial(s.Commits[i]); !tried {
				f.Left++
			}
		}
		return f
	}
	switch t, _ := s.trial(s.Commits[len(s.Commits)-1]); {
	case t.Mark != Bad:
		f.Outcome = NoRegression
	case bad == good+1:
		f.Outcome = Culprit
	default:
		f.Outcome = Range
	}
	return f
}

// Add records a trial of the commit that Next gave.
func (s Search) Add(t Trial) (Search, error) {
	s.Trials = append(s.Trials[:len(s.Trials):len(s.Trials)], t)
	return s, s.check()
}
