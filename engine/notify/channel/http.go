package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// poster sends documents to an address: over TLS, or to this machine. It follows no
// redirect, since the address was chosen by a person, and uses no proxy of the
// environment, which an agent may have set.
type poster struct {
	url    string
	client *http.Client
}

func newPoster(c settings.Channel, from Sources) (*poster, error) {
	to, err := address(c, from)
	if err != nil {
		return nil, err
	}
	return posterTo(to, c)
}

// posterTo is newPoster for an address that is not in the settings, or not in this form.
func posterTo(to string, c settings.Channel) (*poster, error) {
	if err := secure(to); err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return nil, errors.New("the URL of its proxy is not valid")
		}
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &poster{to, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// secure refuses URLs on whose connections others could read. Errors do not quote an
// address: it can contain a key.
func secure(to string) error {
	u, err := url.Parse(to)
	switch {
	case err != nil || u.Host == "":
		return errors.New("its URL is not valid")
	case u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("its URL must begin with https:// (http:// is allowed only for this machine)")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// post sends a document of JSON; what the receiver answers besides its code does not
// matter.
func (p *poster) post(ctx context.Context, body []byte, header map[string]string) error {
	answer, err := p.send(ctx, http.MethodPost, p.url, body, header)
	if err != nil {
		return err
	}
	answer.Body.Close() // its length is not known
	return accepted(answer)
}

// ask sends a value as JSON, and reads the receiver's answer, whatever its code.
func (p *poster) ask(ctx context.Context, question any, header map[string]string) (*http.Response, []byte, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, nil, &notify.Permanent{Err: err}
	}
	answer, err := p.send(ctx, http.MethodPost, p.url, body, header)
	if err != nil {
		return nil, nil, err
	}
	text, err := read(answer)
	return answer, text, err
}

// maxAnswer limits what is read of an answer, in bytes.
const maxAnswer = 64 << 10

func read(answer *http.Response) ([]byte, error) {
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("the receiver answered %d with more than %d KB", answer.StatusCode, maxAnswer>>10)
	}
	return text, err
}

func (p *poster) send(ctx context.Context, method, to string, body []byte, header map[string]string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its URL is not valid")
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("User-Agent", "reviewer")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	return answer, nil
}

// accepted reports what an answer means. The receiver accepts a document with a code from 200 to 299;
// codes from 300 on that another attempt would not change end the delivery.
func accepted(answer *http.Response) error {
	code := answer.StatusCode
	err := fmt.Errorf("the receiver answered %d %s", code, http.StatusText(code))
	switch {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusRequestTimeout || code == http.StatusTooEarly || code == http.StatusTooManyRequests || code >= 500:
		return later(err, answer.Header.Get("Retry-After"), time.Now())
	}
	return &notify.Permanent{Err: err}
}

// later adds to an error when the receiver wants the next attempt: after a number of
// seconds, or at a time.
func later(err error, after string, now time.Time) error {
	wait := time.Duration(0)
	if n, bad := strconv.Atoi(after); bad == nil {
		wait = time.Duration(min(n, 24*60*60)) * time.Second
	} else if at, bad := http.ParseTime(after); bad == nil {
		wait = at.Sub(now)
	}
	if wait <= 0 {
		return err
	}
	return &notify.Later{Err: err, Wait: wait}
}

// withoutURL removes the address from an error of net/http.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
