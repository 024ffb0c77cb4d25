package channel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/agent-reviewer/reviewer/engine/notify"
)

// poster posts documents to an address: over TLS, or to this machine. It follows no
// redirect, since the address was chosen by a person, and uses no proxy of the
// environment, which an agent may have set.
type poster struct {
	url    string
	client *http.Client
}

func newPoster(c Config, from Sources) (*poster, error) {
	to, err := address(c, from)
	if err != nil {
		return nil, err
	}
	if err := secure(to); err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return nil, errors.New("its proxy is not a URL")
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &poster{to, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// secure refuses addresses where others could read along. Errors do not quote an
// address: it can contain a key.
func secure(to string) error {
	u, err := url.Parse(to)
	switch {
	case err != nil || u.Host == "":
		return errors.New("its address is not a URL")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("its address must begin with https:// (http:// is allowed only for this machine)")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// post sends a document. The receiver accepts it with a code from 200 to 299; codes
// from 400 on that another attempt would not change end the delivery.
func (p *poster) post(ctx context.Context, body []byte, header map[string]string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is not a URL")
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "reviewer")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // what it says does not matter
	return accepted(answer.StatusCode)
}

func accepted(code int) error {
	err := fmt.Errorf("the receiver answered %d %s", code, http.StatusText(code))
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests:
		return err
	case code >= 300 && code < 500:
		return &notify.Permanent{Err: err}
	}
	return err
}

// withoutURL removes the address from an error of net/http.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
