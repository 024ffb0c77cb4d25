package ship

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
	"oras.land/oras-go/v2/registry/remote/retry"
)

// Timeouts of a server, except for downloads; a whole transfer has the deadline of its
// context.
const (
	dialTime     = 10 * time.Second
	answerTime   = 30 * time.Second
	maxRedirects = 5
	maxHeader    = 64 << 10 // bytes of an answer's header
	userAgent    = "reviewer"
)

// newClient returns a client that follows few redirects, none from HTTPS to HTTP, and
// retries twice if a server is busy.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTime}).DialContext
	t.TLSHandshakeTimeout = dialTime
	t.ResponseHeaderTimeout = answerTime
	t.MaxResponseHeaderBytes = maxHeader
	t.DisableCompression = true // bytes are counted and compared as they are sent
	t.DisableKeepAlives = false
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	again := retry.NewTransport(t)
	again.Policy = func() retry.Policy {
		return &retry.GenericPolicy{Retryable: retry.DefaultPredicate, Backoff: retry.DefaultBackoff, MinWait: 200 * time.Millisecond,
			MaxWait: 2 * time.Second, MaxRetry: 2}
	}
	return &http.Client{Transport: again, CheckRedirect: checkRedirect}
}

// checkRedirect limits redirects, and refuses one from HTTPS to HTTP.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case req.URL.Scheme != "https" && !Loopback(req.URL.Host) && (first.Scheme == "https" || first.Host != req.URL.Host):
		return fmt.Errorf("it redirects to %s, without TLS", req.URL.Redacted())
	}
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		req.Header.Del("Authorization")
	}
	return nil
}

// mayReach refuses plain HTTP to another machine unless it was enabled.
func mayReach(host string, plain bool, o Options) error {
	if plain && !o.PlainHTTP && !Loopback(host) {
		return fmt.Errorf("%s would be reached without TLS, which exposes passwords on the network; use https, or add --plain-http", host)
	}
	return nil
}

// explained is an error with advice.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// explain describes a transfer error, and what to do.
func explain(ctx context.Context, err error) error {
	var netErr net.Error
	if said := (*explained)(nil); errors.As(err, &said) {
		return err
	}
	if ctx.Err() == context.Canceled {
		return &explained{"interrupted; nothing was written", err}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout() {
		return &explained{"timed out; try again, or allow more time with --timeout", err}
	}
	if text := certificateText(err); text != "" {
		return &explained{text, err}
	}
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) {
		return &explained{answerText(answer.StatusCode, answer.Error()), err}
	}
	for _, known := range []struct {
		is   error
		text string
	}{
		{auth.ErrBasicCredentialNotFound, "it requires a user name and a password; log in with docker login, or give --username and --password-stdin"},
		{content.ErrMismatchedDigest, "the content does not match its digest; it was changed in transit, do not use it"},
		{content.ErrTrailingData, "the content is longer than announced; do not use it"},
		{content.ErrInvalidDescriptorSize, "it announces an impossible size"},
		{io.ErrUnexpectedEOF, "the content is truncated; try again"},
		{errdef.ErrSizeExceedsLimit, "its response is too large"},
		{errdef.ErrTooManyPages, "it lists too many signatures; delete those that are not yours"},
		{syscall.ECONNREFUSED, "connection refused; check that the server is running and the port is right"},
		{errdef.ErrNotFound, "no such release; check the repository and the tag"},
	} {
		if errors.Is(err, known.is) {
			return &explained{known.text, err}
		}
	}
	return reached(err)
}

// reached describes a network error without the URL, which the caller names anyway.
func reached(err error) error {
	var dns *net.DNSError
	var u *url.Error
	switch {
	case errors.As(err, &dns):
		return &explained{fmt.Sprintf("host %s not found (%s); check the name and the network connection", dns.Name, dns.Err), err}
	case errors.As(err, &u):
		return &explained{u.Err.Error(), err}
	}
	return err
}

func certificateText(err error) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var other x509.HostnameError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &other):
		return fmt.Sprintf("its certificate is not trusted (%v); set SSL_CERT_FILE to a file with its certificate authority", err)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not use TLS; if that is intended, add --plain-http"
	}
	return ""
}

// answerText explains a server's refusal.
func answerText(status int, detail string) string {
	switch {
	case status == http.StatusUnauthorized:
		return "401 from the server: the user name and password are missing or wrong; log in with docker login, or give " +
			"--username and --password-stdin"
	case status == http.StatusForbidden:
		return "403 from the server: the account is not allowed to do this; ask its administrator for access"
	case status == http.StatusNotFound:
		return "404 from the server: no such release; check the host, the name and the tag"
	case status == http.StatusTooManyRequests:
		return "429 from the server: too many requests; wait and try again"
	case status >= 500:
		return fmt.Sprintf("%d from the server: it has an internal problem; try again later (%.200s)", status, detail)
	}
	return fmt.Sprintf("%d from the server (%.200s)", status, detail)
}

// readBounded reads all of r, or refuses it.
func readBounded(r io.Reader, most int64, what string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s is larger than %d bytes, so not a policy", what, most)
	}
	return b, nil
}

// readFile reads a regular file of bounded size.
func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name) // before it is opened: a pipe would block
	switch {
	case err != nil:
		return nil, plainPath(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, plainPath(err)
	}
	defer f.Close()
	return readBounded(f, most, name)
}

// plainPath leaves out the name of the failed system call.
func plainPath(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}
