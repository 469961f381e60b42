#include "idgen/registry/redis_registry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <initializer_list>
#include <mutex>

#include "idgen/registry/stream.h"

namespace evenkeel::idgen {
namespace {

// KEYS: the hash, the order. ARGV: key, version expected, value. Gives {stored, version}.
constexpr std::string_view put_script = R"(
local old = redis.call('HGET', KEYS[1], ARGV[1])
local version = old and tonumber(string.match(old, '^(%d+):')) or 0
if version ~= tonumber(ARGV[2]) then return {0, version} end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d:', version + 1) .. ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return {1, version + 1})";

// ARGV: the bounds of the keys. Gives key, record, key, record, … of one moment.
constexpr std::string_view list_script = R"(
local found = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2])) do
  found[#found + 1] = key
  found[#found + 1] = redis.call('HGET', KEYS[1], key)
end
return found)";

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

std::string_view text_of(const redisReply& reply) { return {reply.str, reply.len}; }

bool is_text(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS;
}

using Words = std::vector<std::string_view>;

class Connection {
 public:
  explicit Connection(std::unique_ptr<Stream> stream)
      : stream_(std::move(stream)), reader_(redisReaderCreate()) {}

  // An error says that the connection is of no use any more; an error of Redis is a reply.
  Result<Reply> call(const Words& words, Deadline deadline) {
    EVENKEEL_TRY(stream_->write_all(encoded(words), deadline));
    std::array<char, 16'384> chunk;
    for (;;) {
      void* reply = nullptr;
      if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK)
        return fail(registry_error(fmt::format("the answer is not Redis's: {}", reader_->errstr)));
      if (reply != nullptr) return Reply(static_cast<redisReply*>(reply));
      EVENKEEL_ASSIGN(const size_t size, stream_->read_some(chunk, deadline));
      redisReaderFeed(reader_.get(), chunk.data(), size);
    }
  }

 private:
  static std::string encoded(const Words& words) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const auto word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    sds command = nullptr;
    const int size =
        redisFormatSdsCommandArgv(&command, static_cast<int>(words.size()), texts.data(), lengths.data());
    std::string text(command, static_cast<size_t>(std::max(size, 0)));
    redisFreeSdsCommand(command);
    return text;
  }

  std::unique_ptr<Stream> stream_;
  std::unique_ptr<redisReader, FreeReader> reader_;
};

class RedisRegistry final : public Registry {
 public:
  explicit RedisRegistry(const RegistrySettings& settings)
      : settings_(settings),
        records_(settings.prefix + ":{registry}:records"),
        order_(settings.prefix + ":{registry}:order") {}

