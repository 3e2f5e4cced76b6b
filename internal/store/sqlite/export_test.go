package sqlite

// Waiting is how many commits are queued.
func (s *Store) Waiting() int {
	q := s.writer.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// ReadBack is readBack.
var ReadBack = readBack

// Queries are the statements by name.
var Queries = queries

// Migrations are the embedded migrations.
var Migrations = migrations

// UsedQueries are the names that the program prepares once.
func UsedQueries() map[string]bool {
	used := map[string]bool{}
	for name := range new(statements).byName() {
		used[name] = true
	}
	for name := range new(reader).byName() {
		used[name] = true
	}
	return used
}
