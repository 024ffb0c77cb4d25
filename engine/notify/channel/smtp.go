package channel

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// mailer sends e-mail over SMTP, encrypted unless the server is this machine.
type mailer struct {
	host, address  string
	security       string
	user, password string
	from           *mail.Address
	to             []*mail.Address
	roots          *tls.Config // tests replace it
}

func newSMTP(c settings.Channel, from Sources) (sender, error) {
	m := &mailer{host: c.Host, security: cmp.Or(c.Security, "starttls"), user: c.User}
	port := cmp.Or(c.Port, 587)
	if c.Port == 0 && m.security == "tls" {
		port = 465
	}
	m.address = net.JoinHostPort(c.Host, strconv.FormatInt(port, 10))
	if m.security == "none" && !loopback(c.Host) {
		return nil, errors.New("security none is only for a mail server on this machine")
	}
	var err error
	if m.password, err = from.value("password", "", c.SecretFile, c.SecretEnv); err != nil {
		return nil, err
	}
	if m.from, err = mail.ParseAddress(c.From); err != nil {
		return nil, fmt.Errorf("from: %w", err)
	}
	for _, to := range c.To {
		address, err := mail.ParseAddress(to)
		if err != nil {
			return nil, fmt.Errorf("to: %w", err)
		}
		m.to = append(m.to, address)
	}
	return m, nil
}

func (m *mailer) send(ctx context.Context, e notify.Entry) error {
	client, err := m.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	if m.user != "" {
		if err := client.Auth(smtp.PlainAuth("", m.user, m.password, m.host)); err != nil {
			return refused(err)
		}
	}
	if err := client.Mail(m.from.Address); err != nil {
		return refused(err)
	}
	for _, to := range m.to {
		if err := client.Rcpt(to.Address); err != nil {
			return refused(err)
		}
	}
	w, err := client.Data()
	if err != nil {
		return refused(err)
	}
	if _, err := w.Write(m.message(e)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return refused(err)
	}
	_ = client.Quit() // the message was accepted
	return nil
}

// dial connects, and encrypts the connection as the settings say: a server that does
// not offer that gets nothing.
func (m *mailer) dial(ctx context.Context) (*smtp.Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.address)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(end)
	}
	conn = &limited{conn, maxAnswer}
	if m.security == "tls" {
		conn = tls.Client(conn, m.tls())
	}
	client, cerr := smtp.NewClient(conn, m.host)
	if err = errors.Join(err, cerr); err != nil {
		conn.Close()
		return nil, refused(err)
	}
	if m.security == "starttls" {
		if err := client.StartTLS(m.tls()); err != nil {
			client.Close()
			return nil, fmt.Errorf("encrypt the connection: %w", err)
		}
	}
	return client, nil
}

// limited is a connection from which only a limited number of bytes is read: the lines that a server sends have
// no limit.
type limited struct {
	net.Conn
	left int
}

// Read implements net.Conn.
func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the server answered with more than %d KB", maxAnswer>>10)
	}
	n, err := l.Conn.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

func (m *mailer) tls() *tls.Config {
	c := m.roots.Clone() // of nil: nil
	if c == nil {
		c = &tls.Config{}
	}
	c.ServerName, c.MinVersion = m.host, tls.VersionTLS12
	return c
}

// refused distinguishes a permanent refusal, with a code from 500 on, from others.
func refused(err error) error {
	var answer *textproto.Error
	if errors.As(err, &answer) && answer.Code >= 500 {
		return &notify.Permanent{Err: err}
	}
	return err
}

// maxMail limits the text of an e-mail, in bytes.
const maxMail = 64 << 10

// message returns the e-mail. Nothing of the entry is in a header but its title,
// encoded, and its id.
func (m *mailer) message(e notify.Entry) []byte {
	var b bytes.Buffer
	var to []string
	for _, address := range m.to {
		to = append(to, address.String())
	}
	_, domain, _ := strings.Cut(m.from.Address, "@")
	for _, h := range [][2]string{
		{"From", m.from.String()}, {"To", strings.Join(to, ", ")}, {"Subject", mime.QEncoding.Encode("utf-8", oneLine(e.Title))},
		{"Date", time.Now().Format(time.RFC1123Z)}, {"Message-ID", "<" + e.ID + "@" + domain + ">"}, {"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=utf-8"}, {"Content-Transfer-Encoding", "base64"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n")
	body := base64.StdEncoding.EncodeToString([]byte(textWithin(e, maxMail)))
	for len(body) > 0 {
		n := min(len(body), 76)
		b.WriteString(body[:n] + "\r\n")
		body = body[n:]
	}
	return b.Bytes()
}
