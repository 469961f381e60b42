#: tokens
#: rules mariadb
SELECT t.1a, t.select, .5, 5., 1e5, 1e+5, 1ea, 0x4, 0X41, x'4a', b'01', 0b1, 0b12
----
identifier select [SELECT]
identifier [t]
punctuation [.]
identifier [1a]
punctuation [,]
identifier [t]
punctuation [.]
identifier [select]
punctuation [,]
decimal [.5]
punctuation [,]
decimal [5.]
punctuation [,]
real [1e5]
punctuation [,]
real [1e+5]
punctuation [,]
identifier [1ea]
punctuation [,]
hex [0x4]
punctuation [,]
identifier [0X41]
punctuation [,]
hex [x'4a']
punctuation [,]
bit [b'01']
punctuation [,]
bit [0b1]
punctuation [,]
identifier [0b12]
end []
====
a<=>b<=c<>d<<e<f>=g>>h>i!=j!k&&l&m||n|o:=p:q
----
identifier [a]
punctuation [<=>]
identifier [b]
punctuation [<=]
identifier [c]
punctuation [<>]
identifier [d]
punctuation [<<]
identifier [e]
punctuation [<]
identifier [f]
punctuation [>=]
identifier [g]
punctuation [>>]
identifier [h]
punctuation [>]
identifier [i]
punctuation [!=]
identifier [j]
punctuation [!]
identifier [k]
punctuation [&&]
identifier [l]
punctuation [&]
identifier [m]
punctuation [||]
identifier [n]
punctuation [|]
identifier [o]
punctuation [:=]
identifier [p]
punctuation [:]
identifier [q]
end []
====
@a.b @`x``y` @'q' @@session.sql_mode @@`v` @ @@global.x.y
----
user_variable [@a.b]
user_variable [@`x``y`]
user_variable [@'q']
system_variable [@@session]
punctuation [.]
identifier [sql_mode]
system_variable [@@`v`]
user_variable [@]
system_variable [@@global]
punctuation [.]
identifier [x]
punctuation [.]
identifier [y]
end []
====
'it''s' "a\"b" 'c\'' N'x' n'y' _utf8mb4'z' _nosuch 'q'
----
string ['it''s']
string ["a\"b"]
string ['c\'']
national [N'x']
national [n'y']
introducer [_utf8mb4]
string ['z']
identifier [_nosuch]
string ['q']
end []
====
1 -- c
2 --3 # d
4 /* e */ 5 /**/ 6 /*/ e */ 7
----
integer [1]
integer [2]
punctuation [-]
punctuation [-]
integer [3]
integer [4]
integer [5]
integer [6]
integer [7]
end []
====
1 /*! + 2 */ /*!50699 + 3 */ /*!50700 + 4 */ /*!99999 + 5 */ /*!100000 + 6 */ /*!101120 + 7 */ /*M!50708 + 8 */ /*m!101100 + 9 */
----
integer [1]
punctuation [+]
integer [2]
punctuation [+]
integer [3]
punctuation [+]
integer [6]
punctuation [+]
integer [8]
end []
====
1 /*!999999 a /* b */ c */ 2 /*! /* d */ 3 /*! 4 */ 5 */ 6
----
integer [1]
integer [2]
integer [3]
integer [4]
integer [5]
punctuation [*]
punctuation [/]
integer [6]
end []
====
a->b->>c ? ?x \N \x00 b
----
identifier [a]
punctuation [-]
punctuation [>]
identifier [b]
punctuation [-]
punctuation [>>]
identifier [c]
parameter [?]
punctuation [?]
identifier [x]
identifier null [\N]
punctuation [\x00]
identifier [b]
end []
====
a \x00 ;
----
identifier [a]
punctuation [;]
end []
====
'a\x00b' `c d` `e``f`
----
string ['a\x00b']
quoted [`c d`]
quoted [`e``f`]
end []
====
1 /*! unclosed
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '' at line 1 (unterminated comment)
====
1 /* unclosed
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '/* unclosed' at line 1 (an unterminated comment)
====
`a\x00b`
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '`a\x00b`' at line 1 (an unterminated quoted identifier)
====
x'4'
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'x'4'' at line 1 (an odd number of hexadecimal digits)
====
1.e
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '1.e' at line 1 (a number with an exponent without digits)
====
order.x group . y `a`.1
----
identifier [order]
punctuation [.]
identifier [x]
identifier group [group]
punctuation [.]
identifier [y]
quoted [`a`]
decimal [.1]
end []
====
#: rules mysql
a->b->>c \N /*!50700 1 */ /*!80036 2 */ /*!80037 3 */ /*M! 4 */ /*!080036 5 */
----
identifier [a]
punctuation [->]
identifier [b]
punctuation [->>]
identifier [c]
punctuation [\]
identifier [N]
integer [1]
integer [2]
integer [6]
integer [5]
end []
====
SELECT /*+ NO_MERGE(`a`) */ 1
----
identifier select [SELECT]
integer [1]
end []
====
SELECT /*+ QB_NAME(`*/`) */ 1
----
error You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near '/*+ QB_NAME(`*/`) */ 1' at line 1 (an optimizer hint with a quote that is not closed before */)
====
#: rules mysql 80400
1 /*!080399 2 */ /*!80399 3 */ /*!100000 4 */ /*!80401 5 */
----
integer [1]
integer [2]
integer [3]
end []
====
#: rules mariadb ansi_quotes
"a""b" 'c'
----
quoted ["a""b"]
string ['c']
end []
====
#: rules mariadb no_backslash_escapes
'\' 'a''\'
----
string ['\']
string ['a''\']
end []
====
#: rules mariadb gbk
'\xbf\x5c' '\xbf\x27 'x\xff' \xb0\x7c `\xb0\x60`
----
string ['\xbf\']
string ['\xbf']
string ['x\xff']
identifier [\xb0|]
quoted [`\xb0``]
end []
====
#: rules mariadb sjis
'\x83\x5c' '\xb1' '\x83\x27
----
string ['\x83\']
string ['\xb1']
string ['\x83']
end []
====
#: rules mariadb big5
'\xa4\x5c' '\x81\x5c' '
----
string ['\xa4\']
string ['\x81\' ']
end []
====
#: rules mysql gb18030
'\x81\x30\x81\x30' '\x81\x5c'
----
string ['\x810\x810']
string ['\x81\']
end []
====
#: rules mariadb utf8mb4
'\xe2\x5c' ' \xe2\x82\xac
----
string ['\xe2\' ']
identifier [\xe2\x82\xac]
end []
