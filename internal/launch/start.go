// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec replaces this process by the plan's. It returns only if that fails.
func (p *Plan) Exec() error {
	err := syscall.Exec(p.Path, p.Args, p.Environ)
	return &NotFoundError{p.Args[0], err}
}

// Status is how a process ended.
type Status struct {
	Code   int            // exit code, -1 if killed by a signal
	Signal syscall.Signal // 0 unless killed by a signal
}

// Wait starts the plan's command with this process's standard input, output
// and error, hands on the signals that arrive meanwhile, and returns how it
// ended.
func (p *Plan) Wait() (Status, error) {
	cmd := &exec.Cmd{
		Path: p.Path, Args: p.Args, Env: p.Environ,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return Status{}, &NotFoundError{p.Args[0], err}
	}
	done := make(chan struct{})
	go func() {
		fromTerminal := inForeground()
		for {
			select {
			case s := <-signals:
				// What is typed at a terminal reaches the command as well:
				// sent twice, it would make mpirun give up cleaning up.
				if fromTerminal && (s == unix.SIGINT || s == unix.SIGQUIT) {
					continue
				}
				_ = cmd.Process.Signal(s)
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Status{}, fmt.Errorf("waiting for %s: %w", p.Args[0], err)
	}
	state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && state.Signaled() {
		return Status{Code: -1, Signal: state.Signal()}, nil
	}
	return Status{Code: cmd.ProcessState.ExitCode()}, nil
}

// inForeground tells whether this process's group is the one that gets the
// signals typed at its terminal.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Die ends this process by the signal that ended another, so that whoever
// waits for it sees the same. It returns if the signal does not kill.
func Die(s syscall.Signal) {
	// The other has dumped its core already.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	signal.Reset(s)
	_ = unix.Kill(unix.Getpid(), s)
}
