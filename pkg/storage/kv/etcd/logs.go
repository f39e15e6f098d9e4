package etcd

import (
	"context"
	"log/slog"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// zapTo makes a logger for etcd whose warnings and errors go to log, one level lower than
// in etcd. Etcd warns of its own choices. After a message with which etcd means to panic
// or to exit, it is dead, see death. Nothing is logged while mute is set: a server that
// is told to stop calls that an error.
func zapTo(log *slog.Logger, mute *atomic.Bool, d *death) *zap.Logger {
	core := &logCore{LevelEnabler: zapcore.WarnLevel, log: log.With("component", "etcd"), mute: mute}
	return zap.New(core, zap.WithFatalHook(d), zap.WithPanicHook(d))
}

// notYet is what etcd calls an error when its first start is seconds old: it
// tries again by itself.
const notYet = "failed to update storage version"

type logCore struct {
	zapcore.LevelEnabler
	log  *slog.Logger
	mute *atomic.Bool
}

func (c *logCore) With(fields []zapcore.Field) zapcore.Core {
	return &logCore{LevelEnabler: c.LevelEnabler, log: c.log.With(attributes(fields)...), mute: c.mute}
}

func (c *logCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c *logCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	if c.mute.Load() || entry.Message == notYet {
		return nil
	}
	level := slog.LevelDebug
	switch {
	case entry.Level > zapcore.ErrorLevel:
		level = slog.LevelError
	case entry.Level == zapcore.ErrorLevel:
		level = slog.LevelWarn
	}
	//nolint:sloglint // etcd's messages are its own.
	c.log.Log(context.Background(), level, entry.Message, attributes(fields)...)
	return nil
}

func (c *logCore) Sync() error { return nil }

func attributes(fields []zapcore.Field) []any {
	encoder := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(encoder)
	}
	var list []any
	for key, value := range encoder.Fields {
		list = append(list, slog.Any(key, value))
	}
	return list
}
