// A session with everything above the sockets real, over instances that store in SQLite, and one SQLite
// database as the oracle that gets every statement too. A seed decides what the client asks, how answers are
// cut, which connection is heard first, and which answers go wrong. Whatever happens:
//   every statement is answered once, and what it answers is what the one database answers;
//   what is told to have happened has happened on every instance, once, in the table that the id names;
//   what failed has left nothing, or, where the answer says that this is not known, each row is as before or
//   as after;
//   no connection goes back unclean, none is kept, nothing hangs.
// EVENKEEL_SIM_SEED=N runs one seed, EVENKEEL_SIM_RUNS=N that many from the first on.
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

#include "proxy/session/tests/script.h"
#include "tests/sim/sqlite_store.h"

namespace evenkeel::sim {
namespace {

using session::testing::Answer;
using session::testing::Script;
using session::testing::Weather;

constexpr int statements_of_a_run = 60;
// The script asks for id 6 and writes it when it ends.
constexpr int64_t first_own_id = 7;

uint64_t setting(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// What the client asks. Of an insert without ids the notes tell the rows.
struct Question {
  explicit Question(std::string text, bool in_order = false) : sql(std::move(text)), ordered(in_order) {}
  std::string sql;
  bool ordered;                    // the order of the rows is part of the answer
  std::vector<std::string> notes;  // of rows whose ids the proxy makes
  std::vector<int64_t> users;
};

class Client {
 public:
  explicit Client(Random& random) : random_(random) {}

  Question ask(const std::vector<Row>& rows, bool in_transaction) {
    switch (random_.below(19)) {
      case 0:
      case 1:
        return insert(1);
      case 2:
        return insert(2 + random_.below(6));
      case 3:
        return insert_with_ids();
      case 4:
        return Question{
            fmt::format("UPDATE orders SET user_id = user_id + {} WHERE id = {}", number(3), some_id(rows))};
      case 5:
        return Question{fmt::format("UPDATE orders SET user_id = {} WHERE id IN ({}, {}, {})", number(9),
                                    some_id(rows), some_id(rows), number(30))};
      case 6:
        return Question{fmt::format("UPDATE orders SET user_id = user_id + 1 WHERE user_id < {}", number(9))};
      case 7:
        return Question{fmt::format("DELETE FROM orders WHERE id = {}", some_id(rows))};
      case 8:
        return Question{
            fmt::format("DELETE FROM orders WHERE user_id = {} OR id = {}", number(12), some_id(rows))};
      case 9:
        return Question{fmt::format("SELECT id, user_id, note FROM orders WHERE id = {}", some_id(rows))};
      case 10:
        return Question{fmt::format("SELECT id, user_id FROM orders ORDER BY id{} LIMIT {} OFFSET {}",
                                    random_.below(2) == 0 ? "" : " DESC", 1 + number(9), number(5)),
                        true};
      case 11:
        return Question{"SELECT COUNT(*), SUM(user_id), MIN(id), MAX(user_id) FROM orders"};
      case 12:
        return Question{"SELECT user_id, COUNT(*), MAX(id) FROM orders GROUP BY user_id"};
      case 13:
        return Question{"SELECT DISTINCT user_id FROM orders"};
      case 14:
        return Question{
            fmt::format("SELECT note FROM orders WHERE user_id BETWEEN {} AND {}", number(4), 4 + number(8))};
      case 15:
        return Question{
            fmt::format("SELECT user_id, id FROM orders WHERE id IN ({}, {}) ORDER BY user_id, id",
                        some_id(rows), some_id(rows)),
            true};
      default:
        if (!in_transaction) return Question{"BEGIN"};
        return Question{random_.below(3) == 0 ? "ROLLBACK" : "COMMIT"};
    }
  }

 private:
  uint64_t number(uint64_t below) { return random_.below(below); }
  int64_t some_id(const std::vector<Row>& rows) {
    if (rows.empty() || random_.below(8) == 0) return first_own_id + static_cast<int64_t>(number(30));
    return rows[random_.below(rows.size())].id;
  }
  Question insert(uint64_t count) {
    Question question{"INSERT INTO orders (user_id, note) VALUES "};
    for (uint64_t i = 0; i < count; ++i) {
      question.users.push_back(static_cast<int64_t>(number(12)));
      question.notes.push_back(fmt::format("n{}", ++notes_));
      question.sql +=
          fmt::format("{}({}, '{}')", i > 0 ? ", " : "", question.users.back(), question.notes.back());
    }
    return question;
  }
  Question insert_with_ids() {
    Question question{"INSERT INTO orders (id, user_id, note) VALUES "};
    const uint64_t count = 1 + number(4);
    for (uint64_t i = 0; i < count; ++i)
      question.sql += fmt::format("{}({}, {}, 'own{}')", i > 0 ? ", " : "",
                                  first_own_id + static_cast<int64_t>(number(30)), number(12), ++notes_);
    return question;
  }

  Random& random_;
  int notes_ = 0;
};

// One database that holds all rows, and what it was before the open transaction.
class Oracle {
 public:
  Oracle() {
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(":memory:", &raw), SQLITE_OK);
    database_.reset(raw);
    execute(raw, "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id BIGINT, note VARCHAR(200))");
  }
  Answer ask(const std::string& sql) { return execute(database_.get(), sql); }
  std::vector<Row> rows() const { return rows_of(database_.get(), "orders"); }
  bool in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }
  void add(const Row& row) {
    ask(fmt::format("INSERT INTO orders (id, user_id, note) VALUES ({}, {}, '{}')", row.id, row.user_id,
                    row.note));
  }
  void become(const std::vector<Row>& rows) {
    ask("ROLLBACK");
    ask("DELETE FROM orders");
    for (const Row& row : rows) add(row);
  }

