package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agent-reviewer/reviewer"

// wall lists what a package may import besides the standard library, and why
// that is all.
type wall struct {
	from string
	may  []string // of this module, or the beginning of another's import path
	why  string
}

func walls() []wall {
	return []wall{
		{"engine", nil,
			"the nouns: everybody imports them, so they bring nothing along"},
		{"engine/approval", []string{"engine"},
			"the states of a question are a pure function of records"},
		{"engine/approval/queue", []string{"engine", "engine/approval", "engine/audit", "engine/history", "engine/osfile"},
			"an answer enters the log in one place"},
		{"engine/approval/code", []string{"engine", "engine/audit", "engine/osfile", "golang.org/x/crypto/argon2"},
			"whether a code is the person's follows from a file and the ledger, whoever sends it"},
		{"engine/history", []string{"engine", "engine/approval", "engine/wildcard"},
			"what records fold to is the same whoever keeps them, and whatever policy is asked about it"},
		{"engine/settings", nil,
			"what can be set is known everywhere, and what the values mean is not: this is data"},
		{"engine/review", []string{"engine/settings", "engine", "engine/history"},
			"a decision is a pure function of policy, event and history: nothing here can carry anything out"},
		{"engine/act", []string{"engine/settings", "engine", "engine/approval", "engine/history", "engine/review"},
			"the whole contract from an event to its answer: who classifies, judges, records and encodes is passed in"},
		{"engine/osfile", []string{"golang.org/x/sys/windows"},
			"what systems do differently with files holds for any file, whatever it is for"},
		{"engine/await", nil,
			"every test can use it, whatever it waits for; nothing else imports it"},
		{"engine/sweep", []string{"engine/osfile"},
			"every test can use it, whatever its sweep is about; nothing else imports it"},
		{"engine/wildcard", nil,
			"what a pattern matches follows from two texts, and shells, .gitignore files and conditions share one matcher"},
		{"engine/cmdline", []string{"engine", "engine/wildcard", "mvdan.cc/sh/v3/syntax"},
			"how a command is written follows from its text: nothing is expanded, looked up or judged"},
		{"engine/gitignore", []string{"engine/wildcard"},
			"what a .gitignore file says about a path follows from its text; classification and checkpoints ask the same"},
		{"engine/checkpoint", []string{"engine/gitignore", "engine/osfile", "github.com/klauspost/compress/zstd"},
			"files are kept and restored whatever the call that changed them meant, and whatever decided that they return"},
		{"engine/harness", []string{"engine", "engine/osfile"},
			"an agent's wire format is true whatever a call means and whatever is decided; packages under engine meet in cmd only"},
		{"engine/harness/settings", []string{"engine", "engine/osfile", "engine/harness", "github.com/BurntSushi/toml", "github.com/tailscale/hujson"},
			"how an agent's files name a hook is true whatever the hook is sent and answers; no program is started, so every file can be tried out"},
		{"engine/harness/harnesstest", []string{"engine", "github.com/google/go-cmp/cmp"},
			"tests show events alike, whichever agent they come from"},
		{"engine/transcript", []string{"engine", "engine/harness"},
			"what an agent recorded is true whatever a call means and whatever was decided about it"},
		{"engine/classify", []string{"engine", "engine/classify/abstract", "engine/classify/languages", "engine/classify/marks", "engine/classify/mask", "engine/classify/named", "engine/classify/operation", "engine/classify/options", "engine/classify/place", "engine/classify/programs", "engine/classify/prompt", "engine/classify/rows", "engine/classify/shell", "engine/classify/standing", "engine/classify/tasks", "engine/classify/windows", "mvdan.cc/sh/v3/syntax"},
			"what a call means depends neither on the agent that makes it nor on the policy that judges it"},
		{"engine/classify/abstract", []string{"engine", "mvdan.cc/sh/v3/syntax"},
			"what is known about a string is the ground of every reader of code, so it knows none of them"},
		{"engine/classify/pipelines", []string{"go.yaml.in/yaml/v3"},
			"what a workflow deploys is read from its text, wherever that is and whoever pushes"},
		{"engine/classify/named", []string{"engine", "engine/classify/place", "engine/classify/rows"},
			"what a project lacks is a question about its files, whoever names it and however the message was read"},
		{"engine/classify/rows", []string{"engine/wildcard", "go.yaml.in/yaml/v3"},
			"the form of rows is known without knowing what they do: whoever checks a policy reads them too"},
		{"engine/classify/mask", []string{"engine", "engine/classify/rows"},
			"a secret is one wherever it stands: no path, program or language has a say"},
		{"engine/classify/sql", []string{"engine/classify/abstract"},
			"a script means the same whoever sends it, so clients and shells are out of reach"},
		{"engine/classify/options", []string{"engine/wildcard", "engine/classify/abstract", "engine/classify/rows"},
			"how a program's words divide into options and operands follows from its grammar, whatever it does with them"},
		{"engine/classify/operation", []string{"engine/classify/abstract", "engine/classify/languages", "engine/classify/rows"},
			"the name of an operation is read as text, whichever service has it"},
		{"engine/classify/place", []string{"engine", "engine/gitignore", "engine/osfile", "engine/wildcard", "engine/classify/abstract", "engine/classify/mask", "engine/classify/pipelines", "engine/classify/rows", "golang.org/x/text/unicode/norm"},
			"what a path is does not depend on the command that names it"},
		{"engine/classify/marks", []string{"engine", "engine/classify/abstract", "engine/classify/mask", "engine/classify/place"},
			"marks are made of texts, and no code is understood for them"},
		{"engine/classify/prompt", []string{"engine", "engine/classify/abstract", "engine/classify/marks", "engine/classify/mask", "engine/classify/rows"},
			"what a person wrote is read before anything is known about a call"},
		{"engine/classify/standing", []string{"engine", "engine/classify/mask", "engine/classify/place", "engine/classify/prompt", "engine/classify/rows"},
			"what a folder's instruction files say is read before anything is known about a call"},
		{"engine/classify/shell", []string{"engine", "engine/wildcard", "engine/classify/abstract", "engine/classify/options", "engine/classify/place", "engine/classify/rows", "engine/classify/sql", "mvdan.cc/sh/v3/syntax"},
			"the machine is handed what knows programs and languages; it imports neither, so that each can be changed alone"},
		{"engine/classify/languages", []string{"engine", "engine/classify/abstract", "engine/classify/shell"},
			"code of a language has its effects through the machine, whichever program runs it"},
		{"engine/classify/tasks", []string{"engine", "engine/classify/abstract", "engine/classify/place", "engine/classify/shell", "go.yaml.in/yaml/v3"},
			"files of tasks hold shell code: the machine runs it, and the programs in it are not looked at here"},
		{"engine/classify/windows", []string{"engine", "engine/wildcard", "engine/classify/abstract", "engine/classify/mask", "engine/classify/options", "engine/classify/place", "engine/classify/shell"},
			"programs that cmd or PowerShell start are run by the machine with what it was handed"},
		{"engine/classify/programs", []string{"engine", "engine/classify/abstract", "engine/classify/languages", "engine/classify/operation", "engine/classify/options", "engine/classify/place", "engine/classify/rows", "engine/classify/shell", "engine/classify/sql", "engine/classify/tasks", "engine/classify/windows", "github.com/tailscale/hujson"},
			"the top of what is known about commands: nobody below may lean on a single program"},
		{"engine/classify/classifytest", []string{"engine/classify/rows"},
			"what tests share is at hand for the lowest package, so it imports none but the form of rows"},
		{"engine/audit", []string{"engine", "engine/history", "engine/osfile"},
			"a log can be verified without knowing what its records mean: of the history it knows how to fold, write and read a state"},
		{"engine/detect", []string{"engine"},
			"looking into raw texts needs no meaning and no verdict, and what it returns is numbers"},
		{"engine/simulate", []string{"engine", "engine/act", "engine/history", "engine/review"},
			"a rehearsal cannot act or record anything, since no service that does is in reach"},
		{"engine/yamltext", []string{"go.yaml.in/yaml/v3"},
			"where a text stops being YAML is said without knowing what it is for"},
		{"engine/cases", []string{"engine", "engine/yamltext", "go.yaml.in/yaml/v3", "golang.org/x/tools/txtar"},
			"what a case file says, and whether a record is as it expects, depends on nobody who classifies or decides"},
		{"engine/stats", []string{"engine"},
			"what a log says in numbers depends neither on where its records lie nor on who shows the numbers"},
		{"engine/overview", []string{"engine"},
			"what agents did is in their records: neither where these are nor how a page looks matters to a sum"},
		{"engine/incident", []string{"engine/settings", "engine"},
			"what stopped a session is in its records: where they lie, which policy is active and how a report looks is the caller's"},
		{"engine/notify", []string{"engine", "engine/osfile"},
			"what waits to be told is files: no channel is known here, and no connection can be opened"},
		{"engine/notify/channel", []string{"engine/settings", "engine/notify", "engine/osfile"},
			"how people are reached is known without knowing what is told, and when"},
		{"engine/caller", []string{"engine", "engine/osfile", "golang.org/x/sys/unix", "golang.org/x/sys/windows"},
			"who asks follows from facts about processes, whatever is asked; names of agents and times of sessions are passed in"},
		{"engine/serve/wire", nil,
			"the client of a hook imports it, and pays for each import at each call"},
		{"engine/serve/client", []string{"engine/serve/wire"},
			"each import costs each hook time: no network, no policy, no JSON"},
		{"engine/serve", []string{"engine/osfile", "engine/run/tree", "engine/serve/wire"},
			"a socket and its limits are the same whatever is asked and answered"},
		{"engine/serve/metrics", nil,
			"counts are numbers and words, whoever counts; the one place where the resident process can be asked over HTTP"},
		{"engine/serve/api", []string{"engine", "engine/approval"},
			"the documents of the API are the same for server, client and description, so nothing of a connection or a log comes along"},
		{"engine/serve/apiserver", []string{"engine", "engine/approval", "engine/approval/code", "engine/approval/queue", "engine/audit", "engine/osfile", "engine/serve/api"},
			"questions are listed and answered through the queue, sessions are read from the log; what decides about an event is passed in"},
		{"engine/serve/apiclient", []string{"engine/approval", "engine/serve/api"},
			"other programs import it: nothing of the guard comes along but the documents"},
		{"engine/run", []string{"engine/run/tree"},
			"a command is supervised whatever it is: what its agent says and what policy wants is passed in"},
		{"engine/run/tree", []string{"engine/osfile", "golang.org/x/sys/unix"},
			"processes are found, measured and ended without knowing why"},
		{"engine/run/render", []string{"engine/run/sandbox", "mvdan.cc/sh/v3/syntax"},
			"what is confined is decided before: here it is only written down"},
		{"engine/run/sandbox", []string{"github.com/landlock-lsm/go-landlock/landlock", "golang.org/x/net/bpf", "golang.org/x/sys/unix"},
			"what a process may reach is passed in as paths and numbers: no policy and no log is at hand in a confined process"},
		{"engine/run/proxy", nil,
			"whether a connection is allowed follows from a list, a name and its addresses; who opened it and what is recorded is the caller's"},
		{"cmd/reviewer-hook", []string{"engine/serve/client"},
			"a command line and nothing else"},
		{"cmd/reviewer/trash", []string{"engine/osfile"},
			"moving files aside is the same work whoever asks for it, and nothing of policy or log may keep it from being tried alone"},
		{"engine/mutant", nil,
			"what a small change to a policy is, for every language in which one is made"},
		{"rego", []string{"engine", "engine/mutant", "rego/precompiled", "rego/reuse", "github.com/open-policy-agent/opa/v1/"},
			"the one package that knows OPA, and nothing else, so that OPA can be changed in one place"},
		{"rego/reuse", []string{"github.com/open-policy-agent/opa/v1/"},
			"part of rego: it examines compiled modules"},
		{"rego/precompiled", []string{"github.com/open-policy-agent/opa/v1/"},
			"part of rego: it writes and reads compiled modules, whichever policy they are of"},
		{"cel", []string{"engine", "engine/cmdline", "engine/mutant", "engine/wildcard", "cel.dev/cel-go/", "google.golang.org/genproto/googleapis/api/expr/v1alpha1", "google.golang.org/protobuf/proto"},
			"the one package that knows cel-go, and nothing else, so that it can be changed in one place"},
		{"bundles", []string{"engine/settings", "engine", "bundles/conform", "bundles/encoded", "engine/classify/rows", "engine/wildcard", "engine/yamltext", "schemas", "go.yaml.in/yaml/v3", "golang.org/x/mod/semver", "golang.org/x/mod/sumdb/dirhash"},
			"files, digests and settings of a policy can be looked at without evaluating it"},
		{"bundles/catalogue", []string{"bundles"},
			"what is said about rules follows from their rows and the settings"},
		{"bundles/conform", nil,
			"whether a document fits a schema follows from the two, and a program that starts pays for it only when it is asked"},
		{"bundles/encoded", nil,
			"a form of values: it knows no type of ours"},
		{"bundles/diff", []string{"engine", "engine/classify/rows", "bundles", "go.yaml.in/yaml/v3"},
			"the difference of two policies follows from their rows and settings; what Rego states is asked of the caller"},
		{"bundles/mutate", []string{"engine", "engine/mutant", "bundles", "go.yaml.in/yaml/v3"},
			"a change of a row is a file with another text: what tests make of it is not known here"},
		{"bundles/foreign", []string{"bundles", "go.yaml.in/yaml/v3"},
			"what importers of other tools' policies share: reading JSON with its lines and writing a list; it knows neither the tools nor the language of conditions"},
		{"bundles/safeclaw", []string{"engine", "bundles", "bundles/foreign"},
			"what SafeClaw's words mean can be told without deciding anything; whether an expression can be used is asked of who imports"},
		{"bundles/permissions", []string{"engine", "engine/wildcard", "bundles", "bundles/foreign"},
			"what Claude Code's permission rules mean can be told without deciding anything"},
		{"bundles/signing", []string{"golang.org/x/crypto/ssh", "golang.org/x/mod/semver"},
			"who signed what can be checked before anything of a policy is read, so nothing that reads one is at hand"},
		{"bundles/sigstore", nil,
			"what is asked about a Sigstore bundle is data: who verifies one is passed in"},
		{"bundles/releases", []string{"engine/osfile"},
			"which bytes are active, and what was active before, is known without knowing what is in them or who signed it"},
		{"bundles/kept", []string{"engine/osfile", "bundles"},
			"a policy is stored and read by its digest, whichever is active"},
		{"bundles/active", []string{"engine", "engine/audit", "engine/osfile", "bundles", "bundles/kept", "bundles/releases", "bundles/trust"},
			"which policy is active on a machine follows from its files and its ledger; who compiles a policy, who is a person and what git reports is passed in"},
		{"bundles/trust", []string{"engine", "bundles", "bundles/diff", "bundles/signing", "go.yaml.in/yaml/v3"},
			"whether a bundle may be used follows from bytes, a time and what was seen, so that every refusal can be tried out; what compiles it is the caller's"},
		{"docs", nil, "it has pages and their tests, and no code"},
		{"schemas", nil,
			"documents that others embed"},
		{"schemas/gen/settingtypes", []string{"schemas"},
			"types are made of the schema alone, so that they can be written where nothing else compiles"},
		{"schemas/gen", []string{"engine", "engine/serve/api", "engine/incident", "engine/cases", "engine/classify/rows", "cmd/reviewer/report", "engine/simulate", "engine/stats", "cel", "bundles", "bundles/diff", "bundles/trust",
			"go.yaml.in/yaml/v3"},
			"schemas and pages are made of the types and functions that they describe, and of examples, and of nothing else"},
		{"cmd/reviewer", []string{"engine/serve", "engine/serve/client", "engine/serve/api", "engine/serve/apiserver", "engine/serve/metrics", "engine/serve/wire", "engine/approval", "engine/approval/code", "engine/approval/queue", "cmd/reviewer/approvalscmd", "schemas",
			"cmd/reviewer/cli", "cmd/reviewer/codexserver", "cmd/reviewer/live", "cmd/reviewer/scripted", "cmd/reviewer/suggest", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/unit", "cmd/reviewer/wiring",
			"cmd/reviewer/auditcmd", "cmd/reviewer/checkpointcmd", "cmd/reviewer/configcmd", "cmd/reviewer/explaincmd", "cmd/reviewer/snapshots", "cmd/reviewer/policycmd", "cmd/reviewer/incidentcmd", "cmd/reviewer/notifycmd", "cmd/reviewer/releasecmd", "cmd/reviewer/reviewcmd", "cmd/reviewer/runcmd", "cmd/reviewer/sessioncmd", "cmd/reviewer/signed", "cmd/reviewer/installed", "cmd/reviewer/simulatecmd", "cmd/reviewer/uicmd",
			"engine", "engine/act", "engine/history", "engine/review", "engine/osfile", "engine/harness", "engine/harness/settings", "engine/transcript", "engine/classify", "engine/audit", "engine/caller", "cmd/reviewer/trash", "rego", "bundles", "bundles/active",
			"github.com/spf13/cobra", "go.yaml.in/yaml/v3"},
			"wires everything together; a library more is a decision to take here"},
		{"cmd/reviewer/codexserver", nil,
			"a process is asked over its standard streams: which hooks are reviewer's is passed in"},
		{"cmd/reviewer/snapshots", []string{"engine/review", "engine/settings", "engine", "engine/act", "engine/audit", "engine/checkpoint", "engine/classify"},
			"files are stored as the settings say; whether a call needs that, and what the agent is told, is decided elsewhere"},
		{"cmd/reviewer/term", []string{"engine", "engine/osfile", "github.com/spf13/cobra", "golang.org/x/term"},
			"how something is written depends neither on what it is nor on where policies and logs lie, so that whatever draws can use it"},
		{"cmd/reviewer/report", []string{"engine", "cmd/reviewer/term"},
			"any command can write its findings in every format"},
		{"cmd/reviewer/subprocess", []string{"bundles"},
			"what git has in a revision can be read without knowing which policy is active"},
		{"cmd/reviewer/cli", []string{"engine/cases",
			"cmd/reviewer/objects", "bundles/sigstore", "cmd/reviewer/subprocess", "cmd/reviewer/term", "engine", "engine/history", "engine/audit", "engine/caller", "engine/classify", "engine/harness", "engine/osfile", "cmd/reviewer/report", "rego", "cel", "bundles", "bundles/catalogue", "bundles/active",
			"github.com/spf13/cobra", "github.com/spf13/pflag"},
			"what every command is handed knows no command, and nothing that compiles a policy or opens a connection"},
		{"cmd/reviewer/reviewcmd", []string{
			"cmd/reviewer/cli", "cmd/reviewer/term", "cmd/reviewer/wiring", "engine", "engine/review", "engine/classify", "engine/harness", "engine/serve/api", "engine/simulate", "bundles", "bundles/active", "github.com/spf13/cobra"},
			"it rehearses documents: no log and no executor is at hand"},
		{"cmd/reviewer/reread", []string{"cmd/reviewer/wiring",
			"engine", "engine/review", "engine/classify", "engine/classify/rows", "engine/simulate", "bundles", "bundles/active"},
			"what a record means for another policy is read from the record and the two policies: no log and no disk"},
		{"cmd/reviewer/explaincmd", []string{
			"cmd/reviewer/cli", "cmd/reviewer/reread", "cmd/reviewer/reviewcmd", "cmd/reviewer/term", "cmd/reviewer/wiring",
			"engine", "engine/history", "engine/review", "engine/audit", "engine/classify", "engine/classify/rows", "engine/harness", "engine/simulate", "rego", "cel", "bundles", "bundles/catalogue", "bundles/active", "github.com/spf13/cobra"},
			"why something was decided is read in the record, or rehearsed; the words for it are those that the other commands use"},
		{"cmd/reviewer/auditcmd", []string{
			"cmd/reviewer/cli", "cmd/reviewer/explaincmd", "cmd/reviewer/objects", "cmd/reviewer/signed", "cmd/reviewer/sources", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/wiring",
			"engine", "engine/history", "engine/review", "engine/audit", "engine/cases", "engine/harness", "engine/transcript", "engine/simulate", "engine/stats", "bundles", "bundles/kept", "github.com/spf13/cobra"},
			"the log is read with the policies that it names, whichever holds now"},
		{"cmd/reviewer/sessioncmd", []string{
			"cmd/reviewer/auditcmd", "cmd/reviewer/checkpointcmd", "cmd/reviewer/cli", "cmd/reviewer/explaincmd", "cmd/reviewer/signed", "cmd/reviewer/term", "engine", "engine/history", "engine/audit", "engine/classify", "engine/incident", "github.com/spf13/cobra", "cmd/reviewer/timeline"},
			"what happened in a session is in its records: no policy is at hand that could judge it again"},
		{"cmd/reviewer/runcmd", []string{
			"engine/settings", "cmd/reviewer/auditcmd", "cmd/reviewer/checkpointcmd", "cmd/reviewer/cli", "cmd/reviewer/notifycmd", "cmd/reviewer/sessioncmd", "cmd/reviewer/signed", "cmd/reviewer/snapshots", "cmd/reviewer/term", "engine", "engine/audit", "engine/checkpoint", "engine/classify", "engine/harness", "engine/run", "engine/run/proxy", "engine/run/render", "engine/run/sandbox", "engine/run/tree", "engine/serve/client", "engine/serve/wire", "engine/transcript", "bundles",
			"github.com/spf13/cobra", "golang.org/x/term"},
			"a run is held by engine/run and reviewed by hooks: here the two are compared, and no call is decided"},
		{"cmd/reviewer/webpage", nil,
			"a page is texts and one style, whatever it reports"},
		{"cmd/reviewer/incidentcmd", []string{
			"engine/settings", "cmd/reviewer/signed", "cmd/reviewer/cli", "cmd/reviewer/term", "cmd/reviewer/webpage", "engine", "engine/audit", "engine/incident", "bundles",
			"filippo.io/age", "filippo.io/age/armor", "github.com/spf13/cobra", "go.yaml.in/yaml/v3"},
			"reports are read from the log, with the recommendations of the active policy; nothing is decided"},
		{"cmd/reviewer/approvalscmd", []string{"cmd/reviewer/cli", "cmd/reviewer/signed", "cmd/reviewer/term", "engine/harness/settings", "engine", "engine/approval", "engine/approval/code", "engine/approval/queue", "engine/audit",
			"github.com/rogpeppe/go-internal/diff", "github.com/spf13/cobra"},
			"commands are thin: what an answer does is in engine/approval"},
		{"cmd/reviewer/signed", []string{"bundles/active", "bundles/trust", "cmd/reviewer/cli", "cmd/reviewer/term", "engine", "engine/approval/code", "engine/audit", "engine/harness", "engine/harness/settings", "github.com/rogpeppe/go-internal/diff", "golang.org/x/sys/unix"},
			"it asks a person and signs what they chose: what that permits is for engine to say, and no policy is evaluated"},
		{"cmd/reviewer/timeline", []string{"cmd/reviewer/explaincmd", "cmd/reviewer/term", "engine", "engine/history"},
			"what happened in a session follows from its records, whether a terminal or a page shows it"},
		{"cmd/reviewer/pages", []string{"cmd/reviewer/webpage", "engine", "engine/overview"},
			"a page is made of values: no log, no policy and no connection is at hand that a text on it could reach"},
		{"cmd/reviewer/uicmd", []string{
			"cmd/reviewer/approvalscmd", "cmd/reviewer/cli", "cmd/reviewer/explaincmd", "cmd/reviewer/incidentcmd", "cmd/reviewer/pages", "cmd/reviewer/releasecmd", "cmd/reviewer/sessioncmd", "cmd/reviewer/term", "cmd/reviewer/timeline", "cmd/reviewer/webpage",
			"engine", "engine/approval", "engine/approval/queue", "engine/audit", "engine/harness", "engine/history", "engine/overview", "engine/classify/place", "engine/serve/pageserver", "bundles/active", "bundles/catalogue",
			"github.com/spf13/cobra"},
			"the pages show what the commands show: it reads, and nothing that answers, allows or restores is called"},
		{"engine/serve/pageserver", nil,
			"who may read a page follows from a request and a token that is in memory only; what is on the page is passed in"},
		{"cmd/reviewer/suggest", []string{"cmd/reviewer/cli", "cmd/reviewer/policycmd", "cmd/reviewer/simulatecmd", "bundles", "bundles/catalogue", "bundles/active", "engine", "engine/classify/mask", "github.com/rogpeppe/go-internal/diff", "github.com/spf13/cobra"},
			"a proposal is a folder: it is compared and simulated by the commands that a person would use"},
		{"cmd/reviewer/installed", []string{"cmd/reviewer/cli", "cmd/reviewer/signed", "engine", "engine/approval/code", "engine/audit", "engine/harness", "engine/harness/settings", "engine/osfile"},
			"whether an installation is what it was is seen in files and the ledger; how people are told and hooks are written again is passed in"},
		{"cmd/reviewer/checkpointcmd", []string{"engine/settings", "cmd/reviewer/signed", "cmd/reviewer/snapshots", "engine/classify", "engine/history",
			"cmd/reviewer/cli", "cmd/reviewer/term", "cmd/reviewer/wiring", "engine", "engine/audit", "engine/checkpoint", "engine/osfile", "bundles",
			"github.com/rogpeppe/go-internal/diff", "github.com/spf13/cobra"},
			"files are restored as a person chooses: of a policy only its settings and the classes of files are at hand, and git is never run"},
		{"cmd/reviewer/notifycmd", []string{
			"engine/review", "engine/settings", "cmd/reviewer/cli", "cmd/reviewer/incidentcmd", "cmd/reviewer/term", "engine", "engine/approval", "engine/audit", "engine/incident", "engine/notify", "engine/notify/channel",
			"github.com/spf13/cobra"},
			"the one group of commands that reaches people, through engine/notify/channel; the hook only starts its process"},
		{"cmd/reviewer/configcmd", []string{
			"engine/settings", "cmd/reviewer/cli", "cmd/reviewer/term", "cmd/reviewer/wiring", "engine", "bundles", "bundles/active", "github.com/spf13/cobra"},
			"settings are checked without deciding anything, and no log is at hand"},
		{"cmd/reviewer/policycmd", []string{
			"cmd/reviewer/cli", "cmd/reviewer/codes", "cmd/reviewer/configcmd", "cmd/reviewer/lint", "cmd/reviewer/skeleton", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/wiring",
			"engine", "engine/cases", "engine/mutant", "cmd/reviewer/report", "rego", "cel", "bundles", "bundles/catalogue", "bundles/diff", "bundles/foreign", "bundles/active", "bundles/permissions", "bundles/safeclaw", "cmd/reviewer/guide",
			"github.com/rogpeppe/go-internal/diff", "github.com/spf13/cobra"},
			"a policy is written, checked and tried where it lies: no log, no key and no store is needed"},
		{"cmd/reviewer/simulatecmd", []string{"cmd/reviewer/report",
			"cmd/reviewer/auditcmd", "cmd/reviewer/cli", "cmd/reviewer/impact", "cmd/reviewer/objects", "cmd/reviewer/reread", "cmd/reviewer/sources", "cmd/reviewer/spark", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/wiring",
			"engine", "engine/review", "engine/cases", "engine/classify", "engine/classify/rows", "engine/harness", "engine/transcript", "engine/simulate", "bundles", "cel", "rego", "bundles/catalogue", "bundles/diff", "bundles/active", "github.com/spf13/cobra"},
			"a comparison sees what was recorded through sources alone, so that it cannot change a log"},
		{"cmd/reviewer/releasecmd", []string{
			"cmd/reviewer/cli", "cmd/reviewer/fleet", "cmd/reviewer/lint", "cmd/reviewer/policycmd", "cmd/reviewer/ship", "cmd/reviewer/signed", "cmd/reviewer/subprocess", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/unit", "cmd/reviewer/wiring",
			"engine", "engine/audit", "engine/osfile", "cmd/reviewer/report", "engine/simulate", "rego", "bundles", "bundles/kept", "bundles/releases", "bundles/diff", "bundles/active", "bundles/signing", "bundles/sigstore", "bundles/trust",
			"github.com/spf13/cobra", "github.com/spf13/pflag"},
			"the one group of commands that reads signing keys and reaches other machines, through ship"},
		{"cmd/reviewer/fleet", []string{"bundles/trust"},
			"what machines reported is read from files alone: nothing of this machine can get into it"},
		{"cmd/reviewer/unit", []string{"cmd/reviewer/cli"},
			"a definition is text: turning it on is for the person who reads it"},
		{"cmd/reviewer/impact", []string{"engine", "engine/simulate", "cmd/reviewer/report", "cmd/reviewer/term"},
			"what a simulation found is written from the result alone: no log, no policy and no file is at hand that could change the page"},
		{"cmd/reviewer/guide", nil, "it is the text of the reference for authors, which the program prints"},
		{"cmd/reviewer/codes", []string{"engine", "go.yaml.in/yaml/v3"},
			"codes are described once, for all code that reports, shows or documents them"},
		{"cmd/reviewer/lint", []string{"cmd/reviewer/codes", "bundles/catalogue", "cmd/reviewer/wiring", "engine", "engine/cases", "engine/classify", "engine/detect", "cmd/reviewer/report", "bundles", "rego", "cel"},
			"what is wrong with a policy can be said without deciding anything, and without knowing where it lies"},
		{"cmd/reviewer/ship", []string{"bundles", "bundles/signing", "oras.land/oras-go/v2/", "github.com/opencontainers/"},
			"the one package that opens connections: it carries bytes, and neither who trusts whom nor where policies are kept is at hand"},
		{"cmd/reviewer/objects", nil,
			"an object is bytes with a size and a version: no session is known here, and no connection can be opened"},
		{"cmd/dev/archive", []string{"github.com/klauspost/compress/zstd"},
			"makes sessions for measurements and is not shipped: it knows the form of a transcript and nothing that reads one"},
		{"cmd/reviewer/spark", []string{"mvdan.cc/sh/v3/syntax"},
			"Spark is started with files and a command line: what a shard is, and what is in a report, is the program's that runs there"},
		{"cmd/reviewer/sources", []string{"cmd/reviewer/objects", "engine", "engine/history", "engine/osfile", "engine/wildcard", "engine/audit", "engine/harness", "engine/transcript", "engine/simulate", "github.com/klauspost/compress/zstd"},
			"where sessions lie and what is in a file can be told without a policy; the one package that knows what compresses a file"},
		{"cmd/reviewer/skeleton", []string{"bundles", "schemas", "go.yaml.in/yaml/v3"},
			"the first lines of a policy are texts: what they mean is looked at by whoever puts them into one"},
		{"cmd/reviewer/wiring", []string{"engine/settings", "engine", "engine/review", "engine/checkpoint", "engine/classify", "engine/detect", "bundles", "bundles/permissions", "rego", "cel"},
			"what compiles a policy for the commands compiles it for the scores, or they would be another policy's"},
		{"cmd/reviewer/wiring/wiringtest", []string{"bundles", "cmd/reviewer/wiring", "engine", "engine/review", "rego"},
			"what tests of several commands share is the policy as it decides, and nothing of a command"},
		{"cmd/reviewer/trial", []string{
			"cmd/reviewer/wiring", "engine", "engine/review", "engine/cases", "engine/classify", "engine/classify/rows", "engine/detect", "engine/mutant", "engine/osfile", "cmd/reviewer/report", "engine/simulate", "bundles", "bundles/mutate", "rego", "cel", "go.yaml.in/yaml/v3"},
			"tests of a policy rehearse: they see no log, no executor and no command line, and everything that tests a policy tests it so"},
		{"cmd/reviewer/shipped", []string{"bundles", "bundles/mutate", "cmd/reviewer/auditcmd", "cmd/reviewer/cli", "cmd/reviewer/sources", "cmd/reviewer/term", "cmd/reviewer/trial", "cmd/reviewer/wiring", "cmd/reviewer/wiring/wiringtest", "engine", "engine/act", "engine/audit", "engine/cases", "engine/classify", "engine/classify/classifytest", "engine/harness", "engine/history", "engine/mutant", "engine/review", "engine/simulate", "engine/sweep", "engine/transcript", "rego", "schemas", "github.com/santhosh-tekuri/jsonschema/v5", "go.yaml.in/yaml/v3"},
			"what ships is a policy, whatever command it is asked through: the program itself is out of reach"},
		{"cmd/dev/score", []string{
			"engine", "engine/history", "engine/review", "engine/harness", "engine/transcript", "engine/classify", "engine/simulate", "bundles", "cmd/reviewer/term", "cmd/reviewer/wiring",
			"github.com/spf13/cobra", "go.yaml.in/yaml/v3", "golang.org/x/term", "mvdan.cc/sh/v3/syntax"},
			"measures for those who write rules and is not shipped: it rehearses, and sees no log and no executor"},
		{"cmd/dev/figrows", []string{"go.yaml.in/yaml/v3"},
			"makes rows for those who work on the policy and is not shipped: it knows the form of a row and nothing that reads one"},
		{"cmd/dev/release", []string{"bundles/signing", "github.com/CycloneDX/cyclonedx-go", "github.com/google/go-containerregistry/pkg/v1/", "github.com/google/go-containerregistry/pkg/v1", "github.com/google/rpmpack", "golang.org/x/mod/semver"},
			"makes the files of a release and is not shipped: it runs the compiler and packs what that builds, and knows nothing of policies"},
		{"cmd/dev/soak", []string{"engine", "engine/approval/code", "engine/approval/queue", "engine/audit", "engine/serve", "engine/serve/wire"},
			"what it checks it asks of the programs, as an agent would; its people answer questions as commands do"},
		{"cmd/dev/structure", []string{"golang.org/x/tools/go/packages"},
			"measures the code for those who work on it and is not shipped: it knows nothing of the program"},
		{"cmd/dev/testrun", nil,
			"runs the tests for those who work on the code and is not shipped: it knows nothing of the program"},
		{"cmd/reviewer/scripted", nil,
			"a model that follows a script knows neither who asks it nor why"},
		{"cmd/reviewer/live", []string{"cmd/reviewer/scripted", "engine/harness"},
			"how an agent is started is true whatever is installed and expected; no settings of a person can be found from here"},
		{"cmd/reviewer/e2e", []string{"cmd/reviewer/scripted", "golang.org/x/tools/txtar"},
			"the end-to-end tests know the program by its command line only"},
		{"cmd/reviewer/e2e/agents", []string{"cmd/reviewer/live", "cmd/reviewer/scripted"},
			"the tests with several clients know the program by its command line only; with those of Claude Code they share the model"},
		{"cmd/reviewer-full/cloud", []string{"cmd/reviewer/objects", "gocloud.dev/", "cloud.google.com/go/storage", "github.com/Azure/azure-sdk-for-go/sdk/", "github.com/aws/aws-sdk-go-v2/service/s3",
			"github.com/aws/aws-sdk-go-v2/service/s3/types", "github.com/aws/smithy-go", "google.golang.org/api/googleapi"},
			"the one package that knows the stores of clouds; it carries bytes, and whatever is in them is another matter"},
		{"cmd/reviewer-full/s3server", []string{"github.com/johannesboyne/gofakes3", "github.com/johannesboyne/gofakes3/backend/s3mem"},
			"a server for tests knows nothing of those who ask it"},
		{"cmd/reviewer-full/sigstore", []string{"bundles/sigstore", "github.com/sigstore/sigstore-go/pkg/bundle", "github.com/sigstore/sigstore-go/pkg/root", "github.com/sigstore/sigstore-go/pkg/verify", "github.com/sigstore/sigstore/pkg/signature"},
			"whether a bundle proves who signed follows from its bytes and a trusted root"},
		{"cmd/reviewer-full/engines", nil,
			"the tests with engines know the program by its command line only"},
		{"cmd/reviewer-full", []string{"cmd/reviewer-full/cloud", "cmd/reviewer-full/sigstore", "cmd/reviewer/auditcmd", "cmd/reviewer/cli", "cmd/reviewer/releasecmd", "cmd/reviewer/signed", "cmd/reviewer/simulatecmd", "cmd/reviewer/term", "engine/serve", "github.com/spf13/cobra"},
			"puts the large libraries into commands that reviewer has, too; no hook is answered here"},
	}
}

