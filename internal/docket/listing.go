package docket

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
)

// ListingSchema of what a list step writes.
const ListingSchema = "writ.case-listing/v1"

// Listing is what a list step writes: the cases that will be measured, fixed
// before anything changes.
type Listing struct {
	Schema string        `json:"schema"`
	Commit string        `json:"commit"` // that was listed
	Plan   []order.Entry `json:"plan"`
}

// ParseListing reads a listing. Errors: Malformed, Invalid, UnknownKind.
func ParseListing(raw []byte) (Listing, error) {
	var l Listing
	v, err := canon.Parse(raw)
	if err == nil {
		err = v.Decode(&l)
	}
	if err == nil && l.Schema != ListingSchema {
		err = fault.New(fault.UnknownKind, "read listing", "schema is %q, not %s", l.Schema, ListingSchema).At("/schema")
	}
	return l, err
}
