package main

import (
	"context"
	"encoding/json"
	"log"
	"strconv"

	"github.com/jackc/pgx/v4/pgxpool"
)

// As many connections as the other programs have.
const poolSize = 10

type postgresStorage struct {
	pool *pgxpool.Pool
}

func openPostgres(url string) *postgresStorage {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = poolSize
	pool, err := pgxpool.ConnectConfig(context.Background(), config)
	if err != nil {
		log.Fatal(err)
	}
	return &postgresStorage{pool}
}

func (s *postgresStorage) list(status string, after int64, limit int) (page []byte, last int64, more bool) {
	if status == "" {
		return s.read(limit, "SELECT "+columns+" FROM pets WHERE id > $1 ORDER BY id LIMIT $2", after, limit+1)
	}
	const text = "SELECT " + columns + " FROM pets WHERE id > $1 AND status = $3 ORDER BY id LIMIT $2"
	return s.read(limit, text, after, limit+1, status)
}

func (s *postgresStorage) get(id int64) []byte {
	pet, _, _ := s.read(1, "SELECT "+columns+" FROM pets WHERE id = $1", id)
	return pet
}

// The pool prepares each statement once per connection.
func (s *postgresStorage) read(most int, text string, values ...any) (page []byte, last int64, more bool) {
	rows, err := s.pool.Query(context.Background(), text, values...)
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	for count := 0; rows.Next(); count++ {
		if count == most {
			return page, last, true
		}
		var name string
		var categoryID int64
		var status *string
		if err := rows.Scan(&last, &name, &categoryID, &status); err != nil {
			log.Fatal(err)
		}
		if count > 0 {
			page = append(page, ',')
		}
		page = appendPet(page, last, name, categoryID, status)
	}
	return page, last, false
}

func appendPet(to []byte, id int64, name string, categoryID int64, status *string) []byte {
	to = strconv.AppendInt(append(to, `{"id":`...), id, 10)
	quoted, _ := json.Marshal(name)
	to = append(append(to, `,"name":`...), quoted...)
	to = strconv.AppendInt(append(to, `,"categoryId":`...), categoryID, 10)
	if status != nil {
		to = append(append(append(to, `,"status":"`...), *status...), '"')
	}
	return append(to, '}')
}

func (s *postgresStorage) caller(digest string) *caller {
	var id, subject string
	var perMinute, perDay int64
	const text = "SELECT id, client_id, per_minute, per_day FROM api_keys WHERE digest = $1"
	row := s.pool.QueryRow(context.Background(), text, digest)
	if row.Scan(&id, &subject, &perMinute, &perDay) != nil {
		return nil
	}
	return newCaller(id, subject, perMinute, perDay)
}

func (s *postgresStorage) insert(pet newPet) (id int64) {
	var status *string
	if pet.status != "" {
		status = &pet.status
	}
	const text = "INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id"
	row := s.pool.QueryRow(context.Background(), text, pet.name, pet.categoryID, status)
	if err := row.Scan(&id); err != nil {
		log.Fatal(err)
	}
	return id
}
