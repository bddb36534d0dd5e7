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
