/** What the runner of mutants asks of the thread in which the rules tests stand, and what the thread answers. */
import { once } from 'node:events'
import { BroadcastChannel } from 'node:worker_threads'

export interface MutantQuestion {
  readonly mutant: string
  /** The altered file, if it is known. */
  readonly source?: string
  /** Ids of the tests that reach the mutant; all tests, if absent. */
  readonly tests: readonly string[] | undefined
  /** How often the mutant may be passed before it counts as an endless loop. */
  readonly hitLimit: number | undefined
}

export type Question = { readonly ask: 'dry-run' | 'end' } | ({ readonly ask: 'mutant' } & MutantQuestion)

export interface RunTest {
  readonly id: string
  /** Its path in the folder of all rules tests. */
  readonly file: string
  readonly name: string
  readonly durationMs: number
  readonly failure: string | undefined
}

type Hits = Record<string, number>

export interface DryRunAnswer {
  readonly tests: readonly RunTest[]
  readonly coverage: { readonly static: Hits; readonly perTest: Readonly<Record<string, Hits>> }
}

export interface MutantAnswer {
  readonly ran: number
  readonly killer: RunTest | undefined
  readonly hits: number
  /** Whether the test that failed passes again without the mutant: if not, the mutant left the thread in a bad state. */
  readonly isClean: boolean
}

/** Both ends are in one process. */
export const openChannel = (): BroadcastChannel => new BroadcastChannel('muster-mutants')

/** The next message. */
export async function receive<Message>(channel: BroadcastChannel): Promise<Message> {
  const [event] = await once(channel as unknown as EventTarget, 'message')
  return event.data
}
