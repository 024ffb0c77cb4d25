package prompt

// The words by which people forbid. A wrong constraint blocks work, a missing
// one leaves the rules as they are: what is not surely meant so is none.
var (
	changeVerbs = []string{"touch", "touching", "touched", "change", "changing", "changed", "modify", "modifying", "modified",
		"edit", "editing", "edited", "alter", "altering", "altered", "update", "updating", "updated", "overwrite", "overwriting",
		"overwritten", "rewrite", "rewriting", "rewritten", "move", "moving", "moved", "rename", "renaming", "renamed", "mess",
		"tamper", "anfassen", "ändern", "verändern", "bearbeiten", "anrühren", "überschreiben", "fass", "fasse", "ändere",
		"verändere", "bearbeite", "touche", "touchez", "toucher", "modifie", "modifiez", "modifier", "changez", "changer", "toques",
		"tocar", "toque", "modifiques", "modificar", "modifique", "cambies", "cambiar", "cambie", "edites", "editar", "altere",
		"alterar", "altera", "mexa", "mexer", "modifica", "mude", "mudar", "edite"}
	deleteVerbs = []string{"delete", "deleting", "deleted", "remove", "removing", "removed", "erase", "erasing", "erased", "wipe",
		"wiping", "wiped", "purge", "purging", "drop", "dropping", "dropped", "truncate", "rm", "unlink", "löschen", "lösche",
		"entfernen", "entferne", "supprime", "supprimez", "supprimer", "efface", "effacez", "borres", "borrar", "borre", "elimines",
		"eliminar", "elimine", "apague", "apagar", "exclua", "remova", "remover"}
	shipVerbs = []string{"push", "pushing", "deploy", "deploying", "publish", "publishing", "release", "releasing", "merge",
		"merging", "ship", "shipping", "deployen", "veröffentlichen", "pushen", "publizieren", "déploie", "déployez", "déployer",
		"publie", "publiez", "despliegues", "desplegar", "publiques", "publicar", "publique", "implante", "implantar"}
	startVerbs = []string{"do", "implement", "start", "begin", "execute", "apply", "write", "run", "make", "code", "build", "proceed"}

	// workNouns are things whose name people use for the folder or service itself.
	workNouns = []string{"tests", "production", "prod", "database", "db", "migrations", "staging", "fixtures", "snapshots",
		"master", "main", "datenbank", "produktion", "migrationen", "base", "datos", "produção", "produccion", "producción"}
	// kindNouns follow the name of a thing: the auth module.
	kindNouns = []string{"folder", "directory", "dir", "module", "package", "subdirectory", "subfolder", "table", "database",
		"bucket", "volume", "branch", "cluster", "namespace", "repo", "repository", "ordner", "verzeichnis", "modul", "dossier",
		"carpeta", "pasta", "tests", "migrations"}
	allNouns = []string{"anything", "any", "files", "code", "file", "something", "stuff", "nothing", "everything", "nichts",
		"rien", "nada", "dateien", "fichiers", "archivos", "arquivos", "codebase", "project", "sources", "source"}
	fillers = []string{"the", "any", "of", "my", "our", "your", "these", "this", "that", "those", "file", "files", "folder",
		"directory", "module", "code", "anything", "everything", "stuff", "something", "in", "under", "inside", "within", "below",
		"from", "at", "on", "to", "with", "existing", "all", "contents", "content", "source", "und", "oder", "and", "or", "nor",
		"der", "die", "das", "den", "dem", "datei", "dateien", "im", "le", "la", "les", "un", "une", "à", "au", "aux", "du", "de",
		"fichier", "el", "los", "las", "archivo", "en", "o", "a", "os", "as", "arquivo", "no", "na", "em", "do", "da"}
	quantifiers = []string{"the", "any", "my", "our", "your", "these", "this", "that", "those", "existing", "all", "other",
		"whole", "entire", "old", "new", "current", "same", "of", "actual", "real", "live"}
	limits = []string{"except", "unless", "outside", "other", "besides", "beyond", "else", "apart", "until", "only",
		"unnecessarily", "needlessly", "than", "more", "without", "außer", "nur", "sauf", "excepto", "salvo", "exceto", "if",
		"when", "wenn", "falls", "unnecessary", "unrelated"}
	pronouns = []string{"it", "them", "this", "that", "these", "those"}
)

// conditions begin a condition.
var conditions = []string{"if", "when", "whenever", "once", "unless", "wenn", "falls", "si", "quand", "cuando", "se"}

