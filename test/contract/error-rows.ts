/** Every error of sections 4 and 7 of the contract, given by each operation that it applies to. */
import { expect } from 'vitest'
import { largestBody } from '../../src/lib/file-kind.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { person } from '../sandbox/writes/worker-inputs.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { expectRefusal, type Row } from './row.ts'
import { agencies, companies, type KeyName, type Stand } from './stand.ts'
import { bodyOf, declaration, keyOf, recordOf, targetOf } from './targets.ts'

type Check = (stand: Stand, operation: Operation) => Promise<void>

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const UNKNOWN = 'ffffffffffffffffffffffff'

function sender(stand: Stand, { name }: Operation) {
  const body = bodyOf(stand, name)
  return (key: KeyName | null, target = targetOf(stand, name)) => stand.send(target, { key, body })
}

const invalid: Check = async (stand, operation) => {
  const { name, answers } = operation
  const send = sender(stand, operation)
  const key = keyOf(name)
  expectRefusal(await send(key, `${targetOf(stand, name)}?nothing=1`), 400, 'nothing')
  if (name.includes('{id}')) expectRefusal(await send(key, targetOf(stand, name, '%20')), 400)
  if (answers === 'list') expectRefusal(await send(key, `${targetOf(stand, name)}?limit=201`), 400, 'limit')
  if (name.startsWith('GET')) return
  for (const body of [undefined, [], 'text', {}, { nothing: 1 }]) {
    expectRefusal(await stand.send(targetOf(stand, name), { key, body }), 400)
  }
}

const unauthorized: Check = async (stand, operation) => {
  const send = sender(stand, operation)
  for (const key of [null, 'no such key' as KeyName, 'revoked', 'expired'] as const) {
    expectRefusal(await send(key), 401)
  }
}

const forbidden: Check = async (stand, operation) => {
  const { name, keys, scope } = operation
  const send = sender(stand, operation)
  const kind = keyOf(name)
  expectRefusal(await send(kind === 'agency' ? 'another address, agency' : 'another address'), 403, 'IP')
  expectRefusal(await send(`${kind} without scopes`), 403, 'scope')
  if (scope) expectRefusal(await send(`without ${scope}`), 403, scope)
  if (keys === 'company') expectRefusal(await send('agency'), 403, 'agency-scoped')
  if (keys === 'agency') expectRefusal(await send('company'), 403, 'company-scoped')
  if (name === 'GET /companies/{id}') {
    expectRefusal(await send('one company', targetOf(stand, name, companies[1])), 403)
  }
  if (name === 'GET /users') {
    expectRefusal(await send('inactive owner'), 403, 'owner')
    expectRefusal(await send('unverified owner'), 403, 'owner')
  }
  if (name === 'POST /files/uploads') expectRefusal(await send('company'), 403)
}

const absent: Check = async (stand, operation) => {
  const { name } = operation
  const send = sender(stand, operation)
  const key = keyOf(name)
  if (name === 'GET /users') {
    for (const query of [`company=${UNKNOWN}`, `project=${UNKNOWN}`]) {
      expectRefusal(await send(key, `GET /users?${query}`), 404)
    }
    expectRefusal(await send('agency', `GET /users?agency=${agencies[2]}`), 404)
    expectRefusal(await send('one company', `GET /users?company=${companies[1]}`), 404)
  } else if (name === 'POST /files/uploads') {
    expectRefusal(await stand.send(name, { key, body: declaration(UNKNOWN) }), 404)
    expectRefusal(await send(key, `${name}?agency=${UNKNOWN}`), 404)
  } else {
    expectRefusal(await send(key, targetOf(stand, name, UNKNOWN)), 404)
    await outside(stand, operation)
  }
}

/** Records that exist, but not for this key. */
const outside: Check = async (stand, { name }) => {
  if (name === 'PATCH /workers/{id}') {
    const foreign = [...stand.sandbox.workers.all()].find(worker => !worker.agencies.has(agencies[0]))
    const target = targetOf(stand, name, foreign?.id)
    expectRefusal(await stand.send(target, { key: 'agency', body: { lastName: 'Else' } }), 404)
  } else if (name.includes('/user-')) {
    expectRefusal(await stand.send(targetOf(stand, name, companies[1]), { key: 'one company' }), 404)
  } else if (!name.includes('/companies/')) {
    const { id } = recordOf(stand, name, 1)
    expect((await stand.send(targetOf(stand, name, id))).status).toBe(200)
    expectRefusal(await stand.send(targetOf(stand, name, id), { key: 'one company' }), 404)
  }
}

const otherMethods: Check = async (stand, { name }) => {
  const [own, path] = targetOf(stand, name).split(' ')
  for (const method of METHODS.filter(other => other !== own)) {
    const { status, headers } = await stand.send(`${method} ${path}`)
    expect([status, headers.get('allow')], method).toEqual([405, own])
  }
}

const conflict: Check = async (stand, { name }) => {
  const known = person({ passportNo: `CD${stand.sandbox.requests.length}000` })
  const create = (changes: Body) => stand.send('POST /workers', { key: 'agency', body: person(changes) })
  expect((await create(known)).status).toBe(200)
  const { nationalIns, passportNo, email, agencyId } = known
  if (name === 'POST /workers') {
    for (const match of [{ nationalIns }, { passportNo }]) {
      const answer = await create(match)
      expectRefusal(answer, 409)
      expect(answer.body.error.code).toBe('WORKER_MATCH_REQUIRES_REVIEW')
    }
    return
  }
  const other = (await create({})).body.data.id
  for (const taken of [{ nationalIns }, { passportNo }, { email }, { agencyId }]) {
    const answer = await stand.send(`PATCH /workers/${other}`, { key: 'agency', body: taken })
    expectRefusal(answer, 409, Object.keys(taken)[0])
    expect(answer.body.error.code).toBe('CONFLICT')
  }
}

const tooLarge: Check = async (stand, { name }) => {
  const body = Buffer.alloc(largestBody + 1, ' ')
  expectRefusal(await stand.send(targetOf(stand, name), { key: 'agency', body }), 413)
}

const overLimit: Check = async (stand, operation) => {
  const send = sender(stand, operation)
  const once = await send(`once ${operation.name}`)
  const again = await send(`once ${operation.name}`)
  expect(once.status).toBe(200)
  expectRefusal(again, 429)
}

/** A service that fails on its own, whatever it is asked. */
const failing = openSandbox({
  records: {},
  onRequest: () => {
    throw new Error('the disk is gone')
  },
})

const unexpected: Check = async (_, { name }) => {
  const { url } = await failing
  const [method = '', path = ''] = name.split(' ')
  const response = await fetch(url + path.replace('{id}', 'x'), { method })
  const body = (await response.json()) as Body
  expectRefusal({ status: response.status, headers: response.headers, body }, 500)
  expect(body.error.message).not.toContain('disk')
}

const checks: Readonly<Record<number, Check>> = {
  400: invalid,
  401: unauthorized,
  403: forbidden,
  404: absent,
  405: otherMethods,
  409: conflict,
  413: tooLarge,
  429: overLimit,
  500: unexpected,
}

export const errorRows: readonly Row[] = OPERATIONS.flatMap(operation =>
  [...new Set([...operation.errors, 405])].sort().map(
    (status): Row => ({
      kind: 'error',
      what: `${operation.name} ${status}`,
      where: '4, 7',
      show: async stand => checks[status]?.(stand, operation),
    }),
  ),
)
