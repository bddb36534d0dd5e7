/** How the columns of an ad hoc query are read: arrays as arrays, rows as objects, JSON as what it holds. */
import type pg from 'pg'
import type { CustomTypesConfig, FieldDef } from 'pg'
import { jsonValue } from '../../exact-json.ts'
import { quoteName } from '../../sql-text.ts'
import { plainValues, takingType } from '../plain-values.ts'
import { arrayValue, rowValue } from './nested-text.ts'

const oid = { json: 114, jsonb: 3802, record: 2249, recordArray: 2287 } as const

/** Of these the server tells neither names nor types. */
export const isNameless = ({ dataTypeID }: FieldDef): boolean =>
  dataTypeID === oid.record || dataTypeID === oid.recordArray

interface TypeRow {
  readonly oid: number
  /** Type of the elements of an array, else 0. */
  readonly element: number
  readonly delimiter: string
  /** Type that a domain is made of, else 0. */
  readonly base: number
  /** Of a row. */
  readonly fields: readonly { readonly name: string; readonly type: number; readonly modifier: number }[]
}

/** The types, and those that they are made of. Vectors such as `int2vector` are written in another way than arrays. */
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

/** Types of a server need no look-up below this. */
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

  /** The type of DuckDB that takes the values of a column. */
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
