/** Describes what the threads of a hung process do: which of them wait, and which spin. Reads /proc, so Linux only. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Long enough to see whether a thread spins. */
const watchedMs = 3_000

interface Thread {
  readonly name: string
  readonly state: string
  /** The kernel function in which it waits. */
  readonly waits: string
  /** CPU time, in ticks of 10 ms. */
  readonly ticks: number
}

function readThread(folder: string): Thread {
  const stat = readFileSync(`${folder}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
    state: fields[0] ?? '',
    waits: readFileSync(`${folder}/wchan`, 'utf8'),
    ticks: Number(fields[11]) + Number(fields[12]),
  }
}

function readThreads(pid: number): Map<string, Thread> {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return new Map()
  return new Map(readdirSync(folder).map(task => [task, readThread(`${folder}/${task}`)]))
}

/** A line for each thread; empty without /proc. */
export async function threadLines(pid: number): Promise<string[]> {
  const before = readThreads(pid)
  await wait(watchedMs)
  return [...readThreads(pid)].map(([task, { name, state, waits, ticks }]) => {
    const spent = (ticks - (before.get(task)?.ticks ?? 0)) * 10
    return `  thread ${task} ${name}: ${state} ${waits}, ${spent} of ${watchedMs} ms of CPU`
  })
}
