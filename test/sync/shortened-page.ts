/** A page as the service would answer it, less rows of it. */
import type { SandboxRequest } from '../../src/sandbox/server/settings.ts'
import type { Interception } from '../fault-layer/layer.ts'
import type { Swept } from './sweeping.ts'

/** Long enough for an answer; one that a fault keeps back is not shortened. */
const patience = 100

async function whole(service: Swept, { path, query }: SandboxRequest): Promise<string | undefined> {
  const words = new URLSearchParams(query as Record<string, string>)
  try {
    const answer = await fetch(`${service.url}${path}?${words}`, {
      headers: { authorization: `Bearer ${service.visitor}` },
      signal: AbortSignal.timeout(patience),
    })
    return answer.ok ? await answer.text() : undefined
  } catch {
    return undefined
  }
}

/** Rows that are kept, below the total of all; without `isKept` the page is empty, and the total ends before it. */
export async function shortened(
  service: Swept,
  request: SandboxRequest,
  isKept?: () => boolean,
): Promise<Interception> {
  const text = await whole(service, request)
  try {
    const { data, meta, ...rest } = JSON.parse(text ?? '')
    const body = isKept
      ? { ...rest, data: data.filter(isKept), meta }
      : { ...rest, data: [], meta: { ...meta, total: (meta.page - 1) * meta.limit } }
    return { status: 200, body: JSON.stringify(body) }
  } catch {
    return undefined
  }
}