// meaning lists the packages that say what a call means.
func meaning() []string {
	list := []string{"engine/classify"}
	for _, w := range walls() {
		if strings.HasPrefix(w.from, "engine/classify/") && w.from != "engine/classify/classifytest" {
			list = append(list, w.from)
		}
	}
	return list
}

// ban is a package of the standard library that some packages must not import.
type ban struct {
	from []string
	to   []string
	deep bool // nor reach through others
	why  string
}

func bans() []ban {
	core := []string{"engine", "engine/history", "engine/review", "engine/detect", "engine/simulate"}
	imports := []string{"bundles/foreign", "bundles/safeclaw", "bundles/permissions"}
	changes := []string{"bundles/diff", "bundles/mutate"}
	pure := slices.Concat(core, []string{"cel", "rego", "cmd/reviewer/impact", "cmd/reviewer/report"}, imports)
	local := append(meaning(), "engine", "engine/history", "engine/review", "engine/harness", "engine/harness/settings", "engine/audit", "engine/detect", "engine/simulate", "cmd/reviewer/trash", "engine/cases", "engine/mutant", "engine/stats", "cel", "schemas")
	commands := []string{"cmd/reviewer", "cmd/reviewer/cli", "cmd/reviewer/auditcmd", "cmd/reviewer/checkpointcmd", "cmd/reviewer/configcmd", "cmd/reviewer/explaincmd", "cmd/reviewer/policycmd", "cmd/reviewer/releasecmd", "cmd/reviewer/reviewcmd", "cmd/reviewer/sessioncmd", "cmd/reviewer/simulatecmd"}
	all := slices.Concat(local, commands, []string{"rego", "bundles", "bundles/active", "cmd/reviewer/report", "cmd/reviewer/term", "cmd/reviewer/subprocess", "cmd/reviewer/ship", "cmd/dev/score", "cmd/reviewer/trial", "cmd/reviewer/wiring"}, imports, changes)
	return []ban{
		{local, []string{"net", "net/http", "crypto/tls", "os/exec", "plugin"}, true,
			"no network in a decision or around it, and programs are started by cmd only"},
		{slices.Concat(imports, changes, []string{"bundles", "bundles/signing", "bundles/trust", "bundles/releases", "bundles/active"}), []string{"net/http", "crypto/tls", "os/exec", "plugin"}, true,
			"a policy is files: fetching one is another matter"},
		{[]string{"cmd/dev/score"}, []string{"os/exec"}, false,
			"a corpus is dangerous commands: none of them may ever run"},
		{append(commands, "rego", "bundles/sigstore", "cmd/reviewer-full", "cmd/reviewer-full/sigstore", "cmd/reviewer/report", "cmd/reviewer/term", "cmd/reviewer/subprocess", "cmd/dev/score", "cmd/reviewer/trial", "cmd/reviewer/impact", "cmd/reviewer/sources", "cmd/reviewer/objects", "cmd/reviewer/spark", "cmd/reviewer/lint", "cmd/reviewer/wiring"), []string{"net", "net/http", "crypto/tls", "plugin"}, false,
			"no command opens a connection but through ship, and in reviewer-full through cloud; OPA brings these packages along, with the built-ins that use them taken out"},
		{[]string{"rego", "bundles", "bundles/signing", "cmd/reviewer-full/sigstore", "bundles/trust", "bundles/releases", "bundles/active", "cmd/reviewer/trial", "cmd/reviewer/lint"}, []string{"os/exec"}, false,
			"programs are started by cmd only"},
		{[]string{"cmd/reviewer/term", "cmd/reviewer/wiring", "cmd/reviewer/auditcmd", "cmd/reviewer/checkpointcmd", "cmd/reviewer/configcmd", "cmd/reviewer/explaincmd", "cmd/reviewer/policycmd", "cmd/reviewer/reviewcmd", "cmd/reviewer/sessioncmd", "cmd/reviewer/simulatecmd"}, []string{"os/exec"}, false,
			"these commands read and write files; git is reached through subprocess, which bounds it"},
		{[]string{"bundles/active", "cmd/reviewer/cli", "cmd/reviewer/term", "cmd/reviewer/subprocess", "cmd/reviewer/wiring"}, []string{module + "/cmd/reviewer/ship", module + "/cmd/reviewer/releasecmd"}, true,
			"a hook needs these, and answers in milliseconds: nothing that opens a connection or reads a signing key comes with them"},
		{pure, []string{"os", "os/exec", "os/signal", "os/user", "io/fs", "path/filepath", "syscall", "net", "log", "log/slog"}, false,
			"the same input gives the same decision on every machine"},
		{all, []string{"unsafe", "math/rand", "math/rand/v2", "expvar", "net/http/pprof"}, false,
			"no randomness but that of keys and chain ids, and nothing that registers itself"},
	}
}

