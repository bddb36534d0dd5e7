/** Judges what became of mutated records: an oracle of its own, which compares JSON values with stored ones. */
import type { Column } from '../../src/contract/fields/column.ts'
import type { Resource } from '../../src/contract/fields/resource.ts'
import type { Table } from '../../src/contract/fields/table.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { physicalTables } from '../../src/warehouse/schema/physical.ts'
import type { Mutated } from './mutated-records.ts'

/** A column that a path is read into; an attribute of another table has no place of its own. */
interface Place {
  readonly path: string
  readonly column: Column
  readonly table: Table
  readonly name: string
}

function placesOf(table: Table, at = ''): Place[] {
  const own = Object.entries(table.columns).flatMap(([name, column]): Place[] =>
    column.source.from === 'field'
      ? [{ path: `${at}${column.source.path.join('.')}`.replace(/\.$/, ''), column, table, name }]
      : [],
  )
  const below = table.children.flatMap(({ lists, shape, table: inner }) => {
    if (shape === 'leaves') return []
    const path = lists.map(one => one.join('.')).join('[].')
    return placesOf(
      inner,
      shape === 'single' ? `${at}${path}.` : `${at}${path}[]${shape === 'value' ? '' : '.'}`,
    )
  })
  return [...own, ...below]
}

/** By the key of their record; several where lists share a table. */
type Values = ReadonlyMap<string, readonly (string | null)[]>

async function valuesAt(engine: Engine, { column, table, name }: Place, run: string): Promise<Values> {
  const isText = column.privacy === 'freeText'
  const [schema, of] = column.privacy === 'open' ? ['star', table.name] : ['pii', table.piiTable]
  const owner = physicalTables.find(one => one.schema === schema && one.name === of)?.owner
  const rows = await engine.rows<{ owner: string; value: string | null }>(
    isText
      ? `select record_id as owner, text as value from pii.text
         where run_id = '${run}' and table_name = '${table.name}' and column_name = '${name}'`
      : `select "${owner}" as owner, cast("${name}" as varchar) as value from ${schema}."${of}" where run_id = '${run}'`,
  )
  const values = new Map<string, (string | null)[]>()
  for (const { owner, value } of rows) values.set(owner, [...(values.get(owner) ?? []), value])
  return values
}

