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

interface Terminal {
  readonly input: NodeJS.ReadStream
  readonly output: NodeJS.WritableStream
  readonly signal: AbortSignal
}

async function answered<Answer>(
  { stdin, screen, signal }: Asking,
  ask: (terminal: Terminal) => Promise<Answer>,
): Promise<Answer> {
  const input = stdin()
  const left = new AbortController()
  const leave = (): void => left.abort()
  // Ctrl-D closes the input without an answer, and nobody else tells: the process would end as if all were done.
  for (const event of ['pause', 'end', 'close']) input.once(event, leave)
  try {
    return await ask({ input, output: screen, signal: AbortSignal.any([signal, left.signal]) })
  } catch (error) {
    signal.throwIfAborted()
    if (!left.signal.aborted && !(error instanceof Error && error.name === 'ExitPromptError')) throw error
    throw new MusterError({ what: 'the questions were left', next: 'run `muster init` again', cause: error })
  } finally {
    for (const event of ['pause', 'end', 'close']) input.off(event, leave)
  }
}

/** `before` are answers that turned out wrong. */
export async function askConnection(asking: Asking, before?: Answers): Promise<Answers> {
  const text = (message: string, usual: string, validate: (text: string) => true | string) =>
    answered(asking, terminal => input({ message, default: usual, validate, required: true }, terminal))
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
    password({ message: `API key (nothing, if it will be in ${keyVariable(name)})`, mask: '*' }, terminal),
  )
  const warehouse = await text('Warehouse', before?.warehouse ?? duckdbOf(name), isWarehouse)
  const keyFile = key.trim() === '' ? {} : { keyFile: `secrets/${name}-api-key` }
  return { name, baseUrl: baseUrl.replace(/\/+$/, ''), key: key.trim(), warehouse, ...keyFile }
}

export const askAgain = (asking: Asking): Promise<boolean> =>
  answered(asking, terminal => confirm({ message: 'Answer again?', default: true }, terminal))
