/** The records of a list as the service shows them, read by a reader that shares nothing with Muster's. */
import type { Resource } from '../../src/contract/fields/resource.ts'

/** Sees what the key of Muster sees, and has limits of its own. */
export const visitor = 'visiting-key'

export type Shown = Readonly<Record<string, unknown>>

interface Answer {
  readonly data: readonly Shown[]
  readonly meta: { readonly total: number }
}

/** While nothing changes, and every answer is right. */
export async function shownRecords(url: string, { path, query }: Resource): Promise<Shown[]> {
  const all: Shown[] = []
  for (let page = 1; ; page += 1) {
    const search = new URLSearchParams({ ...query, page: String(page), limit: '200' })
    const response = await fetch(`${url}${path}?${search}`, {
      headers: { authorization: `Bearer ${visitor}` },
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    const { data, meta } = (await response.json()) as Answer
    all.push(...data)
    if (all.length >= meta.total) return all
    if (data.length === 0) throw new Error(`${path}: ${all.length} of ${meta.total} records`)
  }
}
