package sqlite

// Point is a place in the writer where a test may make things fail.
type Point string

// The points, in the order in which a batch passes them.
const (
	AtBegin     Point = "begin"     // before the transaction
	AtWrite     Point = "write"     // after one commit of the batch was written
	AtCommit    Point = "commit"    // before the transaction is committed
	AtCommitted Point = "committed" // it is durable and not yet acknowledged; an error is ignored
)

// Hook is called at every point. An error is treated like one of the database
// at that point. A hook may also end the process, as a power cut does.
type Hook func(Point) error

func (h Hook) at(p Point) error {
	if h == nil {
		return nil
	}
	return h(p)
}
