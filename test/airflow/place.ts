/** An Airflow of its own: a virtual environment, SQLite, and a folder with settings of Muster. */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { pythonEnvironment } from '../support/python-environment.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** One release of each package: a new one of any of them breaks no run of the tests. muster.py takes Airflow 3.1 and later. */
const packages = ['-r', join(root, 'test/airflow/requirements.txt')]

/** Some 300 MB and two minutes, kept for the next time; MUSTER_AIRFLOW_VENV names one that is there. */
export const virtualEnvironment = (name = 'airflow', wanted: readonly string[] = packages): string =>
  pythonEnvironment({ name, wanted, program: 'airflow', at: process.env.MUSTER_AIRFLOW_VENV })

export interface Ended {
  readonly code: number
  readonly out: string
  /** With what was written for people. */
  readonly text: string
}

export interface AirflowPlace {
  /** Where Muster is run: its settings, DAGs and files. */
  readonly home: string
  /** A program of the virtual environment. */
  program(name: string, ...args: readonly string[]): Promise<Ended>
  /** With a text for its stdin. */
  given(text: string, name: string, ...args: readonly string[]): Promise<Ended>
  /** Rows of Airflow's own database. */
  rows(sql: string): Promise<readonly Record<string, unknown>[]>
  remove(): void
}

const query = `import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in db.execute(sys.argv[2])], default=str))`

/** A hanging program is ended before its test. */
const longestMs = 2_300_000

/** `settings` is the text of config/muster.yaml. */
export function airflowPlace(settings: string): AirflowPlace {
  const environment = virtualEnvironment()
  const folder = mkdtempSync(join(tmpdir(), 'muster-airflow-'))
  const [home, dags] = [join(folder, 'home'), join(folder, 'airflow/dags')]
  mkdirSync(join(home, 'config'), { recursive: true })
  mkdirSync(dags, { recursive: true })
  writeFileSync(join(home, 'config/muster.yaml'), settings)
  symlinkSync(join(root, 'dags/airflow/muster.py'), join(dags, 'muster.py'))
  copyFileSync(join(root, 'test/airflow/downstream.py'), join(dags, 'downstream.py'))
  const env = {
    ...process.env,
    PATH: `${environment}/bin:${process.env.PATH}`,
    AIRFLOW_HOME: join(folder, 'airflow'),
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__API__HOST: '127.0.0.1',
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: 'http://127.0.0.1:9/execution/',
    AIRFLOW__LOGGING__LOGGING_LEVEL: 'WARNING',
    // Half a minute otherwise, in which a busy machine may not have started the program.
    AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT: '300',
    // Five minutes otherwise, for each of two.
    AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY: '5',
    // Otherwise a traceback is drawn in boxes that break the words of a reason.
    NO_COLOR: '1',
    COLUMNS: '400',
    MUSTER_COMMAND: `${process.execPath} ${join(root, 'dist/main.js')}`,
    MUSTER_HOME: home,
    MUSTER_TEST_KEY: sandboxKeys.company,
  }
  const given = (text: string, name: string, ...args: readonly string[]): Promise<Ended> =>
    new Promise(resolve => {
      const child = execFile(
        name,
        args,
        { env, cwd: home, maxBuffer: 1e8, timeout: longestMs },
        (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code ?? 1) : 0, out: stdout, text: `${stdout}\n${stderr}` }),
      )
      // A program that reads none of it may have ended already.
      child.stdin?.on('error', () => {}).end(text)
    })
  const program = (name: string, ...args: readonly string[]): Promise<Ended> => given('', name, ...args)
  return {
    home,
    program,
    given,
    async rows(sql) {
      const { code, out, text } = await program(
        'python',
        '-c',
        query,
        join(folder, 'airflow/airflow.db'),
        sql,
      )
      if (code !== 0) throw new Error(text)
      return JSON.parse(out)
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
