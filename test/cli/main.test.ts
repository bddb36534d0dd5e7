/** The program as a process: exit codes, a broken pipe and signals. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/captured-world.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

function start(...args: string[]) {
  return node(main, ...args)
}

function node(...args: string[]): ChildProcess & { shown: { out: string; err: string } } {
  const child = spawn(process.execPath, args, { cwd: temporaryFolder() })
  const shown = { out: '', err: '' }
  child.stdout.on('data', data => {
    shown.out += data
  })
  child.stderr.on('data', data => {
    shown.err += data
  })
  return Object.assign(child, { shown })
}

test('ends with the exit code of the command', async () => {
  const child = start('dag', 'lst')
  expect(await once(child, 'close')).toEqual([2, null])
  expect(child.shown).toEqual({ out: '', err: `muster: unknown command 'lst', did you mean list?\n` })
})

test('a reader that goes away is no failure', async () => {
  const child = start('--help')
  child.stdout?.destroy()
  expect(await once(child, 'close')).toEqual([0, null])
  expect(child.shown.err).toBe('')
})

test('ends cleanly at the first signal', async () => {
  const child = start('sandbox', '--scale', '0.01')
  await expect.poll(() => child.shown.out, { timeout: 20_000 }).toContain('Ctrl-C stops it.')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
})

test('dies at the second signal, however busy it is', async () => {
  const source = new URL('../../src/cli/stop-signal.ts', import.meta.url).href
  const script = `
    import { stopSignal } from '${source}'
    stopSignal(() => undefined).addEventListener('abort', () => console.log('asked to stop'))
    setInterval(() => {}, 1000)
    console.log('ready')`
  const child = node('--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script)
  await expect.poll(() => child.shown.out, { timeout: 20_000 }).toContain('ready')
  child.kill('SIGINT')
  await expect.poll(() => child.shown.out, { timeout: 20_000 }).toContain('asked to stop')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([null, 'SIGTERM'])
})
