package main

/*
#cgo LDFLAGS: -lsqlite3
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *put_text(char *to, const unsigned char *from) {
  *to++ = '"';
  for (; *from; from++) {
    if (*from == '"' || *from == '\\') { *to++ = '\\'; *to++ = *from; }
    else if (*from < ' ') to += sprintf(to, "\\u%04x", *from);
    else *to++ = *from;
  }
  *to++ = '"';
  return to;
}

static char *put_word(char *to, const char *word) {
  size_t length = strlen(word);
  memcpy(to, word, length);
  return to + length;
}

static char *put_integer(char *to, sqlite3_int64 value) {
  char digits[20];
  int count = 0;
  sqlite3_uint64 rest = value < 0 ? -(sqlite3_uint64)value : (sqlite3_uint64)value;
  do { digits[count++] = '0' + rest % 10; rest /= 10; } while (rest > 0);
  if (value < 0) *to++ = '-';
  while (count > 0) *to++ = digits[--count];
  return to;
}

static char *put_pet(char *to, sqlite3_stmt *row) {
  to = put_integer(put_word(to, "{\"id\":"), sqlite3_column_int64(row, 0));
  to = put_text(put_word(to, ",\"name\":"), sqlite3_column_text(row, 1));
  to = put_integer(put_word(to, ",\"categoryId\":"), sqlite3_column_int64(row, 2));
  const unsigned char *status = sqlite3_column_text(row, 3);
  if (status) to = put_text(put_word(to, ",\"status\":"), status);
  *to++ = '}';
  return to;
}

// Writes the rows as JSON, separated by commas, in one call from Go. Sets `more` if there are more than `most`.
static int put_pets(sqlite3_stmt *rows, char *buffer, int most, int *count, int *more, sqlite3_int64 *last) {
  char *to = buffer;
  *count = *more = 0;
  while (sqlite3_step(rows) == SQLITE_ROW) {
    if (*count == most) { *more = 1; break; }
    if ((*count)++ > 0) *to++ = ',';
    *last = sqlite3_column_int64(rows, 0);
    to = put_pet(to, rows);
  }
  sqlite3_reset(rows);
  return to - buffer;
}

static int insert_pet(sqlite3_stmt *insert, sqlite3 *database, const char *name, int name_length,
    sqlite3_int64 category, const char *status, int status_length, sqlite3_int64 *id) {
  sqlite3_bind_text(insert, 1, name, name_length, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 2, category);
  if (status_length > 0) sqlite3_bind_text(insert, 3, status, status_length, SQLITE_STATIC);
  else sqlite3_bind_null(insert, 3);
  int result = sqlite3_step(insert);
  sqlite3_reset(insert);
  *id = sqlite3_last_insert_rowid(database);
  return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int find_key(sqlite3_stmt *find, const char *digest, int length, char *id, char *subject,
    sqlite3_int64 *per_minute, sqlite3_int64 *per_day) {
  sqlite3_bind_text(find, 1, digest, length, SQLITE_STATIC);
  int found = sqlite3_step(find) == SQLITE_ROW;
  if (found) {
    strncpy(id, (const char *)sqlite3_column_text(find, 0), 63);
    strncpy(subject, (const char *)sqlite3_column_text(find, 1), 63);
    *per_minute = sqlite3_column_int64(find, 2);
    *per_day = sqlite3_column_int64(find, 3);
  }
  sqlite3_reset(find);
  return found;
}
*/
import "C"

import (
	"log"
	"sync"
	"unsafe"
)

// The longest page: 100 animals whose names have 255 escaped characters.
const pageBytes = 256 * 1024
const insertsAtOnce = 512

type connection struct {
	database *C.sqlite3
}

func open(file string) connection {
	var database *C.sqlite3
	path := C.CString(file)
	defer C.free(unsafe.Pointer(path))
	if C.sqlite3_open(path, &database) != C.SQLITE_OK {
		log.Fatalf("%s cannot be opened", file)
	}
	c := connection{database}
	for _, pragma := range []string{"journal_mode = WAL", "synchronous = FULL", "mmap_size = 268435456"} {
		c.execute("PRAGMA " + pragma)
	}
	return c
}

func (c connection) execute(text string) {
	statement := C.CString(text)
	defer C.free(unsafe.Pointer(statement))
	if C.sqlite3_exec(c.database, statement, nil, nil, nil) != C.SQLITE_OK {
		log.Fatalf("%s: %s", text, C.GoString(C.sqlite3_errmsg(c.database)))
	}
}

func (c connection) prepare(text string) *C.sqlite3_stmt {
	var statement *C.sqlite3_stmt
	source := C.CString(text)
	defer C.free(unsafe.Pointer(source))
	if C.sqlite3_prepare_v3(c.database, source, -1, C.SQLITE_PREPARE_PERSISTENT, &statement, nil) != C.SQLITE_OK {
		log.Fatalf("%s: %s", text, C.GoString(C.sqlite3_errmsg(c.database)))
	}
	return statement
}

