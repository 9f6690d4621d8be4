package main

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// no one is the user of the image; OpenShift takes another one, which may do as much.
const nobody = "65532:65532"

// program is one binary of an image's index.
type program struct {
	platform v1.Platform
	path     string
}

// imageOptions say what is made.
type imageOptions struct {
	// gather makes the image of `oc adm must-gather --image`: its entry is /usr/bin/gather.
	gather bool
	// base is what is below; for a must-gather it has bash, tar and the programs of coreutils
	// (openshift/oc:pkg/cli/admin/mustgather/mustgather.go newPod, volumeUsageCheckerScript).
	// Empty: nothing is below the program.
	base     string
	to       string
	programs []program
}

// pushImage builds the index and pushes it. Credentials are those of `podman login` and
// `docker login`.
func pushImage(ctx context.Context, args []string) error {
	o, err := parseImage(args)
	if err != nil {
		return err
	}
	to, err := name.ParseReference(o.to)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	how := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	index, err := buildIndex(o, how)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(to, index, how...); err != nil {
		return fmt.Errorf("push %s: %w", to, err)
	}
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("compute the digest: %w", err)
	}
	fmt.Println(to.Context().Digest(digest.String()))
	return nil
}

func parseImage(args []string) (imageOptions, error) {
	var o imageOptions
	f := flag.NewFlagSet("release image", flag.ContinueOnError)
	f.BoolVar(&o.gather, "gather", false, "make the image for `oc adm must-gather --image`")
	f.StringVar(&o.base, "base", "", "put the program on top of this image")
	f.StringVar(&o.to, "to", "", "push to this reference")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for _, arg := range f.Args() {
		platform, path, ok := strings.Cut(arg, "=")
		p, err := v1.ParsePlatform(platform)
		if !ok || err != nil || p.Architecture == "" {
			return o, fmt.Errorf("%q is not OS/ARCH=BINARY", arg)
		}
		o.programs = append(o.programs, program{*p, path})
	}
	switch {
	case o.to == "" || len(o.programs) == 0:
		return o, errors.New("--to and at least one OS/ARCH=BINARY are needed")
	case o.gather && o.base == "":
		return o, errors.New("--gather needs --base: `oc adm must-gather` runs bash, du and tar in the image, e.g. registry.access.redhat.com/ubi9/ubi")
	}
	return o, nil
}

// buildIndex makes one image for each program.
func buildIndex(o imageOptions, how []remote.Option) (v1.ImageIndex, error) {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range o.programs {
		img, err := buildImage(o, p, how)
		if err != nil {
			return nil, fmt.Errorf("make the image of %s: %w", p.platform, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &p.platform}})
	}
	return index, nil
}

func buildImage(o imageOptions, p program, how []remote.Option) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if o.base != "" {
		ref, err := name.ParseReference(o.base)
		if err != nil {
			return nil, fmt.Errorf("--base: %w", err)
		}
		if base, err = remote.Image(ref, append(how, remote.WithPlatform(p.platform))...); err != nil {
			return nil, fmt.Errorf("pull the base %s: %w", ref, err)
		}
	}
	files, err := layerOf(o, p.path)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("pack the layer: %w", err)
	}
	img, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	return configure(img, o, p)
}

// configure sets what runs and what the image is. Its time is that of the commit.
func configure(img v1.Image, o imageOptions, p program) (v1.Image, error) {
	info, err := buildinfo.ReadFile(p.path)
	if err != nil {
		return nil, fmt.Errorf("read the build info: %w", err)
	}
	labels := map[string]string{
		"org.opencontainers.image.title":    "rollcall",
		"org.opencontainers.image.source":   "https://github.com/rollcall-project/rollcall",
		"org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.version":  info.Main.Version,
	}
	created := time.Unix(0, 0).UTC()
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			labels["org.opencontainers.image.revision"] = s.Value
		case "vcs.time":
			if created, err = time.Parse(time.RFC3339, s.Value); err != nil {
				return nil, fmt.Errorf("read the time of the commit: %w", err)
			}
		}
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Variant = p.platform.OS, p.platform.Architecture, p.platform.Variant
	file.Created = v1.Time{Time: created}
	file.Config.Labels = labels
	file.Config.Cmd, file.Config.Entrypoint = nil, []string{"/usr/bin/rollcall"}
	if o.gather {
		file.Config.Entrypoint = []string{"/usr/bin/gather"}
	} else {
		file.Config.User = nobody
	}
	return mutate.ConfigFile(img, file)
}

// layerOf is a tar with the program. /usr/bin/gather is the program under another name.
func layerOf(o imageOptions, path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	entries := []*tar.Header{{Typeflag: tar.TypeReg, Name: "usr/bin/rollcall", Mode: 0o755, Size: int64(len(content))}}
	if o.base == "" { // a base may have links where these are
		entries = append([]*tar.Header{
			{Typeflag: tar.TypeDir, Name: "usr/", Mode: 0o755}, {Typeflag: tar.TypeDir, Name: "usr/bin/", Mode: 0o755},
			{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		}, entries...)
	}
	if o.gather {
		entries = append(entries, &tar.Header{Typeflag: tar.TypeSymlink, Name: "usr/bin/gather", Linkname: "rollcall", Mode: 0o777})
	}
	for _, h := range entries {
		h.ModTime, h.Format = time.Unix(0, 0), tar.FormatPAX
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("write the layer: %w", err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(content); err != nil {
				return nil, fmt.Errorf("write the layer: %w", err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write the layer: %w", err)
	}
	return out.Bytes(), nil
}
