/** The built program without the privilege of root over file rights. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Where } from './built-program.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** What takes it away from root; other users have none. */
const asUser: readonly string[] =
  process.getuid?.() === 0
    ? [
        'setpriv',
        '--bounding-set',
        '-dac_override,-dac_read_search',
        '--inh-caps',
        '-dac_override,-dac_read_search',
      ]
    : ['env']

/** Part of the name of a test; empty where such a user can be had. */
export const skipped =
  spawnSync(asUser[0]!, [...asUser.slice(1), 'true']).status === 0 ? '' : ' (skipped: runs as root here)'

export interface OfUser {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export function musterOfUser(words: string, { cwd, env }: Where): OfUser {
  const [command, ...rest] = [...asUser, process.execPath, program, ...words.split(' ')]
  const { status, stdout, stderr } = spawnSync(command!, rest, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return { code: status, out: stdout, err: stderr }
}
