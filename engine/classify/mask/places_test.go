package mask

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
)

// passwordPlaces are the places in which programs take a password, and the
// files in which they keep one. %s is the password.
var passwordPlaces = []string{
	"curl -u kim:%s https://a.example", "curl -ukim:%s https://a.example", "curl --user kim:%s https://a.example", "curl --user=kim:%s https://a.example", `curl --user "kim:%s" https://a.example`, "curl -u 'kim:%s' https://a.example", "curl --proxy-user kim:%s -x p.example https://a.example",
	"curl -su kim:%s https://a.example", "wget --user=kim --password=%s https://a.example", "wget --http-password=%s https://a.example", "http -a kim:%s a.example", "https://kim:%s@a.example/b", "git clone https://kim:%s@a.example/b.git", "ftp://kim:%s@a.example",
	"postgres://kim:%s@db.example:5432/shop?sslmode=disable", "postgresql+psycopg2://kim:%s@db.example/shop", "mysql://kim:%s@db.example/shop", "mongodb+srv://kim:%s@c0.example/shop", "redis://:%s@r.example:6379/0", "amqp://kim:%s@q.example//", "DATABASE_URL=postgres://kim:%s@db.example/shop",
	"jdbc:mysql://db.example/shop?user=kim&password=%s", "Server=db.example;Database=shop;User Id=kim;Password=%s;", "Server=tcp:db.example,1433;Uid=kim;Pwd=%s;Encrypt=yes;", "host=db.example user=kim password=%s dbname=shop", "Data Source=db;User ID=kim;Password='%s'",
	"mysql -u kim -p%s shop", "mysql -ukim -p'%s' shop", "mysqldump --password=%s shop", "MYSQL_PWD=%s mysql shop", "PGPASSWORD=%s psql -h db.example", "export PGPASSWORD='%s'", "sshpass -p %s ssh kim@a.example", "sshpass -p '%s' scp a kim@a.example:", "SSHPASS=%s sshpass -e ssh a.example",
	"redis-cli -a %s ping", "redis-cli -h r.example -a '%s' keys x", "mongosh -u kim -p %s", "sqlcmd -S db.example -U kim -P %s", "docker login -u kim -p %s r.example", "docker login --username kim --password %s", "helm registry login r.example -u kim -p %s", "npm login --password %s", "oc login -u kim -p %s", "az login -u kim@a.example -p %s",
	"ldapsearch -D cn=kim -w %s -b dc=a", "smbclient //a/b -U kim%%%s", "mount -t cifs //a/b /mnt -o username=kim,password=%s", "ansible-playbook a.yml -e ansible_password=%s", "unzip -P %s a.zip", "7z x -p%s a.7z", "openssl enc -aes-256-cbc -pass pass:%s -in a", "gpg --passphrase %s -d a", "keytool -storepass %s -list", "htpasswd -bB f kim %s", "lftp -u kim,%s a.example",
	"echo %s | docker login --password-stdin -u kim", "echo '%s' | sudo -S true", "echo kim:%s | chpasswd", "net use x: \\\\a\\b /user:kim %s", "xfreerdp /u:kim /p:%s /v:a.example", "ALTER USER kim WITH PASSWORD '%s';", "CREATE USER 'kim'@'h' IDENTIFIED BY '%s';", "SET PASSWORD FOR kim = PASSWORD('%s')",
	"machine a.example login kim password %s", "machine a.example\n  login kim\n  password %s\n", "db.example:5432:shop:kim:%s", "[pypi]\nusername = kim\npassword = %s\n", "//r.example/:_password=%s", "DB_PASSWORD=%s", "DB_PASS=%s", `DB_PASSWORD="%s"`, "db_password: %s", "db:\n  password: '%s'\n", `{"password": "%s"}`, `{\"password\":\"%s\"}`, "<password>%s</password>",
	"spring.datasource.password=%s", "requirepass %s", "define('DB_PASSWORD', '%s');", "'password' => env('DB_PASSWORD', '%s'),", "'password' => '%s',", "PASSWORDS['default'] = '%s'", "os.environ['DB_PASSWORD'] = '%s'", "password = \"%s\" # of kim", "-Djavax.net.ssl.keyStorePassword=%s", "$cred = ConvertTo-SecureString '%s' -AsPlainText -Force", "$password = \"%s\"", "New-LocalUser kim -Password %s",
	"<connectionStrings><add connectionString=\"Server=a;Password=%s\" />", "users:\n- name: kim\n  user:\n    password: %s\n", "  wpa_passphrase=%s", "psk=\"%s\"", "https://a.example/login?user=kim&password=%s", "-d 'username=kim&password=%s'", `-d '{"user":"kim","password":"%s"}'`, "--form password=%s", "password is %s", "Password: %s",
}

// madeUpPasswords are patterns of passwords that people and their tools choose.
var madeUpPasswords = []string{`[A-Z][a-z]{5,8}[0-9]{3,4}[!?]`, `[a-z]{4,6}[0-9]{4}`, `[A-Za-z0-9]{14,20}`, `[a-z]{4,6}-[a-z]{4,6}-[a-z]{4,6}-[0-9]{2}`, `[A-Za-z]{3,5}[0-9]{2}_[A-Za-z]{4,6}`}

func TestMaskPasswordPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	for _, place := range passwordPlaces {
		missed, example := 0, ""
		for _, format := range madeUpPasswords {
			re := classifytest.Pattern(t, format)
			for range values {
				secret := classifytest.Specimen(r, re)
				if text := strings.ReplaceAll(strings.ReplaceAll(place, "%%", "%"), "%s", secret); leaks(text, secret) {
					missed, example = missed+1, text
				}
			}
		}
		if n := len(madeUpPasswords) * values; missed > n/20 {
			t.Errorf("%q: %d of %d leak, such as %q", place, missed, n, example)
		}
	}
}