  Result<std::optional<Record>> get(std::string_view key) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_ASSIGN(const Reply reply, read({"HGET", records_, key}));
    if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
    EVENKEEL_ASSIGN(auto record, decode(key, *reply));
    return record;
  }

  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_TRY(check_value(key, value));
    const std::lock_guard lock(mutex_);
    const Deadline deadline = deadline_from_now();
    // Not repeated when it fails, so better not sent on a connection that the server closed long ago.
    if (connection_ != nullptr && !call({"PING"}, deadline)) connection_.reset();
    if (connection_ == nullptr) EVENKEEL_TRY(connect(deadline));
    EVENKEEL_ASSIGN(
        const Reply reply,
        call({"EVAL", put_script, "2", records_, order_, key, std::to_string(expected), value}, deadline));
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return fail(unexpected(*reply));
    return Put{reply->element[0]->integer == 1, static_cast<uint64_t>(reply->element[1]->integer)};
  }

  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override {
    const std::string from = fmt::format("[{}", prefix);
    const std::string to = fmt::format("[{}\xff", prefix);
    EVENKEEL_ASSIGN(const Reply reply, read({"EVAL", list_script, "2", records_, order_, from, to}));
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2 != 0) return fail(unexpected(*reply));
    std::vector<KeyedRecord> found;
    for (size_t i = 0; i < reply->elements; i += 2) {
      const std::string key(text_of(*reply->element[i]));
      EVENKEEL_ASSIGN(auto record, decode(key, *reply->element[i + 1]));
      found.push_back({key, std::move(record)});
    }
    return found;
  }

  Result<int64_t> now_unix_ms() override {
    EVENKEEL_ASSIGN(const Reply reply, read({"TIME"}));
    int64_t seconds = 0;
    int64_t micros = 0;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        !number(text_of(*reply->element[0]), seconds) || !number(text_of(*reply->element[1]), micros))
      return fail(unexpected(*reply));
    return seconds * 1'000 + micros / 1'000;
  }

  Result<std::vector<std::string>> shortcomings() override {
    std::vector<std::string> found;
    EVENKEEL_TRY(expect_setting("appendonly", "yes",
                                "what was confirmed is lost when Redis or its machine crashes", found));
    EVENKEEL_TRY(
        expect_setting("appendfsync", "always", "a crash of its machine may lose the last second", found));
    EVENKEEL_TRY(expect_setting("maxmemory-policy", "noeviction",
                                "records may be thrown away when memory is short", found));
    return found;
  }

 private:
  Deadline deadline_from_now() const {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(settings_.timeout_ms);
  }

  template <typename Number>
  static bool number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }

  Error error_of(std::string_view what) const {
    return registry_error(
        fmt::format("registry in Redis at {}: {}", to_string(settings_.endpoints.front()), what));
  }
  Error unexpected(const redisReply& reply) const {
    return error_of(fmt::format("an answer of type {} where another was expected", reply.type));
  }

  Result<Record> decode(std::string_view key, const redisReply& reply) const {
    const std::string_view text = is_text(reply) ? text_of(reply) : std::string_view();
    const size_t colon = text.find(':');
    Record record;
    if (colon == std::string_view::npos || !number(text.substr(0, colon), record.version) ||
        record.version == 0)
      return fail(error_of(fmt::format("the field {} of {} is not a record of a registry", key, records_)));
    record.value = text.substr(colon + 1);
    return record;
  }

  Result<Reply> read(const Words& words) {
    const std::lock_guard lock(mutex_);
    const Deadline deadline = deadline_from_now();
    const bool was_open = connection_ != nullptr;
    if (!was_open) EVENKEEL_TRY(connect(deadline));
    auto reply = call(words, deadline);
    if (reply || connection_ != nullptr || !was_open) return reply;
    // The server closed an idle connection, or was started anew.
    EVENKEEL_TRY(connect(deadline));
    return call(words, deadline);
  }

  // With the lock held. Drops the connection when it failed.
  Result<Reply> call(const Words& words, Deadline deadline) {
    auto reply = connection_->call(words, deadline);
    if (!reply) {
      connection_.reset();
      return fail(error_of(reply.error().message));
    }
    if ((*reply)->type == REDIS_REPLY_ERROR) return fail(error_of(text_of(**reply)));
    return reply;
  }

  Status connect(Deadline deadline) {
    auto stream = Stream::connect(settings_.endpoints.front(), settings_.tls, deadline);
    if (!stream) return fail(error_of(stream.error().message));
    connection_ = std::make_unique<Connection>(std::move(*stream));
    if (settings_.password.empty()) return {};
    Words login{"AUTH"};
    if (!settings_.user.empty()) login.push_back(settings_.user);
    login.push_back(settings_.password);
    if (auto reply = call(login, deadline); !reply) {
      connection_.reset();
      return fail(reply.error());
    }
    return {};
  }

  Status expect_setting(std::string_view name, std::string_view wanted, std::string_view otherwise,
                        std::vector<std::string>& found) {
    auto reply = read({"CONFIG", "GET", name});
    if (!reply) {
      // The connection stands, so it was Redis that refused: the account may not ask.
      const std::lock_guard lock(mutex_);
      if (connection_ == nullptr) return fail(reply.error());
      found.push_back(fmt::format("{} could not be read ({}); it must be '{}': else {}", name,
                                  reply.error().message, wanted, otherwise));
      return {};
    }
    const bool answered = (*reply)->type == REDIS_REPLY_ARRAY && (*reply)->elements == 2;
    const std::string_view value = answered ? text_of(*(*reply)->element[1]) : std::string_view("unknown");
    if (value != wanted)
      found.push_back(fmt::format("{} is '{}': {}; set it to '{}'", name, value, otherwise, wanted));
    return {};
  }

  const RegistrySettings settings_;
  const std::string records_;
  const std::string order_;
  std::mutex mutex_;  // guards the connection
  std::unique_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<Registry> make_redis_registry(const RegistrySettings& settings) {
  return std::make_unique<RedisRegistry>(settings);
}

}  // namespace evenkeel::idgen
