/** An Airflow with CeleryExecutor: Redis, PostgreSQL, and workers that share no folder. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { addressOf, onServer } from '../../support/postgres-database.ts'
import { freePort } from '../../support/postgres-server.ts'
import { root, virtualEnvironment } from '../place.ts'
import { type Machine, startMachine } from './machine.ts'

/** The provider does not start with celery 5.7. */
const own =
  'apache-airflow-providers-celery==3.26.0 celery==5.6.3 redis==8.1.0 psycopg2-binary==2.9.13 asyncpg==0.32.0'
const packages = ['-r', join(root, 'test/airflow/requirements.txt'), ...own.split(' ')]

const execute = promisify(execFile)
const name = `muster_airflow_${process.pid}`
const metadata = (): string => addressOf(name)

export interface Cluster {
  /** A worker as a machine of its own: its home, its landing folder, its logs. */
  worker(machine: string): Machine
  /** Starts a run of the DAG, and gives it when it has ended. */
  run(dag: string, run: string): Promise<{ state: string; seconds: number; tried: readonly string[] }>
  log(machine: string): string
  stop(): Promise<void>
}

/** What a lost worker leaves behind is noticed within two minutes here, and by default within five to ten. */
const impatience = {
  AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: '90',
  AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL: '5',
  AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY: '5',
}

/** One machine is server, scheduler and both workers here: with other work beside it, an answer took 280 s. */
const patience = {
  AIRFLOW__SCHEDULER__TASK_QUEUED_TIMEOUT: '1800',
  AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT: '120',
  AIRFLOW__WORKERS__EXECUTION_API_RETRIES: '10',
  AIRFLOW__EXECUTION_API__JWT_EXPIRATION_TIME: '7200',
}

interface Ports {
  readonly api: number
  readonly redis: number
}

function shared({ api, redis }: Ports, environment: string): Record<string, string> {
  const secret = Buffer.alloc(32, name).toString('base64url')
  const database = metadata().replace(/^postgres:/, 'postgresql+psycopg2:')
  return {
    PATH: `${environment}/bin:${process.env.PATH}`,
    AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
    AIRFLOW__CORE__EXECUTOR: 'CeleryExecutor',
    AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION: 'False',
    // Only what the test triggers: a run for the night before would come first.
    AIRFLOW__SCHEDULER__USE_JOB_SCHEDULE: 'False',
    AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT: '120',
    AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT: '180',
    AIRFLOW__CORE__FERNET_KEY: `${secret}=`,
    AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS: 'True',
    AIRFLOW__CORE__EXECUTION_API_SERVER_URL: `http://127.0.0.1:${api}/execution/`,
    AIRFLOW__API__HOST: '127.0.0.1',
    AIRFLOW__API__PORT: String(api),
    AIRFLOW__API__WORKERS: '1',
    AIRFLOW__API__SECRET_KEY: secret,
    AIRFLOW__API_AUTH__JWT_SECRET: secret,
    AIRFLOW__DATABASE__SQL_ALCHEMY_CONN: database,
    AIRFLOW__CELERY__BROKER_URL: `redis://127.0.0.1:${redis}/0`,
    AIRFLOW__CELERY__RESULT_BACKEND: `redis://127.0.0.1:${redis}/1`,
    AIRFLOW__CELERY__WORKER_CONCURRENCY: '2',
    MUSTER_COMMAND: `${process.execPath} ${join(root, 'dist/main.js')}`,
    MUSTER_TEST_KEY: sandboxKeys.company,
    NO_COLOR: '1',
    ...impatience,
    ...patience,
  }
}

/** `settings` is the text of config/muster.yaml, the same on every machine. */
export async function startCluster(settings: string): Promise<Cluster> {
  await execute('redis-server', ['--version']).catch(() => {
    throw new Error('redis-server is missing: apt-get install redis-server')
  })
  const environment = virtualEnvironment('celery', packages)
  const folder = mkdtempSync(join(tmpdir(), 'muster-celery-'))
  const ports = { api: await freePort(), redis: await freePort() }
  await onServer(`create database ${name}`)
  const logOf = (machine: string): string => join(folder, `${machine}.log`)
  const started: Machine[] = []
  const services = new Map<string, Machine>()
  /** Throws for a service that has ended: nothing would ever run. */
  const requireServices = (): void => {
    for (const [service, one] of services)
      if (one.hasEnded())
        throw new Error(`${service} has ended: ${readFileSync(logOf(service), 'utf8').slice(-2000)}`)
  }

  const envOf = (machine: string): NodeJS.ProcessEnv => {
    const home = join(folder, machine)
    return {
      ...process.env,
      ...shared(ports, environment),
      AIRFLOW_HOME: join(home, 'airflow'),
      MUSTER_HOME: home,
    }
  }
  const make = (machine: string): string => {
    const home = join(folder, machine)
    mkdirSync(join(home, 'config'), { recursive: true })
    mkdirSync(join(home, 'airflow/dags'), { recursive: true })
    writeFileSync(join(home, 'config/muster.yaml'), settings)
    symlinkSync(join(root, 'dags/airflow/muster.py'), join(home, 'airflow/dags/muster.py'))
    return home
  }
  const start = (machine: string, command: readonly string[], log = machine): Machine => {
    const one = startMachine(command, { env: envOf(machine), cwd: join(folder, machine), log: logOf(log) })
    started.push(one)
    return one
  }
  const airflow = async (...args: readonly string[]): Promise<void> => {
    const options = { env: envOf('head'), cwd: join(folder, 'head'), maxBuffer: 1e8 }
    await execute(join(environment, 'bin/airflow'), args, options)
  }

  make('head')
  start('head', ['redis-server', '--port', String(ports.redis), '--bind', '127.0.0.1', '--save', ''], 'redis')
  await airflow('db', 'migrate')
  for (const service of ['api-server', 'scheduler', 'dag-processor']) {
    services.set(service, start('head', [join(environment, 'bin/airflow'), service], service))
  }

  const cluster: Cluster = {
    worker(machine) {
      // One that was lost is replaced: nothing of it is there.
      rmSync(join(folder, machine), { recursive: true, force: true })
      make(machine)
      const worker = [join(environment, 'bin/airflow'), 'celery', 'worker', '--skip-serve-logs']
      return start(machine, [...worker, '--celery-hostname', `${machine}@%h`])
    },
    async run(dag, run) {
      await until(async () => {
        requireServices()
        return (await rows(`select 1 from dag where dag_id = '${dag}'`)).length > 0
      })
      await airflow('dags', 'trigger', dag, '--run-id', run)
      const began = performance.now()
      const where = `where dag_id = '${dag}' and run_id = '${run}'`
      let state = ''
      await until(async () => {
        requireServices()
        state = String((await rows(`select state from dag_run ${where}`))[0]?.state)
        return state === 'success' || state === 'failed'
      })
      const tasks = await rows(
        `select task_id, map_index, state, try_number, hostname, round(duration::numeric, 1) as seconds
         from task_instance ${where} order by start_date`,
      )
      return {
        state,
        seconds: (performance.now() - began) / 1000,
        tried: tasks.map(one => Object.values(one).join(' ')),
      }
    },
    log: machine => readFileSync(logOf(machine), 'utf8'),
    async stop() {
      await Promise.all(started.map(one => one.stop()))
      await onServer(`drop database if exists ${name} with (force)`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return cluster
}

const rows = (sql: string) => onServer<Record<string, unknown>>(sql, name)

export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, 1_000))
}
