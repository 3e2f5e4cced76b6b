package canon_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

func TestParseRefusesWithByteOffset(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	for name, c := range map[string]struct {
		text   string
		offset int64
		public string
	}{
		"empty":                     {"", 0, "text ends, a value is missing"},
		"space only":                {" \n", 2, "text ends, a value is missing"},
		"byte order mark":           {"\uFEFF1", 0, "byte order mark"},
		"mark inside":               {"[\uFEFF1]", 1, `a value expected, found 'ï'`},
		"utf-16":                    {"\xff\xfe1\x00", 0, `a value expected, found 'ÿ'`},
		"no-break space":            {"[1,\u00a02]", 3, `a value expected, found 'Â'`},
		"form feed as space":        {"[\f1]", 1, `a value expected, found '\f'`},
		"trailing text":             {"1 2", 2, "text after the value"},
		"trailing comma in array":   {"[1,]", 3, `a value expected, found ']'`},
		"trailing comma in object":  {`{"a":1,}`, 7, `a member name expected, found '}'`},
		"leading comma":             {"[,1]", 1, `a value expected, found ','`},
		"missing comma":             {"[1 2]", 3, `comma or ] expected, found '2'`},
		"missing colon":             {`{"a" 1}`, 5, `a colon expected, found '1'`},
		"wrong bracket":             {"[1}", 2, `comma or ] expected, found '}'`},
		"open array":                {"[1", 2, "text ends, comma or ] is missing"},
		"open object":               {`{"a":1`, 6, "text ends, comma or } is missing"},
		"open name":                 {`{`, 1, "text ends, a member name is missing"},
		"name without quotes":       {`{a:1}`, 1, `a member name expected, found 'a'`},
		"single quotes":             {`['a']`, 1, `a value expected, found '\''`},
		"comment":                   {"[1/*x*/]", 2, `comma or ] expected, found '/'`},
		"duplicate":                 {`{"a":1,"b":2,"a":3}`, 13, `member "a" comes twice`},
		"duplicate by escape":       {`{"a":1,"\u0061":1}`, 7, `member "a" comes twice`},
		"duplicate neighbours":      {`{"a":1,"a":1}`, 7, `member "a" comes twice`},
		"duplicate below":           {`[0,{"x":{"k":1,"j":2,"k":1}}]`, 21, `member "k" comes twice`},
		"first of two duplicates":   {`{"b":1,"a":1,"b":1,"a":1}`, 13, `member "b" comes twice`},
		"invalid utf-8":             {"[\"a\xff\"]", 3, "not UTF-8"},
		"overlong":                  {"\"\xc0\x80\"", 1, "not UTF-8"},
		"surrogate in utf-8":        {"\"\xed\xa0\x80\"", 1, "not UTF-8"},
		"cut rune":                  {"\"\xe2\x82\"", 1, "not UTF-8"},
		"beyond unicode":            {"\"\xf4\x90\x80\x80\"", 1, "not UTF-8"},
		"invalid utf-8 after \\":    {"\"\\n\xff\"", 3, "not UTF-8"},
		"invalid utf-8 in name":     {"{\"\x80\":1}", 2, "not UTF-8"},
		"lone high surrogate":       {`"ab\ud800"`, 3, "surrogate without its partner"},
		"high and letter":           {`"\ud800a"`, 1, "surrogate without its partner"},
		"high and other escape":     {`"\ud800\n"`, 1, "surrogate without its partner"},
		"high and high":             {`"\ud800\ud800"`, 1, "surrogate without its partner"},
		"lone low surrogate":        {`"\udc00"`, 1, "surrogate without its partner"},
		"reversed pair":             {`"\udc00\ud800"`, 1, "surrogate without its partner"},
		"surrogate in name":         {`{"\udfff":1}`, 2, "surrogate without its partner"},
		"no such escape":            {`"a\x"`, 2, "no such escape"},
		"escape cut":                {`"\`, 2, "text ends, an escape is missing"},
		"hex cut":                   {`"\u00`, 5, "text ends, a hex digit is missing"},
		"hex wrong":                 {`"\u00g0"`, 5, `a hex digit expected, found 'g'`},
		"hex of second wrong":       {`"\ud83d\uzz00"`, 9, `a hex digit expected, found 'z'`},
		"upper-case U":              {`"\U0041"`, 1, "no such escape"},
		"open string":               {`"abc`, 4, "text ends, a closing quote is missing"},
		"open string after escape":  {`"a\n`, 4, "text ends, a closing quote is missing"},
		"control character":         {"\"a\nb\"", 2, "control character in a string"},
		"nul":                       {"\"\x00\"", 1, "control character in a string"},
		"control after escape":      {"\"\\t\t\"", 3, "control character in a string"},
		"literal cut":               {"tru", 3, "text ends, true is missing"},
		"literal wrong":             {"nulL", 3, `null expected, found 'L'`},
		"literal long":              {"falsey", 5, "text after the value"},
		"NaN":                       {"[NaN]", 1, `a value expected, found 'N'`},
		"Infinity":                  {"Infinity", 0, `a value expected, found 'I'`},
		"minus Infinity":            {"-Infinity", 1, `a digit expected, found 'I'`},
		"plus":                      {"+1", 0, `a value expected, found '+'`},
		"minus alone":               {"-", 1, "text ends, a digit is missing"},
		"leading zero":              {"[01]", 2, "digit after a leading zero"},
		"minus leading zero":        {"-00", 2, "digit after a leading zero"},
		"point first":               {".5", 0, `a value expected, found '.'`},
		"point last":                {"[1.]", 3, `a digit expected, found ']'`},
		"exponent empty":            {"1e", 2, "text ends, a digit is missing"},
		"exponent sign only":        {"[1E+]", 4, `a digit expected, found ']'`},
		"hex number":                {"0x10", 1, "text after the value"},
		"2^53":                      {"[9007199254740992]", 1, "integer beyond 2^53-1"},
		"-2^53":                     {"-9007199254740992", 0, "integer beyond 2^53-1"},
		"2^53 with fraction":        {"9007199254740992.0", 0, "integer beyond 2^53-1"},
		"2^53 by rounding":          {"9007199254740991.9", 0, "integer beyond 2^53-1"},
		"1e20":                      {"1e20", 0, "integer beyond 2^53-1"},
		"2^64 wraps no counter":     {"18446744073709551617", 0, "integer beyond 2^53-1"},
		"1e21 in digits":            {"1000000000000000000000", 0, "integer beyond 2^53-1"},
		"1e400":                     {`{"x":-1e400}`, 5, "number too large"},
		"65 levels":                 {deep, 64, "nested too deeply"},
		"65 levels of objects":      {strings.Repeat(`{"a":`, 65), 320, "nested too deeply"},
		"error wins over duplicate": {`{"a":1,"a":tru}`, 14, `true expected, found '}'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := canon.Parse([]byte(c.text))
			e, ok := fault.As(err)
			if !ok {
				t.Fatalf("accepted %q", c.text)
			}
			at, _ := e.ByteOffset()
			got := []any{e.Code, at, e.Public}
			want := []any{fault.Malformed, c.offset, c.public}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" \t\r\n{ } ":                         `{}`,
		`[ ]`:                                 `[]`,
		`null`:                                `null`,
		`-0`:                                  `0`,
		`-0.0e-5`:                             `0`,
		`1e-400`:                              `0`,
		`9007199254740991`:                    `9007199254740991`,
		`-9007199254740991`:                   `-9007199254740991`,
		`9007199254740991.0`:                  `9007199254740991`,
		`1e21`:                                `1e+21`,
		`1E+2`:                                `100`,
		`0.1e1`:                               `1`,
		`1.7976931348623157e308`:              `1.7976931348623157e+308`,
		`0.1000000000000000055`:               `0.1`,
		`"\u00e9\ud83d\ude00\/"`:              "\"é😀/\"",
		`"\uD83D\uDE00"`:                      "\"😀\"",
		`"\u2028\u2029<>&\u007f"`:             "\"\u2028\u2029<>&\u007f\"",
		`"\u0000\u001F\b\f\n\r\t"`:            `"\u0000\u001f\b\f\n\r\t"`,
		`"\uFFFE\uFDD0"`:                      "\"\uFFFE\uFDD0\"",
		`{"b":[true,false,null],"a":{"":""}}`: `{"a":{"":""},"b":[true,false,null]}`,
		`{"a":1,"A":2,"aa":3}`:                `{"A":2,"a":1,"aa":3}`,
		strings.Repeat("[", 64) + strings.Repeat("]", 64): strings.Repeat("[", 64) + strings.Repeat("]", 64),
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(v.Canonical()); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestParseKeepsNoHoldOfTheInput(t *testing.T) {
	t.Parallel()
	in := []byte(`{"a":"bcd"}`)
	v, err := canon.Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if got := string(v.Canonical()); got != `{"a":"bcd"}` {
		t.Errorf("value changed with its input: %s", got)
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	if _, err := canon.ParseLimits([]byte("[1]"), canon.Limits{Bytes: 3, Depth: 1}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
	if _, err := canon.ParseLimits([]byte("[1 ]"), canon.Limits{Bytes: 3}); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("4 bytes of 3: %v", err)
	}
	if _, err := canon.ParseLimits([]byte("[[1]]"), canon.Limits{Depth: 1}); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("2 levels of 1: %v", err)
	}
	if _, err := canon.ParseLimits([]byte(strings.Repeat("[", 100)+strings.Repeat("]", 100)), canon.Limits{Depth: 100}); err != nil {
		t.Errorf("100 levels of 100: %v", err)
	}
	if _, err := canon.Parse(make([]byte, canon.DefaultBytes+1)); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("over the default size: %v", err)
	}
}
