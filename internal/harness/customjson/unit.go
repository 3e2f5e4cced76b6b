package customjson

// unit is what one unit of a document is in the unit of a quantity.
type unit struct {
	of       string  // UCUM
	mul, div float64 // both exact, so that 1.5 ms are 0.0015 s and not a bit more
}

// units is the table of all that documents may use.
var units = map[string]unit{
	"ns": {"s", 1, 1e9}, "us": {"s", 1, 1e6}, "ms": {"s", 1, 1e3}, "s": {"s", 1, 1}, "min": {"s", 60, 1},
	"By": {"By", 1, 1}, "B": {"By", 1, 1}, "kB": {"By", 1e3, 1}, "MB": {"By", 1e6, 1}, "GB": {"By", 1e9, 1},
	"KiB": {"By", 1 << 10, 1}, "MiB": {"By", 1 << 20, 1}, "GiB": {"By", 1 << 30, 1},
	"By/s": {"By/s", 1, 1}, "B/s": {"By/s", 1, 1}, "kB/s": {"By/s", 1e3, 1}, "MB/s": {"By/s", 1e6, 1}, "GB/s": {"By/s", 1e9, 1},
	"KiB/s": {"By/s", 1 << 10, 1}, "MiB/s": {"By/s", 1 << 20, 1}, "GiB/s": {"By/s", 1 << 30, 1},
	"1": {"1", 1, 1}, "1/s": {"1/s", 1, 1}, "1/ms": {"1/s", 1e3, 1}, "ops/s": {"1/s", 1, 1},
	"J": {"J", 1, 1}, "mJ": {"J", 1, 1e3}, "W": {"W", 1, 1}, "mW": {"W", 1, 1e3},
	"Hz": {"MHz", 1, 1e6}, "MHz": {"MHz", 1, 1}, "GHz": {"MHz", 1e3, 1}, "Cel": {"Cel", 1, 1},
}
