package settings

import (
	"bytes"
	"errors"
)

// errNotOurs means that a file of the name that reviewer uses belongs to somebody else.
var errNotOurs = errors.New("the file was not written by reviewer: move it away, then run the command again")

// ownFile is the format of a file that contains nothing but what reviewer wrote, which has a mark in
// it.
func ownFile(mark string, text func(HookCommand) (string, error)) Format {
	return Format{
		Install: func(old []byte, c HookCommand) ([]byte, error) {
			if err := c.check(); err != nil {
				return nil, err
			}
			if len(old) > 0 && !bytes.Contains(old, []byte(mark)) {
				return nil, errNotOurs
			}
			s, err := text(c)
			return []byte(s), err
		},
		Uninstall: func(old []byte) ([]byte, error) {
			if !bytes.Contains(old, []byte(mark)) {
				return old, nil
			}
			return nil, nil
		},
	}
}

// unread is a format whose files are inspected as part of a folder.
func (f Format) unread() Format {
	f.Inspect = nil
	return f
}
