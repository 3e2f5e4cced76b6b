package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"writ/internal/fault"
	"writ/internal/order"
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
	f, err := os.CreateTemp(filepath.Dir(path), ".writing-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
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

// artifactsOf lists the files that a case's results point to: the order, the
// program, and what the program wrote, which is also the harness's native output.
func (r *run) artifactsOf(c planned, a attempt) ([]result.Artifact, error) {
	name := filepath.Join(r.Dir, r.order.FileName())
	out := []result.Artifact{
		{Kind: result.ArtifactOrder, MediaType: "application/json", URI: fileURI(name), SHA256: r.order.Digest().Hex(), Schema: order.SchemaVersion},
	}
	if c.suite >= 0 {
		out = append(out, result.Artifact{
			Kind: result.ArtifactTarget, MediaType: "application/octet-stream", URI: fileURI(r.found[c.suite].Program), SHA256: r.targets[c.suite].sha256,
		})
	}
	if a.stem == "" {
		return out, nil
	}
	for _, x := range []struct{ kind, suffix string }{
		{result.ArtifactNative, ".stdout"}, {result.ArtifactStdout, ".stdout"}, {result.ArtifactStderr, ".stderr"},
	} {
		sum, err := fileSum(a.stem + x.suffix)
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "write results", "output of %s is gone", c.name)
		}
		out = append(out, result.Artifact{Kind: x.kind, MediaType: "text/plain", URI: fileURI(a.stem + x.suffix), SHA256: sum})
	}
	return out, nil
}
