/** Every command of the program: a new one is a file in `commands/` and a line here. */
import { command as backfill } from './commands/backfill.ts'
import { command as build } from './commands/build.ts'
import { command as check } from './commands/check.ts'
import { command as copy } from './commands/copy.ts'
import { command as crosscheck } from './commands/crosscheck.ts'
import { command as dagList } from './commands/dag-list.ts'
import { command as dagRun } from './commands/dag-run.ts'
import { command as demo } from './commands/demo.ts'
import { command as discover } from './commands/discover.ts'
import { command as docs } from './commands/docs.ts'
import { command as doctor } from './commands/doctor.ts'
import { command as exportCommand } from './commands/export.ts'
import { command as filesUpload } from './commands/files-upload.ts'
import { command as get } from './commands/get.ts'
import { command as init } from './commands/init.ts'
import { command as mcp } from './commands/mcp.ts'
import { command as metric } from './commands/metric.ts'
import { command as plan } from './commands/plan.ts'
import { command as publish } from './commands/publish.ts'
import { command as replay } from './commands/replay.ts'
import { command as roles } from './commands/roles.ts'
import { command as runs } from './commands/runs.ts'
import { command as sandbox } from './commands/sandbox.ts'
import { command as serve } from './commands/serve.ts'
import { command as sql } from './commands/sql.ts'
import { command as status } from './commands/status.ts'
import { command as sweep } from './commands/sweep.ts'
import { command as sync } from './commands/sync.ts'
import { command as workersCreate } from './commands/workers-create.ts'
import { command as workersUpdate } from './commands/workers-update.ts'
import type { CommandSet } from './program.ts'

export const commandSet: CommandSet = {
  modules: [
    init,
    doctor,
    plan,
    sync,
    backfill,
    discover,
    sweep,
    status,
    runs,
    replay,
    build,
    check,
    publish,
    exportCommand,
    copy,
    roles,
    sql,
    metric,
    crosscheck,
    docs,
    mcp,
    get,
    workersCreate,
    workersUpdate,
    filesUpload,
    dagList,
    dagRun,
    serve,
    sandbox,
    demo,
  ],
  groups: {
    dag: 'list and run the DAGs of dags/',
    workers: 'create and update the workers of an agency',
    files: 'upload files for workers and invoices',
  },
}
