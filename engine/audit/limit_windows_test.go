package audit

import "errors"

// limitFiles lets this process write no file of more bytes.
func limitFiles(uint64) error { return errors.New("files have no such limit here") }
