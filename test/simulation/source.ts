/** The records of a list as the service shows them, read by a reader that shares nothing with Muster's. */
import type { Resource } from '../../src/contract/fields/resource.ts'

/** Sees what the key of Muster sees, and has limits of its own. */
export const visitor = 'visiting-key'

export type Shown = Readonly<Record<string, unknown>>

interface Answer {
  readonly data: readonly Shown[]
  readonly meta: { readonly total: number }
}

async function page(url: string, path: string, search: URLSearchParams): Promise<Answer> {
  const response = await fetch(`${url}${path}?${search}`, { headers: { authorization: `Bearer ${visitor}` } })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

/** Records with equal sort keys come in any order, so that one reading of several pages may not show them all. */
const maxReadings = 60

/** While nothing changes, and every answer is right. */
export async function shownRecords(url: string, { path, query }: Resource): Promise<Shown[]> {
  const all = new Map<unknown, Shown>()
  for (let reading = 1; reading <= maxReadings; reading += 1) {
    let total = 0
    for (let number = 1; number === 1 || (number - 1) * 200 < total; number += 1) {
      const search = new URLSearchParams({ ...query, page: String(number), limit: '200' })
      const { data, meta } = await page(url, path, search)
      total = meta.total
      for (const record of data) all.set(record.id, record)
    }
    if (all.size === total) return [...all.values()]
  }
  throw new Error(`${path}: ${all.size} records after ${maxReadings} readings`)
}

interface OneRecord {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly id: string
}

/** Undefined when the service does not show it. */
export async function shownRecord(url: string, { path, query, id }: OneRecord): Promise<Shown | undefined> {
  const place = path.replace('{id}', encodeURIComponent(id))
  const response = await fetch(`${url}${place}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${visitor}` },
  })
  const text = await response.text()
  if (response.status === 404 || response.status === 403) return undefined
  if (!response.ok) throw new Error(`${place}: ${response.status} ${text}`)
  return (JSON.parse(text) as { data: Shown }).data
}
