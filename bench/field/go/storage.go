package main

import (
	"database/sql"
	"log"
	"strings"

	_ "github.com/jackc/pgx/v4/stdlib"
	_ "github.com/mattn/go-sqlite3"
)

// As many connections as the other programs have.
const poolSize = 10
const insertsAtOnce = 512

// A pet as JSON. The database builds it, as it does for the service.
const sqlitePet = `CASE WHEN status IS NULL THEN json_object('id', id, 'name', name, 'categoryId', category_id)
	ELSE json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status) END`
const postgresPet = `'{"id":' || id || ',"name":' || to_json(name) || ',"categoryId":' || category_id ||
	coalesce(',"status":"' || status || '"', '') || '}'`

// A page in one row: the pets, the last id, and whether more follow.
const selectPage = `SELECT page, last, EXISTS (SELECT 1 FROM pets WHERE id > last)
	FROM (SELECT JOIN(pet, ',') AS page, max(id) AS last
		FROM (SELECT id, PET AS pet FROM pets WHERE id > $1 ORDER BY id LIMIT $2) AS pets) AS pages`

const insertPet = "INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3)"

type newPet struct {
	Name       string  `json:"name"`
	CategoryID *int64  `json:"categoryId"`
	Status     *string `json:"status,omitempty"`
}

type pet struct {
	ID int64 `json:"id"`
	newPet
}

// A pet to insert, and the channel for its id.
type insertion struct {
	newPet
	id chan int64
}

type storage struct {
	page, find, findKey, insertOne *sql.Stmt
	inserts                        chan *insertion
}

func openStorage(url string) *storage {
	file := strings.TrimPrefix(url, "sqlite:")
	if file == url {
		database := open("pgx", url, poolSize)
		return newStorage(database, strings.NewReplacer("PET", postgresPet, "JOIN", "string_agg"))
	}
	url = "file:" + file + "?_journal_mode=WAL&_synchronous=FULL&_mutex=no"
	s := newStorage(open("sqlite3", url, 1), strings.NewReplacer("PET", sqlitePet, "JOIN", "group_concat"))
	s.inserts = make(chan *insertion, insertsAtOnce)
	go s.write(open("sqlite3", url, 1))
	return s
}

func open(driver, url string, connections int) *sql.DB {
	database, err := sql.Open(driver, url)
	must(err)
	database.SetMaxOpenConns(connections)
	database.SetMaxIdleConns(connections)
	if driver == "sqlite3" {
		_, err = database.Exec("PRAGMA mmap_size = 268435456")
		must(err)
	}
	return database
}

func newStorage(database *sql.DB, dialect *strings.Replacer) *storage {
	return &storage{
		page:      prepare(database, dialect.Replace(selectPage)),
		find:      prepare(database, dialect.Replace("SELECT PET FROM pets WHERE id = $1")),
		findKey:   prepare(database, "SELECT id, client_id, per_minute, per_day FROM api_keys WHERE digest = $1"),
		insertOne: prepare(database, insertPet+" RETURNING id"),
	}
}

func prepare(database *sql.DB, text string) *sql.Stmt {
	statement, err := database.Prepare(text)
	must(err)
	return statement
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A page as JSON without brackets, its last id, and whether more pets follow.
func (s *storage) list(after int64, limit int) (page []byte, last int64, more bool) {
	end := sql.NullInt64{}
	must(s.page.QueryRow(after, limit).Scan(&page, &end, &more))
	return page, end.Int64, more
}

// One pet as JSON; empty if there is none.
func (s *storage) get(id int64) (pet []byte) {
	if err := s.find.QueryRow(id).Scan(&pet); err != sql.ErrNoRows {
		must(err)
	}
	return pet
}

// The holder of a key; nil if there is none.
func (s *storage) caller(digest string) *caller {
	var id, subject string
	var perMinute, perDay int64
	if s.findKey.QueryRow(digest).Scan(&id, &subject, &perMinute, &perDay) != nil {
		return nil
	}
	return newCaller(id, subject, perMinute, perDay)
}

// Returns once the pet is durable.
func (s *storage) insert(sent newPet) (id int64) {
	if s.inserts == nil {
		must(s.insertOne.QueryRow(sent.Name, sent.CategoryID, sent.Status).Scan(&id))
		return id
	}
	inserted := make(chan int64, 1)
	s.inserts <- &insertion{sent, inserted}
	return <-inserted
}

// Group commit on SQLite: creates that arrive during a commit share the next one.
func (s *storage) write(writer *sql.DB) {
	begin, commit := prepare(writer, "BEGIN IMMEDIATE"), prepare(writer, "COMMIT")
	insert := prepare(writer, insertPet)
	run := func(statement *sql.Stmt, values ...any) int64 {
		result, err := statement.Exec(values...)
		must(err)
		id, _ := result.LastInsertId()
		return id
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
		run(begin)
		for index, pet := range batch {
			ids[index] = run(insert, pet.Name, pet.CategoryID, pet.Status)
		}
		run(commit)
		for index, pet := range batch {
			pet.id <- ids[index]
		}
	}
}
