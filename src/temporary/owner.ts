/** Who made a temporary place, and whether that process still runs. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import * as z from 'zod'
import { isAlive } from '../lib/is-alive.ts'

const shape = z.object({
  pid: z.int().positive(),
  host: z.string(),
  /** Changes when the machine starts again; empty where the system does not tell. */
  boot: z.string(),
  /** Two containers can have a process of the same number. */
  namespace: z.string(),
  /** When the process started, in ticks since the boot: its number may be given to another one later. */
  started: z.string(),
})

export type Owner = z.infer<typeof shape>

export const ownerShape = shape

/** Empty on a system without /proc, and for a process that is gone. */
function told(read: () => string): string {
  try {
    return read()
  } catch {
    // No /proc, no such process, or another user's.
    return ''
  }
}

/** Fields of /proc/PID/stat after the name of the program, which may hold spaces and brackets. */
const statOf = (pid: number): readonly string[] =>
  told(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
    .replace(/^.*\) /s, '')
    .split(' ')

const startOf = (pid: number): string => statOf(pid)[19] ?? ''

/** Killed, but its parent did not ask for its exit code yet. */
const isZombie = (pid: number): boolean => statOf(pid)[0] === 'Z'

let known: Owner | undefined

/** This process. */
export function ourselves(): Owner {
  known ??= {
    pid: process.pid,
    host: hostname(),
    boot: told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: told(() => readlinkSync('/proc/self/ns/pid')),
    started: startOf(process.pid),
  }
  return known
}

/** Undefined for an owner on another machine or in another container, which cannot be asked from here. */
export function runs(owner: Owner): boolean | undefined {
  const here = ourselves()
  if (owner.host !== here.host || owner.namespace !== here.namespace) return undefined
  if (owner.boot !== here.boot || !isAlive(owner.pid) || isZombie(owner.pid)) return false
  return owner.started === startOf(owner.pid)
}
