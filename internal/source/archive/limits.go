package archive

// An archive is foreign input. Each limit is far above what real archives hold
// and far below what would hurt.
const (
	// maxFiles bounds the index. The largest must-gathers have some ten thousand
	// files, an index entry costs about 200 bytes.
	maxFiles = 1 << 20
	// maxPath bounds one name, as Linux does (PATH_MAX).
	maxPath = 4096
	// maxParts bounds the directories that a name goes through. Real ones have some
	// twenty.
	maxParts = 64
	// maxObjectFile bounds one file of objects. Lists of events reach tens of MiB.
	maxObjectFile = 256 << 20
	// maxObject bounds the text of one object. etcd refuses requests above 1.5 MiB
	// (etcd --max-request-bytes); as YAML with indentation that is a few MiB.
	maxObject = 16 << 20
	// maxObjects bounds the items of one List file, and the documents of one file.
	maxObjects = 1 << 20
	// maxKinds bounds the kinds of objects in one file; an API has some hundreds.
	maxKinds = 1000
	// maxNeed bounds what the objects of one answer take in memory, roughly. Fifty
	// thousand pods are some 500 MiB.
	maxNeed = 2 << 30
	// valueCost is what a decoded value takes in addition to its text: an interface, and its
	// part of a map.
	valueCost = 64
	// maxSmallFile bounds the files that say what the archive is: timestamp, version.
	maxSmallFile = 1 << 20
	// maxManifest bounds the header of a collection: about 200 bytes a recorded object.
	maxManifest = 64 << 20
	// maxStream bounds a packed tar after decompression. The largest must-gather
	// that was reported has 32 GiB (openshift/must-gather#558).
	maxStream = 128 << 30
	// maxKept bounds a stream that is kept to be read again.
	maxKept = 64 << 30
	// maxPlain bounds such a stream when it is text: a log, or a file of objects.
	maxPlain = 1 << 30
	// maxDictionary bounds the window of xz and zstd. xz -9 has 64 MiB; zstd asks for
	// its --long=27, 128 MiB, without being told to.
	maxDictionary = 128 << 20
	// maxRatio is the bound of unpacked to packed size once ratioFrom was unpacked.
	// Objects reach 17, logs less; deflate itself can give 1,032.
	maxRatio  = 500
	ratioFrom = 256 << 20
	// objectBudget and textBudget bound what is kept of a packed tar in memory,
	// compressed. A member is kept when an eighth of its size fits (spool.full): one
	// that does not compress may take eight times the budget, and is the last one then.
	// The must-gathers of CI have 16 to 42 MB and fit. What is beyond is
	// read again from the stream, one pass for members that are read in order. The
	// garbage collector lets the heap grow to twice of what is kept.
	objectBudget = 24 << 20
	textBudget   = 32 << 20
	// maxDepth bounds how deep an object nests. API objects stay below 50, also
	// with OpenAPI schemas in them.
	maxDepth = 200
)
