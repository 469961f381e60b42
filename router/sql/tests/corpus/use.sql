USE s
use `s-1`;
