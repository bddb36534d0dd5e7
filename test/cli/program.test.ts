/** The frame of the command line: help, errors of one line, exit codes, and what goes to which stream. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { type CommandModule, integerBetween } from '../../src/cli/command.ts'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import { loadCommands } from '../../src/cli/shell/load-commands.ts'
import { printJson, printLine, printTable } from '../../src/cli/terminal/output.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { BudgetSpent, ConfigError, MusterError } from '../../src/lib/errors.ts'
import { captured, everyCommand, muster, programOf } from '../support/captured-world.ts'

const commandThat = (run: CommandModule['run'], rest: Partial<CommandModule> = {}, name = 'try') =>
  programOf({ [name]: { examples: ['muster try'], run, ...rest } })

const everyModule = await everyCommand()

const KEY = 'key-0123456789'
const environment = { MUSTER_BASE_URL: 'https://api.example.com/api/open/v1', MUSTER_API_KEY: KEY }

describe('help', () => {
  test('of the program goes to stdout and names every command and exit code', async () => {
    const { code, out, err } = await muster('--help')
    expect([code, err]).toEqual([0, ''])
    const listed = [...out.matchAll(/^ {2}([a-z-]+)\b/gm)].map(([, name]) => name)
    for (const name of Object.keys(commandSet.commands)) expect(listed).toContain(name.split(' ')[0])
    expect(out).toContain('75 run again later')
  })

  test.each(everyModule)('of %s has its examples', async (name, module) => {
    const { code, out } = await muster(`${name} --help`)
    expect(code).toBe(0)
    expect(module.examples.length).toBeGreaterThan(0)
    for (const example of module.examples) expect(out).toContain(`  $ ${example}\n`)
    expect(out).toContain('--json')
  })

  test('--json has a meaning for every command but three', () => {
    const folder = fileURLToPath(new URL('../../src/cli/commands/', import.meta.url))
    const silent = readdirSync(folder).filter(
      file => !/\bjson\b|printJson|runAndPrint/.test(readFileSync(join(folder, file), 'utf8')),
    )
    expect(silent).toEqual(['completion.ts', 'man.ts', 'mcp.ts'])
  })

  test('shows no example that the program would not take', async () => {
    const taken: string[] = []
    const recording = programOf(
      Object.fromEntries(
        everyModule.map(([name, module]) => {
          const run = async () => {
            taken.push(name)
            return 0 as const
          }
          const takesAll = typeof module.takesAll === 'function' ? run : module.takesAll
          return [name, { ...module, run, ...(takesAll && { takesAll }) }]
        }),
      ),
    )
    const examples = everyModule.flatMap(([name, { examples }]) =>
      examples.map(example => ({ name, example })),
    )
    for (const { name, example } of examples) {
      const words = [...example.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word)
      const { world, err } = captured()
      expect([example, await run(words.slice(1), world, recording), err()]).toEqual([example, 0, ''])
      expect([words[0], taken.pop()]).toEqual(['muster', name])
    }
  })

  test('is shown on stderr, as wrong usage, when the command was left out', async () => {
    const { code, out, err } = await muster('')
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('Usage: muster')
  })

  test('can be asked for by name', async () => {
    const { code, out } = await muster('help init')
    expect([code, out.includes('muster init --config')]).toEqual([0, true])
  })

  test.each([
    ['help dag run', 'muster dag run [options] <name>'],
    ['help dag run nightly', 'muster dag run [options] <name>'],
    ['help run nightly', 'muster dag run [options] <name>'],
    ['dag help run', 'muster dag run [options] <name>'],
    ['--quiet help dag --json run', 'muster dag run [options] <name>'],
    ['help dag', 'muster dag [options] [command]'],
    ['help sync users --nope', 'muster sync [options] [resources...]'],
    ['help help', 'muster [options] [command]'],
    ['help --json', 'muster [options] [command]'],
  ])('of what is named: muster %s', async (line, usage) => {
    const { code, out, err } = await muster(line)
    expect([code, out.split('\n')[0], err]).toEqual([0, `Usage: ${usage}`, ''])
  })

  test.each([60, 80, 100])('breaks between words, at %i columns', async columns => {
    for (const line of ['--help', 'sync --help', 'help dag run']) {
      const out: string[] = []
      await muster(line, { stdout: { write: text => out.push(text), columns } })
      const lines = out.join('').split('\n')
      expect(lines.filter(text => text.length > columns && !text.startsWith('  $'))).toEqual([])
    }
  })

  test('--version prints the version', async () => {
    const { code, out } = await muster('--version')
    expect([code, /^\d+\.\d+\.\d+\n$/.test(out)]).toEqual([0, true])
  })
})

describe('commands are loaded', () => {
  const loadedBy = async (line: string) =>
    (await loadCommands(line.split(' '), commandSet)).flatMap(({ name, module }) => (module ? [name] : []))

  test.each([
    ['status --json', ['status']],
    ['help status', ['status']],
    ['dag lst', ['dag list', 'dag run', 'dag record', 'dag export']],
    ['--version', []],
    ['--help', []],
    ['statos', []],
  ])('when a line names them: %s', async (line, names) => expect(await loadedBy(line)).toEqual(names))

  test('whatever their names mean beside it', async () => {
    const ran: string[] = []
    const command = (name: string) => ({
      examples: [],
      run: async () => {
        ran.push(name)
        return 0 as const
      },
    })
    const commands = programOf({ one: command('one'), two: command('two') })
    expect((await muster('--connection one two', {}, commands)).code).toBe(0)
    expect((await muster('--connection --config two', {}, commands)).code).toBe(0)
    expect(ran).toEqual(['two', 'two'])
  })
})

describe('wrong usage is one line and exit code 2', () => {
  test.each([
    ['init --froce', `muster: unknown option '--froce', did you mean --force?\n`],
    [
      '--color alwys list',
      /argument 'alwys' is invalid\. Give one of auto, always, never: did you mean always\?/,
    ],
    ['sandbx', `muster: unknown command 'sandbx', did you mean sandbox?\n`],
    ['dag lst', `muster: unknown command 'lst', did you mean list?\n`],
    ['init --forse', `muster: unknown option '--forse', did you mean --force?\n`],
    ['xyzzyx', `muster: unknown command 'xyzzyx' (see muster --help)\n`],
    ['dag run', `muster: missing required argument 'name' (see muster dag run --help)\n`],
    ['dag run --nope', `muster: unknown option '--nope' (see muster dag run --help)\n`],
    ['run --nope', `muster: unknown option '--nope' (see muster dag run --help)\n`],
    ['dag --nope', `muster: unknown option '--nope' (see muster dag --help)\n`],
    ['--nope sync', `muster: unknown option '--nope' (see muster --help)\n`],
    ['help syn', `muster: unknown command 'syn', did you mean sync?\n`],
    ['synk --help', `muster: unknown command 'synk', did you mean sync?\n`],
    ['-h synk', `muster: unknown command 'synk', did you mean sync?\n`],
    ['help dag rum', `muster: unknown command 'rum', did you mean run?\n`],
    ['dag rum --help', `muster: unknown command 'rum', did you mean run?\n`],
    ['dag help rum', `muster: unknown command 'rum', did you mean run?\n`],
    ['help xyzzyx', `muster: unknown command 'xyzzyx' (see muster --help)\n`],
    ['dag xyzzyx', `muster: unknown command 'xyzzyx' (see muster dag --help)\n`],
    ['sandbox --port 70000', /argument '70000' is invalid\. Give a whole number from 0 to 65535\./],
    ['sandbox --port -1', /is invalid|missing/],
    ['sandbox --scale 0', /Give a number above 0\./],
    ['sandbox --today 2026-02-30', /Give a day as YYYY-MM-DD\./],
    ['init --quiet --verbose', /cannot be used with/],
  ])('%s', async (line, expected) => {
    const { code, out, err } = await muster(line)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(expected)
    expect(err.trimEnd()).not.toContain('\n')
  })
})

/** A path through a file. */
function refusedBySystem(): unknown {
  try {
    return lstatSync(fileURLToPath(new URL('../../package.json/x', import.meta.url)))
  } catch (error) {
    return error
  }
}

