package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"writ/internal/canon"
)

// both returns a schema in its two forms.
func both(t testing.TB, id ID) (*acceptor, *jsonschema.Schema) {
	t.Helper()
	c := catalogue()[id]
	s, err := c.full()
	if err != nil {
		t.Fatal(err)
	}
	return c.quick(), s
}

// TestEverySchemaIsQuick: a rule that acceptors do not know would send every
// document of that schema the long way.
func TestEverySchemaIsQuick(t *testing.T) {
	t.Parallel()
	for _, id := range IDs() {
		if a, _ := both(t, id); a == nil {
			t.Errorf("%s has a rule that no acceptor knows", id)
		}
	}
}

// TestAcceptorsAgreeWithTheValidator: valid documents with up to four changes are
// judged alike by both, for every schema that has a sample.
func TestAcceptorsAgreeWithTheValidator(t *testing.T) {
	t.Parallel()
	bases := map[ID][][]byte{}
	for _, s := range samples(t) {
		bases[s.id] = append(bases[s.id], s.raw)
	}
	for id, raws := range bases {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			quick, full := both(t, id)
			m := mutator{}
			m.values, m.names = vocabulary(decode(t, Raw(id)))
			if len(m.values) == 0 {
				m.values = oddities
			}
			for _, raw := range raws {
				parts(decode(t, raw), &m.pool)
			}
			good, bad := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				doc := decode(t, rapid.SampledFrom(raws).Draw(rt, "base"))
				for range rapid.IntRange(0, 4).Draw(rt, "changes") {
					doc = m.mutate(rt, doc)
				}
				raw, err := json.Marshal(doc)
				if err != nil {
					rt.Skip("no JSON")
				}
				v, err := canon.Parse(raw)
				if err != nil {
					rt.Skip("not strict JSON")
				}
				want := full.Validate(v.Any()) == nil
				if got := quick.accepts(v); got != want {
					rt.Fatalf("accepted %v, validator says %v: %s", got, want, raw)
				}
				if want {
					good++
				} else {
					bad++
				}
			})
			if good == 0 || bad == 0 {
				t.Errorf("%d valid and %d invalid documents prove nothing", good, bad)
			}
		})
	}
}

// compileText compiles a schema that is written out in a test to both forms.
func compileText(t testing.TB, text string) (*acceptor, *jsonschema.Schema) {
	t.Helper()
	doc := decode(t, []byte(text))
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource("test:schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("test:schema")
	if err != nil {
		t.Fatal(err)
	}
	return acceptorOf("test:schema#", func(location string) any { return follow(doc, strings.TrimPrefix(location, "test:schema#")) }), s
}

// TestEachRule holds single rules against values at their edges.
func TestEachRule(t *testing.T) {
	t.Parallel()
	values := strings.Split(`null true false 0 1 2 -1 1.5 1e21 -1e300 9007199254740991 "" "a" "ab" "abc" "é" "aé" "1" [] [1] [1,1.0] [1,2] [2,1,2] `+
		`["a","a"] [[1],[1]] {} {"a":1} {"b":1} {"a":1,"b":2} {"b":"x","c":null} {"ab":1} {"a":{"a":{"a":1}}} {"a":[1,"a",2]}`, " ")
	many := "[" + strings.Repeat("0,", 30) // more than are compared one by one
	values = append(values, many+"1]", many+"0]", strings.ReplaceAll(many, "0,", "")+"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]")
	for _, rule := range []string{
		`true`, `false`, `{}`, `{"type":"null"}`, `{"type":"integer"}`, `{"type":["number","string"]}`, `{"type":["integer","boolean"]}`,
		`{"const":1}`, `{"const":{"a":1}}`, `{"enum":[1,"a",null,[1]]}`, `{"not":{"type":"string"}}`, `{"not":{}}`,
		`{"minimum":1}`, `{"minimum":1.5}`, `{"exclusiveMaximum":1.5}`, `{"maximum":1}`, `{"exclusiveMinimum":1}`, `{"exclusiveMaximum":1}`, `{"minLength":2}`, `{"maxLength":1}`, `{"pattern":"^a"}`,
		`{"minItems":2}`, `{"maxItems":1}`, `{"uniqueItems":true}`, `{"items":{"type":"integer"}}`, `{"items":false}`, `{"contains":{"const":2}}`,
		`{"contains":{"const":2},"minContains":2}`, `{"contains":{"const":1},"minContains":0,"maxContains":1}`,
		`{"minProperties":2}`, `{"maxProperties":1}`, `{"required":["a","b"]}`, `{"properties":{"a":{"type":"integer"}}}`,
		`{"properties":{"a":true},"additionalProperties":false}`, `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":true}`,
		`{"patternProperties":{"^a":{"type":"integer"}},"additionalProperties":false}`, `{"properties":{"ab":false},"patternProperties":{"b":{"type":"integer"}}}`,
		`{"propertyNames":{"maxLength":1}}`, `{"propertyNames":false}`, `{"dependentRequired":{"a":["b"]}}`,
		`{"allOf":[{"type":"string"},{"minLength":2}]}`, `{"anyOf":[{"type":"string"},{"minimum":1}]}`, `{"anyOf":[false]}`,
		`{"oneOf":[{"type":"number"},{"minimum":1},{"type":"string"}]}`, `{"if":{"type":"string"},"then":{"minLength":2},"else":{"type":"object"}}`,
		`{"if":{"type":"string"},"then":{"minLength":2}}`, `{"if":{"type":"string"},"else":false}`, `{"then":false}`,
		`{"$ref":"#/$defs/x","minLength":1,"$defs":{"x":{"type":"string"}}}`,
		`{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"type":"integer"}]}}`,
	} {
		a, s := compileText(t, rule)
		if a == nil {
			t.Errorf("%s: no acceptor", rule)
			continue
		}
		for _, text := range values {
			v, err := canon.Parse([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			want := s.Validate(v.Any()) == nil
			if got := a.accepts(v); got != want {
				t.Errorf("%s: %s accepted %v, validator says %v", rule, text, got, want)
			}
		}
	}
}

// TestUnknownRulesHaveNoAcceptor: what is not understood is not guessed.
func TestUnknownRulesHaveNoAcceptor(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		`{"multipleOf":2}`, `{"minimum":0.1000000000000000055}`, `{"prefixItems":[true]}`, `{"unevaluatedProperties":false}`, `{"items":{"unevaluatedItems":false}}`,
		`{"dependentSchemas":{"a":true}}`, `{"$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}}`, `{"maximum":9007199254740993}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[true]}`,
		`{"allOf":[{"$ref":"#"}]}`, `{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}`,
	} {
		if a, _ := compileText(t, rule); a != nil {
			t.Errorf("%s has an acceptor", rule)
		}
	}
}
