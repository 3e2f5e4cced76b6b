package demo

import (
	"context"
	"io"
	"strings"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"writ/internal/verdict"
)

// bar draws how far a step is, on a terminal only.
type bar struct {
	w     io.Writer
	live  bool
	box   *mpb.Progress
	bar   *mpb.Bar
	step  string
	label string
}

func newBar(w io.Writer, live bool) *bar { return &bar{w: w, live: live} }

// set moves the bar to pct of a step; a negative pct has no bar.
func (b *bar) set(step, note string, pct float64) {
	if !b.live || pct <= 0 {
		return
	}
	if b.step != step {
		b.pause()
	}
	b.label = strings.TrimSpace(note)
	if b.box == nil {
		b.step = step
		b.box = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(40))
		b.bar = b.box.AddBar(100,
			mpb.PrependDecorators(decor.Name(step+" ", decor.WC{W: 10})),
			mpb.AppendDecorators(decor.Percentage(), decor.Any(func(decor.Statistics) string { return " " + b.label })),
			mpb.BarRemoveOnComplete())
	}
	b.bar.SetCurrent(int64(pct))
}

// pause takes the bar away, so that a line can be written.
func (b *bar) pause() {
	if b.box == nil {
		return
	}
	b.bar.Abort(true)
	b.box.Wait()
	b.box, b.bar, b.step = nil, nil, ""
}

func (b *bar) done() { b.pause() }

// verdict is the table of a stored verdict.
func (w *way) verdict(ctx context.Context, ref string) (string, error) {
	raw, err := w.cast.ann.c.Document(ctx, ref)
	if err != nil {
		return "", err
	}
	d, _, err := verdict.ParseVerdict(raw)
	if err != nil {
		return "", err
	}
	return verdict.Render(d), nil
}
