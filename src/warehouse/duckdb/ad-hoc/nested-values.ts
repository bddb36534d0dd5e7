/** Values of an ad hoc query that are made of others: lists as arrays, structs and maps as objects, JSON as what it holds. */
import {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionType,
  DuckDBUnionValue,
  type DuckDBValue,
} from '@duckdb/node-api'
import { jsonValue } from '../../exact-json.ts'
import { quoteName } from '../../sql-text.ts'
import { plainValue } from '../plain-row.ts'

type Plain = (value: DuckDBValue) => unknown

const isJson = (type: DuckDBType): boolean => type.alias === 'JSON'

function listOf(type: DuckDBType): Plain {
  const plain = plainOf(type)
  return value =>
    value instanceof DuckDBListValue || value instanceof DuckDBArrayValue ? value.items.map(plain) : null
}

function structOf({ entryNames, entryTypes }: DuckDBStructType): Plain {
  const plains = new Map(entryNames.map((name, index) => [name, plainOf(entryTypes[index] as DuckDBType)]))
  return value =>
    value instanceof DuckDBStructValue
      ? Object.fromEntries(
          Object.entries(value.entries).map(([name, one]) => [name, plains.get(name)?.(one) ?? null]),
        )
      : null
}

/** JSON has texts as names only. */
const nameOf = (key: unknown): string => (typeof key === 'object' ? JSON.stringify(key) : String(key))

function mapOf({ keyType, valueType }: DuckDBMapType): Plain {
  const [plainKey, plain] = [plainOf(keyType), plainOf(valueType)]
  return value =>
    value instanceof DuckDBMapValue
      ? Object.fromEntries(
          value.entries.map(({ key, value: one }) => [nameOf(plainKey(key)), plain(one)] as const),
        )
      : null
}

function unionOf({ memberTags, memberTypes }: DuckDBUnionType): Plain {
  const plains = new Map(memberTags.map((tag, index) => [tag, plainOf(memberTypes[index] as DuckDBType)]))
  return value => (value instanceof DuckDBUnionValue ? plains.get(value.tag)?.(value.value) : null)
}

/** How values of a type are written. */
export function plainOf(type: DuckDBType): Plain {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return listOf(type.valueType)
  if (type instanceof DuckDBStructType) return structOf(type)
  if (type instanceof DuckDBMapType) return mapOf(type)
  if (type instanceof DuckDBUnionType) return unionOf(type)
  return isJson(type)
    ? value => (typeof value === 'string' ? jsonValue(value) : plainValue(value))
    : plainValue
}

/** Types whose plain values are texts of another kind than the type: what is made of them holds texts. */
const told: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.UNION,
  DuckDBTypeId.ENUM,
  DuckDBTypeId.BLOB,
  DuckDBTypeId.BIT,
  DuckDBTypeId.INTERVAL,
  DuckDBTypeId.SQLNULL,
  DuckDBTypeId.ANY,
])

/** The type that takes the plain values of another. */
export function takingType(type: DuckDBType): string {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType)
    return `${takingType(type.valueType)}[]`
  if (type instanceof DuckDBStructType) {
    const parts = type.entryTypes.map(
      (one, index) => [type.entryNames[index] ?? '', takingType(one)] as const,
    )
    return parts.some(([name]) => name === '')
      ? 'VARCHAR'
      : `STRUCT(${parts.map(([name, taking]) => `${quoteName(name)} ${taking}`).join(', ')})`
  }
  if (type instanceof DuckDBMapType) return `MAP(VARCHAR, ${takingType(type.valueType)})`
  return told.has(type.typeId) || type.alias !== undefined ? 'VARCHAR' : type.toString()
}
