// Package objects names, lists, reads and writes objects in object stores, and files as if
// they were objects: file:// needs nothing, s3://, gs:// and azblob:// need the subpackage
// cloud, which is passed in.
//
// Out of scope: the contents of objects, and connections.
package objects

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Location names an object, or every object under a prefix.
type Location struct {
	Scheme  string // file, s3, gs or azblob
	Bucket  string // empty for file
	Key     string // of file an absolute path with slashes
	Options string // what follows ? in the URL, such as region=eu-west-1
}

const fileScheme = "file"

// Schemes lists the prefixes that a location can have.
func Schemes() []string { return []string{"s3://", "gs://", "azblob://", "file://"} }

// Is reports whether a name is a location, and not the path of a file.
func Is(name string) bool {
	return slices.ContainsFunc(Schemes(), func(s string) bool { return strings.HasPrefix(name, s) })
}

// Parse reads a location. Keys are taken as they are, without escapes. On Windows, a file
// is file:///C:/logs, and file://C:\logs names the same one.
func Parse(text string) (Location, error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if !Is(text) {
		return Location{}, fmt.Errorf("%s: expected a location that begins with %s", text, strings.Join(Schemes(), ", "))
	}
	if scheme == fileScheme {
		if rest = filepath.ToSlash(rest); filepath.VolumeName(rest) != "" {
			rest = "/" + strings.TrimPrefix(rest, "/")
		}
		if !strings.HasPrefix(rest, "/") {
			return Location{}, fmt.Errorf("%s: expected file:// and an absolute path, such as file:///srv/logs", text)
		}
		return Location{Scheme: scheme, Key: rest}, nil
	}
	rest, options, _ := strings.Cut(rest, "?")
	bucket, key, _ := strings.Cut(rest, "/")
	if bucket == "" {
		return Location{}, fmt.Errorf("%s: expected the name of a bucket, such as %s://bucket/logs", text, scheme)
	}
	if _, err := url.ParseQuery(options); err != nil {
		return Location{}, fmt.Errorf("%s: expected options such as ?region=eu-west-1&use_path_style=true after the key: %w", text, err)
	}
	return Location{Scheme: scheme, Bucket: bucket, Key: key, Options: options}, nil
}

// OfFile is the location of a path.
func OfFile(path string) (Location, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return Location{}, err
	}
	return Location{Scheme: fileScheme, Key: "/" + strings.TrimPrefix(filepath.ToSlash(whole), "/")}, nil
}

// String is the name of a location, without options.
func (l Location) String() string {
	if l.Scheme == fileScheme {
		return "file://" + l.Key
	}
	return l.Scheme + "://" + l.Bucket + "/" + l.Key
}

// URL is the location with its options.
func (l Location) URL() string {
	if l.Options == "" {
		return l.String()
	}
	return l.String() + "?" + l.Options
}

// BucketURL names the bucket, with the options.
func (l Location) BucketURL() string {
	text := l.Scheme + "://" + l.Bucket
	if l.Options != "" {
		text += "?" + l.Options
	}
	return text
}

// At is another key of the same bucket.
func (l Location) At(key string) Location {
	l.Key = key
	return l
}

// Path is the file that a location names; empty if it is in a bucket.
func (l Location) Path() string {
	if l.Scheme != fileScheme {
		return ""
	}
	path := l.Key
	if filepath.VolumeName(strings.TrimPrefix(path, "/")) != "" { // file:///C:/logs
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}
