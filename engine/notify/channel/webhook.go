package channel

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// The headers of a webhook.
const (
	HeaderID        = "Idempotency-Key"    // the entry's id: the same for each attempt
	HeaderSignature = "Reviewer-Signature" // t=UNIX SECONDS,v1=HEX: see Sign
)

// webhook posts entries as JSON. With a secret, it signs them.
type webhook struct {
	to     *poster
	secret string
	now    func() time.Time
}

func newWebhook(c settings.Channel, from Sources) (sender, error) {
	to, err := newPoster(c, from)
	if err != nil {
		return nil, err
	}
	secret, err := from.value("secret", "", c.SecretFile, c.SecretEnv)
	if err != nil {
		return nil, err
	}
	if len(secret) > 0 && len(secret) < 16 {
		return nil, errors.New("its secret has fewer than 16 characters")
	}
	return &webhook{to, secret, time.Now}, nil
}

func (w *webhook) send(ctx context.Context, e notify.Entry) error {
	body, err := json.Marshal(e)
	if err != nil {
		return &notify.Permanent{Err: err}
	}
	header := map[string]string{HeaderID: e.ID}
	if w.secret != "" {
		header[HeaderSignature] = Sign(w.secret, w.now().Unix(), body)
	}
	return w.to.post(ctx, body, header)
}

// Sign returns the signature of a body at a time: HMAC-SHA-256 over the Unix seconds, a
// dot and the body, under the shared secret. A receiver computes it again, compares in
// constant time, and refuses times that differ from its own by more than a few minutes.
func Sign(secret string, unix int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strconv.FormatInt(unix, 10) + "."))
	mac.Write(body)
	return fmt.Sprintf("t=%d,v1=%s", unix, hex.EncodeToString(mac.Sum(nil)))
}
