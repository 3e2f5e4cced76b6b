package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/blob"
	"writ/internal/canon"
	"writ/internal/fault"
)

func open(t *testing.T) (*blob.Dir, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "blobs")
	d, err := blob.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return d, root
}

func put(t *testing.T, d *blob.Dir, body string) canon.Digest {
	t.Helper()
	sum, n, err := d.Put(t.Context(), strings.NewReader(body))
	if err != nil || n != int64(len(body)) || sum != canon.Sum([]byte(body)) {
		t.Fatalf("put answered %s, %d, %v", sum, n, err)
	}
	return sum
}

// files lists what is in the folder, folders left out.
func files(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPutAndGet(t *testing.T) {
	t.Parallel()
	d, root := open(t)
	for _, body := range []string{"", "a", strings.Repeat("0123456789", 100_000)} {
		sum := put(t, d, body)
		got, err := blob.Get(t.Context(), d, sum, 1<<20)
		if err != nil || string(got) != body {
			t.Errorf("%d bytes came back as %d, %v", len(body), len(got), err)
		}
		if has, err := d.Has(t.Context(), sum); !has || err != nil {
			t.Errorf("has: %v, %v", has, err)
		}
	}
	sum := put(t, d, "a")
	name := sum.Hex()
	if !slices.Contains(files(t, root), name[:2]+"/"+name[2:4]+"/"+name) || len(files(t, root)) != 3 {
		t.Errorf("the folder holds %v", files(t, root))
	}
	if _, err := blob.Get(t.Context(), d, sum, 0); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("beyond the limit: %v", err)
	}
	again, err := blob.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := blob.Get(t.Context(), again, sum, 1); err != nil || string(got) != "a" {
		t.Errorf("after reopening: %q, %v", got, err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	d, _ := open(t)
	nothing := canon.Sum([]byte("nothing"))
	if _, err := blob.Get(t.Context(), d, nothing, 1); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("get: %v", err)
	}
	if has, err := d.Has(t.Context(), nothing); has || err != nil {
		t.Errorf("has: %v, %v", has, err)
	}
}

// TestFailedPutKeepsNothing fails in the middle of the bytes, each in its way.
func TestFailedPutKeepsNothing(t *testing.T) {
	t.Parallel()
	d, root := open(t)
	broken := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<16)), iotest.ErrReader(errors.New("line is dead")))
	if _, _, err := d.Put(t.Context(), broken); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a reader that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Put(ctx, strings.NewReader("late")); !errors.Is(err, context.Canceled) || fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("a caller that gave up: %v", err)
	}
	limited := io.MultiReader(strings.NewReader("much"), iotest.ErrReader(fault.New(fault.TooLarge, "read", "too much")))
	if _, _, err := d.Put(t.Context(), limited); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("a reader that fails with a code: %v", err)
	}
	if left := files(t, root); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestConcurrentPutsOfTheSame(t *testing.T) {
	t.Parallel()
	d, root := open(t)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, _, err := d.Put(t.Context(), strings.NewReader("same")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := files(t, root); len(got) != 1 {
		t.Errorf("the folder holds %v", got)
	}
}

func TestDamageIsFoundAndHealed(t *testing.T) {
	t.Parallel()
	d, root := open(t)
	good, bad := put(t, d, "good"), put(t, d, "bad bytes")
	name := bad.Hex()
	path := filepath.Join(root, name[:2], name[2:4], name)
	for _, damage := range []string{"bad bytez", "bad", "", "bad bytes and more"} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := blob.Get(t.Context(), d, bad, 100); fault.CodeOf(err) != fault.Corrupt || b != nil {
			t.Errorf("%q: get answered %q, %v", damage, b, err)
		}
		found, err := blob.Check(t.Context(), d)
		if diff := cmp.Diff([]canon.Digest{bad}, found); err != nil || diff != "" {
			t.Errorf("%q: check %v (-want +got):\n%s", damage, err, diff)
		}
		put(t, d, "bad bytes")
		if found, err := blob.Check(t.Context(), d); err != nil || len(found) > 0 {
			t.Errorf("%q: healed and still %v, %v", damage, found, err)
		}
	}
	if _, err := blob.Get(t.Context(), d, good, 4); err != nil {
		t.Error(err)
	}
}

func TestListIsSorted(t *testing.T) {
	t.Parallel()
	d, root := open(t)
	var want []canon.Digest
	for i := range 50 {
		want = append(want, put(t, d, strings.Repeat("x", i)))
	}
	slices.SortFunc(want, func(a, b canon.Digest) int { return bytes.Compare(a[:], b[:]) })
	var got []canon.Digest
	for sum, err := range d.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sum)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range d.List(t.Context()) { // a reader may stop early
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range d.List(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a list that was given up: %v", err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Check(t.Context(), d); fault.CodeOf(err) != fault.Corrupt {
		t.Errorf("a stranger in the folder: %v", err)
	}
}

func TestLeftoversAreRemovedOnceOld(t *testing.T) {
	t.Parallel()
	_, root := open(t)
	for name, age := range map[string]time.Duration{"put-old": 48 * time.Hour, "put-new": time.Minute} {
		path := filepath.Join(root, "tmp", name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	d, err := blob.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"tmp/put-new"}, files(t, root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for sum, err := range d.List(t.Context()) {
		t.Errorf("a half-written file is listed: %s, %v", sum, err)
	}
}

// TestPutRoundTrips puts arbitrary bytes in arbitrary pieces.
func TestPutRoundTrips(t *testing.T) {
	t.Parallel()
	d, _ := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(rt, "body")
		sum, n, err := d.Put(context.Background(), iotest.OneByteReader(bytes.NewReader(body)))
		if err != nil || n != int64(len(body)) || sum != canon.Sum(body) {
			rt.Fatalf("put answered %s, %d, %v", sum, n, err)
		}
		got, err := blob.Get(context.Background(), d, sum, n)
		if err != nil || !bytes.Equal(got, body) {
			rt.Fatalf("got %d bytes, %v", len(got), err)
		}
	})
}
