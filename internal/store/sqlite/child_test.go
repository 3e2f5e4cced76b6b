package sqlite_test

const childJob = "WRIT_STORE_CHILD"

func child(string) int { return 0 }
