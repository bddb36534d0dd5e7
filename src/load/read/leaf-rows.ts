/** The leaves of JSON documents as rows. */

/** What json_tree calls a type, in the words of attribute_leaf. */
const valueType = `case
  when type = 'VARCHAR' then 'text' when type = 'BOOLEAN' then 'boolean'
  when type in ('OBJECT', 'ARRAY') then 'empty' else 'number' end`

/**
 * Columns locator, leaf {path, value, type} and place, for each leaf of the JSON in `document`. Empty lists and
 * objects count as leaves, or they would vanish; null counts as absent. The query string of an address is a key to a file and is cut.
 */
export function leafRows(table: string, document: string): string {
  return `select locator, {
      path: substr(fullkey, 3),
      value: case when type = 'VARCHAR' then regexp_replace(json_extract_string(atom, '$'), '^(https?://[^?#]*)[?#].*$', '\\1')
        when type in ('OBJECT', 'ARRAY') then cast(value as varchar) else cast(atom as varchar) end,
      type: ${valueType}
    } as leaf, row_number() over (partition by locator order by fullkey) as place
    from (select locator, ${document} from ${table}) source, json_tree(${document})
    where ${document} is not null and fullkey <> '$' and type <> 'NULL'
      and (type not in ('OBJECT', 'ARRAY') or value in ('{}', '[]'))`
}
