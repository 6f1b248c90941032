SELECT $1::oid::regconfig::text
