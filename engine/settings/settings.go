// Code generated from schemas/settings.json: go generate ./schemas. DO NOT EDIT.

package settings

// Settings are the settings that the program reads itself.
type Settings struct {
	Enabled         bool              `json:"enabled" default:"true"`
	Mode            string            `json:"mode"`
	Enforcement     string            `json:"enforcement"`
	Grant           any               `json:"grant"`
	Grants          Grants            `json:"grants"`
	UnattendedModes []string          `json:"unattended_modes"`
	Words           Words             `json:"words"`
	Instructions    Instructions      `json:"instructions"`
	Approvals       Approvals         `json:"approvals"`
	Overrides       Overrides         `json:"overrides"`
	Redact          Redact            `json:"redact"`
	History         History           `json:"history"`
	Patterns        Patterns          `json:"patterns"`
	FormerHarms     map[string]string `json:"former_harms"`
	Windows         map[string]Window `json:"windows"`
	Workspace       Workspace         `json:"workspace"`
	Resources       Resources         `json:"resources"`
	Run             Run               `json:"run"`
	Isolation       Isolation         `json:"isolation"`
	Rules           Rules             `json:"rules"`
	Hosts           Hosts             `json:"hosts"`
	Guard           Guard             `json:"guard"`
	Releases        Releases          `json:"releases"`
	Audit           Audit             `json:"audit"`
	Checkpoints     Checkpoints       `json:"checkpoints"`
	Save            Save              `json:"save"`
	Interventions   Interventions     `json:"interventions"`
	Cache           Cache             `json:"cache"`
	Performance     Performance       `json:"performance"`
}

// Grants is the setting grants.
type Grants struct {
	Approved GrantsApproved `json:"approved"`
	Client   GrantsClient   `json:"client"`
}

// GrantsApproved is the setting grants.approved.
type GrantsApproved struct {
	RefusedDays int64 `json:"refused_days"`
}

// GrantsClient is the setting grants.client.
type GrantsClient struct {
	Usual        string   `json:"usual"`
	Silent       []string `json:"silent"`
	Edits        []string `json:"edits"`
	Programs     []string `json:"programs"`
	EditPrograms []string `json:"edit_programs"`
}

// Words is the setting words.
type Words struct {
	Headless string `json:"headless"`
}

// Instructions is the setting instructions.
type Instructions struct {
	Mode string `json:"mode"`
}

// Approvals is the setting approvals.
type Approvals struct {
	Queue       string         `json:"queue"`
	WaitSeconds int64          `json:"wait_seconds"`
	Texts       ApprovalsTexts `json:"texts"`
}

// ApprovalsTexts is the setting approvals.texts.
type ApprovalsTexts struct {
	Denied   string `json:"denied"`
	NoReason string `json:"no_reason"`
	Expired  string `json:"expired"`
	Stopped  string `json:"stopped"`
	Changed  string `json:"changed"`
	Nobody   string `json:"nobody"`
}

// Overrides is the setting overrides.
type Overrides struct {
	Window  int64 `json:"window"`
	Expires int64 `json:"expires"`
}

// Redact is the setting redact.
type Redact struct {
	PII []string `json:"pii"`
}

// History is the setting history.
type History struct {
	Last    int64   `json:"last"`
	Similar float64 `json:"similar"`
}

// Patterns is the setting patterns.
type Patterns struct {
	Enabled         bool               `json:"enabled" default:"true"`
	EnabledPatterns []string           `json:"enabled_patterns"`
	Thresholds      map[string]float64 `json:"thresholds"`
	Sensitivity     string             `json:"sensitivity"`
	Factors         PatternsFactors    `json:"factors"`
}

// PatternsFactors is the setting patterns.factors.
type PatternsFactors struct {
	Low    float64 `json:"low"`
	Medium float64 `json:"medium"`
	High   float64 `json:"high"`
}

// Window is the setting windows.*.
type Window struct {
	Last int64  `json:"last"`
	For  string `json:"for"`
}

