// Package house holds tests about the code base itself: which way imports
// point, what each floor may never touch, and habits that every package keeps.
// Each failure names the reason, so that the rule can be argued with.
//
// The package has no code of its own and nothing imports it.
package house
