// Package out reconciles rendered files with a module on disk: it compares,
// shows differences, writes what changed and removes what no spec gives any
// longer. It takes files as bytes in memory and is the only part of the
// generator that touches the disk; it does not know what the files hold, only
// their marker line.
package out
