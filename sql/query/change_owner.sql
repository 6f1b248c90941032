ALTER {kind} {relation} OWNER TO {owner}
