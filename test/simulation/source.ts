/** Reads records from the service without any of Muster's code. */
import type { Resource } from '../../src/contract/fields/resource.ts'

/** A key that sees what Muster's key sees, with its own limits. */
export const visitorKey = 'visiting-key'

export type ShownRecord = Readonly<Record<string, unknown>>

interface ListPage {
  readonly data: readonly ShownRecord[]
  readonly meta: { readonly total: number }
}

async function readPage(url: string, path: string, search: URLSearchParams): Promise<ListPage> {
  const response = await fetch(`${url}${path}?${search}`, {
    headers: { authorization: `Bearer ${visitorKey}` },
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as ListPage
}

/** Passes at most. Records with equal sort keys come in any order, so one pass over several pages may miss some. */
const maxPasses = 60

/** Call only while nothing changes and every answer is correct. */
export async function readShownRecords(url: string, { path, query }: Resource): Promise<ShownRecord[]> {
  const all = new Map<unknown, ShownRecord>()
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    let total = 0
    for (let number = 1; number === 1 || (number - 1) * 200 < total; number += 1) {
      const search = new URLSearchParams({ ...query, page: String(number), limit: '200' })
      const { data, meta } = await readPage(url, path, search)
      total = meta.total
      for (const record of data) all.set(record.id, record)
    }
    if (all.size === total) return [...all.values()]
  }
  throw new Error(`${path}: ${all.size} records after ${maxPasses} passes`)
}

interface OneRecord {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly id: string
}

/** Undefined if the service does not show it. */
export async function readShownRecord(
  url: string,
  { path, query, id }: OneRecord,
): Promise<ShownRecord | undefined> {
  const recordPath = path.replace('{id}', encodeURIComponent(id))
  const response = await fetch(`${url}${recordPath}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${visitorKey}` },
  })
  const text = await response.text()
  if (response.status === 404 || response.status === 403) return undefined
  if (!response.ok) throw new Error(`${recordPath}: ${response.status} ${text}`)
  return (JSON.parse(text) as { data: ShownRecord }).data
}
