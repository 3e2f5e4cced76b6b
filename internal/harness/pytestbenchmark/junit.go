package pytestbenchmark

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
)

const maxReport = 4 << 20 // bytes of the report of one test

// Report is what pytest says of how the tests of a run ended.
type Report struct {
	Tests   int
	Failed  bool // one failed, or broke while it was set up or torn down
	Skipped bool
	Message string // of the first that did not pass
}

// ParseReport reads a JUnit report strictly: the document must be whole, and a
// result that is not known counts as a failure.
func ParseReport(text []byte) (Report, error) {
	const op = "read test report"
	if len(text) > maxReport {
		return Report{}, fault.New(fault.TooLarge, op, "%d bytes, at most %d are read", len(text), maxReport)
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	broken := func(err error) (Report, error) {
		return Report{}, fault.Wrap(err, fault.Malformed, op, "no JUnit report").AtByte(d.InputOffset())
	}
	var r Report
	var path []string
	suites := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			path = append(path, token.Name.Local)
			switch strings.Join(path, "/") {
			case "testsuites", "testsuites/testsuite", "testsuite":
				suites++
			case "testsuites/testsuite/testcase", "testsuite/testcase":
				r.Tests++
			default:
				r.element(path, token)
			}
			if len(path) == 1 && suites == 0 || len(path) > 16 {
				return broken(nil)
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) == 0 && len(bytes.TrimSpace(token)) > 0 {
				return broken(nil)
			}
		}
	}
	if suites == 0 {
		return broken(nil)
	}
	return r, nil
}

// element reads what is said inside of a test.
func (r *Report) element(path []string, e xml.StartElement) {
	if len(path) < 3 || path[len(path)-2] != "testcase" {
		return
	}
	switch e.Name.Local {
	case "skipped":
		r.Skipped = true
	case "properties", "system-out", "system-err":
		return
	default:
		r.Failed = true
	}
	for _, a := range e.Attr {
		if a.Name.Local == "message" && r.Message == "" {
			r.Message = harness.Clip(strings.TrimSpace(firstLine(a.Value)))
		}
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
