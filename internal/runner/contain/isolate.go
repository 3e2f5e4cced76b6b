package contain

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"writ/internal/fault"
	"writ/internal/runner/proc"
)

// isolation says what programs of this environment lose. keep lists directories
// of the area that they may only read; layer tells the build caches of several
// keepers apart.
func (e *Environment) isolation(layer string, keep ...string) proc.Isolation {
	iso := proc.Isolation{
		User: true, Network: true, Processes: true, IPC: true, Files: true,
		Loopback:  e.params.Loopback,
		Writable:  e.area(),
		Temporary: e.area("tmp"),
		Keep:      keep,
		Hide:      e.hidden(),
		Expose:    e.visible(),
	}
	if lower, err := filepath.EvalSymlinks(e.params.BuildCache); err == nil && e.params.BuildCache != "" {
		iso.Layer = []proc.Layer{{At: e.area("gocache"), Lower: lower, Upper: e.area("layers", layer, "upper"), Work: e.area("layers", layer, "work")}}
		iso.BestEffort = true // a cold cache is slow, not wrong
	}
	return iso
}

// hidden are the places where a host keeps sockets, secrets, other people's files
// and other environments.
func (e *Environment) hidden() []string {
	dirs := []string{"/run", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/mnt", "/media", "/srv", e.params.Root}
	for _, d := range e.params.Hide {
		if real, err := filepath.EvalSymlinks(d); err == nil && filepath.IsAbs(real) {
			dirs = append(dirs, real)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) && home != "/" {
		dirs = append(dirs, filepath.Clean(home))
	}
	return dirs
}

// visible are the directories that programs need although they may lie in hidden
// ones: the clone, the toolchain and the caches.
func (e *Environment) visible() []string {
	var out []string
	for _, p := range append([]string{filepath.Join(e.dir, "repo.git"), e.tools.root, e.params.ModCache, e.params.BuildCache}, e.params.ReadOnly...) {
		if p == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(p); err == nil && filepath.IsAbs(real) {
			out = append(out, real)
		}
	}
	return out
}

// checkReport compares what a keeper found with what containment means.
func checkReport(r proc.Report, loopback bool) error {
	refuse := func(format string, args ...any) error {
		return fault.New(fault.NotContained, "prove containment", format, args...)
	}
	host, err := hostNamespaces()
	if err != nil {
		return fault.Wrap(err, fault.NotContained, "prove containment", "the host's own namespaces cannot be read")
	}
	for _, ns := range []struct{ name, host, inside string }{
		{"user", host.User, r.Namespaces.User},
		{"network", host.Network, r.Namespaces.Network},
		{"process", host.PID, r.Namespaces.PID},
		{"mount", host.Mount, r.Namespaces.Mount},
	} {
		if ns.inside == "" || ns.inside == ns.host {
			return refuse("the %s namespace is the host's", ns.name)
		}
	}
	if len(r.Interfaces) != 1 {
		return refuse("%d network interfaces, not one", len(r.Interfaces))
	}
	if i := r.Interfaces[0]; !i.Loopback || i.Up != loopback {
		return refuse("interface %s: loopback %t, up %t", i.Name, i.Loopback, i.Up)
	}
	return nil
}

func hostNamespaces() (proc.Namespaces, error) {
	var n proc.Namespaces
	for name, to := range map[string]*string{"user": &n.User, "net": &n.Network, "pid": &n.PID, "ipc": &n.IPC, "mnt": &n.Mount} {
		v, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return n, err
		}
		*to = v
	}
	return n, nil
}

// prober tries addresses from inside. A keeper is one.
type prober interface {
	Probe(ctx context.Context, network, address string) error
}

// checkUnreachable opens listeners on this host, by TCP and by an abstract
// socket name, and makes sure that neither can be reached from inside, although
// both can be from here.
func checkUnreachable(ctx context.Context, p prober) error {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fault.Wrap(err, fault.NotContained, "prove containment", "no listener to try")
	}
	defer tcp.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@writ-containment-%d-%s", os.Getpid(), newID()))
	if err != nil {
		return fault.Wrap(err, fault.NotContained, "prove containment", "no listener to try")
	}
	defer abstract.Close()
	for _, l := range []net.Listener{tcp, abstract} {
		network, address := l.Addr().Network(), l.Addr().String()
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return fault.Wrap(err, fault.NotContained, "prove containment", "the listener does not answer here either")
		}
		conn.Close()
		err = p.Probe(ctx, network, address)
		if err == nil {
			return fault.New(fault.NotContained, "prove containment", "a program inside reaches %s %s of this host", network, strings.TrimPrefix(address, "@"))
		}
		if fault.CodeOf(err) != fault.Unavailable {
			return err
		}
	}
	return nil
}