describe('a failing command', () => {
  const failing = (error: unknown) => commandThat(() => Promise.reject(error))

  test.each([
    [new MusterError({ what: 'no', where: 'here', next: 'do this' }), 1, 'muster: no (here): do this\n'],
    [new ConfigError({ what: 'no' }), 78, 'muster: no\n'],
    [new BudgetSpent({ what: 'no' }), 75, 'muster: no\n'],
    [new TypeError('x is\nnot a function'), 1, 'muster: unexpected TypeError: x is not a function\n'],
    [
      refusedBySystem(),
      1,
      expect.stringMatching(/^muster: not a directory \(\S+package\.json\/x\): check this path, [^\n]+\n$/),
    ],
    ['text', 1, 'muster: text\n'],
  ])('%s', async (error, code, line) => {
    expect(await muster('try', {}, failing(error))).toMatchObject({ code, out: '', err: line })
  })

  test('says why only under --verbose, and without a stack', async () => {
    const root = new Error('socket\nhung up')
    const cause = new Error('read failed', { cause: root })
    const error = new MusterError({ what: 'no answer', cause })
    expect((await muster('try', {}, failing(error))).err).toBe('muster: no answer\n')
    expect((await muster('try --verbose', {}, failing(error))).err).toBe(
      'muster: no answer\n  because: Error: read failed\n  because: Error: socket hung up\n',
    )
  })

  test('because of a signal says so', async () => {
    const reason = new BudgetSpent({ what: 'stopped by SIGINT' })
    const signal = AbortSignal.abort(reason)
    const commands = commandThat(async () => systemClock.sleep(1000, signal).then(() => 0 as const))
    expect(await muster('try', { signal }, commands)).toMatchObject({
      code: 75,
      err: 'muster: stopped by SIGINT\n',
    })
    const other = commandThat(() => Promise.reject(new Error('broken')))
    expect((await muster('try', { signal }, other)).code).toBe(1)
  })

  test('never shows a secret of the settings', async () => {
    const commands = commandThat(async context => {
      const key = context.connection().apiKey.reveal()
      context.log.warn({ apiKey: 'other', url: `https://x/?k=${key}` }, `sent ${key}`)
      throw new Error(`refused ${key}`)
    })
    const { err } = await muster('try', { env: environment }, commands)
    expect(err).not.toContain(KEY)
    expect(err).not.toContain('other')
    expect(err).toContain('refused [secret]')
    expect(err).toContain('"time":"2026-01-01T00:00:00.000Z"')
  })
})

