// Package objectfile reads files of Kubernetes objects: YAML or JSON, one object or many,
// single or in Lists.
//
// Such a file is foreign input. Nothing in this package panics, hangs or takes memory
// without a bound on any bytes:
//   - one object has at most MaxObject bytes and nests at most maxDepth deep;
//   - one file has at most maxItems documents, and a List as many items;
//   - the objects of one answer together stay within a Budget.
//
// What breaks a bound, or cannot be decoded, is reported as damage to the Sink; what is
// whole is handed over all the same. An object is handed over only where its end was seen,
// so that half a name is never taken for a name.
//
// The package knows no archive: which file it reads, and what the objects are for, is the
// caller's.
package objectfile

const (
	// MaxObject bounds the text of one object. etcd refuses requests above 1.5 MiB
	// (etcd --max-request-bytes); as YAML with indentation that is a few MiB.
	MaxObject = 16 << 20
	// maxItems bounds the items of one List, and the documents of one file.
	maxItems = 1 << 20
	// maxKinds bounds the kinds of objects in one file; an API has some hundreds.
	maxKinds = 1000
	// maxNeed bounds what the objects of one answer take in memory, roughly. Fifty
	// thousand pods are some 500 MiB.
	maxNeed = 2 << 30
	// valueCost is what a decoded value takes on top of its text: an interface, and its
	// part of a map.
	valueCost = 64
	// maxDepth bounds how deep an object nests. API objects stay below 50, also with
	// OpenAPI schemas in them.
	maxDepth = 200
)
