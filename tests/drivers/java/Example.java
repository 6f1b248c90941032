// pg_rag from Java, with JDBC.

import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.postgresql.util.PSQLException;

public class Example {
    // region pipeline
    static void create(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE page (id integer PRIMARY KEY, title text NOT NULL,"
                    + " body text NOT NULL, lang text NOT NULL)");
            statement.execute("SELECT rag_create_pipeline('page', 'body', metadata => ARRAY['title', 'lang'])");
        }
        try (var insert = connection.prepareStatement("INSERT INTO page VALUES (?, ?, ?, ?)")) {
            add(insert, 1, "Passwords", "To reset a password, choose \"Forgot password\".", "en");
            add(insert, 2, "Invoices", "Invoices are sent monthly. A refund takes five working days.", "en");
            add(insert, 3, "Passwörter", "Wählen Sie \"Passwort vergessen\".", "de");
            insert.executeBatch();
        }
        try (var statement = connection.createStatement()) {
            statement.execute("SELECT rag_wait('page')");
        }
    }

    // endregion

    static void add(PreparedStatement insert, int id, String title, String body, String lang) throws SQLException {
        insert.setInt(1, id);
        insert.setString(2, title);
        insert.setString(3, body);
        insert.setString(4, lang);
        insert.addBatch();
    }

    // region retrieve
    record Chunk(int rank, String sourceKey, String content) {}

    static List<Chunk> retrieve(Connection connection, String question, int k, String filter) throws SQLException {
        // A text goes as one, so that jsonb needs its cast; a NULL is what a call without the argument means.
        var sql = "SELECT rank, source_key, content FROM rag_retrieve(?, k => ?, filter => ?::jsonb)";
        try (var statement = connection.prepareStatement(sql)) {
            statement.setString(1, question);
            statement.setInt(2, k);
            statement.setString(3, filter);
            var chunks = new ArrayList<Chunk>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    chunks.add(new Chunk(rows.getInt("rank"), rows.getString("source_key"), rows.getString("content")));
                }
            }
            return chunks;
        }
    }

    // endregion

    // region answer
    record Citation(int marker, String sourceKey, String quote) {}

    record Answer(String text, boolean supported, List<Citation> citations) {}

    static Answer ask(Connection connection, String question) throws SQLException {
        // The server takes the JSON apart, so that no library is needed for it.
        var sql = """
                SELECT answer, supported, c.marker, c.source_key, c.quote
                FROM rag_answer_details(?)
                LEFT JOIN LATERAL jsonb_to_recordset(citations) AS c (marker integer, source_key text, quote text) ON true
                """;
        try (var statement = connection.prepareStatement(sql)) {
            statement.setString(1, question);
            try (ResultSet rows = statement.executeQuery()) {
                var citations = new ArrayList<Citation>();
                String text = null;
                var supported = false;
                while (rows.next()) {
                    text = rows.getString("answer");
                    supported = rows.getBoolean("supported");
                    if (rows.getString("source_key") != null) {
                        citations.add(new Citation(
                                rows.getInt("marker"), rows.getString("source_key"), rows.getString("quote")));
                    }
                }
                return new Answer(text, supported, citations);
            }
        }
    }

    // endregion

    // region embed
    static List<Float[]> embed(Connection connection, List<String> texts) throws SQLException {
        var sql = "SELECT e::real[] FROM unnest(rag_embed_batch(?)) AS e";
        try (var statement = connection.prepareStatement(sql)) {
            Array array = connection.createArrayOf("text", texts.toArray());
            statement.setArray(1, array);
            var vectors = new ArrayList<Float[]>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    vectors.add((Float[]) rows.getArray(1).getArray());
                }
            }
            return vectors;
        }
    }

    // endregion

    // region stream
    static String stream(Connection connection, String question, Consumer<String> told) throws SQLException {
        // Rows come one by one with a fetch size, and without autocommit.
        connection.setAutoCommit(false);
        try (var statement = connection.prepareStatement("SELECT rag_answer_stream(?)")) {
            statement.setFetchSize(1);
            statement.setString(1, question);
            try (ResultSet rows = statement.executeQuery()) {
                String held = null;
                while (rows.next()) {
                    if (held != null) {
                        told.accept(held);
                    }
                    held = rows.getString(1);
                }
                // The last row is JSON with citations, confidence and the rest.
                return held;
            }
        } finally {
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    // endregion

    public static void main(String[] arguments) throws SQLException {
        var url = System.getenv("JDBC_URL");
        try (Connection connection = DriverManager.getConnection(url)) {
            create(connection);

            var chunks = retrieve(connection, "forgotten password", 2, "{\"lang\": \"en\"}");
            equal("1", chunks.get(0).sourceKey());
            equal(3, retrieve(connection, "password", 3, null).size());

            var answer = ask(connection, "How long does a refund take?");
            equal("A refund takes five working days. [1]", answer.text());
            equal("2", answer.citations().get(0).sourceKey());
            equal(false, ask(connection, "What is the boiling point of mercury?").supported());

            equal(2, embed(connection, List.of("happy", "sad")).size());

            var text = new StringBuilder();
            var details = stream(connection, "How long does a refund take?", text::append);
            equal(answer.text(), text.toString());
            equal(true, details.contains("\"supported\":true"));

            String message = null;
            // region errors
            try {
                retrieve(connection, "refund", 1, "{\"langg\": \"en\"}");
            } catch (PSQLException error) {
                var server = error.getServerErrorMessage();
                message = error.getSQLState() + ": " + server.getMessage() + " (" + server.getHint() + ")";
            }
            // endregion
            equal(
                    "42704: filter names an unknown column \"langg\" (Columns that a filter can name: title, lang, id; rag_alter_pipeline(metadata => ...) sets the list.)",
                    message);
        }
    }

    static void equal(Object expected, Object value) {
        if (!expected.equals(value)) {
            throw new AssertionError(value + " is not " + expected);
        }
    }
}
