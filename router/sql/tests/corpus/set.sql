SET autocommit = 0
SET autocommit=1, sql_mode = 'STRICT_TRANS_TABLES'
SET @a = 1
SET @a := 1, @b = @a + 1, @`c` = (SELECT MAX(x) FROM t)
SET SESSION wait_timeout=600
SET GLOBAL max_connections = 100
SET LOCAL sql_mode = DEFAULT
SET @@session.sql_mode = CONCAT(@@sql_mode, ',ANSI'), @@global.x = 1, @@autocommit = OFF
SET @@local.time_zone = '+00:00', @@time_zone := 'SYSTEM'
SET NAMES utf8mb4
SET NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'
SET NAMES utf8mb4 COLLATE utf8mb4_general_ci
SET NAMES DEFAULT
SET NAMES binary
SET CHARACTER SET utf8
SET CHARSET 'latin1'
SET CHARACTER SET DEFAULT
SET character_set_results = NULL
SET character_set_results = utf8mb4, collation_connection = utf8mb4_bin
SET foreign_key_checks = ON, unique_checks = OFF
SET tx_isolation = 'READ-COMMITTED'
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY
SET GLOBAL TRANSACTION READ WRITE
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
SET PASSWORD = PASSWORD('x')
SET PASSWORD FOR 'a'@'b' = PASSWORD('x')
SET ROLE r
SET ROLE NONE
SET DEFAULT ROLE r FOR u
SET sql_select_limit=DEFAULT
SET big.key_buffer_size = 100
SET @a = 'x' COLLATE utf8mb4_bin
/*!40101 SET NAMES utf8mb4 */
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */
#: mysql
/*!50708 SET max_execution_time=5000 */
SET PERSIST max_connections = 1, PERSIST_ONLY x = 2, @@PERSIST.y = 3
SET DEFAULT ROLE ALL TO 'u'@'h'
SET transaction_isolation = 'READ-COMMITTED'
SET PASSWORD FOR 'a' = 'x' REPLACE 'y' RETAIN CURRENT PASSWORD