// Workspace is the setting workspace.
type Workspace struct {
	Denied []string `json:"denied"`
}

// Resources is the setting resources.
type Resources struct {
	MaxMemoryMB int64 `json:"max_memory_mb"`
}

// Run is the setting run.
type Run struct {
	MaxExecutionTimeSeconds int64    `json:"max_execution_time_seconds"`
	MaxTokenUsage           int64    `json:"max_token_usage"`
	MaxCostUSD              float64  `json:"max_cost_usd"`
	MaxProcesses            int64    `json:"max_processes"`
	MaxOpenFiles            int64    `json:"max_open_files"`
	MaxFileMB               int64    `json:"max_file_mb"`
	MaxWrittenMB            int64    `json:"max_written_mb"`
	CheckMS                 int64    `json:"check_ms"`
	GraceMS                 int64    `json:"grace_ms"`
	KillWaitMS              int64    `json:"kill_wait_ms"`
	CompareMS               int64    `json:"compare_ms"`
	ResidentCheckMS         int64    `json:"resident_check_ms"`
	ResidentDoubts          int64    `json:"resident_doubts"`
	Tell                    []string `json:"tell"`
	TellShare               float64  `json:"tell_share"`
	Rewind                  bool     `json:"rewind"`
	Unreviewed              string   `json:"unreviewed"`
	Leftover                string   `json:"leftover"`
	Texts                   RunTexts `json:"texts"`
}

// RunTexts is the setting run.texts.
type RunTexts struct {
	Unreviewed string `json:"unreviewed"`
	Stopped    string `json:"stopped"`
	NearLimit  string `json:"near_limit"`
	Refused    string `json:"refused"`
	Rewound    string `json:"rewound"`
}

// Isolation is the setting isolation.
type Isolation struct {
	Profile        string              `json:"profile"`
	Read           []string            `json:"read"`
	Write          []string            `json:"write"`
	Hidden         []string            `json:"hidden"`
	Masked         []string            `json:"masked"`
	Devices        []string            `json:"devices"`
	Own            []string            `json:"own"`
	Protected      []string            `json:"protected"`
	Made           []MadePath          `json:"made"`
	Variables      []string            `json:"variables"`
	Hosts          []string            `json:"hosts"`
	Ports          []int64             `json:"ports"`
	AgentHosts     map[string][]string `json:"agent_hosts"`
	AgentRead      map[string][]string `json:"agent_read"`
	AgentWrite     map[string][]string `json:"agent_write"`
	AgentProtected map[string][]string `json:"agent_protected"`
	Unexpected     string              `json:"unexpected"`
	Texts          IsolationTexts      `json:"texts"`
}

// MadePath is the setting isolation.made[].
type MadePath struct {
	Path     string `json:"path"`
	Contents string `json:"contents"`
}

// IsolationTexts is the setting isolation.texts.
type IsolationTexts struct {
	Unexpected string `json:"unexpected"`
	Refused    string `json:"refused"`
	Resident   string `json:"resident"`
}

// Rules is the setting rules.
type Rules struct {
	Builtin     string            `json:"builtin"`
	Disabled    []string          `json:"disabled"`
	Enforcement map[string]string `json:"enforcement"`
}

// Hosts is the setting hosts.
type Hosts struct {
	Known    []string `json:"known"`
	Drops    []string `json:"drops"`
	Metadata []string `json:"metadata"`
}

// Guard is the setting guard.
type Guard struct {
	ClientRules  []ClientRule `json:"client_rules"`
	CheckSeconds int64        `json:"check_seconds"`
}

// ClientRule is the setting guard.client_rules[].
type ClientRule struct {
	Agent   string   `json:"agent"`
	Tools   []string `json:"tools"`
	Pattern string   `json:"pattern"`
	Message string   `json:"message"`
}

// Releases is the setting releases.
type Releases struct {
	Channel string         `json:"channel"`
	Report  ReleasesReport `json:"report"`
}

