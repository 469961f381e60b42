// A catalog from a file of CREATE TABLE statements (`evenkeel plan --schema FILE.sql`).
#pragma once

#include <string>
#include <string_view>

#include "base/mysql/flavour.h"
#include "base/result.h"
#include "router/catalog/catalog.h"
#include "router/sql/create_table.h"

namespace evenkeel::catalog {

// What the definition makes of a table on a server of this flavour (whose default character set is utf8mb4).
// Errors: a type, character set or collation that no such server knows.
Result<Table> table_of(const sql::TableDefinition& definition, mysql::Flavour flavour);

// Adds every table that `text` creates; one named without a schema goes to `schema`, or to that of the last
// USE. CREATE TRIGGER … ON t marks the table. Other statements are passed over. Errors name the line.
Status read_schema(std::string_view text, std::string_view schema, Catalog& catalog,
                   mysql::Flavour flavour = mysql::Flavour::mariadb);

}  // namespace evenkeel::catalog
