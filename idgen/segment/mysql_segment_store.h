// Segments from a table of a MySQL or MariaDB server, through Connector/C++ 1.1:
//
//   CREATE TABLE evenkeel_segment (
//     tag VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,  -- generator/schema.table
//     prefix INT UNSIGNED NOT NULL,          -- of the allocator
//     max_id BIGINT UNSIGNED NOT NULL,       -- the last number given out
//     explicit_id BIGINT UNSIGNED NOT NULL,  -- the largest one known to be a client's own
//     step INT UNSIGNED NOT NULL,            -- of the last segment
//     epoch BIGINT UNSIGNED NOT NULL,        -- raise it when you change max_id by hand
//     PRIMARY KEY (tag, prefix)
//   ) ENGINE=InnoDB
//
// A segment is one UPDATE, whose new max_id comes back by LAST_INSERT_ID(expression): no transaction is left
// open when the connection dies. The server must flush each commit; a failover to an asynchronous replica may
// lose the last segments, and then gives them out twice.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "idgen/segment/segment_store.h"
#include "idgen/segment_settings.h"

namespace evenkeel::idgen {

// One connection, opened by the first call and again after it was lost; for one thread. The table is made
// when it is missing and the account may; the error names the statement when it may not.
std::unique_ptr<SegmentStore> make_mysql_segment_store(const SegmentAllocator& allocator, int64_t timeout_ms);

// What `evenkeel check --connect` asks: whether the account may use the table. Makes and changes nothing; the
// result says what deserves a look, the error, as those of the store, why no segment could be had.
Result<std::vector<std::string>> check_mysql_segment_table(const SegmentAllocator& allocator,
                                                           int64_t timeout_ms);

}  // namespace evenkeel::idgen