/** A decimal as digits and the place of the last of them. */
function decimal(text: string): string | undefined {
  const [, sign = '', whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const bare = digits.replace(/0+$/, '')
  return bare === ''
    ? '0'
    : `${sign}${bare}e${Number(exponent) - fraction.length + digits.length - bare.length}`
}

const inTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/

/** Milliseconds, and the digits of the second behind them. */
function instant(text: string): string | undefined {
  const [, day, clock = '00:00', second = '00', fraction = '', offset = 'Z'] = inTime.exec(text) ?? []
  if (day === undefined) return undefined
  const zone = offset === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`
  const ms = Date.parse(`${day}T${clock}:${second}${zone}`)
  return Number.isNaN(ms) ? undefined : `${ms} ${fraction.replace(/0+$/, '')}`
}

interface Found {
  readonly json: string
  readonly stored: string | null | undefined
  /** What attribute_leaf has for the path. */
  readonly leaf: string | undefined
  /** Whether the report says that the value came in another form. */
  readonly isReported: boolean
}

const idKey = /(^|\.)(id|nanoid)$|[a-z]Id$/

function isSameNumber({ json, stored, leaf, isReported }: Found): boolean {
  const value: unknown = JSON.parse(json)
  const text = typeof value === 'string' ? value : json
  if (typeof value === 'string' && !isReported) return false
  const isNumber = typeof value === 'number' || /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(String(value))
  return isNumber && (decimal(text) === decimal(stored ?? '') || leaf === text)
}

function isSameTime(value: unknown, { stored, leaf, isReported }: Found): boolean {
  if (typeof value !== 'string' || instant(value) === undefined) return false
  const isWhole = /T.*(Z|[+-]\d\d(:?\d\d)?)$/.test(value)
  return (isWhole || isReported) && (instant(value) === instant(stored ?? '') || leaf === value)
}

function isSameText(value: unknown, { path, column }: Place, { json, stored }: Found): boolean {
  if (column.isUntyped && typeof value !== 'string')
    return JSON.stringify(JSON.parse(stored ?? 'null')) === JSON.stringify(JSON.parse(json))
  if (typeof value !== 'string') return false
  if (column.type === 'url') return stored === value.replace(/[?#].*$/s, '')
  // What the contract does not list is published only when it is a word.
  if (column.values && !column.values.includes(value) && !/^[A-Za-z]\w{0,39}$/.test(value))
    return stored === '(other)'
  if (idKey.test(path) && !/^[A-Za-z0-9_.:-]{1,64}$/.test(value)) return false
  return stored === value
}

/** Whether the stored value says what the JSON does. */
function isSame(place: Place, found: Found): boolean {
  const { column } = place
  const value: unknown = JSON.parse(found.json)
  // An element that is null has no row.
  if (value === null && place.path.endsWith('[]')) return true
  if (value === null) return [null, undefined, column.member ? '-1' : null].includes(found.stored)
  switch (column.type) {
    case 'integer':
    case 'number':
    case 'money':
    case 'quantity':
    case 'coordinate':
      return isSameNumber(found)
    case 'boolean':
      return typeof value === 'boolean' && found.stored === String(value)
    case 'timestamp':
      return isSameTime(value, found)
    case 'dayMonthYear':
      return value === ''
        ? found.stored === null
        : found.stored === String(value).split('/').reverse().join('-')
    default:
      return isSameText(value, place, found)
  }
}

/** Of a place that has no column of its own: whether it may be loaded at all. */
function isOfKind({ at, json = 'null' }: Mutated, isUntyped: boolean): boolean {
  const value: unknown = JSON.parse(json)
  if (value === null || isUntyped) return true
  if (at?.kind === 'object') return typeof value === 'object' && !Array.isArray(value)
  if (at?.kind === 'list') return Array.isArray(value)
  return typeof value === 'string'
}

export interface Judged {
  readonly stored: number
  readonly refused: number
  /** Records that were stored with another value than they came with, or neither stored nor refused. */
  readonly wrong: readonly string[]
}

/** Texts of the record that no other has, to find its row. */
const markers = (places: readonly Place[], root: Table): Place[] =>
  places.filter(
    ({ table, column }) =>
      table === root && column.privacy === 'open' && column.type === 'text' && !column.values,
  )

async function ownersOf(
  engine: Engine,
  resource: Resource,
  run: string,
): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>()
  const { table } = resource
  for (const place of markers(placesOf(table), table))
    for (const [owner, [value]] of await valuesAt(engine, place, run)) {
      const prefix = /^r\d+-/.exec(value ?? '')?.[0]
      if (prefix !== undefined) owners.set(prefix, owner)
    }
  return owners
}

async function leavesBy(engine: Engine, run: string): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ place: string; value: string }>(
    ['star', 'pii']
      .map(
        schema =>
          `select record_id || ' ' || path as place, value_text as value from ${schema}.attribute_leaf where run_id = '${run}'`,
      )
      .join(' union all '),
  )
  return new Map(rows.map(({ place, value }) => [place, value]))
}

/** DuckDB could not read what the search of the page had accepted; a value computed of several may still be too large. */
const unread = /cannot be loaded: .*(could not|invalid|transform error)/i

export async function judgeMutated(
  engine: Engine,
  resource: Resource,
  { run, records }: { readonly run: string; readonly records: readonly Mutated[] },
): Promise<Judged> {
  const places = placesOf(resource.table)
  const owners = await ownersOf(engine, resource, run)
  const leaves = await leavesBy(engine, run)
  const payloads = await engine.rows<{ payload: string; reason: string }>(
    `select payload, path || ' ' || reason as reason from ops.quarantine where resource = '${resource.name}'`,
  )
  const refused = new Map(payloads.map(({ payload, reason }) => [/r\d+-/.exec(payload)?.[0], reason]))
  const drift = await engine.rows<{ path: string }>(
    `select path from ops.schema_drift where resource = '${resource.name}' and kind = 'other form'`,
  )
  const reported = new Set(drift.map(({ path }) => path))
  const columns = new Map<Place, Values>()
  const wrong: string[] = []
  for (const record of records) {
    const { prefix, at, json = 'null' } = record
    const owner = owners.get(prefix)
    const of = at ? places.filter(({ path }) => path === at.path) : []
    const told = `${resource.name} ${prefix} ${at?.path ?? 'plain'} = ${json.slice(0, 80)}`
    if (unread.test(refused.get(prefix) ?? '')) wrong.push(`${told}: ${refused.get(prefix)}`)
    if (owner === undefined) {
      // Of two records that were given the same id one is left.
      const isKey = of.some(
        ({ table, name }) => table === resource.table && (name === table.key || /_id$/.test(name)),
      )
      if (!refused.has(prefix) && !isKey) wrong.push(`${told}: neither stored nor refused`)
      else if (!at) wrong.push(`${told}: refused: ${refused.get(prefix)}`)
      continue
    }
    if (!at) continue
    if (of.length === 0 && !isOfKind(record, false)) wrong.push(`${told}: stored as another kind`)
    for (const place of of) {
      const values = columns.get(place) ?? (await valuesAt(engine, place, run))
      columns.set(place, values)
      const found = {
        json,
        leaf: leaves.get(`${owner} ${at.path.replaceAll('[]', '[0]')}`),
        isReported: reported.has(at.path),
      }
      const stored = values.get(owner) ?? [undefined]
      if (!stored.some(value => isSame(place, { ...found, stored: value })))
        wrong.push(`${told}: ${place.table.name}.${place.name} has ${stored}`)
    }
  }
  return { stored: owners.size, refused: records.length - owners.size, wrong }
}
