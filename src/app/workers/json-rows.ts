/** Rows of JSON (one object or an array) and of NDJSON (an object a line). */
import { UsageError } from '../../lib/errors.ts'
import { linesOf } from '../../lib/input-file.ts'
import { deepestJson, isDeep } from '../../lib/json-depth.ts'
import { Pause } from '../../lib/time/pause.ts'
import { RowList, type Rows } from './row-list.ts'

/** Bytes: an array is in memory as a whole, text and values. */
const maxJsonBytes = 64 * 1_048_576

/** Undefined for a text that is not JSON. */
function parsed(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(bytes.toString('utf8')) }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const tooDeep = { field: '', what: `is nested deeper than ${deepestJson}` }

export async function jsonRows(bytes: Buffer, shown: string): Promise<Rows> {
  if (bytes.length > maxJsonBytes)
    throw new UsageError({
      what: `${shown} has more than ${maxJsonBytes / 1_048_576} MB, the limit of JSON`,
      next: 'write it as NDJSON, an object a line, or as CSV',
    })
  const found = parsed(bytes)
  if (!found) throw new UsageError({ what: `${shown} is not JSON`, next: 'one object, or an array of them' })
  const rows = new RowList(shown)
  const values = Array.isArray(found.value) ? found.value : [found.value]
  for (const [index, value] of values.entries()) {
    const row = index + 1
    if (isDeep(value)) rows.refuse({ row, ...tooDeep })
    else rows.add({ row, read: () => value })
  }
  return rows
}

const isBlank = (line: Buffer): boolean => line.length < 1024 && line.toString('utf8').trim() === ''

export async function lineRows(bytes: Buffer, shown: string, signal: AbortSignal): Promise<Rows> {
  const rows = new RowList(shown)
  const pause = new Pause(signal)
  let row = 0
  for (const line of linesOf(bytes)) {
    row += 1
    if (pause.isDue) await pause.take()
    if (isBlank(line)) continue
    const found = parsed(line)
    if (!found) rows.refuse({ row, field: '', what: 'is not JSON' })
    else if (isDeep(found.value)) rows.refuse({ row, ...tooDeep })
    else rows.add({ row, read: () => parsed(line)?.value })
  }
  return rows
}
