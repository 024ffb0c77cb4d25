package bundles

import (
	"testing"
)

// joined reads a layer and joins it with the built-in policy.
func joined(t *testing.T, layer string, files ...string) (*Effective, error) {
	t.Helper()
	b, err := Load(folder(files...), layer)
	if err != nil {
		return nil, err
	}
	return Assemble(shippedBundle(t), b)
}

const ownPath = "interventions: {custom_prompts_path: ./texts/ours.yaml}"

// The texts of a file apply like those in settings.yaml, wherever in the bundle it is.
func TestPrompts(t *testing.T) {
	for name, files := range map[string][]string{
		"named":           {"settings.yaml", ownPath, "texts/ours.yaml", "soft_correction: Ours. {reason}\nconstraint: {freeze: Not now.}"},
		"named, in JSON":  {"settings.yaml", ownPath[:len(ownPath)-5] + "json}", "texts/ours.json", `{"soft_correction": "Ours. {reason}", "constraint": {"freeze": "Not now."}}`},
		"at the default":  {"config/intervention_prompts.yaml", "soft_correction: Ours. {reason}\nconstraint: {freeze: Not now.}"},
		"in both":         {"settings.yaml", "interventions: {texts: {soft_correction: 'Ours. {reason}'}}", "config/intervention_prompts.yaml", "constraint: {freeze: Not now.}"},
		"after the rules": {"settings.yaml", "interventions: {custom_prompts_path: z.yaml}", "z.yaml", "soft_correction: Ours. {reason}\nconstraint: {freeze: Not now.}"},
	} {
		for _, layer := range []string{Organisation, User} {
			e, err := joined(t, layer, files...)
			if err != nil {
				t.Errorf("%s, %s: %v", name, layer, err)
				continue
			}
			texts := objectAt(e.Document, "interventions", "texts")
			if texts["soft_correction"] != "Ours. {reason}" || objectAt(texts, "constraint")["freeze"] != "Not now." {
				t.Errorf("%s, %s: texts are %v", name, layer, texts)
			}
			if got := e.Origin["interventions.texts.soft_correction"]; got != layer {
				t.Errorf("%s: the text comes from %q, want %s", name, got, layer)
			}
		}
	}
}

// The default may be written in settings, with or without that file.
func TestPromptsNeedNotExist(t *testing.T) {
	e, err := joined(t, User, "settings.yaml", "interventions: {custom_prompts_path: ./config/intervention_prompts.yaml}")
	if err != nil || e.Origin["interventions.texts.own"] != "" {
		t.Errorf("%v, %v", e, err)
	}
}

// Where two layers word the same text, the later one applies, as in settings.yaml.
func TestPromptsOfLayers(t *testing.T) {
	e, err := Assemble(shippedBundle(t),
		layer(t, Organisation, "config/intervention_prompts.yaml", "soft_correction: Theirs.\nown: Theirs."),
		layer(t, User, "config/intervention_prompts.yaml", "soft_correction: Mine."))
	if err != nil {
		t.Fatal(err)
	}
	texts := objectAt(e.Document, "interventions", "texts")
	if texts["soft_correction"] != "Mine." || texts["own"] != "Theirs." {
		t.Errorf("texts are %v, %v", texts["soft_correction"], texts["own"])
	}
}

// The file is part of what the digest covers, of the stored policy and of the archive.
func TestPromptsAreSigned(t *testing.T) {
	of := func(text string) *Bundle {
		return layer(t, Organisation, ".manifest", orgManifest, "settings.yaml", ownPath, "texts/ours.yaml", "own: "+text)
	}
	if of("One.").Digest == of("Two.").Digest {
		t.Error("the digest does not depend on the texts")
	}
	made, err := Pack(of("One."), Release{Capabilities: "cafe"})
	if err != nil {
		t.Fatal(err)
	}
	_, read := opened(t, made.Bytes)
	if read.Digest != of("One.").Digest || objectAt(read.Settings, "interventions", "texts")["own"] != "One." {
		t.Errorf("the archive has other texts: %v", read.Settings)
	}
	e, err := Assemble(shippedBundle(t), of("One."))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Reassemble(e.Layers, e.Document)
	if err != nil || objectAt(got.Document, "interventions", "texts")["own"] != "One." {
		t.Errorf("the policy that is assembled again has another text, or %v", err)
	}
}

