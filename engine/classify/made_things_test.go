package classify

import (
	"fmt"
	"testing"
)

// What makes a container or a database counts only where the call succeeds only if it does.
func TestMakes(t *testing.T) {
	w := diskWorld(map[string]string{"/srv/shop/a": "x"}, nil)
	const lab = "docker run -d --name lab postgres:16"
	for command, want := range map[string]string{
		lab:                                   "container lab postgres bare",
		"sudo -u ana " + lab:                  "container lab postgres bare",
		"cd /srv && " + lab + " && docker ps": "container lab postgres bare",
		"docker volume rm d && docker run -d --name lab -v d:/data postgres": "container lab postgres bare",
		"docker run -d --name lab -v d:/data postgres":                       "container lab postgres",
		"docker volume rm d; docker run -d --name lab -v d:/data postgres":   "container lab postgres",
		"docker volume rm e && docker run -d --name lab -v d:/data postgres": "container lab postgres",
		"docker run -d --name lab -e PGHOST=db postgres":                     "container lab postgres",
		"docker run -d --name lab --network host postgres":                   "container lab postgres",
		"docker create --name lab registry.example:5000/shop/db@sha256:00":   "container lab registry.example:5000/shop/db bare",
		"createdb lab":                              "database postgres:///lab",
		"createdb -h db -p 5433 lab":                "database postgres://db/lab 5433",
		"PGPORT=5433 createdb lab":                  "database postgres:///lab PGPORT=5433",
		"time createdb lab":                         "database postgres:///lab",
		"docker exec pg createdb lab":               "database postgres:///lab in container:pg",
		"psql -c 'create database lab'":             "database postgres:///lab",
		"psql -p 5433 -c 'CREATE DATABASE lab'":     "database postgres:///lab 5433",
		"mysql -e 'create database lab'":            "database mysql:///lab",
		"mysqladmin create lab":                     "database mysql:///lab",
		"psql -c 'create database lab; select 1'":   "",
		"psql -c 'create database lab' -c 'x'":      "",
		"psql -c 'create database if not exists x'": "",
		"echo 'create database lab' | psql":         "",
		lab + " || true":                            "",
		lab + "; true":                              "",
		lab + " | tail -1":                          "",
		lab + " &":                                  "",
		"! " + lab:                                  "",
		"if " + lab + "; then true; fi":             "",
		"(" + lab + ")":                             "",
		"sh -c '" + lab + "'":                       "",
		"ssh db createdb lab":                       "",
		"sudo -b createdb lab":                      "",
		"docker exec -d pg createdb lab":            "",
		"./createdb lab":                            "",
		"/tmp/createdb lab":                         "",
		"PATH=/tmp createdb lab":                    "",
		"export PATH=/tmp && createdb lab":          "",
		"env PATH=/tmp createdb lab":                "",
		"trap 'exit 0' EXIT; createdb lab":          "",
		"set +e; createdb lab":                      "",
		". ./a && createdb lab":                     "",
		"alias createdb=true; createdb lab":         "",
		"createdb() { :; }; createdb lab":           "",
		"createdb \"$NAME\"":                        "",
		"createdb -D lab":                           "",
		"docker run -d --name \"$NAME\" postgres":   "",
		"docker run --rm --name lab postgres true":  "",
		"podman run --replace -d --name lab x":      "",
		"docker start lab":                          "",
		"docker compose up -d":                      "",
	} {
		a := filesAction(t, w, command)
		got := ""
		for _, m := range a.Makes {
			got += fmt.Sprintf("%s %s", m.Object, m.Name)
			for _, text := range []string{m.Server, m.Image} {
				if text != "" {
					got += " " + text
				}
			}
			if m.Host != "" {
				got += " in " + m.Host
			}
			if m.Bare {
				got += " bare"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// The signal that is sent, where the call names one.
func TestSignals(t *testing.T) {
	w := diskWorld(map[string]string{"/srv/shop/a": "x"}, nil)
	for command, want := range map[string]string{
		"kill 12": "", "kill -HUP 12": "HUP", "kill -1 12": "HUP", "kill -SIGUSR1 12": "USR1", "kill -s USR2 12": "USR2",
		"pkill --signal=hup x": "HUP", "pkill -sUSR1 x": "USR1", "pkill -RTMIN+8 x": "RTMIN+8", "killall -9 x": "9",
		"pkill -HUP -KILL x": "", "pkill -HUP --signal=9 x": "", "pkill -$S x": "", "pkill -f USR1": "", "pkill -USR1 -f x": "USR1",
	} {
		a := filesAction(t, w, command)
		if len(a.Effects) == 0 || a.Effects[0].Signal != want {
			t.Errorf("%s: %+v, want %q", command, a.Effects, want)
		}
	}
}
