package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const flushInterval = 200 * time.Millisecond

// Upper bounds in seconds, like the service's.
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
	accessLog  = bufio.NewWriter(os.Stdout)
)

// Writes the access line and counts the latency of one request.
func observe(of labels, requestID, keyID string, duration time.Duration) {
	known, ok := histograms.Load(of)
	if !ok {
		known, _ = histograms.LoadOrStore(of, &histogram{})
	}
	bucket := 0
	for bucket < len(buckets) && duration.Seconds() > buckets[bucket] {
		bucket++
	}
	known.(*histogram).counts[bucket].Add(1)
	known.(*histogram).nanoseconds.Add(duration.Nanoseconds())

	logMutex.Lock()
	defer logMutex.Unlock()
	accessLog.WriteString(`{"level":"info","time":` + strconv.FormatInt(time.Now().UnixMilli(), 10) +
		`,"requestId":` + strconv.Quote(requestID) + `,"keyId":"` + keyID + `","operation":"` + of.operation +
		`","method":"` + of.method + `","status":` + strconv.Itoa(of.status) + `,"durationMs":` +
		strconv.FormatFloat(duration.Seconds()*1000, 'f', 2, 64) + `,"msg":"request"}` + "\n")
}

func flushLog() {
	for range time.Tick(flushInterval) {
		logMutex.Lock()
		accessLog.Flush()
		logMutex.Unlock()
	}
}

// The two windows of a client, shared by all its keys.
type counter struct {
	mutex            sync.Mutex
	minute, inMinute int64
	day, inDay       int64
}

var counters sync.Map

type caller struct {
	keyID             string
	perMinute, perDay int64
	policy            []string
	counter           *counter
}

func newCaller(keyID, subject string, perMinute, perDay int64) *caller {
	policy := fmt.Sprintf(`"minute";q=%d;w=60,"day";q=%d;w=86400`, perMinute, perDay)
	shared, _ := counters.LoadOrStore(subject, &counter{})
	return &caller{keyID, perMinute, perDay, []string{policy}, shared.(*counter)}
}

// Counts a request unless a window is full, and sets the five headers.
func (who *caller) take(header http.Header) bool {
	c := who.counter
	nowMs := time.Now().UnixMilli()
	minute, day := nowMs/60_000, nowMs/86_400_000
	c.mutex.Lock()
	if c.minute != minute {
		c.minute, c.inMinute = minute, 0
	}
	if c.day != day {
		c.day, c.inDay = day, 0
	}
	admitted := c.inMinute < who.perMinute && c.inDay < who.perDay
	if admitted {
		c.inMinute++
		c.inDay++
	}
	minuteLeft, dayLeft := who.perMinute-c.inMinute, who.perDay-c.inDay
	c.mutex.Unlock()
	limit, left, reset := who.perDay, dayLeft, (day+1)*86_400
	if minuteLeft < dayLeft {
		limit, left, reset = who.perMinute, minuteLeft, (minute+1)*60
	}
	text := func(number int64) string { return strconv.FormatInt(number, 10) }
	until := func(unix int64) string { return text((unix*1000 - nowMs + 999) / 1000) }
	header["X-Ratelimit-Limit"] = []string{text(limit)}
	header["X-Ratelimit-Remaining"] = []string{text(left)}
	header["X-Ratelimit-Reset"] = []string{text(reset)}
	header["Ratelimit-Policy"] = who.policy
	header["Ratelimit"] = []string{`"minute";r=` + text(minuteLeft) + `;t=` + until((minute+1)*60) +
		`,"day";r=` + text(dayLeft) + `;t=` + until((day+1)*86_400)}
	return admitted
}

// A random UUID (RFC 9562, version 4).
func newRequestID() string {
	var bytes [16]byte
	rand.Read(bytes[:])
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	text := hex.EncodeToString(bytes[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
