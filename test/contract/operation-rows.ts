/** Each operation answered 200 to the keys that may call it, and to Muster's client through the method for it. */
import { expect } from 'vitest'
import { type Client, createClient } from '../../src/api/client.ts'
import { createUpload } from '../../src/api/uploads.ts'
import { createWorker, updateWorker } from '../../src/api/workers.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { person } from '../sandbox/worker-inputs.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import type { Row } from './row.ts'
import type { Stand } from './stand.ts'
import { bodyOf, declaration, keyOf, targetOf, workerOf } from './targets.ts'

async function withClient<T>(
  stand: Stand,
  operation: string,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const apiKey = stand.keyText(keyOf(operation))
  const client = createClient({ baseUrl: stand.sandbox.url, apiKey, clock: systemClock, rng: () => 0 })
  const found = await use(client)
  await client.close()
  return found
}

const writes: Readonly<Record<string, (client: Client, stand: Stand) => Promise<unknown>>> = {
  createWorker: client => createWorker(client, person()),
  updateWorker: (client, stand) =>
    updateWorker(client, { id: workerOf(stand), changes: { lastName: 'Else' } }),
  createUpload: (client, stand) => createUpload(client, declaration(workerOf(stand)) as never),
}

/** The method of the client that an operation is called by. */
function clientCall({ name, answers }: Pick<Operation, 'name' | 'answers'>): string {
  if (name === 'GET /me') return 'getMe'
  if (name === 'POST /workers') return 'createWorker'
  if (name === 'PATCH /workers/{id}') return 'updateWorker'
  if (name === 'POST /files/uploads') return 'createUpload'
  return answers === 'list' ? 'getPage' : 'getRecord'
}

async function throughClient(client: Client, operation: Operation, path: string): Promise<Body> {
  const call = clientCall(operation)
  if (call === 'getMe') return client.getMe()
  if (call === 'getRecord') return (await client.getRecord(path)).record
  const page = await client.getPage(path)
  return { rows: page.records(), total: page.meta.total }
}

const show = (operation: Operation) => async (stand: Stand) => {
  const { name, answers } = operation
  const target = targetOf(stand, name)
  const { status, body } = await stand.send(target, { key: keyOf(name), body: bodyOf(stand, name) })
  expect([status, body.success]).toEqual([200, true])
  const breaches = stand.sandbox.breaches().length
  const write = writes[clientCall(operation)]
  if (write) {
    const written = await withClient(stand, name, client => write(client, stand))
    const known = name.includes('/workers') ? 'reference' : 'uploadToken'
    expect(written).toMatchObject({ [known]: expect.stringMatching(/^.{8,}$/) })
  } else {
    const path = target.slice('GET '.length)
    const read = await withClient(stand, name, client => throughClient(client, operation, path))
    if (name === 'GET /me') expect(read.kind).toBe('company')
    else if (answers === 'record') expect(read).toEqual(body.data)
    else expect(read).toEqual({ rows: (await stand.list(path)).slice(0, 200), total: body.meta.total })
  }
  expect(stand.sandbox.breaches().slice(breaches)).toEqual([])
}

export const operationRows: readonly Row[] = OPERATIONS.map(operation => ({
  kind: 'operation',
  what: `${operation.name} by ${clientCall(operation)}`,
  where: '4',
  show: show(operation),
}))
