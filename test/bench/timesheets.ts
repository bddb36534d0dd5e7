/** One sync of timesheets served from memory on loopback, beside the floor of the same bytes. */
import { root } from './root.ts'
import { median, run, type SyncFigures, seconds, startServer, syncOnce, type Workload } from './sync-run.ts'

interface FloorFigures {
  readonly fetchMs: number
  readonly loadMs: number
  readonly cpuSeconds: number
}

async function floorOnce(url: string, { count, timelogs }: Workload): Promise<FloorFigures> {
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', 'test/bench/floor.ts', url, String(count), timelogs],
    { cwd: root },
  )
  return JSON.parse(stdout) as FloorFigures
}

/** Floor and sync in turn, so that a change in the machine's speed meets both; the ratio is of their medians. */
export async function compareDuckdb(workload: Workload, rounds = 3): Promise<void> {
  const server = await startServer(workload)
  const floors: FloorFigures[] = []
  const syncs: SyncFigures[] = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      floors.push(await floorOnce(server.url, workload))
      syncs.push(await syncOnce(server.url))
    }
  } finally {
    server.process.kill()
  }
  const floor = median(floors.map(({ fetchMs, loadMs }) => fetchMs + loadMs))
  const sync = median(syncs.map(({ milliseconds }) => milliseconds))
  console.log(
    `${workload.count.toLocaleString('en')} timesheets ${workload.timelogs} timelogs, median of ${rounds} rounds`,
  )
  console.log(
    `  floor  ${seconds(floor)} s   fetch ${seconds(median(floors.map(f => f.fetchMs)))} s, typed load ${seconds(median(floors.map(f => f.loadMs)))} s`,
  )
  console.log(
    `  sync   ${seconds(sync)} s   ${Math.round((workload.count / sync) * 1000).toLocaleString('en')} records/s`,
  )
  const [floorCpu, syncCpu] = [floors, syncs].map(all => median(all.map(({ cpuSeconds }) => cpuSeconds)))
  console.log(
    `  of the processor: floor ${floorCpu?.toFixed(1)} s, sync ${syncCpu?.toFixed(1)} s, ratio ${((syncCpu ?? 0) / (floorCpu ?? 1)).toFixed(2)}`,
  )
  console.log(
    `  ratio  ${(sync / floor).toFixed(2).padStart(7)}     peak memory ${Math.max(...syncs.map(s => s.peakMegabytes))} MB`,
  )
}

export async function loadOnce(workload: Workload): Promise<void> {
  const server = await startServer(workload)
  try {
    const { milliseconds, peakMegabytes } = await syncOnce(server.url)
    console.log(
      `${workload.count.toLocaleString('en')} timesheets ${workload.timelogs} timelogs: ${seconds(milliseconds)} s, peak memory ${peakMegabytes} MB`,
    )
  } finally {
    server.process.kill()
  }
}
