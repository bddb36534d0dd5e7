/** `--wait`: a warehouse that another process holds, for a moment and for longer. */
import { expect, test } from 'vitest'
import type { CommandSet } from '../../src/cli/command.ts'
import { run } from '../../src/cli/program.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { Busy, UsageError } from '../../src/lib/errors.ts'
import { captured, muster, stillClock } from '../support/captured-world.ts'

/** A command that prints and then finds the warehouse held, so many times. */
function heldTimes(times: number, failure = new Busy({ what: 'timesheets is being synced by run 7' })) {
  let attempts = 0
  const command = {
    name: 'hold',
    examples: [],
    async run(context: { stdout: { write(text: string): unknown } }) {
      attempts += 1
      context.stdout.write(`attempt ${attempts}\n`)
      if (attempts <= times) throw failure
      return 0 as const
    },
  }
  const declared = { summary: '', purpose: 'Tests', load: async () => ({ command }) }
  const commands = { commands: { hold: declared }, groups: {} } as unknown as CommandSet
  return { commands, attempts: () => attempts }
}

test('waits until it is free, says so once, and prints what the last attempt printed', async () => {
  const { commands, attempts } = heldTimes(4)
  expect(await muster('hold --wait 10m', {}, commands)).toMatchObject({
    code: 0,
    out: 'attempt 5\n',
    err: 'timesheets is being synced by run 7: waiting up to 10 min for it\n',
  })
  expect(attempts()).toBe(5)
})

test('ends with 75 and the holder when the time is over, and immediately without --wait', async () => {
  const clock = stillClock()
  const began = clock.now()
  const { commands } = heldTimes(1_000)
  const { code, err } = await muster('hold --wait 30s', { clock }, commands)
  expect([code, err.split('\n')[1]]).toEqual([75, 'muster: timesheets is being synced by run 7'])
  expect(clock.now() - began).toBe(30_000)
  const without = heldTimes(1)
  expect(await muster('hold', {}, without.commands)).toMatchObject({ code: 75, out: 'attempt 1\n' })
  expect(without.attempts()).toBe(1)
})

test('waits for nothing else, and ends on a signal', async () => {
  const { commands, attempts } = heldTimes(1, new UsageError({ what: 'no' }) as never)
  expect(await muster('hold --wait 10m', {}, commands)).toMatchObject({ code: 2 })
  expect(attempts()).toBe(1)
  const stop = new AbortController()
  const held = heldTimes(1_000)
  setTimeout(() => stop.abort(new Busy({ what: 'stopped' })), 50)
  const { world } = captured({ clock: systemClock, signal: stop.signal })
  expect(await muster('hold --wait 1h', world, held.commands)).toMatchObject({ code: 75 })
})

test('what a command prints while it goes on is shown, not kept until its end', async () => {
  const { world, out } = captured({ clock: systemClock })
  let shown = ''
  const command = {
    name: 'hold',
    examples: [],
    async run(context: { stdout: { write(text: string): unknown } }) {
      context.stdout.write('listening\n')
      await new Promise(resolve => setTimeout(resolve, 1_300))
      shown = out()
      context.stdout.write('done\n')
      return 0 as const
    },
  }
  const declared = { summary: '', purpose: 'Tests', load: async () => ({ command }) }
  const commands = { commands: { hold: declared }, groups: {} } as unknown as CommandSet
  expect(await run(['hold', '--wait', '1h'], world, commands)).toBe(0)
  expect([shown, out()]).toEqual(['listening\n', 'listening\ndone\n'])
})

test('a reader that is slow makes a command wait, however its output is kept', async () => {
  let isRead = false
  const { world } = captured()
  const drained = async () => {
    isRead = true
  }
  const stdout = { ...world.stdout, drained }
  const command = {
    name: 'hold',
    examples: [],
    async run({ stdout }: { stdout: { drained?(): Promise<unknown> } }) {
      await stdout.drained?.()
      return isRead ? (0 as const) : (1 as const)
    },
  }
  const declared = { summary: '', purpose: 'Tests', load: async () => ({ command }) }
  const commands = { commands: { hold: declared }, groups: {} } as unknown as CommandSet
  expect(await run(['hold'], { ...world, stdout }, commands)).toBe(0)
})

test('refuses an invalid span in one line', async () => {
  expect(await muster('status --wait soon')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/time span such as 90s/),
  })
})
