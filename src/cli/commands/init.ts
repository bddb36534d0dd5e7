/** `muster init`: writes a commented settings file, with the answers given on a terminal. */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defaultConfigFile } from '../../config/found-source.ts'
import { isSettingsSchema, settingsSchema } from '../../config/schema.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import { sandboxKeys } from '../../sandbox/keys/default-keys.ts'
import { writeOutput } from '../../temporary/output-file.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import {
  type AnswerTerminal,
  duckdbOf,
  type FirstConnection,
  filledTemplate,
  keyVariable,
  template,
} from '../first-settings.ts'
import { printJson, printLine } from '../terminal/output.ts'

/** Usually free, and always the same, so that the settings stay valid. */
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

interface SettingsTarget {
  readonly file: string
  readonly isForced: boolean
}

export const command: CommandModule = {
  options: [
    { flags: '--sandbox', summary: 'settings for `muster sandbox`, which needs no key' },
    { flags: '--force', summary: 'replace an existing file' },
  ],
  notes: [
    'On a terminal it asks for address, key and warehouse, and tests the key with one request; elsewhere it writes the',
    'template. The key goes into a separate file under secrets/ that only you can read.',
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
      printNextSteps(context, place, stepsOfSandbox)
    } else if (isAnswered(context)) {
      await fillIn(context, place)
    } else {
      write(context, place, template())
      printNextSteps(context, place, stepsToFill)
    }
    return 0
  },
}

/** Whether a user can answer questions. */
const isAnswered = (context: CommandContext): context is CommandContext & AnswerTerminal =>
  !context.json && context.screen !== undefined && context.stdin?.().isTTY === true

function printNextSteps(context: CommandContext, { file }: SettingsTarget, next: readonly string[]): void {
  const steps = next.map((step, index) => `  ${index + 1}. ${step}`)
  if (context.json) printJson(context, { written: file, next })
  else printLine(context, [`Wrote ${file}. Now:`, ...steps].join('\n'))
}

/** Asks until the key works or the user continues without it. */
async function fillIn(context: CommandContext & AnswerTerminal, first: SettingsTarget): Promise<void> {
  let place = first
  const [{ askAgain, askConnection }, { testKey }] = await Promise.all([
    import('../first-settings.ts'),
    import('../first-settings.ts'),
  ])
  let answers = await askConnection(context)
  for (;;) {
    writeConnection(context, place, answers)
    if (answers.key === '' && !context.env[keyVariable(answers.name)]) {
      const setKey = `set ${keyVariable(answers.name)} to your key`
      return printNextSteps(context, place, [setKey, ...stepsToFill.slice(-1)])
    }
    const findings = await testKey(context, place.file)
    for (const { state, check, found, advice } of findings)
      printLine(context, `${state.padEnd(4)}  ${check}: ${found}${advice ? `; ${advice}` : ''}`)
    if (findings.every(({ state }) => state !== 'fail') || !(await askAgain(context))) break
    answers = await askConnection(context, answers)
    // The file was written by the previous attempt.
    place = { ...place, isForced: true }
  }
  printNextSteps(context, place, stepsToFill.slice(-1))
}

function writeConnection(
  context: CommandContext,
  place: SettingsTarget,
  { key, ...connection }: FirstConnection & { readonly key: string },
): void {
  const { keyFile } = connection
  if (keyFile !== undefined) {
    const path = resolve(context.cwd, keyFile)
    makeFolder(path, keyFile)
    // Replaces an existing key by the one just entered.
    writeOutput(path, `${key}\n`, { guarded: [], isForced: true, isOurs: () => true, mode: 0o600 })
  }
  write(context, place, filledTemplate(connection))
}

function requireNew({ cwd }: CommandContext, { file, isForced }: SettingsTarget): void {
  makeFolder(resolve(cwd, file), file)
  if (!isForced && lstatSync(resolve(cwd, file), { throwIfNoEntry: false }))
    throw new UsageError({ what: `${file} exists already`, next: 'add --force to replace it' })
}

/** The settings and, beside them, the schema that their first line names. */
function write({ cwd }: CommandContext, { file, isForced }: SettingsTarget, text: string): void {
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
