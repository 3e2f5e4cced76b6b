package result

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"writ/internal/canon"
)

// IngestKey returns the key under which a store keeps a result of one producer:
// run key, workload, its parameters when there are any, quantity, and the slot
// when there is one.
func IngestKey(runKey string, w Workload, quantity string, slot *int) string {
	var b strings.Builder
	b.WriteString(escape(runKey))
	b.WriteByte(':')
	b.WriteString(escape(w.Name))
	if len(w.Parameters) > 0 {
		b.WriteByte('/')
		b.WriteString(escape(string(canon.MustFrom(w.Parameters).Canonical())))
	}
	b.WriteByte(':')
	b.WriteString(escape(quantity))
	if slot != nil {
		b.WriteString(":slot-")
		b.WriteString(strconv.Itoa(*slot))
	}
	return b.String()
}

// plain are the characters that keys leave as they are.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"

// escape percent-encodes every byte but letters, digits and _ . - ~.
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

// AttemptKey names one execution of one case: the digest of its order and the
// index of the case in it. All quantities of the execution share it.
func AttemptKey(order canon.Digest, caseIndex int) string {
	return fmt.Sprintf("urn:benchx:attempt:%s:%d", order.Hex()[:16], caseIndex)
}

// RetryKey is the attempt key of a case that was begun n times before: 0 gives
// AttemptKey.
func RetryKey(order canon.Digest, caseIndex, n int) string {
	if n == 0 {
		return AttemptKey(order, caseIndex)
	}
	return fmt.Sprintf("%s.%d", AttemptKey(order, caseIndex), n)
}

// nameLimit keeps file names below what common file systems take, with room for
// a suffix of whoever writes a temporary file beside it.
const nameLimit = 160

// FileName returns the name of the file that holds a result: readable, and never
// shared by two results, because it ends in a digest of producer and key.
func (r Result) FileName() string {
	stem := strings.Map(func(c rune) rune {
		if c != '%' && !strings.ContainsRune(plain, c) {
			return '_'
		}
		return c
	}, r.IngestKey)
	return stem[:min(len(stem), nameLimit)] + "-" + canon.Sum([]byte(r.Producer.Name + "\x00" + r.IngestKey)).Hex()[:32] + ".json"
}

// Compare orders results by producer name and ingest key: the order in which
// evidence is listed and judged, whatever the order of arrival.
func Compare(a, b *Result) int {
	if c := cmp.Or(strings.Compare(a.Producer.Name, b.Producer.Name), strings.Compare(a.IngestKey, b.IngestKey)); c != 0 {
		return c
	}
	return bytes.Compare(a.digest[:], b.digest[:])
}
