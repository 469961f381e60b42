#include "idgen/registry/file_registry.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <xxhash.h>

#include "idgen/registry/file_io.h"

namespace evenkeel::idgen {
namespace {

constexpr std::string_view record_suffix = ".record";
constexpr std::string_view hold_suffix = ".hold";
constexpr std::string_view lock_name = "registry.lock";
constexpr std::string_view magic = "evenkeel-record 1\n";
// A change holds the directory's lock for a few milliseconds; a process that is stopped in the middle would
// hold it for ever.
constexpr int lock_attempts = 400;
constexpr std::chrono::milliseconds lock_retry{5};

// '/' does not occur in file names, '+' not in keys.
std::string file_stem(std::string_view key) {
  std::string stem(key);
  std::replace(stem.begin(), stem.end(), '/', '+');
  return stem;
}

std::string key_of_stem(std::string_view stem) {
  std::string key(stem);
  std::replace(key.begin(), key.end(), '+', '/');
  return key;
}

uint64_t checksum(uint64_t version, std::string_view value) {
  return XXH64(value.data(), value.size(), version);
}

std::string encode_record(uint64_t version, std::string_view value) {
  return fmt::format("{}version {}\nlength {}\nchecksum {:016x}\n\n{}", magic, version, value.size(),
                     checksum(version, value), value);
}

// Takes "<name> <number>\n" off the front of `text`.
bool take_number(std::string_view& text, std::string_view name, int base, uint64_t& number) {
  if (!text.starts_with(name) || text.size() <= name.size() || text[name.size()] != ' ') return false;
  const char* begin = text.data() + name.size() + 1;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number, base);
  if (error != std::errc() || end == text.data() + text.size() || *end != '\n') return false;
  text.remove_prefix(static_cast<size_t>(end + 1 - text.data()));
  return true;
}

Result<Record> decode_record(const std::string& path, std::string_view content) {
  const auto damaged = [&](std::string_view what) {
    return fail(
        registry_error(fmt::format("registry record {} is damaged ({}); restore it, or remove it only if no "
                                   "id of this worker can still be made with an "
                                   "earlier clock",
                                   path, what)));
  };
  if (!content.starts_with(magic)) return damaged("its first line is not 'evenkeel-record 1'");
  content.remove_prefix(magic.size());
  uint64_t version = 0;
  uint64_t length = 0;
  uint64_t stored_checksum = 0;
  if (!take_number(content, "version", 10, version) || !take_number(content, "length", 10, length) ||
      !take_number(content, "checksum", 16, stored_checksum) || !content.starts_with('\n') || version == 0)
    return damaged("its heading cannot be read");
  content.remove_prefix(1);
  if (content.size() != length) return damaged(fmt::format("{} bytes instead of {}", content.size(), length));
  if (checksum(version, content) != stored_checksum) return damaged("its checksum does not match");
  return Record{std::string(content), version};
}

class FileHold final : public Hold {
 public:
  explicit FileHold(FileDescriptor locked) : locked_(std::move(locked)) {}

 private:
  FileDescriptor locked_;  // closing it lets go; the file stays
};

class FileRegistry final : public Registry {
 public:
  FileRegistry(std::string directory, const Clock& clock) : directory_(std::move(directory)), clock_(clock) {}

  Result<std::optional<Record>> get(std::string_view key) override {
    EVENKEEL_TRY(check_key(key));
    return read_record(file_stem(key));
  }

  Result<Put> compare_and_put(std::string_view key, uint64_t expected, std::string_view value) override {
    EVENKEEL_TRY(check_key(key));
    EVENKEEL_TRY(check_value(key, value));
    const std::string stem = file_stem(key);
    EVENKEEL_ASSIGN(const FileDescriptor lock, lock_directory());
    EVENKEEL_ASSIGN(const auto present, read_record(stem));
    const uint64_t version = present ? present->version : 0;
    if (version != expected) return Put{false, version};
    EVENKEEL_TRY(
        replace_file(directory_, stem + std::string(record_suffix), encode_record(version + 1, value)));
    return Put{true, version + 1};
  }

  Result<std::vector<KeyedRecord>> list(std::string_view prefix) override {
    const std::string stem_prefix = file_stem(prefix);
    EVENKEEL_ASSIGN(const auto names, file_names());
    std::vector<KeyedRecord> found;
    for (const auto& name : names) {
      if (!name.ends_with(record_suffix) || !name.starts_with(stem_prefix)) continue;
      const std::string stem = name.substr(0, name.size() - record_suffix.size());
      EVENKEEL_ASSIGN(auto record, read_record(stem));
      if (record) found.push_back({key_of_stem(stem), std::move(*record)});
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    return found;
  }

  bool proves_life() const override { return true; }

  Result<HoldAttempt> try_hold(std::string_view key, std::string_view holder) override {
    EVENKEEL_TRY(check_key(key));
    const std::string path = fmt::format("{}/{}{}", directory_, file_stem(key), hold_suffix);
    EVENKEEL_ASSIGN(FileDescriptor file, open_or_create(path));
    EVENKEEL_ASSIGN(const bool locked, try_lock(file, path));
    if (!locked) {
      EVENKEEL_ASSIGN(const auto present, read_file(path));
      // The holder writes its name just after it has locked the file.
      const bool named = present && !present->empty();
      return HoldAttempt{nullptr, named ? *present : std::string("a process that has just started")};
    }
    EVENKEEL_TRY(overwrite(file, path, holder));
    return HoldAttempt{std::make_unique<FileHold>(std::move(file)), std::string(holder)};
  }

  Result<int64_t> now_unix_ms() override { return clock_.unix_millis(); }

 private:
  Result<std::optional<Record>> read_record(const std::string& stem) const {
    const std::string path = fmt::format("{}/{}{}", directory_, stem, record_suffix);
    EVENKEEL_ASSIGN(const auto content, read_file(path));
    if (!content) return std::nullopt;
    EVENKEEL_ASSIGN(auto record, decode_record(path, *content));
    return record;
  }

  // Held until the descriptor goes.
  Result<FileDescriptor> lock_directory() const {
    const std::string path = fmt::format("{}/{}", directory_, lock_name);
    EVENKEEL_ASSIGN(FileDescriptor file, open_or_create(path));
    for (int attempt = 0; attempt < lock_attempts; ++attempt) {
      EVENKEEL_ASSIGN(const bool locked, try_lock(file, path));
      if (locked) return file;
      std::this_thread::sleep_for(lock_retry);
    }
    return fail(registry_error(fmt::format("another process keeps {} locked; is it stopped?", path)));
  }

  Result<std::vector<std::string>> file_names() const {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator at(directory_, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
      names.push_back(at->path().filename().string());
    if (error) return fail(io_failure("list", directory_, error.value()));
    return names;
  }

  const std::string directory_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<Registry>> open_file_registry(const std::string& directory, const Clock& clock) {
  if (directory.empty()) return fail(registry_error("the file registry has no directory"));
  EVENKEEL_TRY(make_directory(directory));
  return std::make_unique<FileRegistry>(directory, clock);
}

}  // namespace evenkeel::idgen
