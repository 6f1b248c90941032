GRANT {privilege} ON {relation} TO {grantee}{option}
