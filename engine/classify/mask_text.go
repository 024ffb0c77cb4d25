package classify

// Mask takes the secrets out of a text that is no part of an event, such as the
// words of an error.
func (c *Classifier) Mask(text string) string {
	m := &masker{mac: c.MAC}
	m.learn(text)
	return m.text(text)
}
