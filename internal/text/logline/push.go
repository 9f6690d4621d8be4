package logline

import "bytes"

// pushing is what is printed, in lower case, where an image is copied to a registry: the registry that answers is the
// destination, and nothing is pulled from it (openshift/oc:pkg/cli/image/mirror/mirror.go copyBlob, which names the source in
// the line; containers/image:copy/single.go and docker/docker_image_dest.go).
var pushing = [][]byte{
	[]byte("unable to push "), []byte("failed to push "), []byte("error pushing "), []byte("failed to upload blob"), []byte(" at destination: "),
	[]byte("initiating layer upload"), []byte("uploading layer "), []byte("uploading manifest "), []byte("checking whether a blob "),
}

// Pushes reports whether a line in lower case is about an image that is copied to a registry. That the blob of the
// source could not be read is not.
func Pushes(lower []byte) bool {
	for _, words := range pushing {
		if bytes.Contains(lower, words) {
			return !bytes.Contains(lower, []byte("failed to retrieve blob"))
		}
	}
	return false
}

// socketWords are what Go prints before the path of a socket of the same host (golang/go:src/net/net.go OpError.Error).
var socketWords = []string{"dial unix ", "read unix @->", "write unix @->", "read unix ->", "write unix ->"}

// socket takes the path of a unix socket that a failure is about: no network is between.
func (f *Failure) socket(before string) bool {
	path, at := after(before, socketWords...)
	tcp, _ := after(before, "dial tcp ", "lookup ", "://")
	if at < 0 || len(tcp) > 0 && len(tcp) < len(path) {
		return false
	}
	f.Scheme, f.Path = "unix", trimmedPath(word(path))
	return f.Path != ""
}

func trimmedPath(path string) string {
	for len(path) > 0 && (path[len(path)-1] == ':' || path[len(path)-1] == ',') {
		path = path[:len(path)-1]
	}
	return path
}
