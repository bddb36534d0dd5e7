/** Seconds of the processor that a PostgreSQL server has used, processes that have ended included. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'

/** Of /proc: hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100

/** What follows the name in /proc/PID/stat: the state, the parent, ... */
function statOf(process: number | string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${process}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}

const sum = (stat: readonly string[], from: number, to: number): number =>
  stat.slice(from, to).reduce((total, ticks) => total + Number(ticks), 0)

/** What is to be written is written first, so that it counts for those who caused it. */
export async function postgresSeconds(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('checkpoint')
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const server = statOf(rows[0]?.pid ?? 0)[1] ?? ''
    const children = readdirSync('/proc').filter(name => /^\d+$/.test(name) && statOf(name)[1] === server)
    // utime and stime, and of the server itself also those of the children that it has waited for.
    const ticks =
      sum(statOf(server), 11, 15) + children.reduce((all, one) => all + sum(statOf(one), 11, 13), 0)
    return ticks / ticksPerSecond
  } finally {
    await client.end()
  }
}
