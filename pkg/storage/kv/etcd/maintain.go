package etcd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// smallDatabase is the size, in bytes, below which giving space back to the
// file system is not worth the pause.
const smallDatabase = 16 << 20

// Size is what the database of a server occupies, in bytes.
type Size struct {
	Allocated int64 // the file
	InUse     int64 // of it holds data
	Quota     int64 // writes are refused when the file reaches it; 0: the server does not tell
	Free      int64 // of the disk with the file
	Disk      int64 // the disk; 0: the server does not tell
}

// NearlyFull says that little of the quota or of the disk is left, as far as the server
// tells. Little is a tenth of the quota for data, or a twentieth for the file. Free space
// within the file is written again, but for large values it may be in pieces.
func (s Size) NearlyFull() bool {
	return s.Quota > 0 && (s.InUse > s.Quota/10*9 || s.fileNearlyFull()) || s.diskNearlyFull()
}

func (s Size) fileNearlyFull() bool { return s.Quota > 0 && s.Allocated > s.Quota/20*19 }

// diskNearlyFull leaves the server some segments of its log, of 64 MiB each, and
// snapshots: it ends when it cannot write one.
func (s Size) diskNearlyFull() bool {
	const reserve, share = 256 << 20, 4
	return s.Disk > 0 && s.Free < min(reserve, s.Disk/share)
}

// wastes says that giving space back is worth the pause. It is if half of the file is
// free, or only the file, not its data, is nearly full.
func (s Size) wastes() bool {
	return s.Allocated > smallDatabase && s.InUse < s.Allocated/2 || s.fileNearlyFull() && s.InUse <= s.Quota/10*9
}

// movable says that there is room for the second file that giving space back takes.
func (s Size) movable() bool { return s.Disk == 0 || s.InUse < s.Free }

// sizeTimeout is how long a member has to tell the size of its database.
const sizeTimeout = time.Second

// Size asks all members side by side, and answers for the member with the largest file
// among those that answer within a second. No write passes that one of them refuses. It
// fails if no member answers.
func (s *KV) Size(ctx context.Context) (Size, error) {
	ctx, cancel := context.WithTimeout(ctx, sizeTimeout)
	defer cancel()
	endpoints := s.client.Endpoints()
	sizes, failures := make([]Size, len(endpoints)), make([]error, len(endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range endpoints {
		asking.Go(func() {
			status, err := s.status(ctx, endpoint)
			if err != nil {
				failures[i] = failure("ask for the size of the database", err)
				return
			}
			sizes[i] = Size{Allocated: status.DbSize, InUse: status.DbSizeInUse, Quota: status.DbSizeQuota}
		})
	}
	asking.Wait()
	largest := slices.MaxFunc(sizes, func(a, b Size) int { return cmp.Compare(a.Allocated, b.Allocated) })
	if largest.Allocated == 0 {
		return Size{}, errors.Join(failures...)
	}
	return largest, nil
}

// status asks a member. The client would connect anew for each question. If there is one member, it is connected already.
func (s *KV) status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	if len(s.client.Endpoints()) > 1 {
		return s.client.Status(ctx, endpoint)
	}
	connected := clientv3.RetryMaintenanceClient(s.client, s.client.ActiveConnection())
	return clientv3.NewMaintenanceFromMaintenanceClient(connected, s.client).Status(ctx, endpoint)
}

// Size measures the database.
func (e *Embedded) Size() Size {
	backend := e.server.Server.Backend()
	size := Size{Allocated: backend.Size(), InUse: backend.SizeInUse(), Quota: e.quota}
	size.Free, size.Disk = space(e.dir)
	return size
}

// maintain gives space back when much of the file is free, or little of the quota is
// left. It clears an alarm once there is space again.
func (e *Embedded) maintain(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			e.maintainOnce(ctx)
		}
	}
}

func (e *Embedded) maintainOnce(ctx context.Context) {
	before := e.Size()
	if before.wastes() && before.movable() {
		if err := e.server.Server.Backend().Defrag(); err != nil {
			e.log.WarnContext(ctx, "defragmentation failed", "error", err)
			return
		}
		e.log.InfoContext(ctx, "defragmented", "before", before.Allocated, "after", e.Size().Allocated)
	}
	now := e.Size()
	if now.NearlyFull() {
		e.log.WarnContext(ctx, "the database, or its disk, is nearly full", "bytes", now.Allocated, "inUse", now.InUse, "quota", now.Quota, "free", now.Free)
	}
	if !now.fileNearlyFull() {
		e.disarm(ctx)
	}
}

// disarm lets writes pass again that were refused for want of space.
func (e *Embedded) disarm(ctx context.Context) {
	ctx, cancel := withDeadline(ctx)
	defer cancel()
	alarms, err := e.client.AlarmList(ctx)
	if err != nil {
		return // asked again at the next interval
	}
	for _, one := range alarms.Alarms {
		if one.Alarm != pb.AlarmType_NOSPACE {
			continue
		}
		if _, err := e.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(one)); err != nil {
			e.log.WarnContext(ctx, "the alarm over a full database stays", "error", err)
		}
	}
}
