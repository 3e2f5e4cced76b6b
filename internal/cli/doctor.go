package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/proposal"
	"writ/internal/runner/proc"
)

func (a *app) doctorCommand() *cobra.Command {
	var data string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "check what this machine has and what it lacks",
		Long: `Check git, the Go toolchain, what contained runs need of the kernel, your keys, the
data folder, the server and the clock. Each line says ok, problem with what would
help, or absent for what standalone commands do without.

Exit status: 0 no problem; 1 there is a problem.`,
		Example: "  writ doctor\n  writ doctor --server http://writ.example:7717 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if data == "" {
				data = a.dataDir()
			}
			return a.doctor(c.Context(), data)
		},
	}
	c.Flags().StringVar(&data, "data", "", "data folder (default $WRIT_DATA or the user's data folder)")
	return c
}

// The states of a check.
const (
	fine    = "ok"
	problem = "problem"
	absent  = "absent"
)

// examined is one line of the doctor.
type examined struct {
	Name   string `json:"name"`
	State  string `json:"state"` // ok, problem or absent
	Says   string `json:"says"`
	Remedy string `json:"remedy,omitempty"`
}

func (a *app) doctor(ctx context.Context, data string) error {
	var all []examined
	for _, x := range []struct {
		name  string
		check func(context.Context) examined
	}{
		{"git", checkGit}, {"go", checkGo}, {"containment", checkContainment}, {"keys", a.checkKeys},
		{"data", func(context.Context) examined { return checkData(data) }}, {"server", a.checkServer}, {"clock", a.checkClock},
	} {
		e := x.check(ctx)
		e.Name = x.name
		all = append(all, e)
	}
	err := a.emit(map[string]any{"checks": all}, func(w io.Writer) {
		rows := [][]string{{"CHECK", "STATE", "WHAT"}}
		for _, e := range all {
			rows = append(rows, []string{e.Name, e.State, e.Says})
			if e.Remedy != "" {
				rows = append(rows, []string{"", "", "  remedy: " + e.Remedy})
			}
		}
		table(w, rows)
	})
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.State == problem {
			return exitStatus(fault.ExitFinding)
		}
	}
	return nil
}

func ok(format string, args ...any) examined {
	return examined{State: fine, Says: fmt.Sprintf(format, args...)}
}

func bad(err error, remedy string) examined {
	if e, ok := fault.As(err); ok && e.Hint != "" {
		remedy = e.Hint
	}
	return examined{State: problem, Says: oneLine(err), Remedy: remedy}
}

func checkGit(ctx context.Context) examined {
	v, err := gitcmd.Version(ctx)
	if err != nil {
		return bad(err, "install git "+gitcmd.Oldest+" or newer")
	}
	return ok("git %s", v)
}

func checkGo(context.Context) examined {
	path, err := exec.LookPath("go")
	if err != nil {
		return examined{State: absent, Says: "there is no go command: changes of Go modules cannot be measured here", Remedy: "install Go from https://go.dev/dl"}
	}
	return ok("%s", path)
}

// checkContainment makes what a contained run is made of, and throws it away.
func checkContainment(ctx context.Context) examined {
	const remedy = "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0); without them nothing is run for others"
	dir, err := os.MkdirTemp("", "writ-doctor-")
	if err != nil {
		return bad(err, "make the folder for temporary files writable")
	}
	defer os.RemoveAll(dir)
	k, err := proc.Start(ctx, proc.Isolation{User: true, Network: true, Processes: true, IPC: true, Files: true, Writable: dir})
	if err != nil {
		return bad(err, remedy)
	}
	defer k.Close()
	for _, i := range k.Report.Interfaces {
		if i.Up && !i.Loopback {
			return examined{State: problem, Says: "a contained program sees the network interface " + i.Name, Remedy: remedy}
		}
	}
	return ok("own user, network, process and file namespaces")
}

func (a *app) checkKeys(context.Context) examined {
	keys, err := a.ring().List()
	if err != nil {
		return bad(err, "make the key files readable by you, and by nobody else")
	}
	if len(keys) == 0 {
		return examined{State: absent, Says: "no keys in " + a.ring().Dir(), Remedy: "writ key new NAME"}
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return ok("%s: %s", plural(len(keys), "key"), strings.Join(names, ", "))
}

// checkData looks at the data folder without taking its lock from a server.
func checkData(dir string) examined {
	info, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return examined{State: absent, Says: dir + " is not there; the first writ serve makes it"}
	}
	if err != nil || !info.IsDir() {
		return examined{State: problem, Says: dir + " is no folder that can be read", Remedy: "pass another --data"}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return examined{State: problem, Says: fmt.Sprintf("%s is open to others (mode %04o)", dir, info.Mode().Perm()), Remedy: "chmod 700 " + dir}
	}
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return bad(err, "make "+dir+" writable")
	}
	_ = f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return bad(err, "make "+dir+" writable")
	}
	if !exists(filepath.Join(dir, "writ.db")) {
		return ok("%s is writable and empty", dir)
	}
	lock, err := lockData(dir)
	if fault.CodeOf(err) == fault.Held {
		return ok("%s is in use by a server", dir)
	}
	if err != nil {
		return bad(err, "make "+dir+" writable")
	}
	_ = lock.Close()
	return ok("%s is there and no server uses it", dir)
}

// named reports whether the user named a server; the default one may be absent.
func (a *app) named() bool { return a.server != "" || a.getenv("WRIT_SERVER") != "" }

func (a *app) checkServer(ctx context.Context) examined {
	c := client.New(a.address(), "", client.WithTries(1))
	defer c.Close()
	if err := c.Healthy(ctx); err != nil {
		if !a.named() {
			return examined{State: absent, Says: "no server at " + a.address() + "; standalone commands need none", Remedy: "writ serve"}
		}
		return bad(a.remote(err), "start it, or pass another --server")
	}
	if _, err := a.readToken(""); err != nil {
		return examined{State: fine, Says: a.address() + " answers; no token is set"}
	}
	signed, err := a.client()
	if err == nil {
		_, err = signed.Me(ctx)
	}
	if err != nil {
		return bad(a.remote(err), "ask an admin for a token")
	}
	return ok("%s answers and knows your token", a.address())
}

// checkClock holds this clock against the server's: documents that seem to come
// from the future are refused.
func (a *app) checkClock(ctx context.Context) examined {
	before := time.Now()
	if before.Year() < 2025 {
		return examined{State: problem, Says: "the clock says " + proposal.Instant(before), Remedy: "set the clock"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(a.address(), "/")+"/healthz", nil)
	if err != nil {
		return bad(err, "pass another --server")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return ok("%s; no server to compare with", proposal.Instant(before))
	}
	defer res.Body.Close()
	theirs, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return ok("%s; the server tells no time", proposal.Instant(before))
	}
	// The header counts whole seconds: the true time lies in the second after it.
	ahead, behind := before.Sub(theirs.Add(time.Second)), time.Until(theirs)
	if skew := max(ahead, behind); skew > proposal.NotBeforeSkew {
		return examined{State: problem, Says: fmt.Sprintf("this clock and the server's are %s apart", skew.Round(time.Second)), Remedy: "synchronise both clocks"}
	}
	return ok("%s, as on the server", proposal.Instant(before))
}
