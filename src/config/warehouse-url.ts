/** Parses the place of the warehouse: `duckdb:FILE` or a PostgreSQL address. */

import { resolve } from 'node:path'
import { whyNotLocal } from '../lib/input-file.ts'
import { Secret } from './secrets.ts'

export type Warehouse =
  | {
      readonly kind: 'file'
      /** Absolute path. */
      readonly file: string
    }
  | {
      readonly kind: 'server'
      /** Secret, because it may contain a password. */
      readonly url: Secret
      /** The same address without its password, for people. */
      readonly shown: string
    }

/** Undefined for any other text. A relative file is relative to `cwd`. */
export function parseWarehouse(text: string, cwd: string): Warehouse | undefined {
  const file = /^duckdb:(?!\/\/|:)(.+)$/s.exec(text)?.[1]
  if (file !== undefined && whyNotLocal(file) === undefined) return { kind: 'file', file: resolve(cwd, file) }
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const shown = new URL(text)
  shown.password = ''
  shown.searchParams.delete('password')
  return { kind: 'server', url: new Secret(text), shown: shown.href }
}

/** The password inside an address, if it has one. */
export function passwordIn(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { password, searchParams } = new URL(text)
  const plain = /%(?![0-9a-f]{2})/i.test(password) ? password : decodeURIComponent(password)
  return plain || searchParams.get('password') || undefined
}

/** The file of the private key with which an address authenticates the client. */
export function privateKeyIn(text: string): string | undefined {
  return (URL.canParse(text) && new URL(text).searchParams.get('sslkey')) || undefined
}
