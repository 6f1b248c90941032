REVOKE ALL ON {relation} FROM {grantees}
