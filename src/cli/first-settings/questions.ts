/** What `muster init` asks on a terminal. */
import { confirm, input, password } from '@inquirer/prompts'
import { parseWarehouse } from '../../config/warehouse-url.ts'
import { MusterError } from '../../lib/errors.ts'
import type { CommandContext } from '../context.ts'
import { duckdbOf, type FirstConnection, keyVariable } from './filled-template.ts'

export interface Answers extends FirstConnection {
  /** Empty when the key is to come from a variable. */
  readonly key: string
}

/** The terminal on which somebody answers. */
export interface Answering {
  readonly stdin: () => NodeJS.ReadStream
  readonly screen: NodeJS.WritableStream
}

type Asking = Answering & Pick<CommandContext, 'signal'>

const isAddress = (text: string): true | string =>
  (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) ||
  'Give an address, as in https://api.example.com/api/open/v1'

const isName = (text: string): true | string => /^[\w-]+$/.test(text) || 'Use letters, digits, _ and -'

const isWarehouse = (text: string): true | string =>
  parseWarehouse(text, '/') !== undefined || 'Give duckdb:FILE or postgres://USER@HOST:PORT/DATABASE'

async function answered<Answer>(question: Promise<Answer>): Promise<Answer> {
  try {
    return await question
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ExitPromptError')) throw error
    throw new MusterError({ what: 'the questions were left', next: 'run `muster init` again', cause: error })
  }
}

const terminalOf = ({ stdin, screen, signal }: Asking) => ({
  input: stdin(),
  output: screen,
  signal,
})

/** `before` are answers that turned out wrong. */
export async function askConnection(asking: Asking, before?: Answers): Promise<Answers> {
  const terminal = terminalOf(asking)
  const text = (message: string, usual: string, validate: (text: string) => true | string) =>
    answered(input({ message, default: usual, validate, required: true }, terminal))
  const name = await text('Name of the connection', before?.name ?? 'acme', isName)
  const baseUrl = await answered(
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
  const key = await answered(
    password({ message: `API key (nothing, if it will be in ${keyVariable(name)})`, mask: '*' }, terminal),
  )
  const warehouse = await text('Warehouse', before?.warehouse ?? duckdbOf(name), isWarehouse)
  const keyFile = key.trim() === '' ? {} : { keyFile: `secrets/${name}-api-key` }
  return { name, baseUrl: baseUrl.replace(/\/+$/, ''), key: key.trim(), warehouse, ...keyFile }
}

export const askAgain = (asking: Asking): Promise<boolean> =>
  answered(confirm({ message: 'Answer again?', default: true }, terminalOf(asking)))
