package policycmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/guide"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

func policyDocsCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Print the reference for people who write policy",
		Long:  "Without a topic, lists the topics. The text is Markdown; all prints the whole reference.",
		Example: "  reviewer policy docs\n" +
			"  reviewer policy docs input\n" +
			"  reviewer policy docs recipes | less",
		Args:              cli.AtMost(1),
		ValidArgsFunction: completeTopics,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listTopics(a.Stdout)
			}
			return printTopic(a.Stdout, args[0])
		},
	}
}

func listTopics(w io.Writer) error {
	width := 0
	for _, name := range topicNames() {
		width = max(width, len(name))
	}
	for _, topic := range guide.Topics() {
		if _, err := fmt.Fprintf(w, "%s  %s\n", term.Pad(topic.Name, width), topic.About); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(w, "\nreviewer policy docs TOPIC prints one topic, reviewer policy docs all everything.\n")
	return err
}

func printTopic(w io.Writer, name string) error {
	found := false
	for i, topic := range guide.Topics() {
		if topic.Name != name && name != allTopics {
			continue
		}
		if found && i > 0 {
			topic.Text = "\n" + topic.Text
		}
		found = true
		if _, err := io.WriteString(w, topic.Text); err != nil {
			return err
		}
	}
	if !found {
		return cli.Usage("unknown topic %s", UnknownOf(name, append(topicNames(), allTopics)))
	}
	return nil
}

const allTopics = "all"

func topicNames() []string {
	var names []string
	for _, topic := range guide.Topics() {
		names = append(names, topic.Name)
	}
	return names
}

func completeTopics(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return append(topicNames(), allTopics), cobra.ShellCompDirectiveNoFileComp
}