// timeless packages read no clock: time is the event's.
func timeless() []string {
	return append(meaning(), "engine", "engine/history", "engine/review", "engine/harness", "engine/harness/settings", "engine/detect", "engine/simulate", "cmd/reviewer/trash", "engine/cases", "engine/mutant", "cmd/reviewer/report", "engine/stats", "rego", "cel", "cmd/reviewer/impact", "cmd/reviewer/sources", "cmd/reviewer/lint", "bundles", "bundles/diff", "bundles/mutate", "bundles/foreign", "bundles/safeclaw", "bundles/permissions", "bundles/signing", "cmd/reviewer-full/sigstore", "bundles/trust", "bundles/releases", "bundles/active", "cmd/reviewer/wiring")
}

// goPackage is what these tests read of `go list`.
type goPackage struct {
	ImportPath, Doc string
	Imports, Deps   []string
}

func goPackages(t *testing.T, goos string) map[string]goPackage {
	t.Helper()
	list := map[string]goPackage{}
	for _, dir := range modules(root) {
		cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Imports,Deps", "./...")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var p goPackage
			if err := d.Decode(&p); err != nil {
				t.Fatalf("read go list: %v", err)
			}
			list[strings.TrimPrefix(p.ImportPath, module+"/")] = p
		}
	}
	return list
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		list := goPackages(t, goos)
		known := map[string]bool{}
		for _, w := range walls() {
			known[w.from] = true
			for _, to := range list[w.from].Imports {
				if !w.allows(to) {
					t.Errorf("%s: %s imports %s: %s", goos, w.from, to, w.why)
				}
			}
		}
		for name := range list {
			if !known[name] {
				t.Errorf("the package %s is not in the table: say there what it may import, and why", name)
			}
		}
		for _, b := range bans() {
			for _, from := range b.from {
				for _, to := range b.broken(list[from]) {
					t.Errorf("%s: %s imports or reaches %s: %s", goos, from, to, b.why)
				}
			}
		}
	}
}

