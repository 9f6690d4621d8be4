// Package collection is the format of Rollcall's own collection: the header that says what
// one run asked and what it got, and the digests of the files. source/collect writes it,
// source/archive reads it.
//
// A collection may come from anyone. Parse refuses a header that names files outside of the
// collection, one file for two objects, or evidence without a digest.
package collection
