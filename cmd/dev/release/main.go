// Command release writes the files of a release: archives, packages, a container
// image, checksums, their signature, lists of dependencies and provenance. `make
// release` runs it; it is for maintainers, and not part of a release.
//
// The same commit and Go version give the same bytes, in every folder and on every
// machine: no clock, host name or path gets into a file.
//
// Out of scope: uploading. docs/releasing.md explains what to do with the files.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// options are the flags.
type options struct {
	version, out, key, targets string
	unsigned, uncommitted      bool
	verify, publicKey          string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.verify != "" {
		return verifyFolder(o.verify, o.publicKey, w)
	}
	key, err := o.signer()
	if err != nil {
		return err
	}
	r, err := newRelease(ctx, o)
	if err != nil {
		return err
	}
	return r.write(ctx, o.out, key, w)
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.StringVar(&o.version, "version", "", "the `version` of the release, such as v1.2.0")
	f.StringVar(&o.out, "out", "dist", "the `folder` for the files; it must be empty or missing")
	f.StringVar(&o.key, "key", "", "the `key` that signs: a file (PEM or OpenSSH), or env:NAME")
	f.StringVar(&o.targets, "targets", "", "build for these `systems` only, such as linux/amd64,darwin/arm64")
	f.BoolVar(&o.unsigned, "unsigned", false, "sign nothing; for trying it out")
	f.BoolVar(&o.uncommitted, "uncommitted", false, "build despite uncommitted changes; only with -unsigned")
	f.StringVar(&o.verify, "verify", "", "write nothing, and verify the release in this `folder`")
	f.StringVar(&o.publicKey, "public-key", "", "the `file` with the public key to verify with")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q; everything is given by flags, see -help", rest[0])
	case o.verify != "" && o.publicKey == "":
		return errors.New("-verify needs the key to verify with: -public-key FILE")
	case o.verify != "":
		return nil
	case o.key == "" && !o.unsigned:
		return errors.New("a release must be signed: give -key FILE or -key env:NAME, or -unsigned for a trial " +
			"(reviewer policy keygen creates a key)")
	case o.key != "" && o.unsigned:
		return errors.New("-key and -unsigned contradict each other; give one of them")
	case o.uncommitted && !o.unsigned:
		return errors.New("a signed release must be built from a commit; -uncommitted needs -unsigned")
	}
	return nil
}

// signer opens the key, or returns nil for an unsigned release. Errors do not quote
// its contents.
func (o options) signer() (signing.Signer, error) {
	if o.unsigned {
		return nil, nil
	}
	text, err := keyText(o.key)
	if err != nil {
		return nil, fmt.Errorf("-key %s: %w", o.key, err)
	}
	key, err := signing.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("-key %s: %w", o.key, err)
	}
	return key, nil
}

func keyText(source string) ([]byte, error) {
	name, env := strings.CutPrefix(source, "env:")
	if !env {
		return os.ReadFile(source)
	}
	if text := os.Getenv(name); text != "" {
		return []byte(text), nil
	}
	return nil, errors.New("this variable is not set, or empty")
}

// emptyFolder creates the folder of a release. Existing files could be mistaken for
// part of it.
func emptyFolder(path string) error {
	list, err := os.ReadDir(path)
	switch {
	case err == nil && len(list) > 0:
		return fmt.Errorf("the folder %s is not empty; remove it, or give another with -out", filepath.ToSlash(path))
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	return os.MkdirAll(path, 0o755)
}
