package schema

import (
	"slices"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// FuzzValidate feeds any value to any schema: no panic, no endless work, and
// either nothing or an error that a person can use.
func FuzzValidate(f *testing.F) {
	ids := IDs()
	for _, s := range samples(f) {
		f.Add(uint8(slices.Index(ids, s.id)), s.raw)
	}
	f.Add(uint8(0), []byte(`{"environment_variables":{"":1,"a b":[]},"plan":[[[{}]]],"suites":[{"":1e300}]}`))
	f.Add(uint8(1), []byte(`[1e308,-0,1e-324,"\u2028"]`))
	f.Fuzz(func(t *testing.T, which uint8, raw []byte) {
		v, err := canon.Parse(raw)
		if err != nil {
			return
		}
		id := ids[int(which)%len(ids)]
		err = Validate(id, v)
		if err == nil {
			return
		}
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid || len(e.Fields) == 0 || e.Fields[0].Pointer != e.Pointer {
			t.Fatalf("%s: %#v", id, err)
		}
		for _, field := range e.Fields {
			if field.Rule == "" {
				t.Errorf("%s: no rule at %q", id, field.Pointer)
			}
			if _, found := v.At(field.Pointer); found != (field.Got != "") {
				t.Errorf("%s: %q found %v, shown %q", id, field.Pointer, found, field.Got)
			}
		}
	})
}
