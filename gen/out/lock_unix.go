//go:build unix && !solaris && !aix

package out

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock waits until no other run writes into the module at root. The lock is on
// the directory itself, so that no lock file is left in the tree; it ends with
// the process at the latest. Some network file systems have no such locks:
// there each file is still replaced as a whole, and overlapping runs write the
// same bytes.
func lock(root string) (unlock func(), locked bool, err error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, false, err
	}
	unlock = func() { dir.Close() }
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX)
		switch {
		case err == nil:
			return unlock, true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EBADF):
			return unlock, false, nil
		default:
			unlock()
			return nil, false, fmt.Errorf("cannot lock the module directory: %w", err)
		}
	}
}
