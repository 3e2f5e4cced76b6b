package schema

import "testing"

func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	for _, id := range IDs() {
		if _, err := catalogue()[id](); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}
