package node

import (
	"bytes"
	"context"

	"writ/internal/journal"
	"writ/internal/lane"
)

// wakeful is the desk that the server appends through: when somebody asks a run
// to stop, the host looks at once.
type wakeful struct {
	*lane.Desk
	wake func()
}

var stopAsked = []byte(`"type":"` + journal.RunCancelRequested + `"`) // as stored events spell it

// Append is that of the desk.
func (w wakeful) Append(ctx context.Context, p journal.Principal, raw []byte, key string) (wire []byte, replayed bool, err error) {
	wire, replayed, err = w.Desk.Append(ctx, p, raw, key)
	if err == nil && bytes.Contains(wire, stopAsked) {
		w.wake()
	}
	return wire, replayed, err
}