// tokenPlaces are headers and files that contain a token of any form.
var tokenPlaces = []string{
	"Authorization: Bearer %s", "authorization:bearer %s", "AUTHORIZATION: Token %s", "Authorization: token %s", `-H "Authorization: Bearer %s"`, `-H 'authorization: Bearer %s'`, `{"Authorization": "Bearer %s"}`, `{'Authorization': 'Bearer %s'}`, "headers.Authorization = `Bearer %s`", `req.Header.Set("Authorization", "Bearer %s")`, `.header("Authorization", "Bearer " + "%s")`,
	"Proxy-Authorization: Bearer %s", "Authorization: ApiKey %s", "Authorization: SSWS %s", "Authorization: GenieKey %s", "Authorization: Splunk %s", "Authorization: %s", "X-Api-Key: %s", "x-api-key:%s", "X-Auth-Token: %s", "X-Vault-Token: %s", "PRIVATE-TOKEN: %s", "X-GitLab-Token: %s", "Api-Key: %s", "apikey: %s", "Ocp-Apim-Subscription-Key: %s", "X-Goog-Api-Key: %s", "Cookie: session=%s", "Set-Cookie: sid=%s; Path=/; HttpOnly",
	"//registry.example/:_authToken=%s", "_authToken=%s", "npm config set //registry.example/:_authToken %s", "[pypi]\nusername = __token__\npassword = %s", "machine a.example login x password %s", "users:\n- name: kim\n  user:\n    token: %s\n", "helm --kube-token %s ls", "kubectl --token=%s get pods", "aws_secret_access_key = %s", "aws configure set aws_secret_access_key %s", "gh secret set API_KEY --body %s",
	`{"access_token":"%s","token_type":"bearer"}`, `{"refresh_token": "%s"}`, "client_secret=%s&grant_type=client_credentials", "https://a.example/cb#access_token=%s&x=1", "wss://a.example/?token=%s", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s;EndpointSuffix=x", "Endpoint=sb://a.example/;SharedAccessKeyName=k;SharedAccessKey=%s", "https://a.example/c?sv=2022-11-02&sig=%s",
}

func TestMaskTokenPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	re := classifytest.Pattern(t, `[A-Za-z0-9]{32,40}`)
	for _, place := range tokenPlaces {
		for range values {
			secret := classifytest.Specimen(r, re)
			if text := strings.ReplaceAll(place, "%s", secret); leaks(text, secret) {
				t.Errorf("%q leaks", text)
				break
			}
		}
	}
}

// TestMaskCoded: logins and data in base64, where files keep them so.
func TestMaskCoded(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	for range 10 * values {
		secret := base64.StdEncoding.EncodeToString([]byte("kim:" + classifytest.Specimen(r, classifytest.Pattern(t, `[A-Za-z0-9]{8,14}`))))
		for _, place := range []string{
			"Authorization: Basic %s", `-H "Authorization: Basic %s"`, `{"auths":{"r.example":{"auth":"%s"}}}`, "//r.example/:_auth=%s", "_auth=%s", "apiVersion: v1\nkind: Secret\ndata:\n  login: %s\n", "apiVersion: v1\ndata:\n  a: %s\nkind: Secret\n",
		} {
			if text := strings.ReplaceAll(place, "%s", secret); leaks(text, secret) {
				t.Fatalf("%q leaks", text)
			}
		}
	}
}

// TestMaskKeys: keys in PEM, whole, cut at either end, and quoted.
func TestMaskKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 17))
	line := func() string { return classifytest.Specimen(r, classifytest.Pattern(t, `[A-Za-z0-9+/]{64}`)) }
	a, b, c := line(), line(), line()
	for _, kind := range []string{"", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "} {
		begin, end := "-----BEGIN "+kind+"PRIVATE "+"KEY-----", "-----END "+kind+"PRIVATE "+"KEY-----"
		if kind == "PGP " {
			begin, end = "-----BEGIN PGP PRIVATE "+"KEY BLOCK-----", "-----END PGP PRIVATE "+"KEY BLOCK-----"
		}
		for _, text := range []string{
			begin + "\n" + a + "\n" + b + "\n" + c + "\n" + end, begin + "\r\n" + a + "\r\n" + b + "\r\n" + c + "\r\n" + end, begin + `\n` + a + `\n` + b + `\n` + c + `\n` + end, begin + "\n" + a + "\n" + b + "\n" + c,
			"  key: |\n    " + begin + "\n    " + a + "\n    " + b + "\n    " + c + "\n    " + end, begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n" + a + "\n" + b + "\n" + c + "\n" + end, `{"private_key": "` + begin + `\n` + a + `\n` + b + `\n` + c + `\n` + end + `\n"}`, a + "\n" + b + "\n" + c + "\n" + end,
			begin + " " + a + " " + b + " " + c + " " + end, begin + "\n    " + a + "\n    " + b + "\n    " + c + "\n",
		} {
			m := &Masker{Mac: classifytest.MAC, Formats: FormatsOf(classifytest.Rows(), nil)}
			m.Remember(text)
			for _, part := range []string{a, b, c} {
				if got := m.Text(text); strings.Contains(got, part) {
					t.Errorf("%.60q… -> %.300q", text, got)
					break
				}
			}
		}
	}
}
