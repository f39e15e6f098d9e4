package app

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/history"
)

// openHistory makes the history of what is done here.
func openHistory(c Config, documents intent.Store, log *slog.Logger, metrics prometheus.Registerer) *history.History {
	lost := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "signpost_history_lost_total", Help: "Events that could not be kept in the history.",
	})
	metrics.MustRegister(lost)
	return history.New(history.Options{Documents: documents, Count: c.HistoryCount, Lost: lost.Inc, Now: time.Now, Logger: log})
}
