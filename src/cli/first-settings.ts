/** Asks for the first settings of `muster init`, fills in the template, and tests the key with one request. */
import { readFileSync } from 'node:fs'
import { confirm, input, password } from '@inquirer/prompts'
import { type CheckupFinding, failed } from '../app/checkup/finding.ts'
import { keyFindings } from '../app/checkup/key.ts'
import { openAdHocClient } from '../app/connection/ad-hoc-client.ts'
import { connectionNamed, loadSettings } from '../config/settings.ts'
import { parseWarehouse } from '../config/warehouse-url.ts'
import { MusterError } from '../lib/errors.ts'
import { packageFile } from '../lib/package.ts'
import type { CommandContext } from './context.ts'

export interface FirstConnection {
  readonly name: string
  readonly baseUrl: string
  /** A file with the key; without one the key comes from the variable that `keyVariable` names. */
  readonly keyFile?: string
  readonly warehouse: string
}

export const keyVariable = (name: string): string =>
  `${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_API_KEY`

export const duckdbOf = (name: string): string => `duckdb:data/${name}.duckdb`

export const template = (): string => readFileSync(packageFile('config/muster.example.yaml'), 'utf8')

/** Quotes as JSON, which is valid YAML for any text. */
const quoted = (text: string): string => (/^[\w./:@${}-]+$/.test(text) ? text : JSON.stringify(text))

/** Fills in the template. The connection's name also replaces the template's in the names of files and variables. */
export function filledTemplate({ name, baseUrl, keyFile, warehouse }: FirstConnection): string {
  const keyLine =
    keyFile === undefined ? `apiKey: \${${keyVariable(name)}}` : `apiKeyFile: ${quoted(keyFile)}`
  return template()
    .replaceAll('ACME_', () => keyVariable(name).replace(/API_KEY$/, ''))
    .replaceAll('acme', () => name)
    .replace('baseUrl: https://api.example.com/api/open/v1', () => `baseUrl: ${quoted(baseUrl)}`)
    .replace(/apiKey: \$\{\w+\}\n.*apiKeyFile: .*\n/, () => `${keyLine}\n`)
    .replace(`warehouse: ${duckdbOf(name)}`, () => `warehouse: ${quoted(warehouse)}`)
}

interface SettingsAnswers extends FirstConnection {
  /** Empty if the key will come from a variable. */
  readonly key: string
}

/** The terminal on which the user answers. */
export interface AnswerTerminal {
  readonly stdin: () => NodeJS.ReadStream
  readonly screen: NodeJS.WritableStream
}

type QuestionContext = AnswerTerminal & Pick<CommandContext, 'signal'>

const isAddress = (text: string): true | string =>
  (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) ||
  'Give an address, as in https://api.example.com/api/open/v1'

const isName = (text: string): true | string => /^[\w-]+$/.test(text) || 'Use letters, digits, _ and -'

const isWarehouse = (text: string): true | string =>
  parseWarehouse(text, '/') !== undefined || 'Give duckdb:FILE or postgres://USER@HOST:PORT/DATABASE'

interface QuestionTerminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WritableStream
  readonly signal: AbortSignal
}

async function answered<Answer>(
  { stdin, screen, signal }: QuestionContext,
  ask: (terminal: QuestionTerminal) => Promise<Answer>,
): Promise<Answer> {
  const input = stdin()
  const left = new AbortController()
  const leave = (): void => left.abort()
  // Ctrl-D closes the input without an answer or an error: the process would end with 0.
  for (const event of ['pause', 'end', 'close']) input.once(event, leave)
  try {
    return await ask({ input, output: screen, signal: AbortSignal.any([signal, left.signal]) })
  } catch (error) {
    signal.throwIfAborted()
    if (!left.signal.aborted && !(error instanceof Error && error.name === 'ExitPromptError')) throw error
    throw new MusterError({
      what: 'the questions were cancelled',
      next: 'run `muster init` again',
      cause: error,
    })
  } finally {
    for (const event of ['pause', 'end', 'close']) input.off(event, leave)
  }
}

/** `before` holds answers that turned out wrong. */
export async function askConnection(
  asking: QuestionContext,
  before?: SettingsAnswers,
): Promise<SettingsAnswers> {
  const text = (message: string, fallback: string, validate: (text: string) => true | string) =>
    answered(asking, terminal => input({ message, default: fallback, validate, required: true }, terminal))
  const name = await text('Name of the connection', before?.name ?? 'acme', isName)
  const baseUrl = await answered(asking, terminal =>
    input(
      {
        message: 'Address of the service, with its version',
        ...(before && { default: before.baseUrl }),
        validate: isAddress,
        required: true,
      },
      terminal,
    ),
  )
  const key = await answered(asking, terminal =>
    password({ message: `API key (leave empty to read it from ${keyVariable(name)})`, mask: '*' }, terminal),
  )
  const warehouse = await text('Warehouse', before?.warehouse ?? duckdbOf(name), isWarehouse)
  const keyFile = key.trim() === '' ? {} : { keyFile: `secrets/${name}-api-key` }
  return { name, baseUrl: baseUrl.replace(/\/+$/, ''), key: key.trim(), warehouse, ...keyFile }
}

export const askAgain = (asking: QuestionContext): Promise<boolean> =>
  answered(asking, terminal => confirm({ message: 'Answer again?', default: true }, terminal))

/** Tests address and key with one request. The first finding is about the key itself. */
export async function testKey(context: CommandContext, file: string): Promise<readonly CheckupFinding[]> {
  const { env, cwd, clock, signal } = context
  try {
    const connection = connectionNamed(loadSettings({ configFile: file, env, cwd }))
    context.hide(connection.apiKey.reveal())
    const { client, close } = await openAdHocClient(connection, context)
    try {
      return keyFindings(await client.getMe(), clock.now())
    } finally {
      await close()
    }
  } catch (error) {
    signal.throwIfAborted()
    return [failed('key', error)]
  }
}
