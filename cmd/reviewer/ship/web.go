package ship

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"

	"oras.land/oras-go/v2/registry/remote/errcode"
)

// pullWeb fetches an archive from a web server: first the envelope next to it, so that
// nothing more is fetched if that is not accepted. If the server's ETag shows that the archive
// is still the one of Have, it is not fetched again.
func pullWeb(ctx context.Context, from Ref, o Options, accept Accept) (Parcel, error) {
	if err := mayReach(from.url.Host, from.url.Scheme != "https", o); err != nil {
		return Parcel{}, err
	}
	c := webClient{newClient(), o}
	p := Parcel{Name: from.FileName(), Place: from.url.String()}
	var err error
	if p.Envelope, err = c.envelope(ctx, from.url); err != nil {
		return Parcel{}, fmt.Errorf("its envelope: %w", explain(ctx, err))
	}
	if err := accept(Offer{Place: p.Place, Name: p.Name, Envelope: p.Envelope}); err != nil {
		if p.Envelope == nil && c.lacks(ctx, from.url) {
			return Parcel{}, fmt.Errorf("%w: the server has no %s", ErrNotFound, p.Place)
		}
		return Parcel{}, err
	}
	if o.Have == nil || len(o.Have.Archive) == 0 {
		c.options.Have = &Parcel{}
	}
	return p, c.archive(ctx, from.url, &p)
}

// FileName is the file name for an archive of a web server: the last part of the URL if that is a
// plain name. For other places it is empty.
func (r Ref) FileName() string {
	if r.url == nil {
		return ""
	}
	if name := path.Base(r.url.Path); CheckName(name) == nil {
		return name
	}
	return "policy.tar.gz"
}

type webClient struct {
	http    *http.Client
	options Options
}

// envelope returns nil where the server has none.
func (c webClient) envelope(ctx context.Context, archive *url.URL) ([]byte, error) {
	u := *archive
	u.Path += EnvelopeSuffix
	u.RawPath = ""
	resp, err := c.get(ctx, &u, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return nil, nil
	case http.StatusOK:
		return readBounded(resp.Body, MaxEnvelope, "the envelope")
	}
	return nil, refusal(resp)
}

// ErrNotFound is returned if a place has no archive, which differs from an unsigned
// one.
var ErrNotFound = errors.New("not found")

// lacks reports whether the server responds that it has no such archive.
func (c webClient) lacks(ctx context.Context, u *url.URL) bool {
	req, err := c.request(ctx, http.MethodHead, u)
	if err != nil {
		return false
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone
}

func (c webClient) archive(ctx context.Context, u *url.URL, p *Parcel) error {
	have := c.options.Have
	resp, err := c.get(ctx, u, have.ETag)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && have.ETag != "":
		p.Archive, p.ETag, p.Unchanged = have.Archive, have.ETag, true
		return nil
	case resp.StatusCode != http.StatusOK:
		return refusal(resp)
	case resp.ContentLength > MaxArchive:
		return fmt.Errorf("the archive has %d bytes according to the server, at most %d are allowed", resp.ContentLength, MaxArchive)
	}
	p.ETag = resp.Header.Get("ETag")
	p.Archive, err = readBounded(resp.Body, MaxArchive, "the archive")
	return err
}

// get requests a file. Credentials are sent only to the host that was named.
func (c webClient) get(ctx context.Context, u *url.URL, etag string) (*http.Response, error) {
	req, err := c.request(ctx, http.MethodGet, u)
	if err != nil {
		return nil, err
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	return c.http.Do(req)
}

func (c webClient) request(ctx context.Context, method string, u *url.URL) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	if c.options.Username != "" {
		req.SetBasicAuth(c.options.Username, c.options.Password)
	}
	return req, nil
}

// refusal is an answer that is not a file.
func refusal(resp *http.Response) error {
	return &errcode.ErrorResponse{Method: resp.Request.Method, URL: resp.Request.URL, StatusCode: resp.StatusCode}
}

// Post sends a JSON document to an address, over TLS or to this machine.
func Post(ctx context.Context, address string, document []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(document))
	if err != nil {
		return err
	}
	if err := mayReach(req.URL.Host, req.URL.Scheme != "https", Options{}); err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	client := newClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(req)
	if err != nil {
		return explain(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}
