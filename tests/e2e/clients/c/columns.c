/* columns PORT USER SCHEMA text|binary SQL: prints a result's columns and rows, one fact a line, through libmariadb.
   The password comes from MYSQL_PWD. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 128

static void print_columns(MYSQL_RES *result) {
  unsigned count = mysql_num_fields(result);
  MYSQL_FIELD *field = mysql_fetch_fields(result);
  for (unsigned i = 0; i < count; ++i) {
    printf("column %s org_name=%s table=%s org_table=%s db=%s type=%d length=%lu decimals=%u flags=%u charset=%u\n", field[i].name,
           field[i].org_name, field[i].table, field[i].org_table, field[i].db, field[i].type, field[i].length, field[i].decimals,
           field[i].flags, field[i].charsetnr);
  }
}

static void print_cell(const char *name, const char *bytes, unsigned long length) {
  printf("  %s=", name);
  if (bytes == NULL) {
    printf("NULL\n");
    return;
  }
  for (unsigned long i = 0; i < length; ++i) printf("%02x", (unsigned char)bytes[i]);
  printf("\n");
}

static int fail(unsigned code, const char *message) {
  printf("error %u %s\n", code, message);
  return 1;
}

static int run_text(MYSQL *connection, const char *sql) {
  if (mysql_real_query(connection, sql, strlen(sql)) != 0) return fail(mysql_errno(connection), mysql_error(connection));
  MYSQL_RES *result = mysql_use_result(connection);
  if (result == NULL) return fail(mysql_errno(connection), mysql_error(connection));
  print_columns(result);
  MYSQL_FIELD *field = mysql_fetch_fields(result);
  for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;) {
    unsigned long *length = mysql_fetch_lengths(result);
    printf("row\n");
    for (unsigned i = 0; i < mysql_num_fields(result); ++i) print_cell(field[i].name, row[i], length[i]);
  }
  mysql_free_result(result);
  return mysql_errno(connection) == 0 ? 0 : fail(mysql_errno(connection), mysql_error(connection));
}

/* Numbers and times are taken as the library converts them from their binary form. */
static int run_binary(MYSQL *connection, const char *sql) {
  MYSQL_STMT *statement = mysql_stmt_init(connection);
  if (mysql_stmt_prepare(statement, sql, strlen(sql)) != 0) return fail(mysql_stmt_errno(statement), mysql_stmt_error(statement));
  MYSQL_RES *columns = mysql_stmt_result_metadata(statement);
  if (columns == NULL) return fail(0, "the prepare answer has no columns");
  printf("parameters %lu\n", mysql_stmt_param_count(statement));
  unsigned count = mysql_num_fields(columns);
  MYSQL_FIELD *field = mysql_fetch_fields(columns);
  if (mysql_stmt_execute(statement) != 0) return fail(mysql_stmt_errno(statement), mysql_stmt_error(statement));
  static char cell[COLUMNS_MAX][16384];
  MYSQL_BIND bind[COLUMNS_MAX];
  unsigned long length[COLUMNS_MAX];
  my_bool is_null[COLUMNS_MAX];
  memset(bind, 0, sizeof bind);
  for (unsigned i = 0; i < count; ++i) {
    bind[i].buffer_type = MYSQL_TYPE_STRING;
    bind[i].buffer = cell[i];
    bind[i].buffer_length = sizeof cell[i];
    bind[i].length = &length[i];
    bind[i].is_null = &is_null[i];
  }
  if (mysql_stmt_bind_result(statement, bind) != 0) return fail(mysql_stmt_errno(statement), mysql_stmt_error(statement));
  print_columns(columns);
  for (int status; (status = mysql_stmt_fetch(statement)) != MYSQL_NO_DATA;) {
    if (status == 1) return fail(mysql_stmt_errno(statement), mysql_stmt_error(statement));
    printf("row\n");
    for (unsigned i = 0; i < count; ++i) {
      unsigned long shown = length[i] < sizeof cell[i] ? length[i] : sizeof cell[i];
      print_cell(field[i].name, is_null[i] ? NULL : cell[i], shown);
    }
  }
  mysql_free_result(columns);
  mysql_stmt_close(statement);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  MYSQL *connection = mysql_init(NULL);
  mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (mysql_real_connect(connection, "127.0.0.1", argv[2], getenv("MYSQL_PWD"), argv[3], (unsigned)atoi(argv[1]), NULL, 0) == NULL) {
    return fail(mysql_errno(connection), mysql_error(connection));
  }
  if (mysql_query(connection, "SET SESSION time_zone='+00:00'") != 0) return fail(mysql_errno(connection), mysql_error(connection));
  int outcome = strcmp(argv[4], "binary") == 0 ? run_binary(connection, argv[5]) : run_text(connection, argv[5]);
  mysql_close(connection);
  return outcome;
}