 private:
  Database database_;
};

// "ROWS a b | 1 x | 2 y | end …" → its rows; nothing for other answers.
std::vector<std::string> rows_in(const std::string& answer) {
  std::vector<std::string> rows;
  for (size_t at = answer.find(" | "); at != std::string::npos;) {
    const size_t next = answer.find(" | ", at + 3);
    if (next == std::string::npos) break;
    rows.push_back(answer.substr(at + 3, next - at - 3));
    at = next;
  }
  return rows;
}

std::vector<std::string> rows_in(const Answer& answer) {
  std::vector<std::string> rows;
  for (const auto& row : answer.rows) {
    std::string text;
    for (const auto& value : row) {
      if (!text.empty()) text += " ";
      text += value.is_null() ? "NULL" : value.is_integer() ? std::to_string(value.as_int64()) : value.text();
    }
    rows.push_back(text);
  }
  return rows;
}

// From its error on, which may come in the middle of rows; empty when there is none.
std::string error_in(const std::string& answer) {
  if (answer.starts_with("ERR ")) return answer;
  const size_t at = answer.find("; ERR ");
  return at == std::string::npos ? "" : answer.substr(at + 2);
}

// The answer leaves open whether the statement took effect.
bool is_in_doubt(const std::string& answer) {
  for (const std::string_view code : {"ERR 1180 ", "ERR 1430 ", "ERR 1317 ", "ERR 3024 "})
    if (answer.starts_with(code)) return true;
  return false;
}

class Run {
 public:
  Run(uint64_t seed, uint64_t fault_every)
      : faulty_(fault_every != UINT64_MAX),
        random_(seed),
        script_(weather(fault_every)),
        store_(fmt::format("sim{}-{}", seed, fault_every), script_.rules()),
        client_(random_) {
    script_.use(store_);
  }

  void go() {
    for (int i = 0; i < statements_of_a_run && !failed(); ++i) {
      if (!step(client_.ask(oracle_.rows(), oracle_.in_transaction()))) break;
    }
    if (failed()) return;
    oracle_.ask("ROLLBACK");
    script_.settle();
    for (const auto& complaint : script_.complaints()) ADD_FAILURE() << complaint;
    expect_same_rows("at the end");
  }

