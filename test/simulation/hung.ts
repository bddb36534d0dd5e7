/** What a process that does not end is doing, as far as the system tells: which of its threads wait, and which spin. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Long enough for a thread that spins to show it. */
const watchedMs = 3_000

interface Thread {
  readonly name: string
  readonly state: string
  /** Where in the system it waits. */
  readonly waits: string
  /** Of the processor, in ticks of 10 ms. */
  readonly ticks: number
}

function threadOf(folder: string): Thread {
  const stat = readFileSync(`${folder}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return {
    name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
    state: fields[0] ?? '',
    waits: readFileSync(`${folder}/wchan`, 'utf8'),
    ticks: Number(fields[11]) + Number(fields[12]),
  }
}

function threadsOf(pid: number): Map<string, Thread> {
  const folder = `/proc/${pid}/task`
  if (!existsSync(folder)) return new Map()
  return new Map(readdirSync(folder).map(task => [task, threadOf(`${folder}/${task}`)]))
}

/** A line for each thread; none where the system does not tell. */
export async function threadLines(pid: number): Promise<string[]> {
  const before = threadsOf(pid)
  await wait(watchedMs)
  return [...threadsOf(pid)].map(([task, { name, state, waits, ticks }]) => {
    const spent = (ticks - (before.get(task)?.ticks ?? 0)) * 10
    return `  thread ${task} ${name}: ${state} ${waits}, ${spent} of ${watchedMs} ms of the processor`
  })
}
