/** Headers that are missing, come twice or are not signed: nothing is taken for them. */
import { describe, expect, test } from 'vitest'
import { altered, attackedReceiver, good, SIGNATURE, TIMESTAMP } from './attacked.ts'
import { signed } from './served.ts'

const { put, refuses, taken, takes } = attackedReceiver()

describe('headers', () => {
  test.each([SIGNATURE, TIMESTAMP])('without %s', name =>
    refuses(401, () => put(signed(good()), { drop: [name] })),
  )
  test.each([SIGNATURE, TIMESTAMP])('with an empty %s', name =>
    refuses(401, () => put(signed(good()), { drop: [name], extra: [`${name}:`] })),
  )
  test.each([SIGNATURE, TIMESTAMP])('with %s twice, alike', name => {
    const delivery = signed(good())
    return refuses(401, () => put(delivery, { extra: [`${name}: ${delivery.headers[name]}`] }))
  })
  test.each([SIGNATURE, TIMESTAMP])(
    'with %s twice, in another case, the right one first or last',
    async name => {
      await refuses(401, () => put(signed(good()), { extra: [`${name.toLowerCase()}: 0`] }))
      const delivery = signed(good())
      const extra = [`${name}: 0`, `${name.toUpperCase()}: ${delivery.headers[name]}`]
      await refuses(401, () => put(delivery, { drop: [name], extra }))
    },
  )
  test.each([SIGNATURE, TIMESTAMP] as const)('with two values in one %s', name =>
    refuses(401, () =>
      put(altered(name === SIGNATURE ? 'Signature' : 'Timestamp', text => `${text}, ${text}`)),
    ),
  )
  test.each(['Signature', 'Timestamp'] as const)('a %s of 4 kB', name =>
    refuses(401, () => put(altered(name, text => text + ' x'.repeat(2048)))),
  )
  test('more headers than fit', () =>
    refuses(431, () => put(signed(good()), { extra: [`X-Filler: ${'x'.repeat(20_000)}`] })))
  test('the type and id in headers are nothing: the signed body says what happened', async () => {
    await takes(() =>
      put(signed(good('invoice_paid', { invoice: { id: 'i1' } })), {
        extra: ['X-Service-Event: timesheet_deleted', 'X-Service-Event-Id: ../../x'],
      }),
    )
    expect(taken.at(-1)).toMatchObject({ type: 'invoice_paid', entity: 'invoice', recordId: 'i1' })
  })
})