  std::string trace() { return script_.verdict().trace; }
  int in_doubt = 0;
  int refused = 0;
  int answered = 0;

 private:
  Weather weather(uint64_t fault_every) {
    Weather weather;
    weather.luck = &random_;
    weather.fault_every = fault_every;
    return weather;
  }
  bool failed() const { return ::testing::Test::HasFailure() || !script_.complaints().empty(); }

  // Exactly one answer, or none when the proxy has closed the connection.
  std::string send(const std::string& sql) {
    const size_t before = script_.client_answers().size();
    script_.run("> " + sql + "\n");
    if (script_.client_answers().size() == before + 1) return script_.client_answers().back();
    EXPECT_TRUE(script_.client_closed())
        << sql << " got " << script_.client_answers().size() - before << " answers";
    return "";
  }

  bool step(const Question& question) {
    const std::string answer = send(question.sql);
    if (answer.empty()) {
      settle_doubt(question);
      return false;
    }
    if (const std::string error = error_in(answer); !error.empty()) return on_error(question, error);
    ++answered;
    if (!question.notes.empty()) {
      take_over_new_rows(question);
    } else {
      compare(question, answer, oracle_.ask(question.sql));
    }
    if (!oracle_.in_transaction()) expect_same_rows(question.sql);
    return true;
  }

  void compare(const Question& question, const std::string& answer, const Answer& expected) {
    ASSERT_NE(expected.kind, Answer::Kind::err)
        << question.sql << " got " << answer << ", one database says " << expected.message;
    if (expected.kind == Answer::Kind::ok) {
      EXPECT_TRUE(answer.starts_with(fmt::format("OK affected={} ", expected.affected)))
          << question.sql << " got " << answer << " instead of " << expected.affected;
      return;
    }
    auto got = rows_in(answer);
    auto wanted = rows_in(expected);
    if (!question.ordered) {
      std::sort(got.begin(), got.end());
      std::sort(wanted.begin(), wanted.end());
    }
    EXPECT_EQ(got, wanted) << question.sql;
  }

  // As a careful application does: after an error the transaction is given up.
  bool on_error(const Question& question, const std::string& answer) {
    if (!faulty_) check_refusal(question, answer);
    const bool commit_failed = question.sql == "COMMIT";
    if (is_in_doubt(answer) || commit_failed) {
      settle_doubt(question);
    } else {
      ++refused;
      oracle_.ask("ROLLBACK");
    }
    for (int i = 0; i < 3 && !script_.client_closed() && !send("ROLLBACK").starts_with("OK"); ++i) continue;
    expect_same_rows(question.sql + " after " + answer);
    return !script_.client_closed();
  }

  // Where nothing goes wrong by itself, one database refuses what the proxy refuses.
  void check_refusal(const Question& question, const std::string& answer) {
    const Answer expected = oracle_.ask(question.sql);
    EXPECT_EQ(expected.kind, Answer::Kind::err) << question.sql << " got " << answer;
    EXPECT_TRUE(answer.starts_with(fmt::format("ERR {} ", expected.code)))
        << question.sql << " got " << answer;
  }

