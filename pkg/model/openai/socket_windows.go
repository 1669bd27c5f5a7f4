package openai

import "golang.org/x/sys/windows"

// What sockets say of a connection: Windows has numbers of its own, which are not
// those that package syscall has under the same names.
const errRefused = windows.WSAECONNREFUSED

var errsReset = []error{windows.WSAECONNRESET, windows.WSAECONNABORTED}
