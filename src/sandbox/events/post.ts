/** One attempt at one delivery, over HTTP. */
import { type Agent, request } from 'undici'
import type { SignedRequest } from './signed-request.ts'

export type Answer = { readonly status: number } | { readonly error: string }

interface Addressee {
  readonly url: string
  readonly agent: Agent
  readonly timeoutMs: number
  /** Attempts under way, so that whoever closes can end them. */
  readonly underWay: Set<AbortController>
}

export async function post({ headers, body }: SignedRequest, addressee: Addressee): Promise<Answer> {
  const { url, agent, timeoutMs, underWay } = addressee
  const aborter = new AbortController()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    aborter.abort()
  }, timeoutMs)
  underWay.add(aborter)
  try {
    const { signal } = aborter
    const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: agent })
    // The status is the answer: a body that breaks off changes nothing.
    await answer.body.dump().catch(() => undefined)
    return { status: answer.statusCode }
  } catch (error) {
    return { error: isLate ? 'timeout' : codeOf(error) }
  } finally {
    clearTimeout(timer)
    underWay.delete(aborter)
  }
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'closed'
}
