ALTER {kind} {relation} RENAME TO {name}
