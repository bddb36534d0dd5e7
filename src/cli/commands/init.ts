/** `muster init`: writes a commented settings file, filled in by what it asks on a terminal. */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isSettingsSchema, settingsSchema } from '../../config/schema.ts'
import { defaultConfigFile } from '../../config/source/found-source.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { sandboxKeys } from '../../sandbox/keys/default-keys.ts'
import { writeOutput } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import {
  duckdbOf,
  type FirstConnection,
  filledTemplate,
  keyVariable,
  template,
} from '../first-settings/filled-template.ts'
import type { Answering } from '../first-settings/questions.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** Free on most machines, and the same each time, so that the settings stay right. */
const sandboxPort = 4010

const sandboxConnection: FirstConnection & { readonly key: string } = {
  name: 'sandbox',
  baseUrl: `http://127.0.0.1:${sandboxPort}/api/open/v1`,
  keyFile: 'secrets/sandbox-api-key',
  key: sandboxKeys.company,
  warehouse: duckdbOf('sandbox'),
}

const stepsToFill = [
  'set ACME_API_KEY to your key (or write settings for a sandbox: `muster init --sandbox --force`)',
  'correct baseUrl, and warehouse if you want PostgreSQL',
  'run `muster doctor` to check everything, then `muster sync`',
]

const stepsOfSandbox = [
  `start it in another terminal: \`muster sandbox --port ${sandboxPort}\``,
  'run `muster sync`, then `muster build` and `muster dashboard`',
]

interface Place {
  readonly file: string
  readonly isForced: boolean
}

export const command: CommandModule = {
  options: [
    { flags: '--sandbox', summary: 'settings for `muster sandbox`, which needs no key' },
    { flags: '--force', summary: 'replace an existing file' },
  ],
  notes: [
    'On a terminal it asks for address, key and warehouse, and tries the key with one request; elsewhere it writes the',
    'template. The key goes into a file of its own below secrets/, which only you can read.',
  ],
  examples: ['muster init', 'muster init --sandbox', 'muster init --config /etc/muster/acme.yaml'],
  run: async (context, _, options) => {
    const place = {
      file: context.globals.config ?? defaultConfigFile,
      isForced: flagOption(options, 'force'),
    }
    requireNew(context, place)
    if (flagOption(options, 'sandbox')) {
      writeConnection(context, place, sandboxConnection)
      told(context, place, stepsOfSandbox)
    } else if (isAnswered(context)) {
      await fillIn(context, place)
    } else {
      write(context, place, template())
      told(context, place, stepsToFill)
    }
    return 0
  },
}

/** Whether somebody is there to answer. */
const isAnswered = (context: CommandContext): context is CommandContext & Answering =>
  !context.json && context.screen !== undefined && context.stdin?.().isTTY === true

function told(context: CommandContext, { file }: Place, next: readonly string[]): void {
  const steps = next.map((step, index) => `  ${index + 1}. ${step}`)
  if (context.json) printJson(context, { written: file, next })
  else printLine(context, [`Wrote ${file}. Now:`, ...steps].join('\n'))
}

/** Asks until the key works, or until its user goes on without. */
async function fillIn(context: CommandContext & Answering, first: Place): Promise<void> {
  let place = first
  const [{ askAgain, askConnection }, { testKey }] = await Promise.all([
    import('../first-settings/questions.ts'),
    import('../first-settings/key-test.ts'),
  ])
  let answers = await askConnection(context)
  for (;;) {
    writeConnection(context, place, answers)
    if (answers.key === '' && !context.env[keyVariable(answers.name)]) {
      const setKey = `set ${keyVariable(answers.name)} to your key`
      return told(context, place, [setKey, ...stepsToFill.slice(-1)])
    }
    const findings = await testKey(context, place.file)
    for (const { state, check, found, advice } of findings)
      printLine(context, `${state.padEnd(4)}  ${check}: ${found}${advice ? `; ${advice}` : ''}`)
    if (findings.every(({ state }) => state !== 'fail') || !(await askAgain(context))) break
    answers = await askConnection(context, answers)
    // What was written before is this command's own.
    place = { ...place, isForced: true }
  }
  told(context, place, stepsToFill.slice(-1))
}

function writeConnection(
  context: CommandContext,
  place: Place,
  { key, ...connection }: FirstConnection & { readonly key: string },
): void {
  const { keyFile } = connection
  if (keyFile !== undefined) {
    const path = resolve(context.cwd, keyFile)
    makeFolder(path, keyFile)
    // A key that is there is replaced by the one that was just given.
    writeOutput(path, `${key}\n`, { guarded: [], isForced: true, isOurs: () => true, mode: 0o600 })
  }
  write(context, place, filledTemplate(connection))
}

function requireNew({ cwd }: CommandContext, { file, isForced }: Place): void {
  makeFolder(resolve(cwd, file), file)
  if (!isForced && lstatSync(resolve(cwd, file), { throwIfNoEntry: false }))
    throw new UsageError({ what: `${file} exists already`, next: 'add --force to replace it' })
}

/** The settings and, beside them, the schema that their first line names. */
function write({ cwd }: CommandContext, { file, isForced }: Place, text: string): void {
  const path = resolve(cwd, file)
  makeFolder(path, file)
  writeOutput(join(dirname(path), 'muster.schema.json'), `${JSON.stringify(settingsSchema(), null, 2)}\n`, {
    guarded: [],
    isForced,
    isOurs: schema => isSettingsSchema(readFileSync(schema, 'utf8')),
  })
  writeOutput(path, text, { guarded: [], isForced, isOurs: () => false })
}

function makeFolder(path: string, shown: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
  } catch (cause) {
    throw new MusterError({
      what: `${shown} cannot be written`,
      next: 'check its folder and permissions',
      cause,
    })
  }
}