func (w wall) allows(to string) bool {
	own, ours := strings.CutPrefix(to, module+"/")
	if ours {
		return slices.Contains(w.may, own)
	}
	first, _, _ := strings.Cut(to, "/")
	standard := !strings.Contains(first, ".")
	return standard || slices.ContainsFunc(w.may, func(m string) bool { return to == m || strings.HasSuffix(m, "/") && strings.HasPrefix(to, m) })
}

func (b ban) broken(p goPackage) []string {
	reached := p.Imports
	if b.deep {
		reached = p.Deps
	}
	var found []string
	for _, to := range b.to {
		if slices.Contains(reached, to) {
			found = append(found, to)
		}
	}
	return found
}

// The tables name packages that are there: a wall of one that moved holds
// nothing.
func TestWallsStand(t *testing.T) {
	for _, w := range walls() {
		if files, err := filepath.Glob(filepath.Join(root, w.from, "*.go")); err != nil || len(files) == 0 {
			t.Errorf("there is no package %s (%v)", w.from, err)
		}
	}
	allowed := wall{may: []string{"engine", "cel.dev/cel-go/"}}
	for to, want := range map[string]bool{
		"strings": true, "net/http": true, module + "/engine": true, "cel.dev/cel-go/cel": true,
		module + "/engine/audit": false, "cel.dev/cel-gone/cel": false, "github.com/spf13/cobra": false,
	} {
		if got := allowed.allows(to); got != want {
			t.Errorf("a wall allows %s: %t, want %t", to, got, want)
		}
	}
	b := ban{to: []string{"net"}}
	if p := (goPackage{Imports: []string{"os"}, Deps: []string{"net", "os"}}); len(b.broken(p)) != 0 {
		t.Error("a ban of direct imports finds what is reached")
	} else if b.deep = true; len(b.broken(p)) != 1 {
		t.Error("a deep ban does not find what is reached")
	}
}

