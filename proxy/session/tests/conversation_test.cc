// Each file of scripts/ is a specification: conversations with what happens at every step. They run plainly
// and are compared word by word; then in pieces of one byte, in another order of the instances, and failing
// at each step in turn, where what every session must keep is checked.
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "proxy/session/tests/script.h"

namespace evenkeel::session::testing {
namespace {

struct Conversation {
  std::string file;
  std::string name;
  std::string text;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A file's conversations begin with "## name".
std::vector<Conversation> read_conversations() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("proxy/session/tests/scripts"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Conversation> all;
  for (const auto& file : files) {
    std::istringstream in(read_file(file));
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("## ")) all.push_back({file.stem(), line.substr(3), ""});
      if (!all.empty() && all.back().file == file.stem()) all.back().text += line + "\n";
    }
  }
  return all;
}

const std::vector<Conversation>& conversations() {
  static const auto all = read_conversations();
  return all;
}

// Where the new text is written when it differs, to be looked at and taken over.
std::string actual_path(const std::string& file) { return EVENKEEL_BINARY_DIR "/" + file + ".actual.txt"; }

TEST(Conversations, AreAsSpecified) {
  std::map<std::string, std::string> actual;
  ASSERT_FALSE(conversations().empty());
  for (const auto& conversation : conversations()) {
    SCOPED_TRACE(conversation.file + ": " + conversation.name);
    const Verdict verdict = run_script(conversation.text, {});
    for (const auto& complaint : verdict.complaints) ADD_FAILURE() << complaint << "\n" << verdict.trace;
    actual[conversation.file] += verdict.trace;
    EXPECT_EQ(verdict.trace, conversation.text);
  }
  for (const auto& [file, text] : actual) std::ofstream(actual_path(file)) << text;
}

// However the bytes are cut on either side, the client hears the same.
TEST(Conversations, DoNotDependOnHowBytesAreCut) {
  for (const auto& conversation : conversations()) {
    SCOPED_TRACE(conversation.file + ": " + conversation.name);
    const Verdict plain = run_script(conversation.text, {});
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{7}, size_t{64}}) {
      Weather weather;
      weather.piece = piece;
      const Verdict cut = run_script(conversation.text, weather);
      for (const auto& complaint : cut.complaints) ADD_FAILURE() << complaint << "\n" << cut.trace;
      EXPECT_EQ(cut.client_answers, plain.client_answers) << "in pieces of " << piece << "\n" << cut.trace;
    }
  }
}

void expect_sound(const Conversation& conversation, const Weather& weather, const std::string& what) {
  const Verdict verdict = run_script(conversation.text, weather);
  if (verdict.complaints.empty()) return;
  std::string all;
  for (const auto& complaint : verdict.complaints) all += complaint + "\n";
  ADD_FAILURE() << conversation.file << ": " << conversation.name << ", " << what << "\n"
                << all << verdict.trace;
}

TEST(Conversations, SurviveEachAnswerGoingWrong) {
  for (const auto& conversation : conversations()) {
    for (const bool reverse : {false, true}) {
      Weather plain;
      plain.last_instance_first = reverse;
      const size_t answers = run_script(conversation.text, plain).answers;
      for (size_t at = 0; at < answers; ++at) {
        for (const Fault fault :
             {Fault::err, Fault::deadlock, Fault::lost_before, Fault::lost_within, Fault::lost_after}) {
          Weather weather = plain;
          weather.fault_at = at;
          weather.fault = fault;
          expect_sound(conversation, weather, fmt::format("answer {}: {}", at, to_string(fault)));
        }
      }
    }
  }
}

TEST(Conversations, SurviveEachLeaseRefused) {
  for (const auto& conversation : conversations()) {
    const size_t leases = run_script(conversation.text, {}).leases;
    for (size_t at = 0; at < leases; ++at) {
      Weather weather;
      weather.refuse_lease = at;
      expect_sound(conversation, weather, fmt::format("lease {} refused", at));
    }
  }
}

TEST(Conversations, SurviveTheClientVanishing) {
  for (const auto& conversation : conversations()) {
    const size_t answers = run_script(conversation.text, {}).answers;
    for (size_t at = 0; at <= answers; ++at) {
      for (const size_t piece : {size_t{0}, size_t{5}}) {
        Weather weather;
        weather.vanish_at = at;
        weather.piece = piece;
        expect_sound(conversation, weather, fmt::format("client gone at answer {}", at));
      }
    }
  }
}

}  // namespace
}  // namespace evenkeel::session::testing