// ReleasesReport is the setting releases.report.
type ReleasesReport struct {
	To   string `json:"to"`
	Host bool   `json:"host"`
}

// Audit is the setting audit.
type Audit struct {
	RetainDays   int64  `json:"retain_days"`
	BudgetMB     int64  `json:"budget_mb"`
	PoliciesMB   int64  `json:"policies_mb"`
	Sync         string `json:"sync"`
	LogLevel     string `json:"log_level"`
	ExportFormat string `json:"export_format"`
}

// Checkpoints is the setting checkpoints.
type Checkpoints struct {
	MaxFileBytes int64              `json:"max_file_bytes"`
	MaxBytes     int64              `json:"max_bytes"`
	MaxFiles     int64              `json:"max_files"`
	Ignored      CheckpointsIgnored `json:"ignored"`
	Generated    []string           `json:"generated"`
	BudgetMS     int64              `json:"budget_ms"`
	OnFailure    string             `json:"on_failure"`
	Texts        CheckpointsTexts   `json:"texts"`
}

// CheckpointsIgnored is the setting checkpoints.ignored.
type CheckpointsIgnored struct {
	MaxFileBytes int64 `json:"max_file_bytes"`
	MaxBytes     int64 `json:"max_bytes"`
	MaxFiles     int64 `json:"max_files"`
}

// CheckpointsTexts is the setting checkpoints.texts.
type CheckpointsTexts struct {
	Failed  string `json:"failed"`
	Unsaved string `json:"unsaved"`
}

// Save is the setting save.
type Save struct {
	MaxFiles int64     `json:"max_files"`
	MaxBytes int64     `json:"max_bytes"`
	DayFiles int64     `json:"day_files"`
	DayBytes int64     `json:"day_bytes"`
	Days     int64     `json:"days"`
	Texts    SaveTexts `json:"texts"`
}

// SaveTexts is the setting save.texts.
type SaveTexts struct {
	Saved string `json:"saved"`
}

// Interventions is the setting interventions.
type Interventions struct {
	MaxRollbackDepth           int64                               `json:"max_rollback_depth"`
	SafeCheckpointCriteria     InterventionsSafeCheckpointCriteria `json:"safe_checkpoint_criteria"`
	CheckpointRetentionMinutes int64                               `json:"checkpoint_retention_minutes"`
	CheckpointRetention        InterventionsCheckpointRetention    `json:"checkpoint_retention"`
	NotificationChannels       []Channel                           `json:"notification_channels"`
	Notifications              InterventionsNotifications          `json:"notifications"`
	EncryptIncidentsTo         []string                            `json:"encrypt_incidents_to"`
	PreserveIncidentDataDays   int64                               `json:"preserve_incident_data_days"`
	Recommendations            map[string]Recommendation           `json:"recommendations"`
	Enabled                    bool                                `json:"enabled"`
	Strategy                   string                              `json:"strategy"`
	Kinds                      map[string]Kind                     `json:"kinds"`
	Effectiveness              InterventionsEffectiveness          `json:"effectiveness"`
	Immediate                  []string                            `json:"immediate"`
	HardStop                   bool                                `json:"hard_stop"`
	Stops                      InterventionsStops                  `json:"stops"`
	Shared                     InterventionsShared                 `json:"shared"`
	MetricsWindowSeconds       int64                               `json:"metrics_window_seconds"`
	Resume                     InterventionsResume                 `json:"resume"`
	Texts                      InterventionsTexts                  `json:"texts"`
}

// InterventionsSafeCheckpointCriteria is the setting interventions.safe_checkpoint_criteria.
type InterventionsSafeCheckpointCriteria struct {
	MinSuccessRate          float64 `json:"min_success_rate"`
	NoErrorsDurationSeconds int64   `json:"no_errors_duration_seconds"`
}

// InterventionsCheckpointRetention is the setting interventions.checkpoint_retention.
type InterventionsCheckpointRetention struct {
	ByHandDays int64 `json:"by_hand_days"`
	IdleHours  int64 `json:"idle_hours"`
}