describe('a running command', () => {
  test('ends with the code that it returns', async () => {
    expect(
      (
        await muster(
          'try',
          {},
          commandThat(async () => 3),
        )
      ).code,
    ).toBe(3)
  })

  test('gets its arguments, its options and the global options from either side', async () => {
    const seen: unknown[] = []
    const commands = commandThat(
      async (context, args, options) => {
        seen.push(args, options, context.globals)
        return 0
      },
      {
        arguments: [{ name: '[resource...]', summary: 'what' }],
        options: [{ flags: '--max-requests <number>', summary: 'how many', parse: integerBetween(1) }],
      },
      'many try',
    )
    const { code } = await muster('--json many try a b --max-requests 5 --config x.yaml', {}, commands)
    expect(code).toBe(0)
    expect(seen).toEqual([['a', 'b'], { maxRequests: 5 }, { config: 'x.yaml', json: true }])
  })

  test('keeps stdout for the one document under --json', async () => {
    const commands = commandThat(async context => {
      printLine(context, 'a sentence')
      printTable(context, ['a'], [[1]])
      if (context.json) printJson(context, { rows: 2n, total: 12345678901234567890n })
      return 0
    })
    const { out, err } = await muster('try --json', {}, commands)
    expect(JSON.parse(out)).toEqual({ rows: 2, total: '12345678901234567890' })
    expect(err).toBe('a sentence\na\n-\n1\n')
    expect((await muster('try', {}, commands)).out).toBe('a sentence\na\n-\n1\n')
  })

  test('reads settings only when it asks for them, once', async () => {
    const commands = commandThat(async context => {
      expect(context.settings()).toBe(context.settings())
      return context.connection().name === 'default' ? 0 : 1
    })
    expect((await muster('try', { env: environment }, commands)).code).toBe(0)
    const { code, err } = await muster('try', {}, commands)
    expect(code).toBe(78)
    expect(err).toBe(
      'muster: there are no settings: config/muster.yaml does not exist: ' +
        'run `muster init`, or set MUSTER_BASE_URL and MUSTER_API_KEY\n',
    )
  })

  test('logs warnings by default, more with --verbose and less with --quiet', async () => {
    const commands = commandThat(async ({ log }) => {
      log.debug('one')
      log.warn('two')
      log.error('three')
      return 0
    })
    const messages = async (line: string) => {
      const { err } = await muster(line, {}, commands)
      return err
        .trim()
        .split('\n')
        .map(text => JSON.parse(text).msg)
    }
    expect(await messages('try')).toEqual(['two', 'three'])
    expect(await messages('try --verbose')).toEqual(['one', 'two', 'three'])
    expect(await messages('try --quiet')).toEqual(['three'])
  })
})
