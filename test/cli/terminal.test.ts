/** Foreign text on the terminal: no control character of it arrives, whatever the command and the stream. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { createContext } from '../../src/cli/context.ts'
import { run } from '../../src/cli/program.ts'
import { createProgress } from '../../src/cli/terminal/progress.ts'
import { escaped, inOneLine } from '../../src/cli/terminal/terminal.ts'
import { captured, temporaryFolder } from '../support/captured-world.ts'

/** ESC with its sequences, BEL, CR, DEL, C1, and characters that turn, hide or split text. */
const hostile = `x\u001b[31m\u001b]0;t\u0007\r\b\u007f\u009b2J\u0085\u202e\u2066\u200f\u061c\u2028\ufeff\u{e0041}\u200b\ud800y`
/** First and last code points. */
const ranges: readonly (readonly [number, number])[] = [
  [0, 8],
  [0xb, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xe0000, 0xe007f],
]
const harmIn = (text: string): string[] =>
  [...text].filter(character => {
    const code = character.codePointAt(0) ?? 0
    return ranges.some(([first, last]) => code >= first && code <= last)
  })
const cwd = temporaryFolder()
const env = {
  MUSTER_BASE_URL: 'http://127.0.0.1:1',
  MUSTER_API_KEY: 'key-0123456789',
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
}

async function shown(args: readonly string[]) {
  const { world, out, err } = captured({ cwd, env })
  const code = await run(args, world, commandSet)
  return { code, out: out(), err: err() }
}

beforeAll(async () => {
  const instance = await DuckDBInstance.create(join(cwd, 'w.duckdb'))
  const connection = await instance.connect()
  await connection.run(`create table t as select $1::varchar as "a${hostile.replaceAll('"', '')}"`, [hostile])
  connection.closeSync()
  instance.closeSync()
  writeFileSync(join(cwd, 'rows.json'), JSON.stringify([{ [hostile]: hostile }]))
  writeFileSync(join(cwd, 'rows.csv'), `${hostile.replace(/[\r\u2028]/g, '')},b\n1,2\n`)
  writeFileSync(join(cwd, 'bad.yaml'), `connections: { "${'\\e[31m\\x9b\\u202e'}": 1 }\n`)
  mkdirSync(join(cwd, 'dags'))
  writeFileSync(join(cwd, 'dags', 'odd.yaml'), `"\\e[31m\\u202e": 1\n`)
})

const names = Object.keys(commandSet.commands)

test('no command repeats a control character of its arguments', async () => {
  for (const name of names) {
    const words = name.split(' ')
    // `sandbox` and `demo` take no argument, so that neither starts.
    for (const args of [
      [...words, hostile, hostile, hostile, hostile],
      [...words, `--${hostile}`],
    ]) {
      const { out, err } = await shown(args)
      expect([name, ...harmIn(out), ...harmIn(err)]).toEqual([name])
    }
  }
  expect((await shown([hostile])).err).toMatch(/^muster: unknown command 'x\\u001b\[31m\\u001b\]0;t\\u0007/)
})

test.each([
  [['sql', 'from t']],
  [['sql', `select 1 as "${hostile}"`]],
  [['--verbose', 'sql', `select '${hostile}'::integer`]],
  [['workers', 'create', 'rows.json', '--agency', hostile]],
  [['workers', 'update', 'rows.csv']],
  [['--json', 'workers', 'create', 'rows.json']],
  [['--config', 'bad.yaml', 'status']],
  [['dag', 'list']],
  [['dag', 'run', 'odd']],
])('%j', async args => {
  const { out, err } = await shown(args)
  expect([...harmIn(out), ...harmIn(err)]).toEqual([])
  expect(`${out}${err}`).toMatch(/\\u001b|u202e/)
})

test('--json keeps the values', async () => {
  const { out } = await shown(['sql', '--json', 'from t'])
  expect(Object.values(JSON.parse(out)[0])).toEqual([hostile.replace('\ud800', '\ufffd')])
})

test('a document with escapes is the same document', () => {
  const value = { [hostile]: [hostile, 'naïve 👩‍👩‍👧 naï\u00adve \u200cمی\u200cخواهم'] }
  expect(JSON.parse(escaped(JSON.stringify(value, null, 2)))).toEqual(value)
  expect(escaped('naïve 👩‍👩‍👧\tmی\u200cخ\n')).toBe('naïve 👩‍👩‍👧\tmی\u200cخ\n')
  expect(inOneLine('a\nb\u2028c')).toBe('a b c')
})

test.each([true, false])('log, notices and progress, with a terminal: %s', isTTY => {
  const written: string[] = []
  const stderr = { write: (text: string) => written.push(text), columns: 1000, isTTY }
  const { world } = captured({ stderr })
  const program = {
    commandNames: [],
    set: { commands: {}, groups: {} },
    invoke: async () => ({ status: 0 }) as const,
    refusal: async () => undefined,
  }
  const context = createContext({ world, globals: { verbose: true }, program })
  context.log.warn({ [hostile]: hostile }, hostile)
  context.notice(hostile)
  const progress = createProgress(context)
  progress.update({ resource: `r${hostile}`, state: 'failed', note: hostile })
  progress.stop()
  // What a display writes by itself: to colour the state, and to move the cursor.
  const all = written.join('')
  const foreign = all
    .split('\u001b')
    .map(part => part.replace(/^\[[\d;?]*[A-Za-z]/, ''))
    .join('')
  expect(all).not.toContain('x\u001b')
  expect(harmIn(foreign)).toEqual([])
  expect(foreign).toContain('\\u202e')
})