// Channel is the setting interventions.notification_channels[].
type Channel struct {
	Name          string            `json:"name"`
	Kind          string            `json:"kind"`
	About         []string          `json:"about"`
	AfterSeconds  int64             `json:"after_seconds"`
	DigestSeconds int64             `json:"digest_seconds"`
	PerHour       int64             `json:"per_hour"`
	Quiet         Quiet             `json:"quiet"`
	URL           string            `json:"url"`
	URLFile       string            `json:"url_file"`
	URLEnv        string            `json:"url_env"`
	SecretFile    string            `json:"secret_file"`
	SecretEnv     string            `json:"secret_env"`
	Proxy         string            `json:"proxy"`
	Host          string            `json:"host"`
	Port          int64             `json:"port"`
	Security      string            `json:"security"`
	User          string            `json:"user"`
	From          string            `json:"from"`
	To            []string          `json:"to"`
	Method        string            `json:"method"`
	Headers       map[string]string `json:"headers"`
	Body          string            `json:"body"`
	Expect        string            `json:"expect"`
	Length        int64             `json:"length"`
	Program       string            `json:"program"`
}

// Quiet is the setting interventions.notification_channels[].quiet.
type Quiet struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Zone string   `json:"zone"`
	Days []string `json:"days"`
}

// InterventionsNotifications is the setting interventions.notifications.
type InterventionsNotifications struct {
	Attempts       int64   `json:"attempts"`
	FirstSeconds   int64   `json:"first_seconds"`
	Factor         float64 `json:"factor"`
	LongestSeconds int64   `json:"longest_seconds"`
	TimeoutSeconds int64   `json:"timeout_seconds"`
	KeepDays       int64   `json:"keep_days"`
}

// Recommendation is the setting interventions.recommendations.*.
type Recommendation struct {
	Immediate     []string       `json:"immediate"`
	Preventive    []string       `json:"preventive"`
	Configuration map[string]any `json:"configuration"`
}

// Kind is the setting interventions.kinds.*.
type Kind struct {
	Does        []string `json:"does"`
	Command     []string `json:"command"`
	Env         []string `json:"env"`
	Webhook     string   `json:"webhook"`
	WebhookFile string   `json:"webhook_file"`
	WebhookEnv  string   `json:"webhook_env"`
	SecretFile  string   `json:"secret_file"`
	SecretEnv   string   `json:"secret_env"`
	Proxy       string   `json:"proxy"`
}

// InterventionsEffectiveness is the setting interventions.effectiveness.
type InterventionsEffectiveness struct {
	Actions int64 `json:"actions"`
	Seconds int64 `json:"seconds"`
}

// InterventionsStops is the setting interventions.stops.
type InterventionsStops struct {
	Repeated []string `json:"repeated"`
	Levels   []string `json:"levels"`
	Scope    string   `json:"scope"`
}

// InterventionsShared is the setting interventions.shared.
type InterventionsShared struct {
	Denials string `json:"denials"`
	Limits  string `json:"limits"`
	Within  int64  `json:"within"`
	Minutes int64  `json:"minutes"`
}

// InterventionsResume is the setting interventions.resume.
type InterventionsResume struct {
	Sensitivity string `json:"sensitivity"`
}

// InterventionsTexts is the setting interventions.texts.
type InterventionsTexts struct {
	Restored    string `json:"restored"`
	NotRun      string `json:"not_run"`
	Unchanged   string `json:"unchanged"`
	NotRestored string `json:"not_restored"`
	Copied      string `json:"copied"`
	Conditions  string `json:"conditions"`
	Nearby      string `json:"nearby"`
	Unsigned    string `json:"unsigned"`
}

// Cache is the setting cache.
type Cache struct {
	Enabled    bool    `json:"enabled"`
	TTLMinutes float64 `json:"ttl_minutes"`
	MaxSize    int64   `json:"max_size"`
}

// Performance is the setting performance.
type Performance struct {
	MaxReviewTimeMS float64 `json:"max_review_time_ms"`
}
