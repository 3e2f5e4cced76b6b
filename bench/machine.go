package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine is what has to be known about the machine to read the figures.
type machine struct {
	Cores      int     `json:"cores"`
	CPU        string  `json:"cpu,omitempty"`
	Kernel     string  `json:"kernel"`
	FileSystem string  `json:"file_system"` // of the data
	FsyncP50   float64 `json:"fsync_p50_us"`
	FsyncP99   float64 `json:"fsync_p99_us"`
	Load       string  `json:"load"` // averages over 1, 5 and 15 minutes, before the run
	Go         string  `json:"go"`
}

func (m machine) String() string {
	return fmt.Sprintf("%d cores (%s), Linux %s, %s; %s: append of 1 KB and fsync p50 %.0f µs, p99 %.0f µs; load before %s",
		m.Cores, m.CPU, m.Kernel, m.Go, m.FileSystem, m.FsyncP50, m.FsyncP99, m.Load)
}

func lookAround(dir string) (machine, error) {
	m := machine{Cores: runtime.NumCPU(), CPU: processor(), Go: runtime.Version()}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return m, fmt.Errorf("kernel: %w", err)
	}
	m.Kernel = unix.ByteSliceToString(u.Release[:])
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return m, fmt.Errorf("file system of %s: %w", dir, err)
	}
	m.FileSystem = fileSystem(int64(fs.Type))
	took, err := fsync(dir, 300)
	if err != nil {
		return m, err
	}
	m.FsyncP50, m.FsyncP99 = micros(took.at(0.5)), micros(took.at(0.99))
	return m, nil
}

// fileSystem names a file system by its magic number. On one in memory the
// figures of the journal mean nothing.
func fileSystem(magic int64) string {
	switch magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs (nothing is durable)"
	}
	return fmt.Sprintf("file system %#x", magic)
}

func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// fsync times n appends of 1 KB, each synced before the next.
func fsync(dir string, n int) (took times, err error) {
	f, err := os.CreateTemp(dir, "writ-bench-fsync-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	block := make([]byte, 1024)
	for range n {
		t := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(t))
	}
	return took.sorted(), nil
}
