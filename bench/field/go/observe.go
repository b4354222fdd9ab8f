package main

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxBufferedBytes = 4096
	flushInterval    = 200 * time.Millisecond
)

// Upper bounds in seconds, as those of the service.
var buckets = [...]float64{
	0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
}

type labels struct {
	operation, method string
	status            int
}

// A latency histogram for each set of labels.
type histogram struct {
	counts      [len(buckets) + 1]atomic.Int64
	nanoseconds atomic.Int64
}

var (
	histograms sync.Map
	logMutex   sync.Mutex
	logBuffer  = make([]byte, 0, 2*maxBufferedBytes)
)

// Writes the access line and counts the latency of one answered request.
func observe(operation, method string, status int, requestID, keyID string, duration time.Duration) {
	known, ok := histograms.Load(labels{operation, method, status})
	if !ok {
		known, _ = histograms.LoadOrStore(labels{operation, method, status}, &histogram{})
	}
	bucket := 0
	for bucket < len(buckets) && duration.Seconds() > buckets[bucket] {
		bucket++
	}
	known.(*histogram).counts[bucket].Add(1)
	known.(*histogram).nanoseconds.Add(duration.Nanoseconds())

	logMutex.Lock()
	defer logMutex.Unlock()
	line := append(logBuffer, `{"level":"info","time":`...)
	line = strconv.AppendInt(line, time.Now().UnixMilli(), 10)
	line = append(append(line, `,"requestId":`...), strconv.Quote(requestID)...)
	line = append(append(append(line, `,"keyId":"`...), keyID...), '"')
	line = append(append(append(line, `,"operation":"`...), operation...), '"')
	line = append(append(append(line, `,"method":"`...), method...), '"')
	line = strconv.AppendInt(append(line, `,"status":`...), int64(status), 10)
	line = append(line, `,"durationMs":`...)
	line = strconv.AppendFloat(line, float64(duration.Microseconds())/1000, 'f', 2, 64)
	logBuffer = append(line, `,"msg":"request"}`+"\n"...)
	if len(logBuffer) >= maxBufferedBytes {
		writeLog()
	}
}

func flushLog() {
	for range time.Tick(flushInterval) {
		logMutex.Lock()
		writeLog()
		logMutex.Unlock()
	}
}

func writeLog() {
	os.Stdout.Write(logBuffer)
	logBuffer = logBuffer[:0]
}
