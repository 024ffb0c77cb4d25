package incidentcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// recipients returns who may read an exported incident: those of the command line and
// of the layers other than the project's, whose files an agent can write. None: the
// export is not encrypted.
func recipients(home string, flags []string) ([]age.Recipient, error) {
	list := slices.Clone(flags)
	e, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return nil, fmt.Errorf("read the setting interventions.encrypt_incidents_to: %w", err)
	}
	list = append(list, e.Settings.Interventions.EncryptIncidentsTo...)
	if len(list) == 0 {
		return nil, nil
	}
	parsed, err := age.ParseRecipients(strings.NewReader(strings.Join(list, "\n")))
	if err != nil {
		return nil, fmt.Errorf("recipients of an incident are public keys of age, such as age1…: %w", err)
	}
	return parsed, nil
}

// encrypted writes a string in the format of age, as ASCII, for some recipients; for none,
// unchanged.
func encrypted(w io.Writer, to []age.Recipient, write func(io.Writer) error) error {
	if len(to) == 0 {
		return write(w)
	}
	ascii := armor.NewWriter(w)
	plain, err := age.Encrypt(ascii, to...)
	if err != nil {
		return fmt.Errorf("encrypt the incident: %w", err)
	}
	if err := write(plain); err != nil {
		return err
	}
	if err := plain.Close(); err != nil {
		return fmt.Errorf("encrypt the incident: %w", err)
	}
	return ascii.Close()
}
