/** A sandbox for one test file, with a client that reads JSON. */
import { afterAll } from 'vitest'
import { COMPANY_KEY } from '../../src/sandbox/keys.ts'
import type { SandboxOptions } from '../../src/sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
export type Body = any

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
}

export interface OpenSandbox extends Sandbox {
  get(path: string, key?: string): Promise<Answer>
  send(method: string, path: string): Promise<Answer>
}

const open: Sandbox[] = []

afterAll(async () => {
  await Promise.all(open.map(sandbox => sandbox.close()))
})

export async function openSandbox(options: SandboxOptions = {}): Promise<OpenSandbox> {
  const sandbox = await startSandbox({ rateLimitPerMinute: 100_000, ...options })
  open.push(sandbox)
  const send = async (method: string, path: string, key = COMPANY_KEY): Promise<Answer> => {
    const response = await fetch(sandbox.url + path, { method, headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  return { ...sandbox, get: (path, key) => send('GET', path, key), send }
}

export function sortedBy<T>(
  rows: readonly T[],
  keyOf: (row: T) => string | number,
  order: 'asc' | 'desc',
): boolean {
  return rows.every((row, index) => {
    const before = rows[index - 1]
    if (before === undefined) return true
    return order === 'asc' ? keyOf(before) <= keyOf(row) : keyOf(before) >= keyOf(row)
  })
}
