/** Processor time of processes: what work takes of a machine, however busy others keep it. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Nanoseconds that a thread ran; one that has just ended counts no more. */
function ran(process: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${process}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

export const processorMs = (processes: readonly number[]): number =>
  processes
    .flatMap(process => readdirSync(`/proc/${process}/task`).map(thread => ran(process, thread)))
    .reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6

const ticksPerSecond = 100

/** The parent of a process, and the seconds that it ran, with those of its children that have ended. */
function statOf(process: number): { readonly parent: number; readonly seconds: number } {
  const text = readFileSync(`/proc/${process}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0)
  return { parent: fields[1] ?? 0, seconds: ticks / ticksPerSecond }
}

/** Of a process that has ended meanwhile its parent has the seconds, once it is asked again. */
function secondsOf(server: number): number {
  const children = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
  try {
    return [server, ...children].reduce((sum, one) => sum + statOf(one).seconds, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return secondsOf(server)
  }
}

/** Seconds that a server ran since it started, all of its processes, those that have ended among them. */
export async function serverSeconds(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const { parent } = statOf(rows[0]?.pid ?? 0)
  await client.end()
  return secondsOf(parent)
}

/** Processes in which a server works for the program, each a query in one of them and in no other. */
export async function backendsOf(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'muster' and state is not null`,
    )
    return rows.map(({ pid }) => pid)
  } finally {
    await client.end()
  }
}
