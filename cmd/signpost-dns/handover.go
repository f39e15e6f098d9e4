package main

import (
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// These are the path of the process' open files, and the longest time for reading queries
// that have arrived.
const (
	openFiles = "/proc/self/fd"
	readBy    = time.Second
	readEvery = time.Millisecond
)

// handOver sends new queries over UDP to a replacement that listens on the same addresses
// already. It waits until the queries that arrived earlier are read.
//
// CoreDNS stops reading before it closes a socket, and closes the socket only after its
// last answer, which may take seconds. Queries that the kernel puts into the socket
// meanwhile are lost. A socket that is connected to nobody else gets no new queries.
func handOver() {
	sockets := listening()
	retire(sockets)
	for _, socket := range sockets {
		_ = unix.Close(socket) // a duplicate
	}
}

func retire(sockets []int) {
	for _, socket := range sockets {
		if own, err := unix.Getsockname(socket); err == nil {
			_ = unix.Connect(socket, own) // else it is closed as it always was
		}
	}
	for end := time.Now().Add(readBy); anyUnread(sockets) && time.Now().Before(end); {
		time.Sleep(readEvery)
	}
}

// listening answers duplicates of the sockets that UDP is served on: those that
// share their address, and have no peer.
func listening() []int {
	entries, err := os.ReadDir(openFiles)
	if err != nil {
		return nil
	}
	var sockets []int
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		socket, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0) // whose number nobody else gets
		if err != nil {
			continue
		}
		if serves(socket) {
			sockets = append(sockets, socket)
		} else {
			_ = unix.Close(socket)
		}
	}
	return sockets
}

func serves(socket int) bool {
	kind, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_DGRAM {
		return false
	}
	shared, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT)
	if err != nil || shared == 0 {
		return false
	}
	_, err = unix.Getpeername(socket)
	return err != nil
}

// anyUnread tells whether a socket holds a query that was not read yet.
func anyUnread(sockets []int) bool {
	return slices.ContainsFunc(sockets, func(socket int) bool {
		size, err := unix.IoctlGetInt(socket, unix.TIOCINQ)
		return err == nil && size > 0
	})
}