const columns = "id, name, category_id, status"

// An animal to insert, and the channel for its id.
type insertion struct {
	newPet
	id chan int64
}

type sqliteStorage struct {
	mutex                              sync.Mutex
	page, pageOfStatus, find, ofDigest *C.sqlite3_stmt
	buffer                             *C.char
	inserts                            chan *insertion
}

func openSqlite(file string) *sqliteStorage {
	reader := open(file)
	s := &sqliteStorage{
		page:         reader.prepare("SELECT " + columns + " FROM pets WHERE id > ? ORDER BY id LIMIT ?"),
		pageOfStatus: reader.prepare("SELECT " + columns + " FROM pets WHERE id > ? AND status = ? ORDER BY id LIMIT ?"),
		find:         reader.prepare("SELECT " + columns + " FROM pets WHERE id = ?"),
		ofDigest:     reader.prepare("SELECT id, client_id, per_minute, per_day FROM api_keys WHERE digest = ?"),
		buffer:       (*C.char)(C.malloc(pageBytes)),
		inserts:      make(chan *insertion, insertsAtOnce),
	}
	go s.write(open(file))
	return s
}

func (s *sqliteStorage) list(status string, after int64, limit int) (page []byte, last int64, more bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows := s.page
	if status == "" {
		C.sqlite3_bind_int(rows, 2, C.int(limit+1))
	} else {
		rows = s.pageOfStatus
		text := C.CString(status)
		defer C.free(unsafe.Pointer(text))
		C.sqlite3_bind_text(rows, 2, text, -1, nil)
		C.sqlite3_bind_int(rows, 3, C.int(limit+1))
	}
	return s.read(rows, after, limit)
}

func (s *sqliteStorage) get(id int64) []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	pet, _, _ := s.read(s.find, id, 1)
	return pet
}

func (s *sqliteStorage) read(rows *C.sqlite3_stmt, id int64, most int) ([]byte, int64, bool) {
	var count, more C.int
	var last C.sqlite3_int64
	C.sqlite3_bind_int64(rows, 1, C.sqlite3_int64(id))
	length := C.put_pets(rows, s.buffer, C.int(most), &count, &more, &last)
	return C.GoBytes(unsafe.Pointer(s.buffer), length), int64(last), more != 0
}

func (s *sqliteStorage) caller(digest string) *caller {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var perMinute, perDay C.sqlite3_int64
	id, subject := (*C.char)(C.calloc(1, 64)), (*C.char)(C.calloc(1, 64))
	defer C.free(unsafe.Pointer(id))
	defer C.free(unsafe.Pointer(subject))
	text := C.CString(digest)
	defer C.free(unsafe.Pointer(text))
	if C.find_key(s.ofDigest, text, C.int(len(digest)), id, subject, &perMinute, &perDay) == 0 {
		return nil
	}
	return newCaller(C.GoString(id), C.GoString(subject), int64(perMinute), int64(perDay))
}

func (s *sqliteStorage) insert(pet newPet) int64 {
	id := make(chan int64, 1)
	s.inserts <- &insertion{pet, id}
	return <-id
}

// Group commit: creates that arrive during a commit share the next one.
func (s *sqliteStorage) write(writer connection) {
	insert := writer.prepare("INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)")
	begin, commit := writer.prepare("BEGIN IMMEDIATE"), writer.prepare("COMMIT")
	step := func(statement *C.sqlite3_stmt) {
		if C.sqlite3_step(statement) != C.SQLITE_DONE {
			log.Fatal(C.GoString(C.sqlite3_errmsg(writer.database)))
		}
		C.sqlite3_reset(statement)
	}
	for first := range s.inserts {
		batch := []*insertion{first}
		for waiting := true; waiting && len(batch) < insertsAtOnce; {
			select {
			case next := <-s.inserts:
				batch = append(batch, next)
			default:
				waiting = false
			}
		}
		ids := make([]int64, len(batch))
		step(begin)
		for index, pet := range batch {
			ids[index] = writer.insert(insert, pet.newPet)
		}
		step(commit)
		for index, pet := range batch {
			pet.id <- ids[index]
		}
	}
}

func (c connection) insert(statement *C.sqlite3_stmt, pet newPet) int64 {
	var id C.sqlite3_int64
	name, status := C.CString(pet.name), C.CString(pet.status)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(status))
	if C.insert_pet(statement, c.database, name, C.int(len(pet.name)), C.sqlite3_int64(pet.categoryID),
		status, C.int(len(pet.status)), &id) != C.SQLITE_OK {
		log.Fatal(C.GoString(C.sqlite3_errmsg(c.database)))
	}
	return int64(id)
}
