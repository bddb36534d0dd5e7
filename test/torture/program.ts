/** The built program as child processes: run to the end, killed, stopped or told to end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Nothing here takes so long, however busy the machine is. */
const maxMs = 240_000

export interface Ended {
  readonly words: string
  /** Null when a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
  readonly ms: number
  /** It was killed by the trial itself, as it had not ended after so long. */
  readonly isLate: boolean
}

export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** `words` are split at blanks, or given one by one. */
export function start(words: string | readonly string[], { cwd, env }: Surroundings): Running {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const list = typeof words === 'string' ? words.split(' ') : words
  const started = performance.now()
  const child = spawn(process.execPath, [program, ...list], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', data => (out += data))
  child.stderr.on('data', data => (err += data))
  let isLate = false
  const late = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, maxMs)
  const ended = new Promise<Ended>(resolve =>
    child.once('close', (code, signal) => {
      clearTimeout(late)
      resolve({ words: list.join(' '), code, signal, out, err, ms: performance.now() - started, isLate })
    }),
  )
  return { child, ended }
}

/** What every end has in common, however it came: no trace of the program's insides, and a code that is documented. */
export function complaint(
  { words, code, signal, err, out, isLate }: Ended,
  codes: readonly number[],
): string | undefined {
  const how = isLate ? `not ended after ${maxMs / 1000} s` : (code ?? signal)
  const says = `${words}: ${how}: ${(err || out).trim().split('\n').at(-1)?.slice(0, 300) ?? ''}`
  if (/unexpected|^\s+at .*:\d+:\d+/m.test(err)) return `trace or unexpected: ${says}`
  return code !== null && codes.includes(code) ? undefined : says
}

/** 1 is right where a target is there already or there is no warehouse yet, and the line says so. */
export const isInTheWay = ({ code, err }: Ended): boolean =>
  code === 1 &&
  /already|not empty|appeared|meanwhile|nothing was synced|does not exist yet|no warehouse|has this id/.test(
    err,
  )
