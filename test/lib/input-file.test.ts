/** A stream is read to its end, within a bound, and not for longer than somebody waits. */
import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readStreamText } from '../../src/lib/input-file.ts'

const rules = { maxBytes: 1000, signal: new AbortController().signal }

test('a text is read completely, also when a character comes in two parts', async () => {
  const [one, other] = [Buffer.from('né').subarray(0, 2), Buffer.from('né').subarray(2)]
  expect(await readStreamText(Readable.from([one, other]), rules)).toBe('né')
})

test('a stream without end is refused at the bound', async () => {
  const endless = new Readable({ read: () => endless.push(Buffer.alloc(400)) })
  await expect(readStreamText(endless, rules)).rejects.toThrow('stdin has more than 1000 bytes')
})

test('bytes that are no text are refused', async () => {
  await expect(readStreamText(Readable.from([Buffer.from([0xff, 0xfe])]), rules)).rejects.toThrow('not UTF-8')
})

test('a stop signal ends the reading while nothing comes', async () => {
  const stop = new AbortController()
  const read = readStreamText(new PassThrough(), { ...rules, signal: stop.signal })
  const reason = new Error('stopped')
  setTimeout(() => stop.abort(reason), 20)
  await expect(read).rejects.toBe(reason)
})
