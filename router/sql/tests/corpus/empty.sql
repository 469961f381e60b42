;
/* nothing */
-- nothing
/*!999999 SELECT 1 */
