#include "proxy/session/statement_cache.h"

#include <algorithm>
#include <utility>

#include "router/sql/fingerprint.h"

namespace evenkeel::session {
namespace {

template <typename T>
void append_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

const CachedStatement* StatementCache::find(const sql::Tokens& tokens, sql::Span part,
                                            const plan::SessionFacts& facts, uint64_t catalog_version) {
  key_.clear();
  append_raw(key_, catalog_version);
  append_raw(key_, facts.connection_collation);
  const sql::LexRules& lex = facts.lex;
  key_ += static_cast<char>(lex.step);
  key_ += static_cast<char>(lex.ansi_quotes | lex.no_backslash_escapes << 1 | lex.ignore_space << 2 |
                            lex.pipes_as_concat << 3 | lex.high_not_precedence << 4 |
                            facts.no_auto_value_on_zero << 5 | facts.client_charset_is_connection << 6);
  append_raw(key_, static_cast<uint32_t>(facts.database.size()));
  key_ += facts.database;
  sql::append_shape(tokens, part, key_);
  hash_ = sql::shape_hash(key_);
  const auto range = index_.equal_range(hash_);
  for (auto found = range.first; found != range.second; ++found) {
    const Node& node = *found->second;
    if (node.key != key_) continue;
    const bool same = std::all_of(node.structural.begin(), node.structural.end(), [&](const auto& text) {
      return tokens.text_of(text.first) == text.second;
    });
    if (!same) continue;
    order_.splice(order_.begin(), order_, found->second);
    return &order_.front().statement;
  }
  return nullptr;
}

void StatementCache::insert(const sql::Tokens& tokens, CachedStatement statement) {
  if (limit_ == 0) return;
  Node node;
  node.key = key_;
  for (const uint32_t token : statement.statement->structural) {
    node.structural.emplace_back(token, tokens.text_of(token));
  }
  node.statement = std::move(statement);
  order_.push_front(std::move(node));
  index_.emplace(hash_, order_.begin());
  while (index_.size() > limit_) {
    const auto last = std::prev(order_.end());
    const auto range = index_.equal_range(sql::shape_hash(last->key));
    for (auto found = range.first; found != range.second; ++found) {
      if (found->second != last) continue;
      index_.erase(found);
      break;
    }
    order_.erase(last);
  }
}

}  // namespace evenkeel::session
