GRANT {privilege}{column} ON {relation} TO {grantee}{option}
