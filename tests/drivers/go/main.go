// pg_rag from Go, with pgx.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

// region types
type Citation struct {
	Marker    int    `json:"marker"`
	SourceKey string `json:"source_key"`
	Quote     string `json:"quote"`
	StartChar int    `json:"start_char"`
	EndChar   int    `json:"end_char"`
}

type Answer struct {
	Text      string
	Supported bool
	Citations []Citation
}

type Filter map[string]interface{}

// endregion

// region pipeline
func create(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL);
		SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])`)
	if err != nil {
		return err
	}
	rows := [][]interface{}{
		{1, "Passwords", `To reset a password, choose "Forgot password" on the sign-in page.`, "en"},
		{2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"},
		{3, "Passwörter", `Wählen Sie "Passwort vergessen".`, "de"},
	}
	columns := []string{"id", "title", "body", "lang"}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"page"}, columns, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	var found bool
	return conn.QueryRow(ctx, "SELECT rag_wait('page')").Scan(&found)
}

// endregion

// region retrieve
func retrieve(ctx context.Context, conn *pgx.Conn, question string, k int, filter Filter) ([]string, error) {
	rows, err := conn.Query(ctx,
		"SELECT source_key FROM rag_retrieve($1, k => $2, filter => $3)", question, k, filter)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// endregion

// region answer
func ask(ctx context.Context, conn *pgx.Conn, question string, filter Filter) (answer Answer, err error) {
	err = conn.QueryRow(ctx,
		"SELECT answer, supported, citations FROM rag_answer_details($1, filter => $2)", question, filter).
		Scan(&answer.Text, &answer.Supported, &answer.Citations)
	return answer, err
}

// endregion

// region embed
func embed(ctx context.Context, conn *pgx.Conn, texts []string) ([][]float32, error) {
	rows, err := conn.Query(ctx, "SELECT e::real[] FROM unnest(rag_embed_batch($1)) AS e", texts)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var vectors [][]float32
	for rows.Next() {
		var vector []float32
		if err := rows.Scan(&vector); err != nil {
			return nil, err
		}
		vectors = append(vectors, vector)
	}
	return vectors, rows.Err()
}

// endregion

// region stream
// Rows are read from a cursor, since the server collects small ones before it sends them.
func stream(ctx context.Context, conn *pgx.Conn, question string, told func(string)) (details []byte, err error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	declare := "DECLARE answer CURSOR FOR SELECT rag_answer_stream($1)"
	if _, err := tx.Exec(ctx, declare, question); err != nil {
		return nil, err
	}
	var held *string
	for {
		var piece string
		err := tx.QueryRow(ctx, "FETCH 1 FROM answer").Scan(&piece)
		if errors.Is(err, pgx.ErrNoRows) {
			return []byte(*held), tx.Commit(ctx)
		} else if err != nil {
			return nil, err
		}
		// The last row is JSON with citations, confidence and the rest.
		if held != nil {
			told(*held)
		}
		held = &piece
	}
}

// endregion

func main() {
	ctx := context.Background()
	// region connect
	conn, err := pgx.Connect(ctx, "") // by PGHOST, PGDATABASE and so on, or a URL
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(ctx)
	// endregion
	check(create(ctx, conn))

	keys, err := retrieve(ctx, conn, "forgotten password", 2, Filter{"lang": "en"})
	check(err)
	equal("1", keys[0])

	answer, err := ask(ctx, conn, "How long does a refund take?", Filter{"lang": []string{"en", "fr"}})
	check(err)
	equal("A refund takes five working days. [1]", answer.Text)
	equal("2", answer.Citations[0].SourceKey)
	answer, err = ask(ctx, conn, "What is the boiling point of mercury?", nil)
	check(err)
	equal(false, answer.Supported)

	vectors, err := embed(ctx, conn, []string{"happy", "sad"})
	check(err)
	equal(2, len(vectors))

	var text string
	details, err := stream(ctx, conn, "How long does a refund take?", func(piece string) { text += piece })
	check(err)
	equal("A refund takes five working days. [1]", text)
	var parsed struct{ Supported bool }
	check(json.Unmarshal(details, &parsed))
	equal(true, parsed.Supported)

	_, err = retrieve(ctx, conn, "refund", 1, Filter{"langg": "en"})
	// region errors
	var failure *pgconn.PgError
	if errors.As(err, &failure) {
		err = fmt.Errorf("%s: %s (%s)", failure.Code, failure.Message, failure.Hint)
	}
	// endregion
	equal(`42704: filter names an unknown column "langg" (Columns that a filter can name: title, lang, id; rag_alter_pipeline(metadata => ...) sets the list.)`, err.Error())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func equal(expected, value interface{}) {
	if expected != value {
		log.Fatalf("%v is not %v", value, expected)
	}
}
