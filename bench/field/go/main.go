// The same duties in Go: net/http and database/sql, with group commit on SQLite. Arguments:
// sqlite:PATH or postgres://... with the schema in place, the port, and the address in its links.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

var (
	store   *storage
	address string
	callers sync.Map
)

func callerOf(request *http.Request) *caller {
	const scheme = "Bearer "
	authorization := request.Header.Get("Authorization")
	if !strings.HasPrefix(authorization, scheme) {
		return nil
	}
	digest := sha256.Sum256([]byte(authorization[len(scheme):]))
	if known, ok := callers.Load(digest); ok {
		return known.(*caller)
	}
	found := store.caller(base64.RawURLEncoding.EncodeToString(digest[:]))
	if found != nil {
		callers.Store(digest, found)
	}
	return found
}

func send(response http.ResponseWriter, status int, body []byte) {
	header := response.Header()
	header["Content-Type"] = []string{"application/json; charset=utf-8"}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	if digest := sha256.Sum256(body); status == http.StatusOK {
		header["Etag"] = []string{`"` + base64.RawURLEncoding.EncodeToString(digest[:])[:22] + `"`}
	}
	response.WriteHeader(status)
	response.Write(body)
}

func reject(response http.ResponseWriter, status int, code string) {
	send(response, status, []byte(`{"code":"`+code+`"}`))
}

// Remembers the status for the access line.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func serve(writer http.ResponseWriter, request *http.Request) {
	begun := time.Now()
	response := &recorder{ResponseWriter: writer}
	operation, keyID := handle(response, request)
	header := response.Header()
	of := labels{operation, request.Method, response.status}
	observe(of, header["X-Request-Id"][0], keyID, time.Since(begun))
}

func handle(response http.ResponseWriter, request *http.Request) (operation, keyID string) {
	header := response.Header()
	id := request.Header["X-Request-Id"]
	if len(id) == 0 {
		id = []string{newRequestID()}
	}
	header["X-Request-Id"] = id
	header["X-Content-Type-Options"] = []string{"nosniff"}
	if request.Method == http.MethodGet {
		header["Cache-Control"] = []string{"private, no-cache"}
	} else {
		header["Cache-Control"] = []string{"no-store"}
	}
	who := callerOf(request)
	if who == nil {
		reject(response, http.StatusUnauthorized, "invalid_api_key")
		return "unknown", ""
	}
	if !who.take(header) {
		reject(response, http.StatusTooManyRequests, "rate_limit_exceeded")
		return "unknown", who.keyID
	}
	path := request.URL.Path
	switch {
	case path == "/v1/pets" && request.Method == http.MethodGet:
		operation = "listPets"
		list(response, request)
	case path == "/v1/pets" && request.Method == http.MethodPost:
		operation = "createPet"
		create(response, request)
	case strings.HasPrefix(path, "/v1/pets/") && request.Method == http.MethodGet:
		operation = "getPet"
		get(response, path[len("/v1/pets/"):])
	default:
		operation = "unknown"
		reject(response, http.StatusNotFound, "not_found")
	}
	return operation, who.keyID
}

func list(response http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	limit, limitErr := strconv.Atoi(query.Get("limit"))
	if !query.Has("limit") {
		limit, limitErr = 20, nil
	}
	cursor, cursorErr := base64.RawURLEncoding.DecodeString(query.Get("cursor"))
	after, afterErr := strconv.ParseInt("0"+string(cursor), 10, 64)
	if limitErr != nil || limit < 1 || limit > 100 || cursorErr != nil || afterErr != nil {
		reject(response, http.StatusBadRequest, "invalid_request")
		return
	}
	page, last, more := store.list(after, limit)
	if more {
		next := base64.RawURLEncoding.EncodeToString(strconv.AppendInt(nil, last, 10))
		link := "<" + address + "/v1/pets?limit=" + strconv.Itoa(limit) + "&cursor=" + next + `>; rel="next"`
		response.Header()["Link"] = []string{link}
	}
	body := make([]byte, 0, len(page)+2)
	send(response, http.StatusOK, append(append(append(body, '['), page...), ']'))
}

func get(response http.ResponseWriter, text string) {
	id, err := strconv.ParseInt(text, 10, 64)
	var pet []byte
	if err == nil {
		pet = store.get(id)
	}
	if len(pet) == 0 {
		reject(response, http.StatusNotFound, "pet_not_found")
		return
	}
	header := response.Header()
	header["Deprecation"] = []string{"@1764892800"}
	header["Sunset"] = []string{"Thu, 05 Dec 2030 00:00:00 GMT"}
	link := "<" + address + `/v1/pets>; rel="successor-version", <` + address + `/docs>; rel="deprecation"; type="text/html"`
	header["Link"] = []string{link}
	send(response, http.StatusOK, pet)
}

var statuses = map[string]bool{"available": true, "pending": true, "sold": true}

func create(response http.ResponseWriter, request *http.Request) {
	var sent newPet
	decoder := json.NewDecoder(http.MaxBytesReader(response, request.Body, 65536))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&sent) != nil || sent.Name == "" || utf8.RuneCountInString(sent.Name) > 255 ||
		sent.CategoryID == nil || sent.Status != nil && !statuses[*sent.Status] {
		reject(response, http.StatusBadRequest, "invalid_request")
		return
	}
	created := pet{store.insert(sent), sent}
	response.Header()["Location"] = []string{address + "/v1/pets/" + strconv.FormatInt(created.ID, 10)}
	body, _ := json.Marshal(created)
	send(response, http.StatusCreated, body)
}

func main() {
	url, port := os.Args[1], os.Args[2]
	address = os.Args[3]
	store = openStorage(url)
	go flushLog()
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(serve)))
}
