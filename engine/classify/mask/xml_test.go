package mask

import "testing"

// TestMaskXMLPasswords: next to a user any word is a password.
func TestMaskXMLPasswords(t *testing.T) {
	for _, text := range []string{
		`<dataSource url="jdbc:h2:mem" username="kim" password="sunflower"/>`,
		"<server>\n  <id>shop</id>\n  <username>kim</username>\n  <password>sunflower</password>\n</server>",
		`<property name="username" value="kim"/>` + "\n" + `<property name="password" value="sunflower"/>`,
		`<user username="kim" password="sunflower" roles="manager"/>`,
		"<Login>\n <User>kim</User><Password>sunflower</Password></Login>",
	} {
		if !masked(text) {
			t.Errorf("%q stays", text)
		}
	}
	for _, text := range []string{
		`<string name="password">Passwort</string>`, `<label for="password">Kennwort</label>`, `<input type="password" name="password" username="kim">`,
		`<username>kim</username><password>${db.password}</password>`, `<username>kim</username><password>password</password>`,
		`<TextField label="Password" password="visible"/>`, `<User username="kim" /> ; const password: "visible"`, `<user name="kim"/> password = hidden`, `<username>kim</username><passwordEncoder>bcrypt</passwordEncoder>`,
	} {
		if masked(text) {
			t.Errorf("%q is masked", text)
		}
	}
}
