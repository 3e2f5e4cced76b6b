package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/policy"
	"writ/internal/result"
)

// writeFile puts a whole file in place: nobody ever sees a part of it, and it
// survives the death of this process. Losing power may undo it until flush has
// returned: syncing every file would take longer than what is measured between.
func writeFile(path string, data []byte) (err error) {
	defer func() {
		if err != nil {
			err = fault.Wrap(err, fault.Internal, "write file", "cannot write %s", path)
		}
	}()
	name := unfinishedName(path)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) { // left by a process that died
		if err = os.Remove(name); err == nil {
			f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		}
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(name, path)
}

// unfinishedName is what a file is called while it is being written.
func unfinishedName(path string) string {
	return filepath.Join(filepath.Dir(path), ".writing-"+filepath.Base(path))
}

// fileSum returns the hex SHA-256 of a file.
func fileSum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

// kept is a file of a case that its results point to.
type kept struct {
	kind, media, path string
	sum               string // hex SHA-256
}

// keepExchange writes down what went through the exchange directory of a case:
// the inputs that are worth keeping, and every output that was read.
func keepExchange(inv harness.Invocation, stem string, out harness.Output) ([]kept, error) {
	var files []kept
	keep := func(f harness.File, b []byte) error {
		path := stem + "." + f.Name
		files = append(files, kept{f.Kind, f.MediaType, path, canon.Sum(b).Hex()})
		return writeFile(path, b)
	}
	for _, f := range inv.Inputs {
		if f.Kind == "" {
			continue
		}
		if err := keep(f, f.Bytes); err != nil {
			return nil, err
		}
	}
	for _, f := range inv.Outputs {
		b, written := out.Files[f.Name]
		if !written {
			continue
		}
		if err := keep(f, b); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// artifactsOf lists the files that a case's results point to: the order, the
// program, and what the program wrote. Its standard output is the harness's native
// output when the harness has no file for that.
func (r *run) artifactsOf(c planned, a attempt) []result.Artifact {
	name := filepath.Join(r.Dir, r.order.FileName())
	out := []result.Artifact{
		{Kind: result.ArtifactOrder, MediaType: "application/json", URI: fileURI(name), SHA256: r.order.Digest().Hex(), Schema: order.SchemaVersion},
	}
	if c.suite >= 0 && !r.found[c.suite].Shared {
		out = append(out, result.Artifact{
			Kind: result.ArtifactTarget, MediaType: "application/octet-stream", URI: fileURI(r.found[c.suite].Program), SHA256: r.targets[c.suite].sha256,
		})
	}
	if r.regime.named {
		out = append(out, result.Artifact{
			Kind: result.ArtifactPolicy, MediaType: "application/json", URI: fileURI(r.policyFile()), SHA256: canon.Plain(r.regime.policy.Value()).Hex(), Schema: policy.Schema,
		})
	}
	if a.stem == "" {
		return out
	}
	stdout, stderr := canon.Sum(a.output.Stdout).Hex(), canon.Sum(a.output.Stderr).Hex()
	files := a.files
	if len(c.invocation.Outputs) == 0 {
		files = append(files, kept{result.ArtifactNative, "text/plain", a.stem + ".stdout", stdout})
	}
	files = append(files, kept{result.ArtifactStdout, "text/plain", a.stem + ".stdout", stdout}, kept{result.ArtifactStderr, "text/plain", a.stem + ".stderr", stderr})
	for _, f := range files {
		out = append(out, result.Artifact{Kind: f.kind, MediaType: f.media, URI: fileURI(f.path), SHA256: f.sum})
	}
	return out
}
