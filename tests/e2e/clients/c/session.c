/* session PORT USER SCHEMA: drives libmariadb the way applications do, and prints what it saw as "name value" lines.
   The password comes from MYSQL_PWD. Ends with 1 and a reason when a call fails that should not. */
#include <mysql.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MYSQL *connection;

static void must(int failed, const char *what) {
  if (!failed) return;
  printf("failed %s: %u %s\n", what, mysql_errno(connection), mysql_error(connection));
  exit(1);
}

static void must_statement(int failed, MYSQL_STMT *statement, const char *what) {
  if (!failed) return;
  printf("failed %s: %u %s\n", what, mysql_stmt_errno(statement), mysql_stmt_error(statement));
  exit(1);
}

static MYSQL_STMT *prepare(const char *sql) {
  MYSQL_STMT *statement = mysql_stmt_init(connection);
  must_statement(mysql_stmt_prepare(statement, sql, strlen(sql)), statement, sql);
  return statement;
}

static void bind_number(MYSQL_BIND *bind, long long *value, my_bool *is_null) {
  memset(bind, 0, sizeof *bind);
  bind->buffer_type = MYSQL_TYPE_LONGLONG;
  bind->buffer = value;
  bind->is_null = is_null;
}

static long long text_number(const char *sql) {
  must(mysql_query(connection, sql), sql);
  MYSQL_RES *result = mysql_store_result(connection);
  must(result == NULL, sql);
  MYSQL_ROW row = mysql_fetch_row(result);
  long long number = row != NULL && row[0] != NULL ? atoll(row[0]) : -1;
  mysql_free_result(result);
  return number;
}

/* One statement, executed several times: types are sent with the first execute only. */
static void prepared_inserts(void) {
  MYSQL_STMT *insert = prepare("INSERT INTO orders(user_id,qty) VALUES (?,?)");
  printf("insert_parameters %lu\n", mysql_stmt_param_count(insert));
  long long user = 0, quantity = 0;
  MYSQL_BIND bind[2];
  bind_number(&bind[0], &user, NULL);
  bind_number(&bind[1], &quantity, NULL);
  must_statement(mysql_stmt_bind_param(insert, bind), insert, "bind");
  long long last = 0;
  int ascending = 1;
  for (user = 1; user <= 20; ++user) {
    quantity = user * 3;
    must_statement(mysql_stmt_execute(insert), insert, "execute");
    long long key = (long long)mysql_stmt_insert_id(insert);
    ascending = ascending && key > last && mysql_stmt_affected_rows(insert) == 1;
    last = key;
  }
  mysql_stmt_close(insert);
  printf("ascending %d\n", ascending);

  MYSQL_STMT *with_null = prepare("INSERT INTO orders(id,user_id) VALUES (?,?)");
  long long key = 0;
  my_bool yes = 1;
  user = 50;
  bind_number(&bind[0], &key, &yes);
  bind_number(&bind[1], &user, NULL);
  must_statement(mysql_stmt_bind_param(with_null, bind), with_null, "bind");
  must_statement(mysql_stmt_execute(with_null), with_null, "execute with a NULL key");
  printf("null_key_filled %d\n", (long long)mysql_stmt_insert_id(with_null) > last);
  mysql_stmt_close(with_null);

  MYSQL_STMT *function = prepare("SELECT LAST_INSERT_ID()");
  must_statement(mysql_stmt_execute(function), function, "execute");
  long long answered = 0;
  bind_number(&bind[0], &answered, NULL);
  must_statement(mysql_stmt_bind_result(function, bind), function, "bind");
  must_statement(mysql_stmt_fetch(function), function, "fetch");
  mysql_stmt_close(function);
  printf("prepared_function %d\n", answered == text_number("SELECT LAST_INSERT_ID()"));
}

/* C51: the prepare answer names parameters and columns; a second execute sends no types. */
static void prepared_select(void) {
  MYSQL_STMT *select = prepare("SELECT id, amount FROM orders WHERE user_id=?");
  MYSQL_RES *columns = mysql_stmt_result_metadata(select);
  must(columns == NULL, "result metadata");
  printf("select_parameters %lu\nselect_columns %u\n", mysql_stmt_param_count(select), mysql_num_fields(columns));
  MYSQL_FIELD *field = mysql_fetch_fields(columns);
  printf("select_types %d %d\nselect_names %s %s\n", field[0].type, field[1].type, field[0].name, field[1].name);
  mysql_free_result(columns);
  long long user = 0, key = 0;
  MYSQL_BIND parameter;
  bind_number(&parameter, &user, NULL);
  must_statement(mysql_stmt_bind_param(select, &parameter), select, "bind");
  int rows = 0;
  for (user = 3; user <= 4; ++user) {
    must_statement(mysql_stmt_execute(select), select, "execute");
    MYSQL_BIND result[2];
    char amount[64];
    my_bool is_null;
    bind_number(&result[0], &key, NULL);
    memset(&result[1], 0, sizeof result[1]);
    result[1].buffer_type = MYSQL_TYPE_STRING;
    result[1].buffer = amount;
    result[1].buffer_length = sizeof amount;
    result[1].is_null = &is_null;
    must_statement(mysql_stmt_bind_result(select, result), select, "bind");
    must_statement(mysql_stmt_store_result(select), select, "store");
    while (mysql_stmt_fetch(select) == 0) ++rows;
    mysql_stmt_free_result(select);
  }
  printf("select_rows %d\n", rows);
  must_statement(mysql_stmt_reset(select), select, "reset");
  mysql_stmt_close(select);

  MYSQL_STMT *none = prepare("SELECT COUNT(*) FROM orders");
  for (int i = 0; i < 2; ++i) {
    must_statement(mysql_stmt_execute(none), none, "execute without parameters");
    bind_number(&parameter, &key, NULL);
    must_statement(mysql_stmt_bind_result(none, &parameter), none, "bind");
    must_statement(mysql_stmt_fetch(none), none, "fetch");
    mysql_stmt_free_result(none);
  }
  printf("prepared_count %lld\n", key);
  mysql_stmt_close(none);
}

