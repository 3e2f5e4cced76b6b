package proc

// Isolation is what a keeper takes away from its programs. The zero value takes
// nothing away. User and Network need no privilege on most systems; a kernel or
// a host policy may still deny them, and then Start fails.
type Isolation struct {
	User       bool    `json:"user"`       // own user namespace: the same ids, no rights over the host
	Network    bool    `json:"network"`    // own network namespace, whose only interface is a loopback that is down
	Processes  bool    `json:"processes"`  // own process ids: programs see and signal only each other
	IPC        bool    `json:"ipc"`        // own System V and POSIX message queues
	Files      bool    `json:"files"`      // own mounts: everything read-only but Writable
	Loopback   bool    `json:"loopback"`   // bring the private loopback up; still reaches nothing outside
	Writable   string  `json:"writable"`   // the one directory of the host that stays writable
	Temporary  string  `json:"temporary"`  // directory inside Writable that stands in for /tmp and /var/tmp
	Keep       []Path  `json:"keep"`       // directories inside Writable that are read-only all the same
	Hide       []Path  `json:"hide"`       // directories that look empty; what is written there is gone with the keeper
	Expose     []Path  `json:"expose"`     // read-only directories that stay visible inside hidden ones
	Layer      []Layer `json:"layer"`      // directories of Writable that look like others to begin with
	BestEffort bool    `json:"bestEffort"` // a Layer that the kernel denies is left out and reported
}

// Any reports whether anything is taken away at all.
func (i Isolation) Any() bool {
	return i.User || i.Network || i.Processes || i.IPC || i.Files
}

// Path is an absolute, clean directory name. One that does not exist is passed over.
type Path = string

// Layer lets At look like Lower, without a copy: what is written there goes to
// Upper, and Lower never changes. No two keepers may share an Upper.
type Layer struct {
	At    string `json:"at"`    // directory inside Writable
	Lower string `json:"lower"` // existing directory
	Upper string `json:"upper"` // directory inside Writable, empty or left by an earlier layer
	Work  string `json:"work"`  // scratch directory beside Upper
}

// Report is what a keeper found after it was set up: facts, not wishes.
type Report struct {
	PID        int         `json:"pid"` // in its own view
	UID        int         `json:"uid"`
	Namespaces Namespaces  `json:"namespaces"`
	Interfaces []Interface `json:"interfaces"`
	Layers     int         `json:"layers"`    // how many Layers took effect
	FreshProc  bool        `json:"freshProc"` // /proc shows the own processes only
	Cgroup     bool        `json:"cgroup"`    // programs are in a control group of their own, and are killed through it
}

// Namespaces are the kernel's names of the namespaces of a process, such as
// "net:[4026531840]"; "" when it cannot be read.
type Namespaces struct {
	User    string `json:"user"`
	Network string `json:"network"`
	PID     string `json:"pid"`
	IPC     string `json:"ipc"`
	Mount   string `json:"mount"`
}

// Interface is a network interface that programs can see.
type Interface struct {
	Name     string `json:"name"`
	Up       bool   `json:"up"`
	Loopback bool   `json:"loopback"`
}
