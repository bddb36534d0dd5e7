/** Converts the columns of ad hoc queries: arrays to arrays, rows to objects, JSON to its value. */
import type pg from 'pg'
import type { CustomTypesConfig, FieldDef } from 'pg'
import { jsonValue } from '../exact-json.ts'
import { quoteName } from '../sql-text.ts'
import { plainValues, takingType } from './plain-values.ts'

type Parse = (text: string) => unknown

/** The quoted text that begins at `at`, and the position after it. A quote inside is doubled or follows a backslash. */
function quoted(text: string, at: number): { readonly value: string; readonly next: number } {
  let value = ''
  let place = at + 1
  for (; place < text.length; place += 1) {
    if (text[place] === '\\') place += 1
    else if (text[place] === '"') {
      if (text[place + 1] !== '"') break
      place += 1
    }
    value += text[place]
  }
  return { value, next: place + 1 }
}

function bare(text: string, at: number, ends: string): { readonly value: string; readonly next: number } {
  let next = at
  while (next < text.length && !ends.includes(text[next] ?? '')) next += 1
  return { value: text.slice(at, next), next }
}

/** Parses `{1,NULL,"a b"}`, with lower bounds before it if they are not 1, and nested arrays. */
function arrayValue(text: string, parse: Parse, delimiter = ','): unknown[] {
  const all: unknown[] = []
  const open: unknown[][] = [all]
  let place = text.indexOf('{') + 1
  while (open.length > 0 && place < text.length) {
    const first = text[place]
    const inside = open.at(-1) ?? all
    if (first === '{') {
      const inner: unknown[] = []
      inside.push(inner)
      open.push(inner)
      place += 1
    } else if (first === '}') {
      open.pop()
      place += 1
    } else if (first === delimiter) place += 1
    else {
      const isQuoted = first === '"'
      const { value, next } = isQuoted ? quoted(text, place) : bare(text, place, `${delimiter}}`)
      inside.push(!isQuoted && value === 'NULL' ? null : parse(value))
      place = next
    }
  }
  return all
}

interface Field {
  readonly name: string
  readonly parse: Parse
}

/** Parses `(1,,"a b")`; an empty value is null. */
function rowValue(text: string, fields: readonly Field[]): Record<string, unknown> {
  let place = 1
  const values = fields.map(({ name, parse }) => {
    const first = text[place]
    const isQuoted = first === '"'
    const { value, next } = isQuoted ? quoted(text, place) : bare(text, place, ',)')
    place = next + 1
    return [name, !isQuoted && value === '' ? null : parse(value)] as const
  })
  return Object.fromEntries(values)
}

const oid = { json: 114, jsonb: 3802, record: 2249, recordArray: 2287 } as const

/** True for columns whose fields the server describes by neither names nor types. */
export const isNameless = ({ dataTypeID }: FieldDef): boolean =>
  dataTypeID === oid.record || dataTypeID === oid.recordArray

interface TypeRow {
  readonly oid: number
  /** Type of the elements of an array, else 0. */
  readonly element: number
  readonly delimiter: string
  /** Base type of a domain, else 0. */
  readonly base: number
  /** Fields of a row type. */
  readonly fields: readonly { readonly name: string; readonly type: number; readonly modifier: number }[]
}

/** The types and their component types. Vectors such as `int2vector` are not written like arrays. */
const typesOf = `with recursive known as (
  select unnest($1::oid[]) as oid
  union
  select part.oid from known join pg_catalog.pg_type t on t.oid = known.oid cross join lateral (
    select t.typelem as oid where t.typinput = 'pg_catalog.array_in'::regproc
    union all select t.typbasetype where t.typtype = 'd'
    union all select a.atttypid from pg_catalog.pg_attribute a
      where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
  ) part
)
select json_build_object(
  'oid', t.oid::bigint,
  'element', case when t.typinput = 'pg_catalog.array_in'::regproc then t.typelem::bigint else 0 end,
  'delimiter', t.typdelim,
  'base', case when t.typtype = 'd' then t.typbasetype::bigint else 0 end,
  'fields', coalesce((
    select json_agg(json_build_object('name', a.attname, 'type', a.atttypid::bigint, 'modifier', a.atttypmod) order by a.attnum)
    from pg_catalog.pg_attribute a
    where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
  ), '[]')
)::text as type
from known join pg_catalog.pg_type t using (oid)`

/** Type ids below this are built in and need no look-up. */
const own = new Set<number>([oid.json, oid.jsonb])

export class ColumnTypes {
  readonly #types: ReadonlyMap<number, TypeRow>

  private constructor(types: ReadonlyMap<number, TypeRow>) {
    this.#types = types
  }

  static async of(client: pg.Client, fields: readonly FieldDef[]): Promise<ColumnTypes> {
    const asked = fields.map(({ dataTypeID }) => dataTypeID).filter(one => !own.has(one))
    const { rows } = await client.query<{ type: string }>(typesOf, [asked])
    const types = rows.map(({ type }) => JSON.parse(type) as TypeRow)
    return new ColumnTypes(new Map(types.map(type => [type.oid, type])))
  }

  /** For the driver. */
  get config(): CustomTypesConfig {
    return {
      getTypeParser: ((type: number) => this.#parser(type)) as CustomTypesConfig['getTypeParser'],
    }
  }

  #parser(type: number): (text: string) => unknown {
    const known = this.#types.get(type)
    if (type === oid.json || type === oid.jsonb) return jsonValue
    if (known?.base) return this.#parser(known.base)
    if (known?.element) {
      const parse = this.#parser(known.element)
      return text => arrayValue(text, parse, known.delimiter)
    }
    if (known && known.fields.length > 0) {
      const fields = known.fields.map(field => ({ name: field.name, parse: this.#parser(field.type) }))
      return text => rowValue(text, fields)
    }
    return plainValues.getTypeParser(type, 'text') as (text: string) => unknown
  }

  /** The DuckDB type that accepts the values of a column. */
  taking({ dataTypeID, dataTypeModifier }: Pick<FieldDef, 'dataTypeID' | 'dataTypeModifier'>): string {
    const known = this.#types.get(dataTypeID)
    if (known?.base) return this.taking({ dataTypeID: known.base, dataTypeModifier })
    if (known?.element) return `${this.taking({ dataTypeID: known.element, dataTypeModifier })}[]`
    if (known && known.fields.length > 0) {
      const fields = known.fields.map(
        ({ name, type, modifier }) =>
          `${quoteName(name)} ${this.taking({ dataTypeID: type, dataTypeModifier: modifier })}`,
      )
      return `STRUCT(${fields.join(', ')})`
    }
    return takingType({ dataTypeID, dataTypeModifier })
  }
}
