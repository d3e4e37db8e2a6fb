//go:build !unix || solaris || aix

package atomicfile

import "os"

func lock(*os.File) error { return nil }

func syncDir(string) error { return nil }
