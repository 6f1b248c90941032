# pg_rag from Ruby, with pg.

def assert_equal(expected, value)
  raise "#{value.inspect} is not #{expected.inspect}" unless expected == value
end

# region connect
require "json"
require "pg"

connection = PG.connect # by PGHOST, PGDATABASE and so on, or a connection string
connection.type_map_for_results = PG::BasicTypeMapForResults.new(connection)
# endregion

# region pipeline
connection.exec("CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL, lang text NOT NULL)")
connection.exec("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])")
[
  [1, "Passwords", 'To reset a password, choose "Forgot password".', "en"],
  [2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en"],
  [3, "Passwörter", 'Wählen Sie "Passwort vergessen".', "de"]
].each { |page| connection.exec_params("INSERT INTO page VALUES ($1, $2, $3, $4)", page) }
connection.exec("SELECT rag_wait('page')")
# endregion

# region retrieve
chunks = connection.exec_params(
  "SELECT rank, source_key, content, metadata FROM rag_retrieve($1, k => $2, filter => $3)",
  ["forgotten password", 2, { lang: "en" }.to_json]
).to_a
# endregion
assert_equal "1", chunks[0]["source_key"]
assert_equal "en", chunks[0]["metadata"]["lang"]

# region answer
answer = connection.exec_params(
  "SELECT answer, supported, citations FROM rag_answer_details($1)", ["How long does a refund take?"]
)[0]
answer["citations"].each { |it| puts "#{it["marker"]} #{it["source_key"]} #{it["quote"]}" } if answer["supported"]
# endregion
assert_equal "A refund takes five working days. [1]", answer["answer"]
assert_equal "2", answer["citations"][0]["source_key"]

# region embed
texts = PG::TextEncoder::Array.new.encode(["happy", "sad"])
vectors = connection.exec_params(
  "SELECT embedding::real[] FROM unnest(rag_embed_batch($1)) AS embedding", [texts]
).column_values(0)
# endregion
assert_equal 2, vectors.size
assert_equal Float, vectors[0][0].class

# region stream
pieces = []
connection.transaction do
  connection.exec_params("DECLARE answer CURSOR FOR SELECT rag_answer_stream($1)", ["How long does a refund take?"])
  while (row = connection.exec("FETCH 1 FROM answer").first)
    pieces << row.values[0]
  end
end
details = JSON.parse(pieces.pop)
# endregion
assert_equal answer["answer"], pieces.join
assert_equal true, details["supported"]

# region errors
begin
  connection.exec_params("SELECT * FROM rag_retrieve($1, 'pages')", ["refund"])
rescue PG::UndefinedObject => error
  result = error.result
  message = "#{result.error_field(PG::PG_DIAG_SQLSTATE)}: #{result.error_field(PG::PG_DIAG_MESSAGE_PRIMARY)} " \
            "(#{result.error_field(PG::PG_DIAG_MESSAGE_HINT)})"
end
# endregion
assert_equal '42704: pipeline "pages" does not exist (Known pipelines: page.)', message
