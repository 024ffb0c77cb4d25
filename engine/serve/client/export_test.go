package client

// WaitLong makes the client wait for a greeting of the resident process for a minute.
func WaitLong() { sendWait, greetingWait = 60_000, 60_000 }
