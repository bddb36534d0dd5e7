/** A service in memory: a function answers each request of a client, without a connection. */
import type { Dispatcher } from 'undici'
import { type Client, type ClientOptions, createClient } from '../../../src/api/client/client.ts'
import { KEY, ME } from '../../support/http-service.ts'
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts'

export interface Asked {
  readonly method: string
  /** Below the version segment. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  /** Milliseconds since the start of the clock. */
  readonly at: number
  /** How often this path was asked for, this time included. */
  readonly nth: number
  readonly signal: AbortSignal
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** An object is sent as JSON; pieces arrive one by one. */
  readonly body?: object | string | readonly Buffer[]
}

/** Throws where the connection fails. */
export type Answering = (asked: Asked) => Reply | Promise<Reply>

export const refusal = (code = 'C', message = 'm') => ({ success: false, error: { code, message } })

/** The error of a socket or of undici. */
export const broken = (code: string): Error => Object.assign(new Error(code), { code })

const piecesOf = (body: Reply['body'] = ''): readonly Buffer[] => {
  if (Array.isArray(body)) return body
  return [Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))]
}

async function* received(pieces: readonly Buffer[]) {
  yield* pieces
}

/** What undici hands on for an answer. */
export const responseOf = ({ status = 200, headers = {}, body }: Reply) =>
  ({ statusCode: status, headers, body: received(piecesOf(body)) }) as unknown as Dispatcher.ResponseData

export interface MemoryService {
  readonly client: Client
  readonly clock: VirtualClock
  /** Every request but those to /me. */
  readonly asked: readonly Asked[]
  readonly me: readonly Asked[]
  readonly isClosed: boolean
}

interface Options extends Partial<ClientOptions> {
  readonly me?: Answering
  readonly clock?: VirtualClock
}

export const answerMe =
  (changes: object = {}): Answering =>
  () => ({ body: { success: true, data: { ...ME, ...changes } } })

/** A client that never jitters, on a clock whose waits take no time. `/me` is answered by itself unless `me` says otherwise. */
export function memoryService(
  answer: Answering,
  { me = answerMe(), ...options }: Options = {},
): MemoryService {
  const { clock = virtualClock() } = options
  const start = clock.now()
  const seen = { asked: [] as Asked[], me: [] as Asked[] }
  const state = { isClosed: false }
  const request = async ({ path: line, method, ...rest }: Dispatcher.RequestOptions) => {
    const url = new URL(line, 'http://x')
    const path = url.pathname.replace('/api/open/v1', '')
    const [seenBefore, answering] = path === '/me' ? [seen.me, me] : [seen.asked, answer]
    const nth = seenBefore.filter(earlier => earlier.path === path).length + 1
    const parts = rest as unknown as Pick<Asked, 'headers' | 'body' | 'signal'>
    const asked = { ...parts, method, path, query: url.searchParams, at: clock.now() - start, nth }
    seenBefore.push(asked)
    return responseOf(await answering(asked))
  }
  const destroy = async () => {
    state.isClosed = true
  }
  const agent = { request, destroy } as unknown as NonNullable<ClientOptions['agent']>
  const baseUrl = 'https://service.example/api/open/v1'
  const client = createClient({ baseUrl, apiKey: KEY, rng: () => 0, agent, ...options, clock })
  return {
    ...{ client, clock, ...seen },
    get isClosed() {
      return state.isClosed
    },
  }
}

/** A right answer to a request for a list: `total` rows named by their position. */
export function listReply({ query }: Asked, total: number): Reply {
  const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))]
  const start = (page - 1) * limit
  const length = Math.max(0, Math.min(limit, total - start))
  const data = Array.from({ length }, (_, index) => ({ id: `r${start + index}` }))
  return { body: { success: true, data, meta: { page, limit, total } } }
}

export const fails =
  (status: number, headers: Reply['headers'] = {}): Answering =>
  () => ({
    ...{ status, headers, body: refusal() },
  })
/** These answers in order, then a right page. */
export const firstly =
  (...answers: readonly Answering[]): Answering =>
  asked =>
    (answers[asked.nth - 1] ?? (() => listReply(asked, 1)))(asked)
export const done: Answering = () => ({ body: { success: true, data: { id: 'x' } } })
export const offline =
  (code: string): Answering =>
  () => {
    throw broken(code)
  }