// sourceFiles parses the files of all packages but tests.
func sourceFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		rel, _ := filepath.Rel(root, name)
		files[filepath.ToSlash(rel)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestSources(t *testing.T) {
	for name, file := range sourceFiles(t) {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFunction(t, name, d)
			case *ast.GenDecl:
				checkStart(t, name, d)
			}
		}
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "core", "pkg", "misc"}, file.Name.Name) {
			t.Errorf("%s: a package called %s is about nothing; a helper lives with its caller", name, file.Name.Name)
		}
	}
}

func checkFunction(t *testing.T, file string, f *ast.FuncDecl) {
	if f.Recv == nil && f.Name.Name == "init" {
		t.Errorf("%s: a function init runs unasked, and where nobody reads it", file)
	}
	calls := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			calls[nameOfCall(c)] = true
		}
		return true
	})
	if calls["panic"] && !calls["recover"] {
		t.Errorf("%s: %s panics; an error says what to do (passing on a recovered panic is another matter)", file, f.Name.Name)
	}
	if calls["os.Exit"] && f.Name.Name != "main" {
		t.Errorf("%s: %s ends the process; only main does", file, f.Name.Name)
	}
	clock := calls["time.Now"] || calls["time.Since"] || calls["time.Until"] || calls["time.Sleep"] || calls["time.After"]
	if clock && slices.Contains(timeless(), path.Dir(file)) {
		t.Errorf("%s: %s reads the clock; time is the event's, or replay comes out differently", file, f.Name.Name)
	}
}
