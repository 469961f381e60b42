// The part of the tour that is about skew: tables that are uneven, and rows that even them out.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "proxy/demo/cluster.h"
#include "proxy/demo/drawing.h"
#include "proxy/demo/progress_line.h"
#include "proxy/demo/proxy_process.h"
#include "proxy/demo/schema.h"
#include "proxy/demo/stop_signal.h"

namespace evenkeel::demo {

// Puts `full` rows into each table of the first instance and `rest` into each of the others, past the proxy,
// as if they had been there for long: their ids are small.
Status fill_unevenly(const Cluster& cluster, const ShardedTable& table, uint32_t full, uint32_t rest,
                     ProgressLine& line);

// Several clients insert one row at a time through the proxy, without an id, until the proxy's log says that
// steering has ended by itself, or the signal comes. The line shows how even the tables are meanwhile. Gives
// the number of rows; an error when a client fails, the proxy ends, or it takes longer than some minutes.
Result<uint64_t> insert_until_even(const Cluster& cluster, const ShardedTable& table, ProxyProcess& proxy,
                                   StopSignal& stop, DrawingStyle style, ProgressLine& line);

// The proxy's own words about steering: what follows "steering: " in its log, one line each.
std::string steering_words(const ProxyProcess& proxy);

}  // namespace evenkeel::demo
