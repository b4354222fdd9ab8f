// The same duties in Go: net/http; SQLite by cgo with group commit, or PostgreSQL by pgx. Arguments: sqlite:PATH or
// postgres://... with the schema in place, the port, and the address in its links.
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

type newPet struct {
	name       string
	categoryID int64
	status     string
}

type storage interface {
	// A page as JSON without brackets, and the id for the next page if there is one.
	list(status string, after int64, limit int) (page []byte, last int64, more bool)
	// One animal as JSON; empty if there is none.
	get(id int64) []byte
	// The holder of a key; nil if there is none.
	caller(digest string) *caller
	// Returns once the animal is durable.
	insert(pet newPet) int64
}

var (
	store   storage
	base    string
	docs    string
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
	response.WriteHeader(status)
	response.Write(body)
}

func refuse(response http.ResponseWriter, status int, code string) {
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
	observe(operation, request.Method, response.status, header["X-Request-Id"][0], keyID, time.Since(begun))
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
		refuse(response, http.StatusUnauthorized, "invalid_api_key")
		return "unknown", ""
	}
	if !who.take(header) {
		refuse(response, http.StatusTooManyRequests, "rate_limit_exceeded")
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
		refuse(response, http.StatusNotFound, "not_found")
	}
	return operation, who.keyID
}

func isStatus(text string) bool {
	return text == "available" || text == "pending" || text == "sold"
}

func list(response http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	limit, status, after := 20, query.Get("status"), int64(0)
	bad := status != "" && !isStatus(status)
	if text := query.Get("limit"); text != "" {
		number, err := strconv.Atoi(text)
		limit, bad = number, bad || err != nil || number < 1 || number > 100
	}
	if cursor := query.Get("cursor"); cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(cursor)
		of, number, _ := strings.Cut(string(text), ":")
		from, numberErr := strconv.ParseInt(number, 10, 64)
		after, bad = from, bad || err != nil || numberErr != nil || of != status
	}
	if bad {
		refuse(response, http.StatusBadRequest, "invalid_request")
		return
	}
	page, last, more := store.list(status, after, limit)
	if more {
		next := base64.RawURLEncoding.EncodeToString([]byte(status + ":" + strconv.FormatInt(last, 10)))
		filter := ""
		if status != "" {
			filter = "status=" + status + "&"
		}
		response.Header()["Link"] = []string{
			"<" + base + "/pets?" + filter + "limit=" + strconv.Itoa(limit) + "&cursor=" + next + `>; rel="next"`,
		}
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
		refuse(response, http.StatusNotFound, "pet_not_found")
		return
	}
	header := response.Header()
	header["Deprecation"] = []string{"@1764892800"}
	header["Sunset"] = []string{"Thu, 05 Dec 2030 00:00:00 GMT"}
	header["Link"] = []string{
		"<" + base + `/pets>; rel="successor-version", <` + docs + `>; rel="deprecation"; type="text/html"`,
	}
	send(response, http.StatusOK, pet)
}

func create(response http.ResponseWriter, request *http.Request) {
	var sent struct {
		Name       *string `json:"name"`
		CategoryID *int64  `json:"categoryId"`
		Status     *string `json:"status"`
	}
	decoder := json.NewDecoder(http.MaxBytesReader(response, request.Body, 65536))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&sent) != nil || sent.Name == nil || sent.CategoryID == nil ||
		*sent.Name == "" || utf8.RuneCountInString(*sent.Name) > 255 || sent.Status != nil && !isStatus(*sent.Status) {
		refuse(response, http.StatusBadRequest, "invalid_request")
		return
	}
	pet := newPet{name: *sent.Name, categoryID: *sent.CategoryID}
	if sent.Status != nil {
		pet.status = *sent.Status
	}
	id := store.insert(pet)
	response.Header()["Location"] = []string{base + "/pets/" + strconv.FormatInt(id, 10)}
	send(response, http.StatusCreated, appendPet(nil, id, pet.name, pet.categoryID, sent.Status))
}

func main() {
	url, port, address := os.Args[1], os.Args[2], os.Args[3]
	base, docs = address+"/v1", address+"/docs"
	if strings.HasPrefix(url, "sqlite:") {
		store = openSqlite(strings.TrimPrefix(url, "sqlite:"))
	} else {
		store = openPostgres(url)
	}
	go flushLog()
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(serve)))
}
