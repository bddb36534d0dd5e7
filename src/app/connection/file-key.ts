/** The key of the DuckDB file of a connection, where the settings have one. */
import type { Warehouse } from '../../config/warehouse-url.ts'
import { keysIn } from '../../lib/encryption/keys.ts'
import type { FileKey } from '../../warehouse/duckdb/encrypted-file.ts'

/** In hexadecimal or base64 it is the same key. */
export function fileKey({ warehouse }: { readonly warehouse: Warehouse }): FileKey | undefined {
  const text = warehouse.kind === 'file' ? warehouse.key?.reveal() : undefined
  return text === undefined ? undefined : keysIn(text)?.[0]?.toString('base64')
}
