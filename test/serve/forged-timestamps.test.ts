/** Times that are not now, or none, are refused however well they are signed. */
import { describe, test } from 'vitest'
import { altered, attackedReceiver, good, TIMESTAMP } from './attacked.ts'
import { signed } from './served.ts'

const { at, epoch, now, put, refuses } = attackedReceiver()

describe('timestamps, rightly signed', () => {
  test.each([
    ['302 s old', at(-302)],
    ['302 s early', at(302)],
    ['302 s old in seconds', epoch(-302)],
    ['302 s early in milliseconds', String(now + 302_000)],
    ['0', '0'],
    ['-1', '-1'],
    ['1e20', '1e20'],
    ['1e9', '1e9'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['now', 'now'],
    ['a sign', `+${epoch(0)}`],
    ['a fraction of a second', `${epoch(0)}.5`],
    ['hexadecimal', `0x${Number(epoch(0)).toString(16)}`],
    ['nanoseconds', `${Date.now()}000000`],
    ['no zone', new Date().toISOString().slice(0, -1)],
    ['a date', new Date().toISOString().slice(0, 10)],
    ['month 13', `2026-13-01T00:00:00Z`],
    ['words', new Date().toUTCString()],
    ['a tenth digit too many', `${epoch(0)}0`],
  ])('%s', (_, timestamp) => refuses(401, () => put(signed(good(), { timestamp }))))
  test('the dot between it and the body is moved', async () => {
    const { body, headers } = signed(good(), { timestamp: '2026-11-21T05:00:00.123Z' })
    const shifted = Buffer.concat([Buffer.from('123Z.'), body])
    await refuses(401, () =>
      put({ body: shifted, headers: { ...headers, [TIMESTAMP]: '2026-11-21T05:00:00' } }),
    )
    const now = epoch(0)
    const whole = signed(Buffer.concat([Buffer.from('1.'), Buffer.from(good())]), { timestamp: now })
    await refuses(400, () => put(whole))
    await refuses(401, () =>
      put({ body: whole.body.subarray(2), headers: { ...whole.headers, [TIMESTAMP]: `${now}.1` } }),
    )
  })
  test('changed after signing', () => refuses(401, () => put(altered('Timestamp', () => at(1)))))
})