func TestPromptsErrors(t *testing.T) {
	set := func(path string) string { return "interventions: {custom_prompts_path: '" + path + "'}" }
	for name, test := range map[string]struct {
		layer string
		files []string
		want  string
	}{
		"above the bundle":       {User, []string{"settings.yaml", set("../texts.yaml")}, `settings.yaml:1: interventions.custom_prompts_path: "../texts.yaml" is outside the policy's folder`},
		"above it on the way":    {User, []string{"settings.yaml", set("a/../../texts.yaml")}, "is outside the policy's folder"},
		"an absolute path":       {Organisation, []string{"settings.yaml", set("/etc/texts.yaml")}, "is outside the policy's folder"},
		"a home directory":       {User, []string{"settings.yaml", set("~/texts.yaml")}, "is outside the policy's folder"},
		"a drive":                {User, []string{"settings.yaml", set("C:/texts.yaml")}, "is outside the policy's folder"},
		"another separator":      {User, []string{"settings.yaml", set(`config\texts.yaml`)}, "is outside the policy's folder"},
		"the folder itself":      {User, []string{"settings.yaml", set(".")}, "no file of this policy is called"},
		"no such file":           {User, []string{"settings.yaml", set("texts/our.yaml"), "texts/x.md", "x"}, `settings.yaml:1: interventions.custom_prompts_path: no file of this policy is called "texts/our.yaml"`},
		"not a file that counts": {User, []string{"settings.yaml", set("ours.txt"), "ours.txt", "own: x"}, "no file of this policy is called"},
		"a case":                 {User, []string{"settings.yaml", set("cases/a.yaml"), "cases/a.yaml", "own: x"}, "no file of this policy is called"},
		"settings":               {User, []string{"settings.yaml", set("settings.yaml")}, `"settings.yaml" has another purpose`},
		"rules":                  {User, []string{"settings.yaml", set("rules/a.yaml"), "rules/a.yaml", "- {id: a.b, severity: low}"}, `"rules/a.yaml" has another purpose`},
		"not a text":             {User, []string{"settings.yaml", "interventions: {custom_prompts_path: [a]}"}, "interventions.custom_prompts_path: expected string, but got array"},
		"a project":              {Project, []string{"settings.yaml", ownPath, "texts/ours.yaml", "own: x"}, "settings.yaml:1: interventions.custom_prompts_path: the project layer may not set this"},
		"a project's default":    {Project, []string{"config/intervention_prompts.yaml", "own: x"}, "config/intervention_prompts.yaml:1: interventions.texts.own: the project layer may not set this"},
		"the base layer":         {Base, []string{"data.yaml", "reviewer: {}", "config/intervention_prompts.yaml", "own: x"}, "config/intervention_prompts.yaml: nothing reads this file"},
		"not YAML":               {User, []string{"config/intervention_prompts.yaml", "own: ["}, "config/intervention_prompts.yaml:1"},
		"a list":                 {User, []string{"config/intervention_prompts.yaml", "- own"}, "config/intervention_prompts.yaml:1: expected keys with values"},
		"an unknown text":        {User, []string{"config/intervention_prompts.yaml", "own: x\nemergancy_stop: x"}, `config/intervention_prompts.yaml:2: interventions.texts.emergancy_stop: unknown key "emergancy_stop"; did you mean "emergency_stop"?`},
		"an empty string":        {User, []string{"config/intervention_prompts.yaml", "# ours\nown: ''"}, "config/intervention_prompts.yaml:2: interventions.texts.own: length must be >= 1"},
		"said twice":             {User, []string{"settings.yaml", "interventions: {texts: {own: a}}", "config/intervention_prompts.yaml", "# ours\nown: b"}, "config/intervention_prompts.yaml:2: own: settings.yaml has this text as well (interventions.texts); keep one of the two"},
		"not named":              {User, []string{"settings.yaml", ownPath, "texts/ours.yaml", "own: x", "config/intervention_prompts.yaml", "own: x"}, "config/intervention_prompts.yaml: nothing reads this file"},
		"texts are not a map":    {User, []string{"settings.yaml", "interventions: {texts: x}", "config/intervention_prompts.yaml", "own: x"}, "interventions.texts: expected object, but got string"},
	} {
		_, err := joined(t, test.layer, test.files...)
		checkErrors(t, name, err, test.want)
	}
}
