package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
)

// verified is what `writ verify --json` answers.
type verified struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Ref     string `json:"ref"`
	SHA256  string `json:"sha256"` // of the file
	Signer  string `json:"signer,omitempty"`
	From    string `json:"from,omitempty"`
	Until   string `json:"until,omitempty"`
	Current bool   `json:"current"`
}

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify KIND FILE",
		Short: "check one document of the signed chain, offline",
		Long: `Check one document as any reader does: strict JSON, shape, canonical spelling,
its own content address, and that the key inside the node it names signed these
bytes. Whether several documents fit together is what writ docket verify says.

KIND is one of
  ` + strings.Join(kindWords(), "\n  ") + `

FILE "-" is standard input. A document that is expired is in order all the same;
"current" says whether it may be acted on now.

Exit status: 0 in order; 2 not in order, the message says where; 6 no such file.`,
		Example: "  writ verify proposal proposal.json\n  writ verify human-answer - < answer.json",
		Args:    cobra.ExactArgs(2),
		RunE:    func(_ *cobra.Command, args []string) error { return a.verify(args[0], args[1]) },
	}
}

func kindWords() []string {
	var words []string
	for _, r := range proposal.Kinds() {
		words = append(words, string(r.Kind))
	}
	return words
}

func (a *app) verify(kind, file string) error {
	row, err := proposal.RowOf(proposal.Kind(kind))
	if err != nil {
		return fault.New(fault.Usage, "verify", "there is no document kind %q", kind).Help("one of %s", strings.Join(kindWords(), ", "))
	}
	raw, err := a.readFile(file, row.Size)
	if err != nil {
		return err
	}
	d, err := proposal.Open(row.Kind, raw)
	if err != nil {
		return err
	}
	v := verified{Kind: kind, Name: row.Name, Ref: d.Ref, SHA256: canon.Sum(raw).Hex(), Current: d.Current(time.Now()) == nil}
	if d.Signer != (ident.PublicKey{}) {
		v.Signer = d.Signer.Node()
	}
	if !d.From().IsZero() {
		v.From = proposal.Instant(d.From())
	}
	if !d.Until().IsZero() {
		v.Until = proposal.Instant(d.Until())
	}
	return a.emit(v, func(w io.Writer) {
		rows := [][]string{{"document", row.Name}, {"ref", v.Ref}, {"sha256", v.SHA256}}
		for _, optional := range [][]string{{"signed by", v.Signer}, {"valid from", v.From}, {"valid until", v.Until}} {
			if optional[1] != "" {
				rows = append(rows, optional)
			}
		}
		word := "yes"
		if !v.Current {
			word = "no"
		}
		table(w, append(rows, []string{"current", word}))
		fmt.Fprintln(w, "in order")
	})
}

// readFile reads a file, or standard input for "-", of at most limit bytes and
// one more, by which a reader sees that it is too large.
func (a *app) readFile(name string, limit int64) ([]byte, error) {
	in := a.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fault.Wrap(err, fault.NotFound, "read file", "%s cannot be read", name)
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "read file", "%s cannot be read", name)
	}
	return raw, nil
}
