/** A world whose streams are kept as text, in a folder and at a time that the test decides. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CommandModule, CommandSet } from '../../src/cli/command.ts'
import { commandSet } from '../../src/cli/commands.ts'
import { run } from '../../src/cli/program.ts'
import type { ProcessIo } from '../../src/cli/world.ts'
import type { Environment } from '../../src/config/environment.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { withServiceAt } from '../sandbox/open-sandbox.ts'

export interface Captured {
  readonly world: ProcessIo
  readonly out: () => string
  readonly err: () => string
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'muster-cli-'))
}

export function captured(parts: Partial<ProcessIo> & { env?: Environment } = {}): Captured {
  const out: string[] = []
  const err: string[] = []
  const world: ProcessIo = {
    env: {},
    cwd: parts.cwd ?? temporaryFolder(),
    startedAs: ['/usr/bin/node', '/opt/muster/dist/main.js'],
    stdout: { write: text => out.push(text), columns: 100 },
    stderr: { write: text => err.push(text), columns: 100 },
    clock: stillClock(),
    rng: seededRng(1),
    signal: new AbortController().signal,
    ...parts,
  }
  return { world, out: () => out.join(''), err: () => err.join('') }
}

/** Stands still at 2026-01-01T00:00:00Z unless moved; sleeping moves it. */
export function stillClock(): Clock & { move(ms: number): void } {
  let now = Date.UTC(2026, 0, 1)
  return {
    now: () => now,
    sleep: async ms => {
      now += ms
    },
    move: ms => {
      now += ms
    },
  }
}

/** A program of other commands. */
export const programOf = (modules: Readonly<Record<string, CommandModule>>): CommandSet => ({
  commands: Object.fromEntries(
    Object.entries(modules).map(([name, command]) => [
      name,
      { summary: `${name}s.`, purpose: 'To try', load: async () => ({ command }) },
    ]),
  ),
  groups: { many: 'Several.' },
})

/** The commands of the program, by name. */
export const everyCommand = (): Promise<readonly (readonly [string, CommandModule])[]> =>
  Promise.all(
    Object.entries(commandSet.commands).map(
      async ([name, { load }]) => [name, (await load()).command] as const,
    ),
  )

/** Runs one command line; `commands` are those of the program unless given. */
export async function muster(
  line: string,
  parts: Partial<ProcessIo> = {},
  commands: CommandSet = commandSet,
) {
  const { world, out, err } = captured(parts)
  const words = line.split(' ').filter(Boolean)
  const code = await withServiceAt(world.clock, () => run(words, world, commands))
  return { code, out: out(), err: err(), cwd: world.cwd }
}