// subjects say that somebody else does, or does not do, something: no order.
var subjects = []string{"i", "we", "they", "it", "he", "she", "this", "that", "these", "those", "which", "who", "code", "app",
	"test", "script", "function", "tool", "command", "program", "method", "class", "users", "user", "people", "there", "does",
	"did", "ich", "wir", "es", "sie", "je", "nous", "il", "elle", "yo", "nosotros", "eu", "nós", "ele", "ela"}

// negationFillers may be between a negation and its verb.
var negationFillers = []string{"ever", "actually", "accidentally", "please", "yet", "even", "try", "to", "attempt", "go",
	"start", "begin", "you", "that", "bitte", "also"}

// negatable are words before "not" that make it an order.
var negatable = []string{"do", "must", "should", "may", "shall", "sure", "careful", "to", "ensure", "please", "but", "can"}

// approvers name the person who approves, or the approval.
var approvers = []string{"i", "me", "my", "approval", "permission", "asking", "ok", "okay", "confirmation"}

// afterObject begin what follows an object.
var afterObject = []string{"from", "to", "into", "with", "for", "by", "in", "on", "as", "so", "because", "since"}

// afterNoun may follow the noun that is the object.
var afterNoun = []string{"at", "for", "please", "yet", "folder", "directory", "server", "environment", "or", "and", "in"}

// afterAll may follow "anything" without narrowing it.
var afterAll = []string{"yet", "please", "now", "for", "at", "all", "here", "today", "there", "in", "or", "and", "the", "repo",
	"repository", "project", "moment", "me", "bitte"}

// localFillers may be in an order not to push or publish.
var localFillers = []string{"the", "any", "my", "our", "your", "a", "an", "anything", "yet", "to", "for", "now", "please",
	"at", "all", "until", "i", "me", "say", "so", "without", "approval", "permission", "asking", "before", "ok", "okay", "or",
	"and", "commit", "commits", "changes", "change", "branch", "branches", "code", "package", "packages", "app", "application",
	"site", "website", "image", "images", "pr", "prs", "mr", "tag", "tags", "build", "builds", "version", "versions", "release",
	"releases", "remote", "origin", "upstream", "github", "gitlab", "npm", "pypi", "production", "prod", "staging", "main",
	"master", "live", "server", "cluster", "registry", "today", "tonight", "this", "it", "that", "these", "them", "those", "have",
	"review", "reviewed", "from", "of", "on", "new", "git", "anywhere", "everything", "first", "confirm", "confirmed", "tell",
	"you", "into", "request", "requests", "pull"}

// notYetObjects may be the object of an order to wait.
var notYetObjects = []string{"it", "anything", "this", "that", "any", "code", "yet", "coding", "implementing",
	"implementation", "the", "changes", "change", "so", "now", "please", "just", "for", "them"}

// englishVerbs are English verbs that are found in orders of other languages.
var englishVerbs = []string{"touch", "change", "edit", "update", "delete", "remove", "move", "rename", "touching", "editing",
	"changed", "deleted", "removed", "touched", "edited", "updated", "modified"}

// beforeOrder are words behind which a verb is an order.
var beforeOrder = []string{"please", "and", "then", "to", "let's", "just", "also", "now", "must", "should", "can", "could",
	"you", "would", "kindly", "first", "next", "finally", "or", "help", "but", "so", "bitte", "me", "us", "be", "will", "need",
	"try", "only", "nur", "und", "et", "y", "e", "puis", "dann", "oder"}

// openers begin an order without adding to it.
var openers = []string{"please", "for", "now", "so", "ok", "okay", "well", "and", "this", "time", "i", "want", "you", "to", "let's"}

// lookVerbs ask for reading only.
var lookVerbs = []string{"look", "explain", "review", "read", "analyse", "analyze", "describe", "investigate", "inspect",
	"report", "summarise", "summarize"}

// freezeElsewhere are words with which "freeze" is a feature, a bug or a condition, not a state.
var freezeElsewhere = []string{"after", "before", "when", "if", "unless", "no", "not", "without", "until's", "avoid", "add",
	"implement", "write", "create", "build", "fix", "test", "document", "check", "checks", "feature", "flag", "script", "bug",
	"page", "banner", "support", "handle", "why", "how", "what", "prevent"}

// freezeHere are words with which a freeze is a state.
var freezeHere = []string{"in", "is", "are", "under", "have", "there's", "there", "during", "respect", "remember", "observe",
	"active", "it's", "still"}
