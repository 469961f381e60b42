CALL p()
CALL s.p(1, @a, ?)
CALL p
