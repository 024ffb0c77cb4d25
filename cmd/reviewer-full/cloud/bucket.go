// Package cloud opens buckets of S3, Google Cloud Storage and Azure Blob Storage.
//
// Out of scope: which objects are read, and what is in them. It reads credentials where
// the libraries of the stores do (environment, files, instance), and stores none.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // opens azblob:// addresses
	_ "gocloud.dev/blob/gcsblob"   // opens gs:// addresses
	_ "gocloud.dev/blob/s3blob"    // opens s3:// addresses
	"gocloud.dev/gcerrors"
)

// Open opens the bucket of a location. It makes no request.
func Open(ctx context.Context, l objects.Location) (objects.Store, error) {
	b, err := blob.OpenBucket(ctx, l.BucketURL())
	if err != nil {
		return nil, fmt.Errorf("open bucket: %w", err)
	}
	return bucket{b}, nil
}

// bucket is a bucket of any store.
type bucket struct{ blob *blob.Bucket }

func (b bucket) List(ctx context.Context, prefix objects.Location) ([]objects.Object, error) {
	var list []objects.Object
	for all := b.blob.List(&blob.ListOptions{Prefix: prefix.Key}); ; {
		one, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, failed(err)
		}
		if strings.HasSuffix(one.Key, "/") && one.Size == 0 {
			continue // made by a console, to show a folder
		}
		o := objects.Object{Location: prefix.At(one.Key), Size: one.Size, Version: listedVersion(one)}
		if o.Version == "" {
			if o.Version, err = b.version(ctx, one.Key); err != nil {
				return nil, err
			}
		}
		list = append(list, o)
	}
}

// version asks for the version of one object.
func (b bucket) version(ctx context.Context, key string) (string, error) {
	a, err := b.blob.Attributes(ctx, key)
	if err != nil {
		return "", failed(err)
	}
	return etag(a.ETag), nil
}

func (b bucket) Open(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, error) {
	if n == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	if n < 0 {
		n = -1
	}
	r, err := b.blob.NewRangeReader(ctx, o.Key, off, n, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error { return demand(as, o.Version) },
	})
	if err != nil {
		if gcerrors.Code(err) == gcerrors.NotFound {
			if there, statErr := b.blob.Exists(ctx, o.Key); statErr == nil && there {
				return nil, objects.ErrChanged // Google's store has another generation now
			}
		}
		return nil, failed(err)
	}
	if got := readVersion(r); got != "" && got != o.Version {
		r.Close()
		return nil, fmt.Errorf("%w: it was %s, and is %s", objects.ErrChanged, o.Version, got)
	}
	return body{r}, nil
}

// body converts the errors of reading to those of package objects.
type body struct{ *blob.Reader }

func (b body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = failed(err)
	}
	return n, err
}

func (b bucket) Create(ctx context.Context, at objects.Location, content []byte) error {
	ctx, cancel := context.WithCancel(ctx) // once it is cancelled, Close writes nothing
	defer cancel()
	w, err := b.blob.NewWriter(ctx, at.Key, &blob.WriterOptions{IfNotExist: true, ContentType: "application/octet-stream"})
	if err != nil {
		return failed(err)
	}
	if _, err := w.Write(content); err != nil {
		cancel()
		return failed(errors.Join(err, w.Close()))
	}
	err = w.Close()
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return objects.ErrExists
	}
	return failed(err)
}

// failed converts an error of a library to one of package objects, or shortens it.
func failed(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	code := errorCode(err)
	switch {
	case refusedCredentials(err):
		return fmt.Errorf("%w (%s)", objects.ErrCredentials, code)
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%w (%s)", objects.ErrGone, code)
	case gcerrors.Code(err) == gcerrors.FailedPrecondition, code == "PreconditionFailed":
		return objects.ErrChanged
	}
	return errors.New(brief(err))
}

// brief is the reason at the end of an error that names every layer, and no secret of a
// signed URL.
func brief(err error) string {
	var link *url.Error
	if errors.As(err, &link) {
		return link.Op + ": " + link.Err.Error()
	}
	return err.Error()
}
