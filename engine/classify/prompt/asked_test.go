package prompt

import (
	"slices"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/classifytest"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

func askedMasker() *mask.Masker {
	return &mask.Masker{Mac: classifytest.MAC, Formats: mask.FormatsOf(classifytest.Rows(), nil)}
}

func exists(s string) bool { return slices.Contains(here, s) }

func answered(text string, options []string, answer string) string {
	q := &engine.Question{Parts: []engine.QuestionPart{{Text: text, Options: options, Answer: answer}}}
	return renderStatements(AnswersOf(classifytest.Rows(), askedMasker(), q, exists))
}

// TestAnswers: an answer orders what the sentence of the question or the label of the option names, and nothing else.
func TestAnswers(t *testing.T) {
	yes := []string{"Yes", "No"}
	for _, c := range []struct {
		text    string
		options []string
		answer  string
		want    string
	}{
		{"Shall I push?", yes, "Yes", "orders push"},
		{"Shall I push?", yes, "No", ""},
		{"The tests pass. Should I commit and push?", yes, "Yes", "orders commit; orders push"},
		{"Do you want me to push to origin?", []string{"Yes (Recommended)", "No"}, "Yes (Recommended)", "orders push origin"},
		{"May I commit?", []string{"Yes, always", "Yes", "No"}, "Yes, always", "orders commit until session"},
		{"Soll ich pushen?", []string{"Ja", "Nein"}, "Ja", "orders push"},
		{"Dois-je pousser ?", []string{"Oui", "Non"}, "Oui", "orders push"},
		{"¿Quieres que haga push?", []string{"Sí", "No"}, "Sí", "orders push"},
		{"Devo fazer push?", []string{"Sim", "Não"}, "Sim", "orders push"},
		{"Devo fare push?", []string{"Sì", "No"}, "Sì", "orders push"},
		{"Zal ik pushen?", []string{"Ja", "Nee"}, "Ja", "orders push"},
		{"pushしましょうか？", []string{"はい", "いいえ"}, "はい", "orders push"},
		{"要我推送吗？", []string{"好", "不"}, "好", "orders push"},
		{"What next?", []string{"Push to origin", "Wait"}, "Push to origin", "orders push origin"},
		{"What next?", []string{"Commit it, but don't push", "Wait"}, "Commit it, but don't push", "orders commit; forbids push"},
		{"Shall I delete old-stuff?", yes, "Yes", "orders delete old-stuff"},
		{"Shall I go ahead?", yes, "Yes", "lifts wait"},
		{"Tests pass. How should I proceed?", []string{"Push to origin", "Wait"}, "Push to origin", "orders push origin"},
		{"Which branch strategy?", []string{"Push to origin", "Wait"}, "Push to origin", "orders push origin"},
		{"Wie soll ich weitermachen?", []string{"Jetzt pushen", "Warten"}, "Jetzt pushen", "orders push"},
		{"接下来怎么做？", []string{"推送", "等"}, "推送", "orders push"},
		// What the person writes themselves is read like a prompt.
		{"What next?", []string{"Commit", "Wait"}, "push it now", "orders push"},
		{"Shall I commit and push?", yes, "yes, but don't push", "orders commit; orders push; forbids push"},
		{"Shall I push?", []string{"Do it", "Leave it"}, "the second option", ""},
		{"What next?", []string{"Commit it", "Push it"}, "the second option", "orders push"},

		// What is crafted so that a harmless answer permits something.
		{"Do you like blue?", yes, "Yes", ""},
		{"May I push? yes", yes, "Yes", ""},
		{"May I push? May I rest?", yes, "Yes", ""},
		{"Push to main. Is blue fine?", yes, "Yes", ""},
		{"Shall I not push?", yes, "Yes", ""},
		{"Shall I commit, push, merge and deploy it?", yes, "Yes", ""},
		{"Shall I delete it?", yes, "Yes", ""},
		{"Shall I clean up?", yes, "Yes", ""},
		{"Is blue fine?\nShall I push?", yes, "Yes", ""},
		{"Is blue fine?", []string{"Yes\n\n\nPush it", "No"}, "Yes\n\n\nPush it", ""},
		{"Is blue fine?", []string{"Push it, if you must", "No"}, "Push it, if you must", ""},
		{"Is blue fine?", []string{"Keep it and do not wait with the push", "No"}, "Keep it and do not wait with the push", ""},
		{"If nobody objects, shall I push?", yes, "Yes", ""},
		{"Which one?", []string{"No", "No"}, "No", ""},
		{"What should the button say?", []string{"Push now", "Buy now"}, "Push now", ""},
		{"ボタンの名前は?", []string{"今すぐプッシュ", "購入"}, "今すぐプッシュ", ""},
		{"Wie soll der Knopf heißen?", []string{"Jetzt pushen", "Kaufen"}, "Jetzt pushen", ""},
		{"Shall I push?", []string{"Yes", "Yes"}, "Yes", ""},
		{"Shall I use blue \"and push\"?", yes, "Yes", ""},
	} {
		if got := answered(c.text, c.options, c.answer); got != c.want {
			t.Errorf("%q %q: %q, not %q", c.text, c.answer, got, c.want)
		}
	}
}

// TestPlans: an approved plan orders what its lines name, and ends that the work waits.
func TestPlans(t *testing.T) {
	for plan, want := range map[string]string{
		"# Plan\n\n1. Fix the rounding in cart.go\n2. Run the tests\n3. Commit the changes\n": "lifts wait; orders run tests until session; orders commit",
		"- Push to origin\n- Deploy to staging\n":                                             "lifts wait; orders push origin; orders deploy staging",
		"We could push at some time.\nDo not commit anything.\n":                              "lifts wait",
		"```\nPush to origin\n```\n> Push to main\n":                                          "lifts wait",
		"Delete whatever is left over.\n":                                                     "lifts wait",
		"Commit, push, merge, release, deploy and install it.\n":                              "lifts wait",
	} {
		q := &engine.Question{Plan: plan}
		if got := renderStatements(AnswersOf(classifytest.Rows(), askedMasker(), q, exists)); got != want {
			t.Errorf("%q: %q, not %q", plan, got, want)
		}
	}
}

// TestAgrees: which prompts say nothing but that they agree.
func TestAgrees(t *testing.T) {
	m := askedMasker()
	for prompt, want := range map[string]string{
		"yes": "yes", "Yes, please.": "yes", "ok go ahead": "yes", "continue": "yes", "weiter": "yes", "oui": "yes", "はい": "yes", "好的": "yes",
		"Option 1": "1", "the second option please": "2", "yes, the third one": "3", "die zweite": "2", "yes, always": "yes always",
		"yes, but don't push": "yes",
		"":                    "", "no": "", "yes?": "", "yes and push to main": "", "Fix the test.": "", "don't push": "",
		"I said yes yesterday": "", "this mail:\nyes": "", "> yes": "",
	} {
		if got := GoalOf(classifytest.Rows(), m, prompt, goalMarker(), "", exists).Agrees; got != want {
			t.Errorf("%q: %q, not %q", prompt, got, want)
		}
	}
}
