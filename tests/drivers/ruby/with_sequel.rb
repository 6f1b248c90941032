# pg_rag from Sequel.

def assert_equal(expected, value)
  raise "#{value.inspect} is not #{expected.inspect}" unless expected == value
end

# region connect
require "sequel"

DB = Sequel.connect(adapter: "postgres") # by PGHOST, PGDATABASE and so on, or a URL
DB.extension :pg_json, :pg_array
Sequel.extension :pg_json_ops
# endregion

# region pipeline
Sequel.extension :migration

pages = Sequel.migration do
  up do
    create_table(:page) do
      Integer :id, primary_key: true
      String :title, text: true, null: false
      String :body, text: true, null: false
      String :lang, text: true, null: false
    end
    run "SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])"
  end

  down do
    run "SELECT rag_drop_pipeline('page', if_exists => true)"
    drop_table(:page)
  end
end
# endregion
pages.apply(DB, :up)

# region insert
DB[:page].import(%i[id title body lang], [
  [1, "Passwords", 'To reset a password, choose "Forgot password".', "en"],
  [2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"]
])
DB.get(Sequel.function(:rag_wait, "page"))
# endregion

# region retrieve
chunks = DB.fetch(
  "SELECT page.title, found.content, found.metadata FROM rag_retrieve(:question, k => :k, filter => :filter) AS found " \
  "JOIN page ON page.id = found.source_key::integer ORDER BY found.rank",
  question: "forgotten password", k: 2, filter: Sequel.pg_jsonb({ lang: "en" })
).all
# endregion
assert_equal "Passwords", chunks[0][:title]
assert_equal "en", chunks[0][:metadata]["lang"]

# region answer
answer = DB.from(Sequel.function(:rag_answer_details, "How long does a refund take?")).first
# endregion
assert_equal "A refund takes five working days. [1]", answer[:answer]
assert_equal "2", answer[:citations][0]["source_key"]

# region embed
texts = Sequel.pg_array(%w[happy sad], :text)
vectors = DB.from(Sequel.function(:unnest, Sequel.function(:rag_embed_batch, texts)).as(:embedding))
            .select_map(Sequel.cast(:embedding, "real[]"))
# endregion
assert_equal 2, vectors.size

# region stream
pieces = DB.fetch("SELECT rag_answer_stream(?) AS piece", "How long does a refund take?")
           .use_cursor(rows_per_fetch: 1).map(:piece)
# endregion
assert_equal answer[:answer], pieces[0]

# region errors
begin
  DB.get(Sequel.function(:rag_answer, "refund", "pages"))
rescue Sequel::DatabaseError => error
  message = "#{error.wrapped_exception.result.error_field(PG::PG_DIAG_SQLSTATE)}: #{error.message}"
end
# endregion
assert_equal true, message.start_with?('42704: PG::UndefinedObject: ERROR:  pipeline "pages" does not exist')
assert_equal true, message.include?("HINT:  Known pipelines: page.")

pages.apply(DB, :down)
assert_equal 0, DB[Sequel[:rag][:pipeline]].count
