package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// isolate completes the namespaces that the keeper was started in, then gives up
// every right over them. It returns what it could not do.
func (s *server) isolate(iso Isolation) (what string, err error) {
	if iso.Loopback {
		if err := loopbackUp(); err != nil {
			return "bring the private loopback up", err
		}
	}
	if iso.Files {
		if what, err := s.arrange(iso); err != nil {
			return what, err
		}
		if err := os.Chdir("/"); err != nil { // the new one
			return "enter the root directory", err
		}
	}
	if iso.User {
		if err := dropRights(); err != nil {
			return "give up rights", err
		}
	}
	return "", nil
}

// arrange makes the files look as the isolation says: everything read-only, some
// of it hidden, one directory writable.
func (s *server) arrange(iso Isolation) (what string, err error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return "separate the mounts", err
	}
	views, err := openViews(iso)
	if err != nil {
		return "hold the visible directories", err
	}
	if iso.Processes {
		// A host that hides parts of its /proc denies this; then signals are still
		// confined to the own processes, only their list is not.
		s.report.FreshProc = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") == nil
	}
	ours := []string{iso.Writable}                               // mounts of our own that programs may write to
	for _, dir := range slices.Sorted(slices.Values(iso.Hide)) { // outermost first
		hidden, err := hide(dir)
		if err != nil {
			return "hide " + dir, err
		}
		if hidden {
			ours = append(ours, dir)
		}
	}
	for _, v := range views {
		if err := v.show(); err != nil {
			return "show " + v.path, err
		}
	}
	if iso.Temporary != "" {
		for _, dir := range []string{"/tmp", "/var/tmp"} {
			bound, err := bindTemporary(iso, dir)
			if err != nil {
				return "give a private " + dir, err
			}
			if bound {
				ours = append(ours, dir)
			}
		}
	}
	for _, dir := range iso.Keep {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return "keep " + dir, err
		}
	}
	if err := setReadOnly("/", true, unix.AT_RECURSIVE); err != nil {
		return "make the files read-only", err
	}
	for _, dir := range ours {
		if err := setReadOnly(dir, false, 0); err != nil {
			return "leave " + dir + " writable", err
		}
	}
	return s.layers(iso)
}

// layers gives directories the content of others, by overlay.
func (s *server) layers(iso Isolation) (what string, err error) {
	for _, l := range iso.Layer {
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", l.Lower, l.Upper, l.Work)
		if strings.ContainsAny(l.Lower+l.Upper+l.Work, ",:\\") {
			err = unix.EINVAL // these have a meaning in the option string
		} else {
			err = unix.Mount("overlay", l.At, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
		}
		switch {
		case err == nil:
			s.report.Layers++
		case !iso.BestEffort:
			return "layer " + l.At, err
		}
	}
	return "", nil
}

// view is a directory that was opened before anything was hidden.
type view struct {
	path string
	fd   int
}

// openViews opens Writable and Expose, outermost first.
func openViews(iso Isolation) ([]view, error) {
	paths := append([]string{iso.Writable}, iso.Expose...)
	slices.Sort(paths)
	var out []view
	for _, p := range slices.Compact(paths) {
		fd, err := unix.OpenTree(unix.AT_FDCWD, p, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if errors.Is(err, unix.ENOENT) && p != iso.Writable {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		out = append(out, view{p, fd})
	}
	return out, nil
}

// show puts the view back at its own path, as a mount of its own.
func (v view) show() error {
	defer unix.Close(v.fd)
	if err := os.MkdirAll(v.path, 0o755); err != nil { // inside a hidden directory
		return err
	}
	return unix.MoveMount(v.fd, "", unix.AT_FDCWD, v.path, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// hide covers dir with an empty file system in memory. A link is passed over: it
// leads to a directory that is hidden by its own name.
func hide(dir string) (hidden bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false, nil
	}
	return true, unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=64m")
}

// bindTemporary mounts Temporary at dir, unless dir is hidden already or that
// would hide Writable or an exposed directory.
func bindTemporary(iso Isolation, dir string) (bound bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || slices.Contains(iso.Hide, dir) {
		return false, nil
	}
	for _, p := range append([]string{iso.Writable}, iso.Expose...) {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return false, nil
		}
	}
	return true, unix.Mount(iso.Temporary, dir, "", unix.MS_BIND, "")
}

func setReadOnly(dir string, on bool, flags uint) error {
	var attr unix.MountAttr
	if on {
		attr.Attr_set = unix.MOUNT_ATTR_RDONLY
	} else {
		attr.Attr_clr = unix.MOUNT_ATTR_RDONLY
	}
	return unix.MountSetattr(unix.AT_FDCWD, filepath.Clean(dir), flags, &attr)
}

// loopbackUp brings the only interface of a new network namespace up. It reaches
// nothing but the programs in the same namespace.
func loopbackUp() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq(lo.Name)
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// dropRights takes every capability, and the way to any, from the thread that
// starts programs, so that they cannot undo the isolation.
func dropRights() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // past the last capability of this kernel
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
