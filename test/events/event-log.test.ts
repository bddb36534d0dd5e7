/** A write that the system cuts short in the middle of a line: nothing of it stays, and what follows is whole. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const loader = import.meta.resolve('tsx')
const source = new URL('../../src/events/event-log.ts', import.meta.url).href

/** Until a write has failed ten times; then the file is sealed and another one begun. */
const script = `
  import { openEventLog } from '${source}'
  const log = openEventLog(process.argv[1])
  const stored = []
  const failures = []
  const append = async id => {
    const event = name => ({ id: name, payload: 'x'.repeat(700) })
    await log.append([event(id), event(id + ' again')]).then(() => stored.push(id, id + ' again'))
  }
  for (let number = 1; failures.length < 10; number += 1)
    await append('e' + number).catch(error => failures.push(error.code))
  const sealed = await log.seal()
  await append('last')
  await log.close()
  console.log(JSON.stringify({ stored, failures, sealed }))`

interface Told {
  readonly stored: readonly string[]
  readonly failures: readonly string[]
  readonly sealed: readonly string[]
}

/** No disk is small for everybody, but everybody may limit the files of a process: its writes fail as on a full disk. */
test('a log that cannot grow takes back an incomplete write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-test-'))
  const command = `ulimit -f 24; exec "$0" --import '${loader}' --input-type=module -e "$1" "$2"`
  const printed = execFileSync('sh', ['-c', command, process.execPath, script, folder], { encoding: 'utf8' })
  const { stored, failures, sealed } = JSON.parse(printed) as Told
  expect(failures).toEqual(Array.from({ length: 10 }, () => 'EFBIG'))
  expect(stored.length).toBeGreaterThan(10)
  expect(sealed).toEqual([join(folder, '000000000001.ndjson')])
  const lines = readdirSync(folder).flatMap(name => readFileSync(join(folder, name), 'utf8').split('\n'))
  const ids = lines.filter(line => line !== '').map(line => (JSON.parse(line) as { id: string }).id)
  expect(ids).toEqual(stored)
  rmSync(folder, { recursive: true })
})