/* A value sent in pieces, read back whole. */
static void long_parameter(void) {
  MYSQL_STMT *insert = prepare("INSERT INTO files(name,body) VALUES ('pieces',?)");
  MYSQL_BIND bind;
  memset(&bind, 0, sizeof bind);
  bind.buffer_type = MYSQL_TYPE_LONG_BLOB;
  must_statement(mysql_stmt_bind_param(insert, &bind), insert, "bind");
  static char piece[1 << 20];
  memset(piece, 'p', sizeof piece);
  for (int i = 0; i < 20; ++i) must_statement(mysql_stmt_send_long_data(insert, 0, piece, sizeof piece), insert, "send");
  must_statement(mysql_stmt_execute(insert), insert, "execute");
  mysql_stmt_close(insert);
  printf("pieces %lld\n", text_number("SELECT LENGTH(body) FROM files WHERE id=LAST_INSERT_ID()"));
}

/* C54: multi-statements switched on and off by COM_SET_OPTION; ten results. */
static void several_statements(void) {
  must(mysql_set_server_option(connection, MYSQL_OPTION_MULTI_STATEMENTS_ON), "multi statements on");
  char sql[2048] = "";
  for (int i = 0; i < 10; ++i) sprintf(sql + strlen(sql), "%sDELETE FROM orders WHERE user_id=%d", i > 0 ? ";" : "", i + 1);
  must(mysql_query(connection, sql), sql);
  int results = 0;
  long long affected = 0;
  do {
    ++results;
    affected += (long long)mysql_affected_rows(connection);
  } while (mysql_next_result(connection) == 0);
  printf("delete_results %d\ndelete_affected %lld\n", results, affected);
  *sql = '\0';
  for (int i = 0; i < 10; ++i) sprintf(sql + strlen(sql), "%sINSERT INTO orders(user_id,qty) VALUES (%d,1)", i > 0 ? ";" : "", 200 + i);
  must(mysql_query(connection, sql), sql);
  results = 0;
  unsigned long long last = 0;
  int ascending = 1;
  do {
    ++results;
    ascending = ascending && mysql_insert_id(connection) > last;
    last = mysql_insert_id(connection);
  } while (mysql_next_result(connection) == 0);
  printf("insert_results %d\ninsert_ascending %d\n", results, ascending);
  must(mysql_set_server_option(connection, MYSQL_OPTION_MULTI_STATEMENTS_OFF), "multi statements off");
  printf("multi_off_error %d\n", mysql_query(connection, "SELECT 1; SELECT 2") != 0);
}

static void commands(const char *user, const char *schema) {
  must(mysql_ping(connection), "ping");
  printf("statistics %d\n", mysql_stat(connection) != NULL && strlen(mysql_stat(connection)) > 0);
  must(mysql_select_db(connection, schema), "select db");
  must(mysql_query(connection, "SET @x=5"), "set a user variable");
  must(mysql_reset_connection(connection), "reset connection");
  must(mysql_select_db(connection, schema), "select db after reset");
  printf("variable_after_reset %lld\n", text_number("SELECT COALESCE(@x,-1)"));
  must(mysql_change_user(connection, user, getenv("MYSQL_PWD"), schema), "change user");
  must(mysql_query(connection, "SELEC 1") == 0, "a syntax error");
  printf("error %u %s\n", mysql_errno(connection), mysql_sqlstate(connection));
  printf("alive %lld\n", text_number("SELECT 41+1"));
  MYSQL_RES *fields = mysql_list_fields(connection, "notes", NULL);
  printf("list_fields %u\n", fields == NULL ? 0 : mysql_num_fields(fields));
  if (fields != NULL) mysql_free_result(fields);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  connection = mysql_init(NULL);
  mysql_options(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  unsigned long packet = 64UL << 20;
  mysql_options(connection, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
  must(mysql_real_connect(connection, "127.0.0.1", argv[2], getenv("MYSQL_PWD"), argv[3], (unsigned)atoi(argv[1]), NULL, 0) == NULL,
       "connect");
  prepared_inserts();
  prepared_select();
  long_parameter();
  several_statements();
  commands(argv[2], argv[3]);
  mysql_close(connection);
  printf("done 1\n");
  return 0;
}
