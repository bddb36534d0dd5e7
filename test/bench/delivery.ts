/** Deliveries that a bench sends, and what came back of them. */
import { createHmac } from 'node:crypto'
import { Agent, request } from 'undici'

export interface Answered {
  /** Milliseconds from the moment it should have been sent; ascending. */
  readonly waits: readonly number[]
  /** Answers by status; `none` for what was not answered. */
  readonly statuses: Readonly<Record<string, number>>
  /** From the first to the last. */
  readonly seconds: number
  /** Of the sender. */
  readonly cpuSeconds?: number
}

const bodyOf = (id: string): string =>
  JSON.stringify({
    id,
    type: 'timesheet_approved',
    createdAt: new Date().toISOString(),
    data: { timesheet: { id: `t${id.length}${id.slice(-3)}` } },
  })

export const forgedBody = (index: number): string => bodyOf(`forged_${index}`)

function genuine(id: string, secret: string) {
  const body = bodyOf(id)
  const timestamp = new Date().toISOString()
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
  }
  return { method: 'POST' as const, body, headers }
}

interface Load {
  readonly secret: string
  /** Requests a second, sent whether or not the ones before were answered. */
  readonly perSecond: number
  readonly seconds: number
  /** What ids begin with. */
  readonly name: string
}

/** Open loop: a receiver that is late does not slow the sender down, so that its lateness is seen. */
export async function sendGenuine(
  url: string,
  { secret, perSecond, seconds, name }: Load,
): Promise<Answered & { readonly acknowledged: readonly string[] }> {
  const dispatcher = new Agent({ connections: 64 })
  const waits: number[] = []
  const statuses: Record<string, number> = {}
  const acknowledged: string[] = []
  const underWay: Promise<void>[] = []
  const one = async (id: string, due: number): Promise<void> => {
    let status: number | 'none' = 'none'
    try {
      const answer = await request(url, { ...genuine(id, secret), dispatcher })
      await answer.body.dump()
      status = answer.statusCode
      if (status === 202) acknowledged.push(id)
    } catch {
      // Counted as none.
    }
    waits.push(performance.now() - due)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  const started = performance.now()
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = started + (sent / perSecond) * 1000
    if (due > performance.now()) await new Promise(resolve => setTimeout(resolve, 1))
    else {
      underWay.push(one(`${name}_${sent}`, due))
      sent += 1
    }
  }
  await Promise.all(underWay)
  await dispatcher.close()
  const took = (performance.now() - started) / 1000
  return { waits: waits.sort((left, right) => left - right), statuses, seconds: took, acknowledged }
}