  // What is durable lies between what was, and what would be had the statement ended well. Of an open
  // transaction nothing is, unless its COMMIT is what failed.
  void settle_doubt(const Question& question) {
    ++in_doubt;
    std::vector<Row> allowed = durable_;
    if (question.sql != "COMMIT" && oracle_.in_transaction()) {
      oracle_.ask("ROLLBACK");
    } else {
      if (question.notes.empty()) oracle_.ask(question.sql);
      const std::vector<Row> after = oracle_.rows();
      allowed.insert(allowed.end(), after.begin(), after.end());
    }
    const std::set<std::string> new_notes(question.notes.begin(), question.notes.end());
    const bool may_insert = !oracle_.in_transaction();
    // What is left open rolls back with the client's next word or with its end; uncommitted rows are no rows.
    for (int i = 0; i < 3 && !script_.client_closed() && !send("ROLLBACK").starts_with("OK"); ++i) continue;
    std::vector<int64_t> misplaced;
    const std::vector<Row> actual = store_.all_rows(misplaced);
    EXPECT_TRUE(misplaced.empty());
    std::set<int64_t> ids;
    for (const Row& row : actual) {
      EXPECT_TRUE(ids.insert(row.id).second) << "id " << row.id << " is there twice after " << question.sql;
      const bool known = std::find(allowed.begin(), allowed.end(), row) != allowed.end();
      EXPECT_TRUE(known || (may_insert && new_notes.contains(row.note)))
          << "id " << row.id << " user_id " << row.user_id << " note " << row.note
          << " is neither as before nor as after " << question.sql;
    }
    for (const Row& row : durable_) {
      const auto after = oracle_.rows();
      const bool may_go =
          std::none_of(after.begin(), after.end(), [&](const Row& other) { return other.id == row.id; });
      EXPECT_TRUE(ids.contains(row.id) || may_go) << "id " << row.id << " is lost by " << question.sql;
    }
    oracle_.become(actual);
  }

  // Ids of rows that the proxy filled: each is there once.
  void take_over_new_rows(const Question& question) {
    std::vector<int64_t> misplaced;
    const std::vector<Row> actual = store_.all_rows(misplaced);
    for (size_t i = 0; i < question.notes.size(); ++i) {
      std::vector<Row> found;
      for (const Row& row : actual)
        if (row.note == question.notes[i]) found.push_back(row);
      // An instance lost after its answer has rolled its part of the transaction back: no COMMIT may succeed
      // then.
      if (found.empty() && faulty_ && oracle_.in_transaction())
        found.push_back({--rows_of_no_id_, question.users[i], question.notes[i]});
      ASSERT_EQ(found.size(), 1u) << question.sql << ": the row " << question.notes[i];
      EXPECT_EQ(found[0].user_id, question.users[i]);
      oracle_.add(found[0]);
    }
  }

  void expect_same_rows(const std::string& when) {
    std::vector<int64_t> misplaced;
    durable_ = store_.all_rows(misplaced);
    EXPECT_TRUE(misplaced.empty()) << "rows in a table that their id does not name, " << when;
    EXPECT_EQ(durable_ == oracle_.rows(), true)
        << when << ": " << durable_.size() << " rows, one database has " << oracle_.rows().size();
  }

  const bool faulty_;
  SeededRandom random_;
  Script script_;
  SqliteStore store_;
  Client client_;
  Oracle oracle_;
  std::vector<Row> durable_;
  int64_t rows_of_no_id_ = 0;
};

void run_seeds(uint64_t fault_every, uint64_t runs) {
  const uint64_t first = setting("EVENKEEL_SIM_SEED", 1);
  const uint64_t count = std::getenv("EVENKEEL_SIM_SEED") != nullptr ? 1 : setting("EVENKEEL_SIM_RUNS", runs);
  int answered = 0;
  int refused = 0;
  int in_doubt = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Run run(seed, fault_every);
    run.go();
    answered += run.answered;
    refused += run.refused;
    in_doubt += run.in_doubt;
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "EVENKEEL_SIM_SEED=" << seed << ", a fault every " << fault_every << " answers\n"
        << run.trace();
  }
  ::testing::Test::RecordProperty("answered", answered);
  std::printf("%d statements answered, %d refused, %d in doubt\n", answered, refused, in_doubt);
  EXPECT_GT(answered, 0);
}

TEST(Simulation, AnswersAsOneDatabaseDoes) { run_seeds(UINT64_MAX, 60); }
TEST(Simulation, LosesAndDoublesNothingWhenAnswersGoWrong) { run_seeds(40, 150); }
TEST(Simulation, LosesAndDoublesNothingWhenMuchGoesWrong) { run_seeds(7, 150); }

}  // namespace
}  // namespace evenkeel::sim
