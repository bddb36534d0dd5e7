/** Converts nested values of ad hoc queries: lists to arrays, structs and maps to objects, JSON to its value. */
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

type PlainConversion = (value: DuckDBValue) => unknown

const isJson = (type: DuckDBType): boolean => type.alias === 'JSON'

function listOf(type: DuckDBType): PlainConversion {
  const plain = plainOf(type)
  return value =>
    value instanceof DuckDBListValue || value instanceof DuckDBArrayValue ? value.items.map(plain) : null
}

function structOf({ entryNames, entryTypes }: DuckDBStructType): PlainConversion {
  const plains = new Map(entryNames.map((name, index) => [name, plainOf(entryTypes[index] as DuckDBType)]))
  return value =>
    value instanceof DuckDBStructValue
      ? Object.fromEntries(
          Object.entries(value.entries).map(([name, one]) => [name, plains.get(name)?.(one) ?? null]),
        )
      : null
}

/** JSON allows only texts as names. */
const nameOf = (key: unknown): string => (typeof key === 'object' ? JSON.stringify(key) : String(key))

function mapOf({ keyType, valueType }: DuckDBMapType): PlainConversion {
  const [plainKey, plain] = [plainOf(keyType), plainOf(valueType)]
  return value =>
    value instanceof DuckDBMapValue
      ? Object.fromEntries(
          value.entries.map(({ key, value: one }) => [nameOf(plainKey(key)), plain(one)] as const),
        )
      : null
}

function unionOf({ memberTags, memberTypes }: DuckDBUnionType): PlainConversion {
  const plains = new Map(memberTags.map((tag, index) => [tag, plainOf(memberTypes[index] as DuckDBType)]))
  return value => (value instanceof DuckDBUnionValue ? plains.get(value.tag)?.(value.value) : null)
}

/** Returns the conversion for values of a type. */
export function plainOf(type: DuckDBType): PlainConversion {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) return listOf(type.valueType)
  if (type instanceof DuckDBStructType) return structOf(type)
  if (type instanceof DuckDBMapType) return mapOf(type)
  if (type instanceof DuckDBUnionType) return unionOf(type)
  return isJson(type)
    ? value => (typeof value === 'string' ? jsonValue(value) : plainValue(value))
    : plainValue
}

/** Types whose plain values are texts, so nested types contain texts in their place. */
const textTypes: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.UNION,
  DuckDBTypeId.ENUM,
  DuckDBTypeId.BLOB,
  DuckDBTypeId.BIT,
  DuckDBTypeId.INTERVAL,
  DuckDBTypeId.SQLNULL,
  DuckDBTypeId.ANY,
])

/** The DuckDB type that accepts the plain values of a type. */
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
  return textTypes.has(type.typeId) || type.alias !== undefined ? 'VARCHAR' : type.toString()
}
