/** The built program on a disk of a few megabytes: a tmpfs in a namespace of its own, which takes no privileges. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const builtProgram = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A namespace of its own; who is no administrator gets one in which he is. */
const namespace = process.getuid?.() === 0 ? '-m' : '-rm'

/** Linux without user namespaces, and every other system, has no small disk to offer. */
export function canMount(): boolean {
  const mount = [namespace, 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'small', tmpdir()]
  return spawnSync('unshare', mount).status === 0
}

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

export class SmallDisk {
  readonly #home = mkdtempSync(join(tmpdir(), 'muster-small-disk-'))
  readonly #shell
  readonly #lines

  /** `env` is that of every command. */
  constructor(kilobytes: number, env: Readonly<Record<string, string>>) {
    if (!existsSync(builtProgram)) throw new Error(`${builtProgram} is missing: npm run build makes it`)
    mkdirSync(this.folder)
    this.#shell = spawn('unshare', [namespace, 'sh'], {
      // Every kilobyte of so small a disk may be used.
      env: { MUSTER_RESERVE_MEGABYTES: '0', ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#lines = createInterface({ input: this.#shell.stdout })
    this.#shell.stdin.write(`mount -t tmpfs -o size=${kilobytes}k small ${this.folder}\n`)
  }

  /** Where the disk is mounted, for its own commands only. */
  get folder(): string {
    return join(this.#home, 'disk')
  }

  /** A folder on the disk of everybody else. */
  get besides(): string {
    return this.#home
  }

  async shell(command: string): Promise<Ended> {
    const [out, err] = [join(this.#home, 'out'), join(this.#home, 'err')]
    const line = once(this.#lines, 'line')
    this.#shell.stdin.write(`( ${command} ) > ${out} 2> ${err} < /dev/null; echo $?\n`)
    const [code] = (await line) as [string]
    return { code: Number(code), out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') }
  }

  /** In the background; gives its process id. What it prints is in `serve.out` and `serve.err`, besides. */
  async serve(words: string): Promise<number> {
    const env = `MUSTER_WAREHOUSE=duckdb:${join(this.folder, 'w.duckdb')} MUSTER_LANDING=${this.#home}/landing`
    const into = `> ${this.#home}/serve.out 2> ${this.#home}/serve.err`
    const line = `env ${env} ${process.execPath} ${builtProgram} serve ${words} ${into} & echo $!`
    return Number((await this.shell(line)).out)
  }

  /** `at` places the warehouse file and the landing folder; both are on the small disk unless it says otherwise. */
  muster(words: string, at: { warehouse?: string; landing?: string } = {}): Promise<Ended> {
    const { warehouse = join(this.folder, 'w.duckdb'), landing = join(this.folder, 'w.landing') } = at
    const env = `MUSTER_WAREHOUSE=duckdb:${warehouse} MUSTER_LANDING=${landing}`
    return this.shell(`exec env ${env} ${process.execPath} ${builtProgram} ${words}`)
  }

  async resize(kilobytes: number): Promise<void> {
    const { code, err } = await this.shell(`mount -o remount,size=${kilobytes}k ${this.folder}`)
    if (code !== 0) throw new Error(err)
  }

  async used(): Promise<number> {
    return Number((await this.shell(`df --output=used ${this.folder} | tail -1`)).out)
  }

  /** A copy that this process can read. */
  async copyOut(name: string): Promise<string> {
    const copy = join(this.#home, `copy of ${name}`)
    await this.shell(`cp '${join(this.folder, name)}' '${copy}'`)
    return copy
  }

  async close(): Promise<void> {
    this.#shell.stdin.end()
    await once(this.#shell, 'close')
    rmSync(this.#home, { recursive: true, force: true })
  }
}
