package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"
	"time"
)

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
	policy := `"minute";q=` + strconv.FormatInt(perMinute, 10) + `;w=60,"day";q=` +
		strconv.FormatInt(perDay, 10) + `;w=86400`
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
	until := func(unix int64) string { return strconv.FormatInt((unix*1000-nowMs+999)/1000, 10) }
	header["X-Ratelimit-Limit"] = []string{strconv.FormatInt(limit, 10)}
	header["X-Ratelimit-Remaining"] = []string{strconv.FormatInt(left, 10)}
	header["X-Ratelimit-Reset"] = []string{strconv.FormatInt(reset, 10)}
	header["Ratelimit-Policy"] = who.policy
	header["Ratelimit"] = []string{
		`"minute";r=` + strconv.FormatInt(minuteLeft, 10) + `;t=` + until((minute+1)*60) +
			`,"day";r=` + strconv.FormatInt(dayLeft, 10) + `;t=` + until((day+1)*86_400),
	}
	return admitted
}

var (
	randomMutex sync.Mutex
	random      = bufio.NewReaderSize(rand.Reader, 4096)
)

// A random UUID (RFC 9562, version 4).
func newRequestID() string {
	var bytes [16]byte
	randomMutex.Lock()
	random.Read(bytes[:])
	randomMutex.Unlock()
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[:8], bytes[:4])
	hex.Encode(text[9:13], bytes[4:6])
	hex.Encode(text[14:18], bytes[6:8])
	hex.Encode(text[19:23], bytes[8:10])
	hex.Encode(text[24:], bytes[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
