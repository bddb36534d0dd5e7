/** Selects leaves without a column: those in JSON columns, and those of undeclared fields. */
import { declaredPaths } from '../../contract/derived/json-shape.ts'
import { quoteText } from '../../warehouse/sql-text.ts'
import { type StagePlan, shapePath } from './plan.ts'

/** Translates json_tree's types into those of attribute_leaf. */
const valueType = `case
  when type = 'VARCHAR' then 'text' when type = 'BOOLEAN' then 'boolean'
  when type in ('OBJECT', 'ARRAY') then 'empty' else 'number' end`

/**
 * Columns locator, leaf {path, value, type} and place, for each leaf of the JSON in `document`. Empty lists and objects
 * count as leaves, or they would vanish; null counts as absent. Removes the query string of a URL, which may contain an
 * access key.
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

/** Never stored: a person's legal identity, and secrets. Matched against the path in lower case. */
const denied =
  'dob$|dateofbirth|birthdate|gender|nationality|nationalins|nino$|passport|sharecode|apikey|secret|token$|password'

/** Stored in pii: names, contact and bank details. */
const personal =
  'name$|email|phone|mobile|address|line(one|two|1|2|3)$|postcode|account|sortcode|iban|utr$|vat$|contact|comment|message|notes?$|attachment|url$'

/** SQL conditions on a path expression, whose last key may be quoted. */
const isDenied = (path: string): string => `regexp_matches(rtrim(lower(${path}), '"'), '${denied}')`
const isPersonal = (path: string): string => `regexp_matches(rtrim(lower(${path}), '"'), '${personal}')`

/** Whether a key in the path has unusual characters for a service's key: it may be data, such as a person's name. */
const hasOddKey = (path: string): string => `not regexp_full_match(${path}, '[\\w$\\[\\].#-]*')`

/** Whether a value stored as one JSON text has such a key. */
const holdsDenied = `(value_type = 'json' and regexp_matches(lower(value_text), '${denied.replaceAll('$', '"')}'))`

function leavesOf(plan: StagePlan, document: StagePlan['documents'][number]): string {
  const declared = declaredPaths(plan.shape).filter(({ kind }) => kind === 'leaf')
  const elsewhere = declared.map(({ path }) => path).filter(path => path.startsWith(`${document.path}.`))
  const path = `${quoteText(`${document.path}.`)} || leaf.path`
  const not =
    elsewhere.length === 0 ? '' : `where ${shapePath('path')} not in (${elsewhere.map(quoteText).join(', ')})`
  return `select * from (
    select locator, ${path} as path, leaf.value as value_text, leaf.type as value_type,
      ${document.isRestricted} as restricted
    from (${leafRows(plan.root.name, document.name)})) ${not}`
}

/** Creates stage_leaf: locator, path, value_text, value_type, is_personal. */
export function leafStage(plan: StagePlan, undeclared: string | undefined): string {
  const sources = [
    ...plan.documents.map(document => leavesOf(plan, document)),
    ...(undeclared ? [`select *, false as restricted from (${undeclared})`] : []),
  ]
  const empty = `select 0 as locator, '' as path, '' as value_text, '' as value_type, false as restricted where false`
  return `create or replace temp table stage_leaf as
    select locator, path,
      case when ${isDenied('path')} or ${holdsDenied} then '[not stored]' else value_text end as value_text, value_type,
      restricted or ${isPersonal('path')} or ${isDenied('path')} or ${hasOddKey('path')} or value_type = 'json' as is_personal
    from (${[empty, ...sources].join(' union all ')})`
}
