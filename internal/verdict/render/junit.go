package render

import (
	"encoding/xml"
	"strings"

	"writ/internal/verdict"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`
	Output     string     `xml:"system-out,omitempty"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	Failure *problem `xml:"failure,omitempty"`
	Error   *problem `xml:"error,omitempty"`
	Skipped *problem `xml:"skipped,omitempty"`
	Output  string   `xml:"system-out,omitempty"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// junit is for test reports: a row is a test. What blocks is a failure, and so is
// what a gate holds; what cannot be judged is an error; without a gate what is not
// known is skipped, with the reason.
func junit(r verdict.Report) (string, error) {
	s := suite{Name: clean(r.RunKey), Output: clean(r.Summary() + "\n" + strings.Join(r.Remarks(), "\n"))}
	s.Properties = []property{{"method", clean(r.Method)}, {"settings", clean(r.Settings)}}
	if r.Gate != nil {
		s.Properties = append(s.Properties, property{"gate", string(r.Gate.Answer)})
	}
	for _, row := range r.Rows {
		c := testcase{Name: clean(row.Case), Class: clean(row.Quantity), Output: clean(message(row) + "\n" + strings.Join(row.Notes(), "\n"))}
		p := &problem{Message: clean(message(row)), Type: row.Word, Text: clean(strings.Join(row.Notes(), "\n"))}
		invalid := row.Word == string(verdict.Invalid)
		switch weight := weigh(r, row); {
		case weight == stop && invalid:
			c.Error = p
			s.Errors++
		case weight == stop || weight == look && r.Gate != nil:
			c.Failure = p
			s.Failures++
		case weight == look || row.Mark() == verdict.MarkUnknown:
			c.Skipped = p
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	for _, f := range r.Failed {
		s.Cases = append(s.Cases, testcase{Name: clean(f), Class: "comparison", Error: &problem{Message: clean(f), Type: "failed"}})
		s.Errors++
	}
	if len(s.Cases) == 0 { // a report without a test would look like a pass
		s.Cases = append(s.Cases, testcase{Name: "nothing was measured", Class: "comparison", Error: &problem{Message: "nothing was measured", Type: "nothing"}})
		s.Errors++
	}
	s.Tests = len(s.Cases)
	out, err := xml.MarshalIndent(suites{Name: "writ", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suites: []suite{s}}, "", "  ")
	if err != nil {
		return "", err
	}
	return xml.Header + string(out) + "\n", nil
}

// clean drops the control characters that XML cannot hold.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0xFFFE || c == 0xFFFF {
			return '?'
		}
		return c
	}, strings.TrimRight(s, "\n"))
}
